//! What the simulated fleet does unless it is given something else: amounts to purses, no balance ever below zero.

use core::{error::Error, fmt, num::NonZeroUsize};
use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use ferry_core::{
    Fold, Projection, RecordOf, Schema, Step, StepOf,
    applied::{Applied, Check, Fingerprint},
};

use crate::{
    chance::Chance,
    policy::Dedup,
    workload::{ProjectedWorkload, Workload},
};

/// One caller's request.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Amount {
    /// Chosen by the client; a retry carries the same.
    pub id: u64,
    /// What goes in, or out where it is negative.
    pub cents: i64,
}

/// Where a purse stands, or stood.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Standing {
    /// How many entries it holds.
    pub entries: u64,
    /// What is in it.
    pub balance: i64,
}

/// What a caller hears.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
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
    /// Which inputs it holds. Copies share it until one of them changes.
    pub applied: Arc<Applied<u64, Outcome>>,
    /// The version that its view has reached.
    pub marker: Option<u64>,
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

/// What is known of the store that purses are kept in.
#[derive(Debug)]
pub struct PurseSchema;

impl Schema for PurseSchema {
    type Key = u32;
    type Id = u64;
    type State = Purse;
    type Version = u64;
    type Entry = Amount;
    type Error = StoreError;
}

/// Amounts to purses.
#[derive(Clone, Debug)]
pub struct Purses {
    dedup: Dedup,
    /// How many ids a purse remembers.
    window: NonZeroUsize,
    /// Whether a purse remembers also what was declined, and so declines it for good.
    keeps_declined: bool,
    /// Whether as much goes out as in, so that much is declined.
    is_poor: bool,
    /// The ids that this process has met.
    met: Arc<Mutex<BTreeSet<u64>>>,
    weakened: Arc<AtomicU64>,
}

/// More than a run of the default size has inputs, so that no id is forgotten. Bounded, so that a long run takes a time
/// that grows with its length alone.
const ALL_IDS: NonZeroUsize = NonZeroUsize::new(256).unwrap();

/// So few that a late retry finds its id forgotten.
pub(crate) const FEW_IDS: NonZeroUsize = NonZeroUsize::new(8).unwrap();

impl Default for Purses {
    fn default() -> Self {
        Self::with(Dedup::Whole)
    }
}

impl Purses {
    pub(crate) fn with(dedup: Dedup) -> Self {
        Self {
            dedup,
            window: ALL_IDS,
            keeps_declined: false,
            is_poor: false,
            met: Arc::default(),
            weakened: Arc::default(),
        }
    }

    /// The same with purses that remember so many ids.
    pub(crate) fn remembering(self, window: NonZeroUsize) -> Self {
        Self { window, ..self }
    }

    /// The same with purses that remember what was declined.
    pub(crate) fn keeping_declined(self) -> Self {
        let keeps_declined = true;
        Self {
            keeps_declined,
            ..self
        }
    }

    /// How many ids a purse remembers.
    pub(crate) fn window(&self) -> usize {
        self.window.get()
    }

    fn has_met(&self, id: u64) -> bool {
        let met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        met.contains(&id)
    }

    fn weaken(&self) {
        self.weakened.fetch_add(1, Relaxed);
    }
}

impl Standing {
    fn with(self, cents: i64) -> Self {
        Self {
            entries: self.entries + 1,
            balance: self.balance + cents,
        }
    }
}

impl Fold for Purses {
    type Schema = PurseSchema;
    type Input = Amount;
    type Outcome = Outcome;

    fn id(&self, amount: &Amount) -> u64 {
        amount.id
    }

    /// From 1 to 4.
    fn weight(&self, amount: &Amount) -> usize {
        const WEIGHT_MAX: u64 = 4;
        let more = (amount.cents.unsigned_abs() / 32).min(WEIGHT_MAX - 1);
        1 + more as usize
    }

    fn empty(&self, _key: &u32) -> Purse {
        Purse {
            standing: Standing::default(),
            applied: Arc::new(Applied::new(self.window)),
            marker: None,
        }
    }

