//! The handle.

use alloc::sync::Arc;
use core::{fmt, future::Future, time::Duration};

use super::{
    carries::Carries,
    shared::{RejectedOf, Shared, SubmissionOf},
    stats::Stats,
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

    fn shared(&self) -> &Arc<Shared<C>> {
        &self.held.0
    }

    /// Accepts an input, or hands it back at once. Inputs of one key are applied in the order of these
    /// calls.
    ///
    /// # Errors
    ///
    /// [`Rejected`](crate::per_key::Rejected), with key and input, when a bound is reached or the handle
    /// is closed. Nothing was written.
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
    /// happens before it is first polled.
    pub fn submit_when_free(
        &self,
        key: C::Key,
        input: C::Input,
    ) -> impl Future<Output = Result<SubmissionOf<C>, RejectedOf<C>>> + Send + use<C> {
        Arc::clone(self.shared()).submit_when_free(key, input)
    }

    /// Counters since the start, and gauges of the moment. Locks each shard in turn, for a moment.
    pub fn stats(&self) -> Stats {
        self.shared().stats()
    }

    /// Refuses new inputs from now on, and completes when every accepted one is answered.
    ///
    /// What waits goes at once, without lingering. May be called more than once.
    ///
    /// # Cancel safety
    ///
    /// The handle is closed by the call itself; dropping the future only stops the waiting.
    pub fn close(&self) -> impl Future<Output = ()> + Send + use<C> {
        self.shared().close()
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
