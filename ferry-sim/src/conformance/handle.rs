//! How the kit calls a store, whether its calls are async or block.

use std::{fmt, future::Future};

use ferry_core::{
    Commit, CommitError, Fault, ProjectResult, RecordOf, Schema,
    drive::{BlockingProjectedStore, BlockingStore, ProjectedStore, Store},
};

/// What a store answers to a read.
pub type ReadResult<S> = Result<Option<RecordOf<S>>, Fault<<S as Schema>::Error>>;

/// What a store answers to a commit.
pub type CommitResult<S> = Result<<S as Schema>::Version, CommitError<<S as Schema>::Error>>;

/// A handle of a store, as a process has one. Every [`Store`] is one; a [`BlockingStore`] is made one by [`Blocking`].
pub trait Handle: Send + Sync + 'static {
    /// What the store holds.
    type Schema: Schema;

    /// Whether a call blocks its thread. The kit makes such calls on threads of their own where several are under way at
    /// once; others it polls in turn.
    const BLOCKS: bool;

    /// As [`Store::read`].
    ///
    /// # Errors
    ///
    /// As [`Store::read`].
    fn read(
        &self,
        key: &<Self::Schema as Schema>::Key,
        ids: &[<Self::Schema as Schema>::Id],
    ) -> impl Future<Output = ReadResult<Self::Schema>> + Send;

    /// As [`Store::commit`].
    ///
    /// # Errors
    ///
    /// As [`Store::commit`].
    fn commit(
        &self,
        key: &<Self::Schema as Schema>::Key,
        commit: Commit<'_, Self::Schema>,
    ) -> impl Future<Output = CommitResult<Self::Schema>> + Send;
}

/// A handle of a store with views. Every [`ProjectedStore`] is one, and every [`BlockingProjectedStore`] by [`Blocking`].
pub trait ProjectedHandle: Handle {
    /// As [`ProjectedStore::View`].
    type View: Send + 'static;

    /// As [`ProjectedStore::project`].
    ///
    /// # Errors
    ///
    /// As [`ProjectedStore::project`].
    fn project(
        &self,
        key: &<Self::Schema as Schema>::Key,
        record: &RecordOf<Self::Schema>,
    ) -> impl Future<Output = ProjectResult<Self::View, <Self::Schema as Schema>::Error>> + Send;
}

impl<S: Store> Handle for S {
    type Schema = S;

    const BLOCKS: bool = false;

    fn read(&self, key: &S::Key, ids: &[S::Id]) -> impl Future<Output = ReadResult<S>> + Send {
        Store::read(self, key, ids)
    }

    fn commit(
        &self,
        key: &S::Key,
        commit: Commit<'_, S>,
    ) -> impl Future<Output = CommitResult<S>> + Send {
        Store::commit(self, key, commit)
    }
}

impl<S: ProjectedStore> ProjectedHandle for S {
    type View = S::View;

    fn project(
        &self,
        key: &S::Key,
        record: &RecordOf<S>,
    ) -> impl Future<Output = ProjectResult<S::View, S::Error>> + Send {
        ProjectedStore::project(self, key, record)
    }
}

/// A store whose calls block, as a [`Handle`]: its futures are ready when they are first polled, and block until then.
///
/// So a check of such a store blocks the thread that it runs on; and what is checked of a future that is dropped comes to
/// the call that was never made, and the one that was made whole.
#[derive(Clone, Copy)]
pub struct Blocking<S>(pub S);

impl<S> fmt::Debug for Blocking<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Blocking").finish_non_exhaustive()
    }
}

impl<S> Handle for Blocking<S>
where
    S: BlockingStore
        + Schema<Key: Sync, Id: Sync, State: Sync, Version: Sync, Entry: Sync, Error: 'static>,
{
    type Schema = S;

    const BLOCKS: bool = true;

    async fn read(&self, key: &S::Key, ids: &[S::Id]) -> ReadResult<S> {
        self.0.read(key, ids)
    }

    async fn commit(&self, key: &S::Key, commit: Commit<'_, S>) -> CommitResult<S> {
        self.0.commit(key, commit)
    }
}

impl<S> ProjectedHandle for Blocking<S>
where
    S: BlockingProjectedStore
        + Schema<Key: Sync, Id: Sync, State: Sync, Version: Sync, Entry: Sync, Error: 'static>,
{
    type View = S::View;

    async fn project(
        &self,
        key: &S::Key,
        record: &RecordOf<S>,
    ) -> ProjectResult<S::View, S::Error> {
        self.0.project(key, record)
    }
}
