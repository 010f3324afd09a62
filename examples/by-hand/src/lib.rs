//! Seats in a hall, reserved through Ferry: what is tested in `tests/steps.rs`, where nothing runs but what the test says.
//!
//! There is no store here, no clock and no executor. A fold is pure, and so are the machines that carry its inputs: a test
//! plays the store, and tells the time.
#![forbid(unsafe_code)]

use std::{collections::BTreeMap, io};

use ferry_core::{Fold, Schema, Step, StepOf};

/// How many seats each hall has.
pub const SEATS: u32 = 10;

/// So many seats, for one who may ask again under the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserve {
    /// The same one however often it is sent.
    pub id: u64,
    /// How many.
    pub seats: u32,
}

/// What one who reserves hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply {
    /// They are reserved, and so many are left.
    Reserved {
        /// After these.
        left: u32,
    },
    /// There were not so many left.
    SoldOut {
        /// When it was asked.
        left: u32,
    },
}

/// What is reserved in one hall.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hall {
    /// The reservations, and what was replied to each.
    pub reserved: BTreeMap<u64, (Reserve, Reply)>,
}

impl Hall {
    /// Seats that are left.
    #[must_use]
    pub fn left(&self) -> u32 {
        let taken: u32 = self.reserved.values().map(|(one, _)| one.seats).sum();
        SEATS - taken
    }
}

/// What the store holds for a hall.
#[derive(Debug)]
pub struct Halls;

impl Schema for Halls {
    type Key = &'static str;
    type Id = u64;
    type State = Hall;
    type Version = u64;
    type Entry = Reserve;
    type Error = io::ErrorKind;
}

/// Reserves seats as long as there are any.
#[derive(Debug)]
pub struct Reserving;

impl Fold for Reserving {
    type Schema = Halls;
    type Input = Reserve;
    type Outcome = Reply;

    fn id(&self, reserve: &Reserve) -> u64 {
        reserve.id
    }

    fn empty(&self, _hall: &&'static str) -> Hall {
        Hall::default()
    }

    fn step(&self, hall: &mut Hall, reserve: &Reserve) -> StepOf<Self> {
        if let Some((_, reply)) = hall.reserved.get(&reserve.id) {
            return Step::Already(*reply);
        }
        let left = hall.left();
        let Some(left) = left.checked_sub(reserve.seats) else {
            return Step::Refused(Reply::SoldOut { left });
        };
        let reply = Reply::Reserved { left };
        hall.reserved.insert(reserve.id, (*reserve, reply));
        Step::Applied(*reserve, reply)
    }
}
