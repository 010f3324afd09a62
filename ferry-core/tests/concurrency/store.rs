//! A table of lists, and the fold that appends to them; it sees what is under way at a time.

use std::{
    collections::{BTreeMap, BTreeSet},
    convert::Infallible,
    future::poll_fn,
    mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Poll, Waker},
};

use ferry_core::{
    Commit, CommitError, Coverage, Fault, Fold, ProjectResult, Projection, Record, RecordOf,
    Schema, Step, StepOf,
    drive::{BlockingStore, ProjectedStore, Store},
};
use shuttle::future::yield_now;

/// Held by everything that a handle is given or gives: who counts them sees what is left.
#[derive(Clone, Debug, Default)]
pub(crate) struct Token(Arc<()>);

impl Token {
    pub(crate) fn others(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }
}

/// An input: appends its id to the list.
#[derive(Debug)]
pub(crate) struct Append {
    pub(crate) id: u64,
    pub(crate) token: Token,
}

/// Whose answer it is, and where in the list its id stands.
#[derive(Debug)]
pub(crate) struct Appended {
    pub(crate) id: u64,
    pub(crate) place: usize,
    _token: Token,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct List {
    pub(crate) ids: Vec<u64>,
    pub(crate) marker: u64,
}

/// A table; all clones are one.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    held: Arc<Mutex<Held>>,
    _token: Token,
}

#[derive(Debug, Default)]
struct Held {
    rows: BTreeMap<u64, Record<List, u64>>,
    /// By key, the inputs of the batch that was read for and not committed.
    carried: BTreeMap<u64, usize>,
    /// The most batches, and inputs, that were carried at once.
    batches_max: usize,
    inputs_max: usize,
    /// Whether two batches of one key were carried at once.
    is_mixed_up: bool,
    /// Whether reads wait, and who does.
    is_held_up: bool,
    held_up: Vec<Waker>,
}

impl Table {
    pub(crate) fn new(token: &Token) -> Self {
        Self {
            held: Arc::default(),
            _token: token.clone(),
        }
    }

    /// Another process appends, and leaves the record pending. Gives the version that a view has to show.
    pub(crate) fn owe(&self, key: u64, id: u64) -> u64 {
        let mut held = self.held();
        let row = held.rows.entry(key).or_insert_with(|| Record {
            state: List::default(),
            version: 0,
        });
        row.state.ids.push(id);
        row.version += 1;
        row.version
    }

    /// Lets no read go on.
    pub(crate) fn hold_up(&self) {
        self.held().is_held_up = true;
    }

    pub(crate) fn let_go(&self) {
        let mut held = self.held();
        held.is_held_up = false;
        let held_up = mem::take(&mut held.held_up);
        drop(held);
        held_up.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn marker(&self, key: u64) -> u64 {
        self.held().rows.get(&key).map_or(0, |row| row.state.marker)
    }

    pub(crate) fn ids(&self, key: u64) -> Vec<u64> {
        self.held()
            .rows
            .get(&key)
            .map_or_else(Vec::new, |row| row.state.ids.clone())
    }

    /// What has to hold in the end: nothing was appended twice, and never more carried than may be.
    pub(crate) fn audit(&self, max_in_flight: usize, max_queueing: usize) {
        let held = self.held();
        for (key, row) in &held.rows {
            let distinct: BTreeSet<_> = row.state.ids.iter().collect();
            assert_eq!(
                distinct.len(),
                row.state.ids.len(),
                "twice in the list of {key}: {row:?}"
            );
        }
        assert!(!held.is_mixed_up, "two batches of one key at a time");
        assert!(
            held.batches_max <= max_in_flight,
            "{} batches at a time",
            held.batches_max
        );
        assert!(
            held.inputs_max <= max_queueing,
            "{} inputs at a time",
            held.inputs_max
        );
    }

    async fn may_read(&self) {
        yield_now().await;
        poll_fn(|cx| {
            let mut held = self.held();
            if !held.is_held_up {
                return Poll::Ready(());
            }
            held.held_up.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Held {
    fn read(&mut self, key: u64, inputs: usize) -> Option<Record<List, u64>> {
        self.is_mixed_up |= self.carried.insert(key, inputs).is_some();
        self.batches_max = self.batches_max.max(self.carried.len());
        self.inputs_max = self.inputs_max.max(self.carried.values().sum());
        self.rows.get(&key).cloned()
    }

    fn commit(
        &mut self,
        key: u64,
        commit: Commit<'_, Table>,
    ) -> Result<u64, CommitError<Infallible>> {
        self.carried.remove(&key);
        let version = self.rows.get(&key).map(|row| row.version);
        if version.as_ref() != commit.expected {
            return Err(CommitError::Refused);
        }
        let version = version.unwrap_or(0) + 1;
        let state = commit.state.clone();
        self.rows.insert(key, Record { state, version });
        Ok(version)
    }
}

impl Schema for Table {
    type Key = u64;
    type Id = u64;
    type State = List;
    type Version = u64;
    type Entry = u64;
    type Error = Infallible;
}

impl Store for Table {
    async fn read(
        &self,
        key: &u64,
        ids: &[u64],
    ) -> Result<Option<RecordOf<Self>>, Fault<Infallible>> {
        self.may_read().await;
        // A resume reads, too, and carries nothing.
        if ids.is_empty() {
            return Ok(self.held().rows.get(key).cloned());
        }
        Ok(self.held().read(*key, ids.len()))
    }

    async fn commit(
        &self,
        key: &u64,
        commit: Commit<'_, Self>,
    ) -> Result<u64, CommitError<Infallible>> {
        yield_now().await;
        self.held().commit(*key, commit)
    }
}

impl BlockingStore for Table {
    fn read(&self, key: &u64, ids: &[u64]) -> Result<Option<RecordOf<Self>>, Fault<Infallible>> {
        Ok(self.held().read(*key, ids.len()))
    }

    fn commit(&self, key: &u64, commit: Commit<'_, Self>) -> Result<u64, CommitError<Infallible>> {
        self.held().commit(*key, commit)
    }
}

impl ProjectedStore for Table {
    type View = ();

    async fn project(&self, key: &u64, record: &RecordOf<Self>) -> ProjectResult<(), Infallible> {
        yield_now().await;
        let mut held = self.held();
        let stored = held.rows.get_mut(key).ok_or(CommitError::Refused)?;
        if (stored.version, stored.state.marker) != (record.version, record.state.marker) {
            return Err(CommitError::Refused);
        }
        stored.state.marker = record.version;
        Ok(Coverage::Whole)
    }
}

#[derive(Debug)]
pub(crate) struct Appends;

impl Fold for Appends {
    type Schema = Table;
    type Input = Append;
    type Outcome = Appended;

    fn id(&self, append: &Append) -> u64 {
        append.id
    }

    fn empty(&self, _key: &u64) -> List {
        List::default()
    }

    fn step(&self, list: &mut List, append: &Append) -> StepOf<Self> {
        let appended = |place| Appended {
            id: append.id,
            place,
            _token: append.token.clone(),
        };
        if let Some(place) = list.ids.iter().position(|id| *id == append.id) {
            return Step::Already(appended(place));
        }
        list.ids.push(append.id);
        Step::Applied(append.id, appended(list.ids.len() - 1))
    }
}

impl Projection for Appends {
    type View = ();

    fn pending(&self, record: &RecordOf<Table>) -> bool {
        record.state.marker != record.version
    }
}
