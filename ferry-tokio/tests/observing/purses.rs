//! A fold, its view, and a store in memory that fails as it is told to.

use std::{
    cell::Cell,
    collections::{BTreeMap, BTreeSet, VecDeque},
    error::Error,
    fmt,
    sync::{Arc, Mutex},
    time::Duration,
};

use ferry_tokio::{
    Commit, CommitError, Coverage, Fault, Fold, ProjectResult, ProjectedStore, Projection, Record,
    RecordOf, Schema, Step, StepOf, Store,
};

/// What must never be told is called so: keys, inputs, errors, what panics say.
pub(crate) const SECRET: &str = "secret";

/// A key whose `Clone` panics, once, after so many clones.
#[derive(PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key(String);

thread_local! {
    static CLONES_LEFT: Cell<Option<u32>> = const { Cell::new(None) };
}

impl Key {
    pub(crate) fn new(number: u32) -> Self {
        Self(format!("{SECRET} {number}"))
    }

    pub(crate) fn panics_after(clones: u32) {
        CLONES_LEFT.set(Some(clones));
    }
}

impl Clone for Key {
    fn clone(&self) -> Self {
        match CLONES_LEFT.get() {
            Some(0) => {
                CLONES_LEFT.set(None);
                panic!("{SECRET}: a key cannot be cloned");
            }
            left => CLONES_LEFT.set(left.map(|left| left - 1)),
        }
        Self(self.0.clone())
    }
}

#[derive(Debug)]
pub(crate) struct Broken;

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SECRET)
    }
}

impl Error for Broken {}

#[derive(Clone, Default)]
pub(crate) struct Purse {
    coins: u32,
    applied: BTreeSet<u32>,
    /// The version that the view shows.
    marker: u64,
}

#[derive(Clone)]
pub(crate) struct Input {
    pub(crate) id: u32,
    pub(crate) what: What,
}

#[derive(Clone, Copy)]
pub(crate) enum What {
    Put(u32),
    /// Declined where there is not as much.
    Take(u32),
    Mismatch,
    TooOld,
    Poison,
}

pub(crate) const fn put(id: u32) -> Input {
    let what = What::Put(1);
    Input { id, what }
}

pub(crate) const fn input(id: u32, what: What) -> Input {
    Input { id, what }
}

#[derive(Clone)]
pub(crate) struct Purses;

impl Fold for Purses {
    type Schema = Shelf;
    type Input = Input;
    type Outcome = u32;

    fn id(&self, input: &Input) -> Id {
        Id(input.id)
    }

    fn weight(&self, input: &Input) -> usize {
        input.id as usize / 1_000_000 + 1
    }

    fn empty(&self, _key: &Key) -> Purse {
        Purse::default()
    }

    fn step(&self, purse: &mut Purse, input: &Input) -> StepOf<Self> {
        if purse.applied.contains(&input.id) {
            return Step::Already(purse.coins);
        }
        match input.what {
            What::Put(coins) => purse.coins += coins,
            What::Take(coins) if coins > purse.coins => return Step::Refused(purse.coins),
            What::Take(coins) => purse.coins -= coins,
            What::Mismatch => return Step::Mismatch(purse.coins),
            What::TooOld => return Step::TooOld(purse.coins),
            What::Poison => panic!("{SECRET}: poison"),
        }
        purse.applied.insert(input.id);
        Step::Applied(input.id, purse.coins)
    }
}

impl Projection for Purses {
    /// The ids that it includes.
    type View = Vec<u32>;

    fn pending(&self, purse: &RecordOf<Shelf>) -> bool {
        purse.state.marker != purse.version
    }

    fn includes(&self, view: &Vec<u32>, input: &Input) -> bool {
        view.contains(&input.id)
    }
}

/// How a call of the store goes that does not go well.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Goes {
    Well,
    Refused,
    Transient,
    Throttled,
    Permanent,
    /// With its effect.
    InDoubt,
    /// Before its effect.
    Lost,
    /// Of a projection that includes these.
    Part(u32),
    Panics,
    /// Takes an hour, and goes well.
    Slow,
    Hangs,
}

type Script = Mutex<VecDeque<Goes>>;

/// Every clone is the same shelf.
#[derive(Clone, Default)]
pub(crate) struct Shelf {
    records: Arc<Mutex<BTreeMap<Key, Record<Purse, u64>>>>,
    reads: Arc<Script>,
    commits: Arc<Script>,
    projections: Arc<Script>,
    /// Called at each read.
    looks: Option<Arc<dyn Fn() + Send + Sync>>,
}

