//! What a handle carries, and who carries it.

use alloc::{boxed::Box, sync::Arc};
use core::{future::Future, hash::Hash, pin::Pin, time::Duration};

use crate::{
    Cause, Failure, Fold, Instant, Projection, Schema,
    fold_write::{FoldWrite, Tally},
    guard::discard,
    per_key::Batch,
};

use super::{
    mailbox::{Mailbox, Work},
    observe::{Origin, Passes},
    shared::{OnDuty, Shared},
    slot::Reply,
};

/// What a [`Ferry`](super::Ferry) carries: the keys and inputs that go in, and what comes back.
///
/// Implemented by [`FoldWrite`], [`ProjectedWrite`](crate::projected_write::ProjectedWrite) and
/// [`OwnCall`](super::OwnCall), and by nothing else.
pub trait Carries: Sealed + 'static {
    /// Names one entity.
    type Key: Clone + Eq + Hash + Send + Sync + 'static;
    /// One caller's request.
    type Input: Send + 'static;
    /// What a caller hears when all went well.
    type Answer: Send + 'static;
    /// How the store fails.
    type Error: Send + Sync + 'static;
}

/// Keeps [`Carries`] to this crate.
#[expect(unnameable_types, reason = "nobody else is to name it")]
pub trait Sealed {
    /// What a handle has beside its batches.
    type Aside: Send + Sync;
}

/// A schema whose types can be shared among the tasks of a runtime. Every schema with such types is one.
pub trait SharedSchema:
    Schema<
        Key: Clone + Eq + Hash + Send + Sync + 'static,
        Id: Send + Sync + 'static,
        State: Send + 'static,
        Version: Send + 'static,
        Entry: Send + 'static,
        Error: Send + Sync + 'static,
    > + 'static
{
}

impl<S> SharedSchema for S where
    S: Schema<
            Key: Clone + Eq + Hash + Send + Sync + 'static,
            Id: Send + Sync + 'static,
            State: Send + 'static,
            Version: Send + 'static,
            Entry: Send + 'static,
            Error: Send + Sync + 'static,
        > + 'static
{
}

/// A fold whose types can be shared among the tasks of a runtime. Every fold with such types is one.
pub trait SharedFold:
    Fold<Input: Send + 'static, Outcome: Send + 'static, Schema: SharedSchema> + Send + Sync + 'static
{
}

impl<F> SharedFold for F where
    F: Fold<Input: Send + 'static, Outcome: Send + 'static, Schema: SharedSchema>
        + Send
        + Sync
        + 'static
{
}

/// A projection whose types can be shared among the tasks of a runtime. Every projection with such types
/// is one.
pub trait SharedProjection: SharedFold + Projection<View: Send + 'static> {}

impl<P> SharedProjection for P where P: SharedFold + Projection<View: Send + 'static> {}

impl<F: SharedFold> Sealed for FoldWrite<F> {
    type Aside = ();
}

impl<F: SharedFold> Carries for FoldWrite<F> {
    type Key = <F::Schema as Schema>::Key;
    type Input = F::Input;
    type Answer = F::Outcome;
    type Error = <F::Schema as Schema>::Error;
}

/// An input on its way, with the place for its answer.
pub(super) struct Carried<C: Carries> {
    /// Of its key, for the line of those who wait for room at that key.
    pub(super) hash: u64,
    pub(super) origin: Origin,
    pub(super) input: C::Input,
    pub(super) reply: Reply<C::Answer, C::Error>,
}

impl<C: Carries> Carried<C> {
    /// Nothing of it was written, and this is all that its caller will hear.
    pub(super) fn fail(self, cause: Cause<C::Error>) {
        self.reply.post(Err(Failure::NotCommitted(cause)));
        discard(self.input);
    }
}

pub(super) type BatchOf<C> = Batch<<C as Carries>::Key, Carried<C>>;

/// How one batch is carried.
pub(super) trait Carrier<C: Carries>: Send + Sync + 'static {
    /// The buffers that carrying takes, kept from one batch to the next.
    type Gear: Send + 'static;

    fn gear(&self, seed: u64) -> Self::Gear;

    fn weight(&self, input: &C::Input) -> usize;

    /// Carries the batch to its end. The answers known then are left in the gear, to be
    /// [`deliver`](Self::deliver)ed once the batch is counted as finished. After a panic the gear is of no use any more, and the
    /// batch may be gone; its callers know.
    fn carry(
        &self,
        gear: &mut Self::Gear,
        batch: &mut Option<BatchOf<C>>,
        passes: &mut Passes,
    ) -> impl Future<Output = ()> + Send;

    /// What the batch took, if there is more to tell than its size.
    fn tally<'g>(&self, gear: &'g Self::Gear) -> Option<&'g Tally>;

    /// Gives the callers their answers.
    fn deliver(&self, gear: &mut Self::Gear);
}

/// A future of its own.
pub(super) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The runtime and the carrier, their types forgotten.
pub(super) trait Crew<C: Carries>: Send + Sync {
    fn now(&self) -> Instant;

    fn weight(&self, input: &C::Input) -> usize;

    /// Starts a task that carries batches, beginning with this one.
    fn hire(&self, on_duty: OnDuty<C>, mailbox: Arc<Mailbox<C>>, first: Work<C>, seed: u64);

    /// Starts the task that watches the clock.
    fn keep_time(&self, shared: &Arc<Shared<C>>);

    /// Starts a task.
    fn spawn(&self, task: Task);

    /// A pause.
    fn sleep(&self, duration: Duration) -> Task;
}
