//! Rooms in memory, each with a record and a view, and a true log of what took effect; and the projection
//! that shows it.

use std::{
    collections::{BTreeMap, BTreeSet},
    marker::PhantomData,
    sync::Mutex,
};

use ferry_core::{
    Class, CommitError, Coverage, Fold, ProjectResult, Projection, Record, RecordOf, Schema, Step,
    StepOf,
};

use super::{
    bank::{BEYOND, Deposit},
    mishap::{Trouble, fault},
};

/// `pending` panics at this balance, to which nothing else adds up.
pub const BLINDING: i64 = 999_999;

#[derive(Clone, Debug, Default)]
pub struct Room {
    pub balance: i64,
    /// What was applied, and the balance it led to.
    applied: BTreeMap<u64, (i64, i64)>,
    /// The version that the view has reached.
    pub marker: u64,
}

/// The ids that a view shows, where it was written in part.
pub type Shown = BTreeSet<u64>;

/// The rooms, however many stores lead to them.
#[derive(Default)]
pub struct Walls(Mutex<State>);

#[derive(Default)]
struct State {
    rooms: BTreeMap<u64, Stored>,
    commits: u64,
}

#[derive(Default)]
struct Stored {
    room: Room,
    version: u64,
    log: Vec<Deposit>,
    /// The view: built entry by entry, so that nothing could be shown twice and go unnoticed.
    view: Vec<Deposit>,
}

impl Walls {
    /// What a handle leaves behind that dies between its two writes.
    pub fn owe(&self, number: u64, deposit: Deposit) {
        let record = self.read(number);
        let version = record.as_ref().map(|record| record.version);
        let mut room = record.map_or_else(Room::default, |record| record.state);
        room.apply(deposit);
        self.commit(number, version, &room, &[deposit]).unwrap();
    }

    /// The rooms whose view is behind, as an application's query would find them.
    pub fn pending(&self) -> Vec<u64> {
        let state = self.0.lock().unwrap();
        let pending = |stored: &Stored| stored.room.marker != stored.version;
        let rooms = state.rooms.iter().filter(|(_, stored)| pending(stored));
        rooms.map(|(&number, _)| number).collect()
    }

    /// The ids of what was applied in a room, in order.
    pub fn applied(&self, number: u64) -> Vec<u64> {
        let state = self.0.lock().unwrap();
        let stored = state.rooms.get(&number);
        stored.map_or(Vec::new(), |stored| {
            stored.log.iter().map(|deposit| deposit.id).collect()
        })
    }

    /// The ids that a room's view shows.
    pub fn shown(&self, number: u64) -> Vec<u64> {
        let state = self.0.lock().unwrap();
        let stored = state.rooms.get(&number);
        stored.map_or(Vec::new(), |stored| {
            stored.view.iter().map(|deposit| deposit.id).collect()
        })
    }

    /// That every view shows what its record holds, each entry once, and that nothing is pending.
    #[track_caller]
    pub fn assert_all_is_shown(&self) {
        assert_eq!(self.pending(), [0_u64; 0]);
        let state = self.0.lock().unwrap();
        for (number, stored) in &state.rooms {
            assert_eq!(stored.view, stored.log, "the view of {number}");
            let sum: i64 = stored.view.iter().map(|deposit| deposit.cents).sum();
            assert_eq!(stored.room.balance, sum, "the record of {number}");
            let ids: BTreeSet<_> = stored.log.iter().map(|deposit| deposit.id).collect();
            assert_eq!(ids.len(), stored.log.len(), "applied twice in {number}");
        }
    }

    pub fn read(&self, number: u64) -> Option<Record<Room, u64>> {
        let state = self.0.lock().unwrap();
        let stored = state.rooms.get(&number)?;
        Some(Record {
            state: stored.room.clone(),
            version: stored.version,
        })
    }

    pub fn commit(
        &self,
        number: u64,
        expected: Option<u64>,
        to: &Room,
        entries: &[Deposit],
    ) -> Result<u64, CommitError<Trouble>> {
        let mut state = self.0.lock().unwrap();
        if state.rooms.get(&number).map(|stored| stored.version) != expected {
            return Err(CommitError::Refused);
        }
        state.commits += 1;
        let version = state.commits;
        let stored = state.rooms.entry(number).or_default();
        let marker = stored.room.marker;
        stored.room = Room {
            marker,
            ..to.clone()
        };
        stored.version = version;
        stored.log.extend(entries);
        Ok(version)
    }

    /// Shows what the record holds beyond the view, or only so many entries of it.
    pub fn project(
        &self,
        number: u64,
        version: u64,
        marker: u64,
        entries_max: Option<usize>,
    ) -> ProjectResult<Shown, Trouble> {
        let mut state = self.0.lock().unwrap();
        let stored = state.rooms.get_mut(&number).ok_or(CommitError::Refused)?;
        if (stored.version, stored.room.marker) != (version, marker) {
            return Err(CommitError::Refused);
        }
        let shown = stored.view.len();
        let new = stored.log.iter().skip(shown);
        let new: Vec<_> = new
            .take(entries_max.unwrap_or(usize::MAX))
            .copied()
            .collect();
        stored.view.extend(new);
        if entries_max.is_none() {
            stored.room.marker = version;
            return Ok(Coverage::Whole);
        }
        Ok(Coverage::Part {
            view: stored.view.iter().map(|deposit| deposit.id).collect(),
            fault: fault(Class::Transient),
        })
    }
}

impl Room {
    fn apply(&mut self, Deposit { id, cents }: Deposit) {
        self.balance += cents;
        self.applied.insert(id, (cents, self.balance));
    }
}

/// Adds deposits up; each caller hears the balance after its own. Shows what was paid in.
pub struct Pictures<S>(PhantomData<fn(S)>);

impl<S> Pictures<S> {
    pub fn new() -> Self {
        Self(PhantomData)
    }
}

impl<S> Fold for Pictures<S>
where
    S: Schema<Id = u64, State = Room, Version = u64, Entry = Deposit>,
{
    type Schema = S;
    type Input = Deposit;
    type Outcome = i64;

    fn id(&self, deposit: &Deposit) -> u64 {
        deposit.id
    }

    fn empty(&self, _: &S::Key) -> Room {
        Room::default()
    }

    fn step(&self, room: &mut Room, deposit: &Deposit) -> StepOf<Self> {
        match room.applied.get(&deposit.id) {
            Some(&(cents, balance)) if cents == deposit.cents => return Step::Already(balance),
            Some(&(_, balance)) => return Step::Mismatch(balance),
            None => {}
        }
        if room.balance + deposit.cents < 0 {
            return Step::Refused(BEYOND);
        }
        room.apply(*deposit);
        Step::Applied(*deposit, room.balance)
    }
}

impl<S> Projection for Pictures<S>
where
    S: Schema<Id = u64, State = Room, Version = u64, Entry = Deposit>,
{
    type View = Shown;

    fn pending(&self, record: &RecordOf<S>) -> bool {
        assert_ne!(record.state.balance, BLINDING, "looking panics");
        record.state.marker != record.version
    }

    fn includes(&self, shown: &Shown, deposit: &Deposit) -> bool {
        shown.contains(&deposit.id)
    }
}
