//! What the contract allows is no finding.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use ferry_core::{
    Commit, CommitError, Fault, ProjectResult, RecordOf, Schema,
    drive::{ProjectedStore, Store},
};
use ferry_sim::conformance::{
    self,
    reference::{JournalStore, Journals, Line, Page, ReferenceStore, Trouble},
};
use futures_lite::future::block_on;

/// Another way to keep the contract.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// A commit's condition covers the whole record, marker included.
    WholeRecord,
    /// Calls fail in passing now and then, and commits and projections are in doubt, whether they landed or not.
    Shaky,
}

struct Other {
    store: ReferenceStore,
    way: Way,
    calls: Arc<AtomicU32>,
}

/// What befalls a call.
enum Fate {
    Fails,
    IsLost,
    IsNotAnswered,
    Goes,
}

impl Other {
    fn new(way: Way) -> Self {
        Self {
            store: ReferenceStore::default(),
            way,
            calls: Arc::default(),
        }
    }

    fn fate(&self) -> Fate {
        let call = self.calls.fetch_add(1, Ordering::Relaxed);
        match (self.way, call % 7) {
            (Way::Shaky, 0) => Fate::Fails,
            (Way::Shaky, 2) => Fate::IsLost,
            (Way::Shaky, 3 | 5) => Fate::IsNotAnswered,
            (Way::Shaky | Way::WholeRecord, _) => Fate::Goes,
        }
    }
}

impl Schema for Other {
    type Key = u32;
    type Id = u32;
    type State = Page;
    type Version = u64;
    type Entry = Line;
    type Error = Trouble;
}

impl Store for Other {
    async fn read(&self, key: &u32, ids: &[u32]) -> Result<Option<RecordOf<Self>>, Fault<Trouble>> {
        match self.fate() {
            Fate::Fails => Err(Fault::transient(Trouble::Busy)),
            Fate::IsLost | Fate::IsNotAnswered | Fate::Goes => self.store.read(key, ids).await,
        }
    }

    async fn commit(
        &self,
        key: &u32,
        commit: Commit<'_, Self>,
    ) -> Result<u64, CommitError<Trouble>> {
        if self.way == Way::WholeRecord {
            let record = self.store.read(key, &[]).await?;
            if record.is_some_and(|record| record.state.marker != commit.state.marker) {
                return Err(CommitError::Refused);
            }
        }
        let commit = Commit {
            expected: commit.expected,
            state: commit.state,
            entries: commit.entries,
        };
        match self.fate() {
            Fate::Fails => Err(Fault::throttled(Trouble::Busy, None).into()),
            Fate::IsLost => Err(CommitError::InDoubt(Trouble::Busy)),
            Fate::IsNotAnswered => match self.store.commit(key, commit).await {
                Ok(_) => Err(CommitError::InDoubt(Trouble::Busy)),
                refused => refused,
            },
            Fate::Goes => self.store.commit(key, commit).await,
        }
    }
}

impl ProjectedStore for Other {
    type View = Vec<u32>;

    async fn project(
        &self,
        key: &u32,
        record: &RecordOf<Self>,
    ) -> ProjectResult<Vec<u32>, Trouble> {
        match self.fate() {
            Fate::Fails => Err(Fault::transient(Trouble::Busy).into()),
            Fate::IsLost => Err(CommitError::InDoubt(Trouble::Busy)),
            Fate::IsNotAnswered => match self.store.project(key, record).await {
                Ok(_) => Err(CommitError::InDoubt(Trouble::Busy)),
                refused => refused,
            },
            Fate::Goes => self.store.project(key, record).await,
        }
    }
}

impl JournalStore for Other {
    fn another(&self) -> Self {
        Self {
            store: self.store.clone(),
            way: self.way,
            calls: Arc::clone(&self.calls),
        }
    }

    fn shown(&self, key: u32) -> Vec<u32> {
        self.store.shown(key)
    }

    fn pending(&self) -> Vec<u32> {
        self.store.pending()
    }

    fn delete(&self, key: u32) {
        self.store.delete(key);
    }
}

#[test]
fn a_condition_that_covers_the_marker_too_keeps_the_contract() {
    let subject = Journals::of(Other::new(Way::WholeRecord));
    block_on(conformance::check_projected_store(&subject)).assert_held();
}

#[test]
fn faults_that_pass_and_doubts_are_no_findings() {
    for first in 0..7 {
        let other = Other::new(Way::Shaky);
        other.calls.store(first, Ordering::Relaxed);
        let subject = Journals::of(other);
        block_on(conformance::check_projected_store(&subject)).assert_held();
    }
}
