//! What the driver asks of a store.

use core::future::Future;

use crate::{Commit, CommitError, Fault, ProjectResult, RecordOf, Schema};

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

/// A store whose records have views, written by a second conditional write.
///
/// # Contract
///
/// Beside that of [`Store`]:
///
/// - **The marker is a version, never a flag.** It says which version the view has reached, so that a
///   slow projection of an old version cannot clear the debt that a newer commit has made.
/// - **A commit never moves the marker backwards.** It leaves the marker as it is stored, not as it was
///   read; or else its condition covers the whole record as read, marker included. Otherwise a commit
///   that races a projection brings back an old marker, and entries are projected twice.
/// - **`project` is fenced on version and marker** of the record that it is given. The marker refuses a
///   second projection of one record; the version keeps the projection of an old record from clearing
///   what a newer commit owes.
/// - **A projection does not change the version**, or it would refuse commits.
/// - **The view is durable before the marker moves**, or with it.
/// - **Finding the records that are pending is a query of yours**, with an index: `marker <> version`.
///   Its keys go to [`sweep`](super::Ferry::sweep).
///
/// There are two layouts, and one contract:
///
/// - *The view in the record's own store*: `project` writes the view and moves the marker in one
///   conditional write.
/// - *The view in another store*: the view takes each entry only at its own position (one that comes late
///   or again changes nothing), and only after that the marker is moved here, by compare. A crash between
///   the two projects again, harmlessly.
pub trait ProjectedStore: Store {
    /// What the view includes, where a projection can land in part; `()` where it cannot.
    type View: Send + 'static;

    /// Brings the key's view up to this record, and moves its marker to this version, if the record
    /// still has the version and the marker that it has here.
    ///
    /// The record is as it was read, or as it was just committed without being read again.
    ///
    /// # Errors
    ///
    /// As a commit: [`Refused`](CommitError::Refused) where the record has another version or marker;
    /// [`NotLanded`](CommitError::NotLanded) where certainly nothing was written;
    /// [`InDoubt`](CommitError::InDoubt) otherwise.
    fn project(
        &self,
        key: &Self::Key,
        record: &RecordOf<Self>,
    ) -> impl Future<Output = ProjectResult<Self::View, Self::Error>> + Send;
}

/// As [`ProjectedStore`], for a store whose calls block their thread.
pub trait BlockingProjectedStore: BlockingStore {
    /// As [`ProjectedStore::View`].
    type View: Send + 'static;

    /// As [`ProjectedStore::project`].
    ///
    /// # Errors
    ///
    /// As [`ProjectedStore::project`].
    fn project(
        &self,
        key: &Self::Key,
        record: &RecordOf<Self>,
    ) -> ProjectResult<Self::View, Self::Error>;
}
