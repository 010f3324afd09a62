//! A store whose records have views: ways to the walls, with gates, and mishaps on order.

use std::{
    collections::{BTreeMap, VecDeque},
    marker::PhantomData,
    sync::{Arc, Mutex, MutexGuard},
};

use ferry_core::{
    Class, Commit, CommitError, Fault, ProjectResult, RecordOf, Schema,
    drive::{BlockingProjectedStore, BlockingStore, ProjectedStore, Store},
};

use super::{
    bank::Deposit,
    gate::Gate,
    mishap::{Luck, Mishap, Trouble},
    walls::{Room, Shown, Walls},
};

/// Of which type the keys are matters to nobody but the handle.
pub trait Numbered: Clone + Eq + std::hash::Hash + Send + Sync + 'static {
    fn number(&self) -> u64;
}

impl Numbered for u64 {
    fn number(&self) -> u64 {
        *self
    }
}

/// One node's way to the walls.
pub struct Gallery<K = u64> {
    pub walls: Arc<Walls>,
    pub way: Arc<Way>,
    keys: PhantomData<fn(K)>,
}

impl<K> Clone for Gallery<K> {
    fn clone(&self) -> Self {
        Self {
            walls: self.walls.clone(),
            way: self.way.clone(),
            keys: PhantomData,
        }
    }
}

/// Where calls wait, and what befalls them.
pub struct Way {
    pub before_read: Gate,
    pub after_read: Gate,
    pub before_commit: Gate,
    pub before_project: Gate,
    pub after_project: Gate,
    fate: Mutex<Fate>,
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Fate {
    reads: VecDeque<Mishap>,
    commits: VecDeque<Mishap>,
    projections: VecDeque<Mishap>,
    /// What the projections of a room always meet with.
    cursed: BTreeMap<u64, Mishap>,
    luck: Luck,
}

#[derive(Default)]
struct Calls {
    reads: BTreeMap<u64, usize>,
    projections: BTreeMap<u64, usize>,
    under_way: usize,
    most_under_way: usize,
}

const TRANSIENT: Mishap = Mishap::Fails(Class::Transient);
const PERMANENT: Mishap = Mishap::Fails(Class::Permanent);

impl Way {
    fn next_read(&self, number: u64) -> Mishap {
        *self.calls.lock().unwrap().reads.entry(number).or_default() += 1;
        let mut fate = self.fate.lock().unwrap();
        let ordered = fate.reads.pop_front();
        let by_luck = [TRANSIENT, TRANSIENT, PERMANENT];
        ordered.unwrap_or_else(|| fate.luck.draw(&by_luck))
    }

    fn next_commit(&self) -> Mishap {
        let mut fate = self.fate.lock().unwrap();
        let ordered = fate.commits.pop_front();
        let by_luck = [
            TRANSIENT,
            Mishap::Refused,
            Mishap::AnswerLost,
            Mishap::RequestLost,
        ];
        ordered.unwrap_or_else(|| fate.luck.draw(&by_luck))
    }

    fn next_projection(&self, number: u64) -> Mishap {
        let mut calls = self.calls.lock().unwrap();
        *calls.projections.entry(number).or_default() += 1;
        drop(calls);
        let mut fate = self.fate.lock().unwrap();
        let cursed = fate.cursed.get(&number).copied();
        let ordered = cursed.or_else(|| fate.projections.pop_front());
        let by_luck = [
            TRANSIENT,
            TRANSIENT,
            PERMANENT,
            Mishap::Refused,
            Mishap::AnswerLost,
            Mishap::AnswerLost,
            Mishap::RequestLost,
            Mishap::InPart(1),
            Mishap::InPart(2),
            Mishap::PanicsInTheFuture,
            Mishap::PanicsAfterLanding,
        ];
        ordered.unwrap_or_else(|| fate.luck.draw(&by_luck))
    }

    fn begins(&self) -> UnderWay<'_> {
        let mut calls = self.calls.lock().unwrap();
        calls.under_way += 1;
        calls.most_under_way = calls.most_under_way.max(calls.under_way);
        UnderWay(self)
    }
}

/// A call under way.
struct UnderWay<'a>(&'a Way);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.calls.lock().unwrap().under_way -= 1;
    }
}

impl<K> Gallery<K> {
    pub fn new() -> Self {
        Self::on(Arc::default())
    }

    pub fn on(walls: Arc<Walls>) -> Self {
        let way = Way {
            before_read: Gate::opened(),
            after_read: Gate::opened(),
            before_commit: Gate::opened(),
            before_project: Gate::opened(),
            after_project: Gate::opened(),
            fate: Mutex::default(),
            calls: Mutex::default(),
        };
        Self {
            walls,
            way: Arc::new(way),
            keys: PhantomData,
        }
    }