impl Shelf {
    /// Called at each read.
    pub(crate) fn looked_at_by(mut self, look: impl Fn() + Send + Sync + 'static) -> Self {
        self.looks = Some(Arc::new(look));
        self
    }

    pub(crate) fn reads(&self, go: impl IntoIterator<Item = Goes>) {
        self.reads.lock().unwrap().extend(go);
    }

    pub(crate) fn commits(&self, go: impl IntoIterator<Item = Goes>) {
        self.commits.lock().unwrap().extend(go);
    }

    pub(crate) fn projections(&self, go: impl IntoIterator<Item = Goes>) {
        self.projections.lock().unwrap().extend(go);
    }

    fn next(script: &Script) -> Goes {
        script.lock().unwrap().pop_front().unwrap_or(Goes::Well)
    }
}

/// To look for this one panics.
pub(crate) const CURSED: u32 = 666;

pub(crate) struct Id(u32);

impl PartialEq for Id {
    fn eq(&self, other: &Self) -> bool {
        assert_ne!(self.0, CURSED, "{SECRET}: a cursed id");
        self.0 == other.0
    }
}

impl Schema for Shelf {
    type Key = Key;
    type Id = Id;
    type State = Purse;
    type Version = u64;
    type Entry = u32;
    type Error = Broken;
}

/// What of it is the same for every call.
async fn take_time(goes: Goes) {
    match goes {
        Goes::Slow => tokio::time::sleep(Duration::from_secs(3600)).await,
        Goes::Hangs => std::future::pending().await,
        Goes::Panics => panic!("{SECRET}: a store that panics"),
        Goes::Well
        | Goes::Refused
        | Goes::Transient
        | Goes::Throttled
        | Goes::Permanent
        | Goes::InDoubt
        | Goes::Lost
        | Goes::Part(_) => {}
    }
}

fn failed(goes: Goes) -> Result<(), CommitError<Broken>> {
    match goes {
        Goes::Refused => Err(CommitError::Refused),
        Goes::Transient => Err(Fault::transient(Broken).into()),
        Goes::Throttled => Err(Fault::throttled(Broken, None).into()),
        Goes::Permanent => Err(Fault::permanent(Broken).into()),
        Goes::Lost => Err(CommitError::InDoubt(Broken)),
        Goes::Well | Goes::InDoubt | Goes::Part(_) | Goes::Panics | Goes::Slow | Goes::Hangs => {
            Ok(())
        }
    }
}

impl Store for Shelf {
    async fn read(&self, key: &Key, _ids: &[Id]) -> Result<Option<RecordOf<Self>>, Fault<Broken>> {
        let goes = Self::next(&self.reads);
        if let Some(look) = &self.looks {
            look();
        }
        take_time(goes).await;
        match failed(goes) {
            Err(CommitError::NotLanded(fault)) => Err(fault),
            _ => Ok(self.records.lock().unwrap().get(key).cloned()),
        }
    }

    async fn commit(
        &self,
        key: &Key,
        commit: Commit<'_, Self>,
    ) -> Result<u64, CommitError<Broken>> {
        let goes = Self::next(&self.commits);
        take_time(goes).await;
        failed(goes)?;
        let mut records = self.records.lock().unwrap();
        if records.get(key).map(|record| record.version) != commit.expected.copied() {
            return Err(CommitError::Refused);
        }
        let version = commit.expected.map_or(1, |version| version + 1);
        let state = commit.state.clone();
        records.insert(key.clone(), Record { state, version });
        if goes == Goes::InDoubt {
            return Err(CommitError::InDoubt(Broken));
        }
        Ok(version)
    }
}

impl ProjectedStore for Shelf {
    type View = Vec<u32>;

    async fn project(&self, key: &Key, record: &RecordOf<Self>) -> ProjectResult<Vec<u32>, Broken> {
        let goes = Self::next(&self.projections);
        take_time(goes).await;
        failed(goes)?;
        if let Goes::Part(id) = goes {
            let (view, fault) = (vec![id], Fault::transient(Broken));
            return Ok(Coverage::Part { view, fault });
        }
        let mut records = self.records.lock().unwrap();
        match records.get_mut(key) {
            Some(stored) if stored.version == record.version => {
                stored.state.marker = stored.version
            }
            _ => return Err(CommitError::Refused),
        }
        if goes == Goes::InDoubt {
            return Err(CommitError::InDoubt(Broken));
        }
        Ok(Coverage::Whole)
    }
}
