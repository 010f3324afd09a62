//! Stores whose calls block, on threads.

use std::{
    sync::{Condvar, Mutex},
    time::Duration,
};

use ferry_core::{
    Commit, CommitError, Fault, ProjectResult, RecordOf, Schema,
    drive::{BlockingProjectedStore, BlockingStore, ProjectedStore, Store},
};
use ferry_sim::conformance::{
    self, Blocking, Deletion, ProjectedSubject, Subject,
    reference::{Journal, Journals, Line, Note, Page, ReferenceStore, Trouble},
};
use futures_lite::future::block_on;

/// Journals whose calls block, and where those that compare meet before they write, if they are to.
#[derive(Clone)]
struct Blocked {
    store: ReferenceStore,
    meeting: Option<&'static Meeting>,
}

/// Where several callers wait until all are there, or until it is clear that they do not come at once.
struct Meeting {
    there: Mutex<usize>,
    changed: Condvar,
    callers: usize,
}

impl Meeting {
    fn wait(&self) {
        let mut there = self.there.lock().expect("is whole");
        *there += 1;
        self.changed.notify_all();
        let patience = Duration::from_secs(60);
        let is_early = |there: &mut usize| *there % self.callers != 0;
        let waited = self.changed.wait_timeout_while(there, patience, is_early);
        drop(waited.expect("is whole"));
    }
}

impl Schema for Blocked {
    type Key = u32;
    type Id = u32;
    type State = Page;
    type Version = u64;
    type Entry = Line;
    type Error = Trouble;
}

impl BlockingStore for Blocked {
    fn read(&self, key: &u32, ids: &[u32]) -> Result<Option<RecordOf<Self>>, Fault<Trouble>> {
        block_on(self.store.read(key, ids))
    }

    fn commit(&self, key: &u32, commit: Commit<'_, Self>) -> Result<u64, CommitError<Trouble>> {
        let mut expected = commit.expected.copied();
        if let Some(meeting) = self.meeting {
            let seen = block_on(self.store.read(key, &[]))?.map(|record| record.version);
            if seen != expected {
                return Err(CommitError::Refused);
            }
            meeting.wait();
            // It has compared, and looks no more.
            expected = block_on(self.store.read(key, &[]))?.map(|record| record.version);
        }
        let commit = Commit {
            expected: expected.as_ref(),
            state: commit.state,
            entries: commit.entries,
        };
        block_on(self.store.commit(key, commit))
    }
}

impl BlockingProjectedStore for Blocked {
    type View = Vec<u32>;

    fn project(&self, key: &u32, record: &RecordOf<Self>) -> ProjectResult<Vec<u32>, Trouble> {
        block_on(self.store.project(key, record))
    }
}

struct Threads {
    journals: Journals<ReferenceStore>,
    fold: Journal<Blocked>,
    meeting: Option<&'static Meeting>,
}

impl Threads {
    fn new(meeting: Option<&'static Meeting>) -> Self {
        Self {
            journals: Journals::default(),
            fold: Journal::default(),
            meeting,
        }
    }
}

impl Subject for Threads {
    type Fold = Journal<Blocked>;
    type Store = Blocking<Blocked>;

    fn fold(&self) -> &Self::Fold {
        &self.fold
    }

    async fn open(&self) -> Blocking<Blocked> {
        Blocking(Blocked {
            store: self.journals.open().await,
            meeting: self.meeting,
        })
    }

    fn fresh_key(&self) -> u32 {
        self.journals.fresh_key()
    }

    fn input(&self, number: u32) -> Note {
        self.journals.input(number)
    }

    async fn delete(&self, store: &Blocking<Blocked>, key: &u32) -> Deletion {
        store.0.store.delete(*key);
        Deletion::Done
    }
}

impl ProjectedSubject for Threads {
    type Picture = Vec<u32>;

    async fn shown(&self, store: &Blocking<Blocked>, key: &u32) -> Vec<u32> {
        store.0.store.shown(*key)
    }

    fn picture(&self, applied: &[u32]) -> Vec<u32> {
        applied.to_vec()
    }
}

#[test]
fn a_blocking_store_that_keeps_the_contract_passes() {
    let report = block_on(conformance::check_projected_store(&Threads::new(None)));
    report.assert_held();
}

#[test]
fn a_blocking_store_that_compares_and_then_writes_loses_a_race() {
    static MEETING: Meeting = Meeting {
        there: Mutex::new(0),
        changed: Condvar::new(),
        callers: 4,
    };
    let subject = Threads::new(Some(&MEETING));
    let mut checks = conformance::store_checks().into_iter();
    let race = checks
        .find(|check| check.name() == "create_race")
        .expect("is there");
    let checked = block_on(race.run(&subject));
    assert!(checked.is_broken(), "{checked}");
}
