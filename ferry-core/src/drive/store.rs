//! What the driver asks of a store.

use core::future::Future;

use crate::{Commit, CommitError, Fault, RecordOf, Schema};

/// A store with a conditional write, called with async functions.
///
/// # Contract
///
/// Ferry is correct exactly as far as these hold:
///
/// - **A commit is all or nothing.** State, version and entries change in one conditional write.
/// - **The version never repeats for a key**, not even after a delete and a re-create. Being absent is
///   a version too: a record that is deleted must leave something behind for as long as a commit on
///   its absence can be under way, or that commit lands on the second absence.
/// - **A commit that lands is durable** at the level that you promise your callers.
/// - **`read` is linearizable**: it shows every commit that was answered before it began. A stale
///   read never applies an input twice (the fence sees to that), but it can make a "no" untrue.
/// - **In doubt is said whenever it is not certain**: see [`CommitError`]. A request that timed out
///   or was cut off may still land, also after the next read.
/// - **Every call ends.** A call is never cut off from outside, so one that hangs holds its key, its
///   place and its permit for good, and `close` waits for it. Put a time-out of your own into it, and
///   answer a commit that ran into it as in doubt.
/// - **Nothing is resent silently** by a layer below that hides the first try's answer; if it is,
///   the refusal of the second is reported as [`CommitError::Refused`], and the next read finds out.
///
/// # Cancel safety
///
/// The driver never drops one of these futures before it completes, unless the runtime itself drops
/// the task.
pub trait Store: Schema + Send + Sync + 'static {
    /// Reads the record of a key; `None` where there is none.
    ///
    /// `ids` names the inputs that are about to be folded, in order. A store that keeps applied ids
    /// apart from the record puts what it knows of these into the state; others ignore them.
    ///
    /// # Errors
    ///
    /// A [`Fault`] whose class says whether trying again can help.
    fn read(
        &self,
        key: &Self::Key,
        ids: &[Self::Id],
    ) -> impl Future<Output = Result<Option<RecordOf<Self>>, Fault<Self::Error>>> + Send;

    /// Writes state and entries if the record still has the expected version, and returns the new
    /// version.
    ///
    /// # Errors
    ///
    /// One of the three cases of [`CommitError`].
    fn commit(
        &self,
        key: &Self::Key,
        commit: Commit<'_, Self>,
    ) -> impl Future<Output = Result<Self::Version, CommitError<Self::Error>>> + Send;
}

/// A store whose calls block their thread; the driver makes them where that is allowed.
///
/// The contract is that of [`Store`]. Nothing is copied for it: the driver moves the whole round trip
/// to the blocking thread and back.
pub trait BlockingStore: Schema + Send + Sync + 'static {
    /// As [`Store::read`].
    ///
    /// # Errors
    ///
    /// As [`Store::read`].
    fn read(
        &self,
        key: &Self::Key,
        ids: &[Self::Id],
    ) -> Result<Option<RecordOf<Self>>, Fault<Self::Error>>;

    /// As [`Store::commit`].
    ///
    /// # Errors
    ///
    /// As [`Store::commit`].
    fn commit(
        &self,
        key: &Self::Key,
        commit: Commit<'_, Self>,
    ) -> Result<Self::Version, CommitError<Self::Error>>;
}