    fn step(&self, purse: &mut Purse, amount: &Amount) -> StepOf<Self> {
        let content = Fingerprint::of(&amount.cents.to_be_bytes());
        let is_too_much = purse.standing.balance + amount.cents < 0;
        match (self.dedup, purse.applied.check(&amount.id, content)) {
            (_, Check::New) => {}
            (Dedup::InMemory, Check::Same(_)) if !self.has_met(amount.id) => self.weaken(),
            (Dedup::AfterTheRest, Check::Same(_)) if is_too_much => {
                self.weaken();
                return Step::Refused(Outcome::Declined(purse.standing));
            }
            (Dedup::OutcomeForgotten, Check::Same(_)) => {
                self.weaken();
                return Step::Already(Outcome::Applied(purse.standing));
            }
            (Dedup::Off, Check::Same(_) | Check::Mismatch | Check::TooOld)
            | (Dedup::Pruned, Check::TooOld) => self.weaken(),
            (Dedup::ContentIgnored, Check::Mismatch) => {
                self.weaken();
                let mut held = purse.applied.iter();
                match held.find(|(id, ..)| **id == amount.id) {
                    Some((_, _, outcome)) => return Step::Already(*outcome),
                    None => unreachable!("a mismatch is with one that is held"),
                }
            }
            (_, Check::Same(outcome)) => return Step::Already(*outcome),
            (_, Check::Mismatch) => return Step::Mismatch(Outcome::Mismatch),
            (_, Check::TooOld) => return Step::TooOld(Outcome::TooOld),
        }
        if is_too_much && !self.keeps_declined {
            return Step::Refused(Outcome::Declined(purse.standing));
        }
        let outcome = if is_too_much {
            Outcome::Declined(purse.standing)
        } else {
            purse.standing = purse.standing.with(amount.cents);
            Outcome::Applied(purse.standing)
        };
        if self.dedup == Dedup::InMemory {
            let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
            met.insert(amount.id);
        }
        // Held or forgotten already where dedup is off; then it stays as it is.
        let _recorded = Arc::make_mut(&mut purse.applied).record(amount.id, content, outcome);
        Step::Applied(*amount, outcome)
    }
}

impl Projection for Purses {
    /// The ids of the amounts that it shows.
    type View = Vec<u64>;

    fn pending(&self, record: &RecordOf<PurseSchema>) -> bool {
        record.state.marker != Some(record.version)
    }

    fn includes(&self, shown: &Vec<u64>, amount: &Amount) -> bool {
        shown.contains(&amount.id)
    }
}

impl Workload for Purses {
    type Fold = Self;

    fn fold(&self) -> Self {
        Self {
            met: Arc::default(),
            ..self.clone()
        }
    }

    fn key(&self, nth: u32) -> u32 {
        nth
    }

    fn input(&self, nth: u64, chance: &mut Chance) -> Amount {
        // Twice as often in as out; of the poor as often, and as much.
        let (kinds, in_max) = if self.is_poor { (100, 50) } else { (160, 110) };
        let cents = match chance.below(kinds) as i64 {
            out if out >= in_max => in_max - 1 - out,
            paid_in => paid_in + 1,
        };
        Amount { id: nth, cents }
    }

    fn other_content(&self, amount: &Amount) -> Option<Amount> {
        let cents = amount.cents + 1;
        Some(Amount { cents, ..*amount })
    }

    fn version(&self, nth: u64) -> u64 {
        nth
    }

    fn drawn(&self, chance: &mut Chance) -> Self {
        let (rich, poor) = (false, true);
        let draws = [
            (ALL_IDS, rich),
            (ALL_IDS, rich),
            (ALL_IDS, poor),
            (ALL_IDS, poor),
            (FEW_IDS, rich),
            (FEW_IDS, poor),
        ];
        let (window, is_poor) = chance.pick(&draws);
        Self {
            window,
            is_poor,
            ..self.clone()
        }
    }

    fn reference(&self) -> Self {
        Self {
            window: self.window,
            keeps_declined: self.keeps_declined,
            ..Self::default()
        }
    }

    fn weakened(&self) -> u64 {
        self.weakened.load(Relaxed)
    }
}

impl ProjectedWorkload for Purses {
    fn view(&self, shown: &[&Amount]) -> Option<Vec<u64>> {
        Some(shown.iter().map(|amount| amount.id).collect())
    }

    fn marker(&self, purse: &Purse) -> Option<u64> {
        purse.marker
    }

    fn mark(&self, purse: &mut Purse, marker: Option<u64>) {
        purse.marker = marker;
    }
}

impl fmt::Debug for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:+}", self.cents)
    }
}

impl fmt::Debug for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Applied(at) => {
                write!(
                    f,
                    "applied as number {}, balance {}",
                    at.entries, at.balance
                )
            }
            Self::Declined(at) => {
                let Standing { entries, balance } = at;
                write!(f, "declined after {entries} entries, balance {balance}")
            }
            Self::Mismatch => f.write_str("mismatch"),
            Self::TooOld => f.write_str("too old"),
        }
    }
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
