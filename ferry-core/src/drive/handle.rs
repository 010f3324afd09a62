//! The handle.

use alloc::{boxed::Box, sync::Arc};
use core::{error::Error, fmt, future::Future, time::Duration};

use futures_core::Stream;

use crate::{
    Schema,
    per_key::Reason,
    projected_write::{ProjectedWrite, resume::Resumed},
};

use super::{
    carries::{Carries, SharedProjection},
    resuming::{Closed, ResumeError},
    room::Place,
    rounds::ask_by,
    run::Tries,
    schedule::{InvalidSchedule, Schedule},
    shared::{RejectedOf, Shared, SubmissionOf},
    stats::Stats,
    sweep::{Iter, Sweep},
    sweeper::Sweeper,
};

/// The handle: takes inputs, batches them per key, has each batch carried, and answers each caller.
///
/// Cheap to clone; all clones are one. When the last is dropped, what was accepted is still carried
/// to its end.
///
/// Your code may use the handle from wherever it is called: a store, a batch call, a waker, the `Drop` of
/// an input. Only the key's own `Eq`, `Clone` and `Drop` may not: they run inside the batching machine,
/// under its lock.
///
/// What it carries is its one type parameter, so that it is easy to keep in a struct:
///
/// ```
/// use ferry_core::{drive::Ferry, fold_write::FoldWrite};
/// # mod deposits { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/deposits/mod.rs")); }
/// # use deposits::Deposits;
///
/// struct Service {
///     deposits: Ferry<FoldWrite<Deposits>>,
/// }
/// ```
pub struct Ferry<C: Carries> {
    held: Arc<Held<C>>,
}

/// What all clones of a handle hold; dropped with the last.
struct Held<C: Carries>(Arc<Shared<C>>);

impl<C: Carries> Drop for Held<C> {
    fn drop(&mut self) {
        self.0.orphan();
    }
}

impl<C: Carries> Ferry<C> {
    pub(super) fn new(shared: Arc<Shared<C>>) -> Self {
        Self {
            held: Arc::new(Held(shared)),
        }
    }

    pub(super) fn shared(&self) -> &Arc<Shared<C>> {
        &self.held.0
    }

    /// Accepts an input, or hands it back at once. Inputs of one key are applied in the order of these
    /// calls.
    ///
    /// # Errors
    ///
    /// [`Rejected`](crate::per_key::Rejected), with key and input, when a bound is reached or the handle
    /// is closed, as it is once it has noticed that its runtime was shut down. Nothing was written.
    pub fn submit(&self, key: C::Key, input: C::Input) -> Result<SubmissionOf<C>, RejectedOf<C>> {
        self.shared().submit(key, input, None)
    }

    /// As [`submit`](Self::submit), with a deadline this long from now.
    ///
    /// An input whose deadline passes while it waits, or between two tries, leaves its batch with
    /// [`Cause::Expired`](crate::Cause::Expired). A try under way is not cut off.
    ///
    /// # Errors
    ///
    /// As [`submit`](Self::submit).
    pub fn submit_within(
        &self,
        key: C::Key,
        input: C::Input,
        within: Duration,
    ) -> Result<SubmissionOf<C>, RejectedOf<C>> {
        self.shared().submit(key, input, Some(within))
    }

    /// Waits for room, in the process and at the key, in the order of arrival; then accepts the input.
    ///
    /// While anybody waits for room here, [`submit`](Self::submit) does not take it.
    ///
    /// # Errors
    ///
    /// When the handle is or gets closed, or the input is too heavy ever to go.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it completes leaves the line; the input was not accepted. Nothing
    /// happens before it is first polled. Once it is its turn, it holds the place, whether or not it is
    /// polled: poll it or drop it.
    pub fn submit_when_free(
        &self,
        key: C::Key,
        input: C::Input,
    ) -> impl Future<Output = Result<SubmissionOf<C>, RejectedOf<C>>> + Send + use<C> {
        Arc::clone(self.shared()).submit_when_free(key, input)
    }

    /// Sets room aside for one input, if there is any and nobody waits for it.
    ///
    /// # Errors
    ///
    /// [`QueueFull`](Reason::QueueFull), or [`Closed`](Reason::Closed).
    pub fn try_reserve(&self) -> Result<Place<C>, Reason> {
        self.shared().try_reserve()
    }

    /// Waits for room in the process, in the order of arrival, and sets it aside for one input: for whoever has to know that
    /// there is room before there is an input. It says nothing of a key's own bound.
    ///
    /// # Errors
    ///
    /// [`Closed`](Reason::Closed), when the handle is or gets closed.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future before it completes leaves the line. Nothing happens before it is first polled. Once it is its
    /// turn, it holds the place, whether or not it is polled: poll it or drop it, and await nothing else meanwhile that needs
    /// room here.
    pub fn reserve(&self) -> impl Future<Output = Result<Place<C>, Reason>> + Send + Sync + use<C> {
        Arc::clone(self.shared()).reserve()
    }

