//! What the simulated fleet does: amounts to purses, no balance ever below zero.

use core::{error::Error, fmt, num::NonZeroUsize};
use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use ferry_core::{
    Fold, Schema, Step, StepOf,
    applied::{Applied, Check, Fingerprint},
};

use crate::history::SubmissionId;

/// More than a run has inputs, so that no id is forgotten.
const WINDOW: NonZeroUsize = NonZeroUsize::new(1 << 16).unwrap();

/// One caller's request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Input {
    /// Chosen by the client; a retry carries the same.
    pub id: u64,
    /// What goes in, or out where it is negative.
    pub cents: i64,
    /// Which attempt it came in. Not part of its content.
    pub submission: SubmissionId,
    /// The store takes no record that would hold it.
    pub is_poison: bool,
}

/// Where a purse stood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Standing {
    /// How many entries it held.
    pub entries: u64,
    /// What was in it.
    pub balance: i64,
}

impl Standing {
    /// Where it stands with this much more in it.
    #[must_use]
    pub fn with(self, cents: i64) -> Self {
        Self {
            entries: self.entries + 1,
            balance: self.balance + cents,
        }
    }
}

/// What a caller hears.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Applied, and where that led.
    Applied(Standing),
    /// More than there was, and how much that was.
    Declined(Standing),
    /// The id is known with another amount.
    Mismatch,
    /// The id is forgotten.
    TooOld,
}

/// What the store holds of a purse.
#[derive(Clone, Debug)]
pub struct Purse {
    /// Where it stands.
    pub standing: Standing,
    /// Which inputs it holds.
    pub applied: Applied<u64, Outcome>,
}

impl Purse {
    /// Whether it holds this input.
    #[must_use]
    pub fn holds(&self, id: u64) -> bool {
        // Whatever the content, an id that it does not hold is new.
        !matches!(self.applied.check(&id, Fingerprint::of(&[])), Check::New)
    }
}

/// How the simulated store fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StoreError {
    /// No answer came in time.
    TimedOut,
    /// The connection broke after the request had gone out.
    Broken,
    /// Not now.
    Busy,
    /// Less, please.
    Throttled,
    /// Not ever.
    NotAllowed,
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TimedOut => "no answer in time",
            Self::Broken => "the connection broke",
            Self::Busy => "busy",
            Self::Throttled => "throttled",
            Self::NotAllowed => "not allowed",
        })
    }
}

impl Error for StoreError {}

/// How a step knows an input that it has applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dedup {
    /// By its id, and the content is compared.
    #[default]
    Whole,
    /// By its id alone.
    ContentIgnored,
    /// Not at all.
    Off,
}

/// How often a safeguard that was left out made a difference.
#[derive(Debug, Default)]
pub(crate) struct Weakened(AtomicU64);

impl Weakened {
    pub(crate) fn again(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    pub(crate) fn times(&self) -> u64 {
        self.0.load(Relaxed)
    }
}

/// The fold.
#[derive(Debug)]
pub(crate) struct Purses {
    pub(crate) dedup: Dedup,
    pub(crate) weakened: Arc<Weakened>,
}

impl Schema for crate::store::SimStore {
    type Key = u32;
    type Id = u64;
    type State = Purse;
    type Version = u64;
    type Entry = Input;
    type Error = StoreError;
}

impl Fold for Purses {
    type Schema = crate::store::SimStore;
    type Input = Input;
    type Outcome = Outcome;

    fn id(&self, input: &Input) -> u64 {
        input.id
    }

    fn empty(&self, _key: &u32) -> Purse {
        Purse {
            standing: Standing::default(),
            applied: Applied::new(WINDOW),
        }
    }

    fn step(&self, purse: &mut Purse, input: &Input) -> StepOf<Self> {
        let content = Fingerprint::of(&input.cents.to_be_bytes());
        match (self.dedup, purse.applied.check(&input.id, content)) {
            (_, Check::New) => {}
            (Dedup::Whole | Dedup::ContentIgnored, Check::Same(outcome)) => {
                return Step::Already(*outcome);
            }
            (Dedup::Whole, Check::Mismatch) => return Step::Mismatch(Outcome::Mismatch),
            (Dedup::ContentIgnored, Check::Mismatch) => {
                self.weakened.again();
                let mut held = purse.applied.iter();
                match held.find(|(id, ..)| **id == input.id) {
                    Some((_, _, outcome)) => return Step::Already(*outcome),
                    None => unreachable!("a mismatch is with one that is held"),
                }
            }
            (Dedup::Off, Check::Same(_) | Check::Mismatch) => self.weakened.again(),
            (_, Check::TooOld) => return Step::TooOld(Outcome::TooOld),
        }
        if purse.standing.balance + input.cents < 0 {
            return Step::Refused(Outcome::Declined(purse.standing));
        }
        purse.standing = purse.standing.with(input.cents);
        let outcome = Outcome::Applied(purse.standing);
        // Held already where dedup is off; the first stays.
        let _recorded = purse.applied.record(input.id, content, outcome);
        Step::Applied(*input, outcome)
    }
}
