//! What is carried, and what it is carried to.

use alloc::collections::BTreeMap;
use core::{error::Error, fmt};

use ferry_core::{Commit, CommitError, Fault, Fold, Record, RecordOf, Schema, Step, StepOf};

/// So many units, under a number that the meter counts up.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Counts up, from one on.
    pub number: u32,
    /// What was used since the reading before.
    pub units: u64,
}

/// The readings of one meter so far. They come in the order of their numbers, so that the last one tells which are in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    /// Of all of them.
    pub total: u64,
    /// The number of the last.
    pub last: u32,
}

/// Adds up, each reading once.
#[derive(Debug)]
pub struct Totalling;

impl Fold for Totalling {
    type Schema = Flash;
    type Input = Reading;
    type Outcome = u64;

    fn id(&self, reading: &Reading) -> u32 {
        reading.number
    }

    fn empty(&self, _meter: &u8) -> Readings {
        Readings::default()
    }

    fn step(&self, readings: &mut Readings, reading: &Reading) -> StepOf<Self> {
        if reading.number <= readings.last {
            return Step::Already(readings.total);
        }
        readings.last = reading.number;
        readings.total += reading.units;
        Step::Applied((), readings.total)
    }
}

/// A few sectors of flash, one for each meter, each with a count of its writes: the version.
#[derive(Debug, Default)]
pub struct Flash {
    sectors: BTreeMap<u8, (Readings, u32)>,
    /// The answer to so many writes to come is lost.
    pub answers_lost: u32,
}

/// The flash did not say whether it has written.
#[derive(Clone, Copy, Debug)]
pub struct Unanswered;

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the flash did not answer")
    }
}

impl Error for Unanswered {}

impl Schema for Flash {
    type Key = u8;
    type Id = u32;
    type State = Readings;
    type Version = u32;
    type Entry = ();
    type Error = Unanswered;
}

impl Flash {
    /// What is in a sector; `None` if it was never written.
    #[must_use]
    pub fn read(&self, meter: u8) -> Option<RecordOf<Self>> {
        let &(state, version) = self.sectors.get(&meter)?;
        Some(Record { state, version })
    }

    /// Writes a sector, if it is still as it was read.
    ///
    /// # Errors
    ///
    /// It is not, or nobody heard whether it was written.
    pub fn write(
        &mut self,
        meter: u8,
        commit: Commit<'_, Self>,
    ) -> Result<u32, CommitError<Unanswered>> {
        let version = self.sectors.get(&meter).map(|(_, version)| version);
        if version != commit.expected {
            return Err(CommitError::Refused);
        }
        let next = version.map_or(Ok(1), |version| {
            version.checked_add(1).ok_or(Fault::permanent(Unanswered))
        })?;
        self.sectors.insert(meter, (*commit.state, next));
        match self.answers_lost.checked_sub(1) {
            Some(left) => {
                self.answers_lost = left;
                Err(CommitError::InDoubt(Unanswered))
            }
            None => Ok(next),
        }
    }
}