    /// Counters since the start, and gauges of the moment. Locks each shard in turn, for a moment.
    pub fn stats(&self) -> Stats {
        self.shared().stats()
    }

    /// Refuses new inputs from now on, and completes when every accepted one is answered.
    ///
    /// What waits goes at once, without lingering. May be called more than once.
    ///
    /// If the runtime is shut down meanwhile, it completes when the handle has noticed. A batch, or a resume, whose task
    /// the runtime has not dropped by then is answered when it does.
    ///
    /// # Cancel safety
    ///
    /// The handle is closed by the call itself; dropping the future only stops the waiting.
    pub fn close(&self) -> impl Future<Output = ()> + Send + use<C> {
        self.shared().close()
    }
}

impl<P: SharedProjection> Ferry<ProjectedWrite<P>> {
    /// Projects what the key's record owes, if it owes anything: the projection alone, from the store, with
    /// the write's retry.
    ///
    /// It may be called anywhere and at any time, beside batches and other resumes of the key. Those of
    /// this handle that ask at the same time share one run, and what is left of its tries; each is answered by
    /// a read that began after it asked.
    ///
    /// Nothing bounds how many keys are resumed at a time, each by a task of its own; [`sweep`](Self::sweep) has
    /// a bound.
    ///
    /// # Errors
    ///
    /// [`StillPending`](ResumeError::StillPending) when the tries are exhausted,
    /// [`Closed`](ResumeError::Closed) once the handle is closed.
    ///
    /// # Cancel safety
    ///
    /// The run is started by the call itself and goes to its end; dropping the future only stops the
    /// waiting. [`close`](Self::close) waits for it.
    pub fn resume(
        &self,
        key: &<P::Schema as Schema>::Key,
    ) -> impl Future<Output = Result<Resumed, ResumeError<<P::Schema as Schema>::Error>>> + Send + use<P>
    {
        let resuming = self.shared().resume(key, Tries::All);
        async move {
            match resuming {
                Ok(resuming) => match resuming.heard().await {
                    Ok(resumed) => Ok(resumed),
                    Err(unpaid) => Err(ResumeError::StillPending(unpaid.cause)),
                },
                Err(Closed) => Err(ResumeError::Closed),
            }
        }
    }

    /// Resumes these keys, which a query of yours has found pending: so many at a time, each until it is
    /// projected or has failed as often as the write's retry allows, with growing jittered pauses that no
    /// other key waits for.
    ///
    /// ```
    /// # use ferry_core::drive::{Ferry, SharedProjection};
    /// # use ferry_core::projected_write::ProjectedWrite;
    /// # async fn sweep<P: SharedProjection<Schema: ferry_core::Schema<Key = u64>>>(
    /// #     ferry: Ferry<ProjectedWrite<P>>, pending: Vec<u64>) {
    /// let report = ferry.sweep(pending).concurrency(32).await;
    /// println!("{} projected, {} still pending", report.projected, report.still_pending);
    /// # }
    /// ```
    pub fn sweep<I>(&self, keys: I) -> Sweep<P, Iter<I::IntoIter>>
    where
        I: IntoIterator<Item = <P::Schema as Schema>::Key>,
    {
        self.sweep_stream(Iter::new(keys.into_iter()))
    }

    /// As [`sweep`](Self::sweep), of keys that come in a stream: rows of a query, say. It is polled when there
    /// is room for another key.
    pub fn sweep_stream<S>(&self, keys: S) -> Sweep<P, S>
    where
        S: Stream<Item = <P::Schema as Schema>::Key>,
    {
        Sweep::new(Arc::clone(self.shared()), keys)
    }

    /// Sweeps on a schedule: asks the query for keys that are pending, tries each of them once, and comes
    /// back after a pause; a key that keeps failing is left alone for growing, jittered pauses. It keeps this
    /// handle alive until it is closed or dropped.
    ///
    /// Let the query have a limit, since the keys of one turn are held in memory: what it leaves out comes in a
    /// later turn. It is asked anew each time, so it can go on behind the last key that it gave, and come round
    /// again; then keys that fail for good never fill the limit alone.
    ///
    /// # Errors
    ///
    /// When the schedule makes no sense.
    pub fn sweeper<Q, Fut, I, E>(
        &self,
        schedule: Schedule,
        query: Q,
    ) -> Result<Sweeper, InvalidSchedule>
    where
        Q: FnMut() -> Fut + Send + 'static,
        Fut: Future<Output = Result<I, E>> + Send + 'static,
        I: IntoIterator<Item = <P::Schema as Schema>::Key>,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        Sweeper::start(self.clone(), schedule, ask_by(query))
    }
}

impl<C: Carries> Clone for Ferry<C> {
    fn clone(&self) -> Self {
        Self {
            held: Arc::clone(&self.held),
        }
    }
}

impl<C: Carries> fmt::Debug for Ferry<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ferry")
            .field("stats", &self.stats())
            .finish_non_exhaustive()
    }
}
