//! Carrying a batch by the user's own call.

use alloc::{sync::Arc, vec::Vec};
use core::{convert::Infallible, fmt, future::Future, hash::Hash, marker::PhantomData, mem};

use crate::{Cause, Failure, fold_write::Tally, guard::discard};

use super::{
    carries::{BatchOf, Carried, Carrier, Carries, Sealed},
    catch::catch,
    observe::Passes,
    slot::Reply,
};

/// Your own batch call, for work that is batched per key and is no fenced write.
///
/// Ferry sees to the batching alone: the call does its own retries, and whatever makes a repeated
/// input harmless. It may take the inputs out or leave them; what is left is dropped.
///
/// ```
/// use std::sync::atomic::{AtomicI64, Ordering};
/// use ferry_core::drive::BatchCall;
///
/// /// Adds up what arrives; each caller hears the total after its own.
/// #[derive(Default)]
/// struct Total(AtomicI64);
///
/// impl BatchCall for Total {
///     type Key = &'static str;
///     type Input = i64;
///     type Outcome = i64;
///
///     async fn call(&self, _key: &&'static str, inputs: &mut Vec<i64>, outcomes: &mut Vec<i64>) {
///         for input in inputs.drain(..) {
///             outcomes.push(self.0.fetch_add(input, Ordering::Relaxed) + input);
///         }
///     }
/// }
/// ```
pub trait BatchCall: Send + Sync + 'static {
    /// Names one entity.
    type Key: Clone + Eq + Hash + Send + Sync + 'static;
    /// One caller's request.
    type Input: Send + 'static;
    /// What a caller hears.
    type Outcome: Send + 'static;

    /// Its share of [`max_weight`](crate::per_key::Limits::max_weight). One unless you say otherwise.
    fn weight(&self, input: &Self::Input) -> usize {
        let _ = input;
        1
    }

    /// Carries one batch: pushes one outcome for each input, in the order of the inputs.
    ///
    /// Both vectors are used again for later batches; `outcomes` comes empty.
    ///
    /// # Panics
    ///
    /// A panic, or another number of outcomes, fails the inputs of this batch as in doubt, and no other.
    fn call(
        &self,
        key: &Self::Key,
        inputs: &mut Vec<Self::Input>,
        outcomes: &mut Vec<Self::Outcome>,
    ) -> impl Future<Output = ()> + Send;
}

/// What a handle carries whose batches go by a [`BatchCall`].
pub struct OwnCall<K, I, O>(PhantomData<fn(K, I) -> O>);

impl<K, I, O> fmt::Debug for OwnCall<K, I, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnCall")
    }
}

impl<K, I, O> Sealed for OwnCall<K, I, O> {
    type Aside = ();
}

impl<K, I, O> Carries for OwnCall<K, I, O>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    I: Send + 'static,
    O: Send + 'static,
{
    type Key = K;
    type Input = I;
    type Answer = O;
    type Error = Infallible;
}

/// A closure as a batch call.
pub(super) struct Closure<F, K, I, O> {
    closure: F,
    types: PhantomData<fn(K, I) -> O>,
}

impl<F, K, I, O> Closure<F, K, I, O> {
    pub(super) fn new(closure: F) -> Self {
        Self {
            closure,
            types: PhantomData,
        }
    }
}

impl<F, Fut, K, I, O> BatchCall for Closure<F, K, I, O>
where
    F: Fn(K, Vec<I>) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Vec<O>> + Send,
    K: Clone + Eq + Hash + Send + Sync + 'static,
    I: Send + 'static,
    O: Send + 'static,
{
    type Key = K;
    type Input = I;
    type Outcome = O;

    async fn call(&self, key: &K, inputs: &mut Vec<I>, outcomes: &mut Vec<O>) {
        *outcomes = (self.closure)(key.clone(), mem::take(inputs)).await;
    }
}

pub(super) struct CallCarrier<B>(pub(super) B);

pub(super) struct Gear<B: BatchCall> {
    inputs: Vec<B::Input>,
    outcomes: Vec<B::Outcome>,
    replies: Vec<Reply<B::Outcome, Infallible>>,
    failed: Option<(Failure<Infallible>, Tally)>,
}

/// What a handle carries whose batches go by this call.
pub type OwnCallOf<B> =
    OwnCall<<B as BatchCall>::Key, <B as BatchCall>::Input, <B as BatchCall>::Outcome>;

impl<B: BatchCall> Carrier<OwnCallOf<B>> for CallCarrier<B> {
    type Gear = Gear<B>;

    fn gear(&self, _seed: u64) -> Gear<B> {
        let (inputs, outcomes, replies) = (Vec::new(), Vec::new(), Vec::new());
        Gear {
            inputs,
            outcomes,
            replies,
            failed: None,
        }
    }

    fn weight(&self, input: &B::Input) -> usize {
        self.0.weight(input)
    }

    async fn carry(
        &self,
        gear: &mut Gear<B>,
        batch: &mut Option<BatchOf<OwnCallOf<B>>>,
        passes: &mut Passes,
    ) {
        let Some(batch) = batch else {
            unreachable!("there is a batch to carry")
        };
        for item in batch.drain() {
            let Carried { input, reply, .. } = item.input;
            gear.inputs.push(input);
            gear.replies.push(reply);
        }
        let inputs = gear.inputs.len();
        let Gear {
            inputs: taken,
            outcomes,
            ..
        } = &mut *gear;
        let called = catch(|| self.0.call(batch.key(), taken, outcomes));
        let called = passes.call(called).await;
        let outcomes = gear.outcomes.len();
        let cause = match called {
            Err(message) => Some(Cause::Panicked(message)),
            Ok(()) if outcomes != inputs => Some(Cause::Miscounted { inputs, outcomes }),
            Ok(()) => None,
        };
        if let Some(cause) = &cause {
            passes.grieves(cause);
        }
        gear.failed = cause.map(|cause| (Failure::InDoubt(cause), Tally::of_failed(inputs)));
        gear.inputs.drain(..).for_each(discard);
    }

    fn tally<'g>(&self, gear: &'g Gear<B>) -> Option<&'g Tally> {
        gear.failed.as_ref().map(|(_, tally)| tally)
    }

    fn deliver(&self, gear: &mut Gear<B>) {
        let replies = gear.replies.drain(..);
        match gear.failed.take() {
            Some((failure, _)) => {
                gear.outcomes.drain(..).for_each(discard);
                replies.for_each(|reply| reply.post(Err(failure.clone())));
            }
            None => {
                let answers = replies.zip(gear.outcomes.drain(..));
                answers.for_each(|(reply, outcome)| reply.post(Ok(outcome)));
            }
        }
    }
}

/// Shares a call between handles.
impl<B: BatchCall> BatchCall for Arc<B> {
    type Key = B::Key;
    type Input = B::Input;
    type Outcome = B::Outcome;

    fn weight(&self, input: &B::Input) -> usize {
        B::weight(self, input)
    }

    fn call(
        &self,
        key: &B::Key,
        inputs: &mut Vec<B::Input>,
        outcomes: &mut Vec<B::Outcome>,
    ) -> impl Future<Output = ()> + Send {
        B::call(self, key, inputs, outcomes)
    }
}
