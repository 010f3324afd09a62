//! The store that keeps the contract.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ferry_core::{
    Commit, CommitError, Coverage, Fault, ProjectResult, RecordOf, Schema,
    drive::{ProjectedStore, Store},
};
use futures_lite::future::yield_now;

use super::{
    journal::{Line, Page, Trouble},
    shelf::Shelf,
};

/// Journals in memory, with views: the contract of [`ProjectedStore`] in as few lines as it takes.
///
/// Each call is under way for a while before its effect and after it, as over a network; its effect is in one step.
/// Clones are handles on the same journals.
///
/// # Cancel safety
///
/// A call whose future is dropped has had its whole effect, or none, and has none later.
#[derive(Clone, Debug, Default)]
pub struct ReferenceStore {
    shelf: Arc<Mutex<Shelf>>,
}

impl ReferenceStore {
    /// The ids that the key's view includes, in order.
    pub fn shown(&self, key: u32) -> Vec<u32> {
        let shelf = self.shelf();
        let kept = shelf.pages.get(&key);
        kept.map(|kept| kept.shown.clone()).unwrap_or_default()
    }

    /// The keys whose views lack something, in their order.
    pub fn pending(&self) -> Vec<u32> {
        self.shelf().pending()
    }

    /// Leaves a blank page in the key's place.
    pub fn delete(&self, key: u32) {
        self.shelf().delete(key);
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_commit(&self, key: u32, commit: Commit<'_, Self>) -> Result<u64, CommitError<Trouble>> {
        let mut shelf = self.shelf();
        if !shelf.is_at(key, commit.expected.copied()) {
            return Err(CommitError::Refused);
        }
        let version = shelf.draw();
        shelf.write(key, &commit.state.text, commit.entries, version);
        Ok(version)
    }

    fn try_project(&self, key: u32, record: &RecordOf<Self>) -> ProjectResult<Vec<u32>, Trouble> {
        let mut shelf = self.shelf();
        match shelf.pages.get_mut(&key) {
            Some(kept) if kept.is_as(record) => {
                kept.project(record);
                Ok(Coverage::Whole)
            }
            _ => Err(CommitError::Refused),
        }
    }
}

impl Schema for ReferenceStore {
    type Key = u32;
    type Id = u32;
    type State = Page;
    type Version = u64;
    type Entry = Line;
    type Error = Trouble;
}

impl Store for ReferenceStore {
    async fn read(&self, key: &u32, ids: &[u32]) -> Result<Option<RecordOf<Self>>, Fault<Trouble>> {
        yield_now().await;
        let record = self.shelf().read(*key, ids);
        yield_now().await;
        Ok(record)
    }

    async fn commit(
        &self,
        key: &u32,
        commit: Commit<'_, Self>,
    ) -> Result<u64, CommitError<Trouble>> {
        yield_now().await;
        let answer = self.try_commit(*key, commit);
        yield_now().await;
        answer
    }
}

impl ProjectedStore for ReferenceStore {
    type View = Vec<u32>;

    async fn project(
        &self,
        key: &u32,
        record: &RecordOf<Self>,
    ) -> ProjectResult<Vec<u32>, Trouble> {
        yield_now().await;
        let answer = self.try_project(*key, record);
        yield_now().await;
        answer
    }
}