    fn fate(&self) -> MutexGuard<'_, Fate> {
        self.way.fate.lock().unwrap()
    }

    /// What the next reads meet with, one after the other.
    pub fn reads_meet(&self, mishaps: impl IntoIterator<Item = Mishap>) {
        self.fate().reads.extend(mishaps);
    }

    /// What the next commits meet with, one after the other.
    pub fn commits_meet(&self, mishaps: impl IntoIterator<Item = Mishap>) {
        self.fate().commits.extend(mishaps);
    }

    /// What the next projections meet with, one after the other.
    pub fn projections_meet(&self, mishaps: impl IntoIterator<Item = Mishap>) {
        self.fate().projections.extend(mishaps);
    }

    /// What every projection of this room meets with from now on.
    pub fn is_cursed(&self, room: u64, mishap: Mishap) {
        self.fate().cursed.insert(room, mishap);
    }

    /// From now on, calls for which nothing is ordered meet with mishaps of this seed.
    pub fn runs_out_of_luck(&self, seed: u64) {
        self.fate().luck = Luck::running_out(seed);
    }

    /// Nothing goes wrong any more.
    pub fn is_well_again(&self) {
        *self.fate() = Fate::default();
    }

    /// How often a room was read, and how often projected.
    pub fn calls(&self, room: u64) -> (usize, usize) {
        let calls = self.way.calls.lock().unwrap();
        let of = |counts: &BTreeMap<u64, usize>| counts.get(&room).copied().unwrap_or(0);
        (of(&calls.reads), of(&calls.projections))
    }

    /// The most reads and projections that there were at once.
    pub fn most_under_way(&self) -> usize {
        self.way.calls.lock().unwrap().most_under_way
    }

    fn end_commit<S>(
        &self,
        number: u64,
        commit: Commit<'_, S>,
        mishap: Mishap,
    ) -> Result<u64, CommitError<Trouble>>
    where
        S: Schema<State = Room, Version = u64, Entry = Deposit>,
    {
        mishap.end_write(|| {
            self.walls.commit(
                number,
                commit.expected.copied(),
                commit.state,
                commit.entries,
            )
        })
    }

    fn end_projection(
        &self,
        number: u64,
        version: u64,
        marker: u64,
        mishap: Mishap,
    ) -> ProjectResult<Shown, Trouble> {
        let land = |max| self.walls.project(number, version, marker, max);
        if let Mishap::InPart(entries) = mishap {
            land(Some(entries))
        } else {
            mishap.end_write(|| land(None))
        }
    }
}

impl<K: Numbered> Schema for Gallery<K> {
    type Key = K;
    type Id = u64;
    type State = Room;
    type Version = u64;
    type Entry = Deposit;
    type Error = Trouble;
}

impl<K: Numbered> Store for Gallery<K> {
    fn read(
        &self,
        key: &K,
        _ids: &[u64],
    ) -> impl Future<Output = Result<Option<RecordOf<Self>>, Fault<Trouble>>> + Send {
        let number = key.number();
        let mishap = self.way.next_read(number);
        assert_ne!(mishap, Mishap::PanicsInTheCall, "the read panics");
        async move {
            let _under_way = self.way.begins();
            self.way.before_read.pass().await;
            let ended = mishap.end_read(|| self.walls.read(number));
            self.way.after_read.pass().await;
            ended
        }
    }

    async fn commit(&self, key: &K, commit: Commit<'_, Self>) -> Result<u64, CommitError<Trouble>> {
        let mishap = self.way.next_commit();
        self.way.before_commit.pass().await;
        self.end_commit(key.number(), commit, mishap)
    }
}

impl<K: Numbered> ProjectedStore for Gallery<K> {
    type View = Shown;

    fn project(
        &self,
        key: &K,
        record: &RecordOf<Self>,
    ) -> impl Future<Output = ProjectResult<Shown, Trouble>> + Send {
        let number = key.number();
        let (version, marker) = (record.version, record.state.marker);
        let mishap = self.way.next_projection(number);
        assert_ne!(mishap, Mishap::PanicsInTheCall, "the projection panics");
        async move {
            let _under_way = self.way.begins();
            self.way.before_project.pass().await;
            let ended = self.end_projection(number, version, marker, mishap);
            self.way.after_project.pass().await;
            ended
        }
    }
}

/// The same gallery, whose calls block their thread.
#[derive(Clone)]
pub struct BlockingGallery(pub Gallery);

impl Schema for BlockingGallery {
    type Key = u64;
    type Id = u64;
    type State = Room;
    type Version = u64;
    type Entry = Deposit;
    type Error = Trouble;
}

impl BlockingStore for BlockingGallery {
    fn read(&self, &number: &u64, _: &[u64]) -> Result<Option<RecordOf<Self>>, Fault<Trouble>> {
        let mishap = self.0.way.next_read(number);
        self.0.way.before_read.pass_blocking();
        mishap.end_read(|| self.0.walls.read(number))
    }

    fn commit(&self, &number: &u64, commit: Commit<'_, Self>) -> Result<u64, CommitError<Trouble>> {
        let mishap = self.0.way.next_commit();
        self.0.way.before_commit.pass_blocking();
        self.0.end_commit(number, commit, mishap)
    }
}

impl BlockingProjectedStore for BlockingGallery {
    type View = Shown;

    fn project(&self, &number: &u64, record: &RecordOf<Self>) -> ProjectResult<Shown, Trouble> {
        let mishap = self.0.way.next_projection(number);
        self.0.way.before_project.pass_blocking();
        let (version, marker) = (record.version, record.state.marker);
        self.0.end_projection(number, version, marker, mishap)
    }
}
