//! What a batch adds to the gauges until it is over, and what it tells then.

use core::time::Duration;

use crate::{Instant, fold_write::Tally};

use super::{
    Meters, Since, Tried,
    names::{Amount, Count, Spread},
};

/// A batch from when it leaves the waiting; it takes off as soon as nothing is locked. Dropped before it is over, with a task that the
/// runtime dropped, it takes back what it has added.
pub(in crate::drive) struct Flight {
    meters: Meters,
    inputs: usize,
    stage: Stage,
    began: Began,
}

enum Stage {
    InFlight,
    Over,
}

/// When the round trip began, and how long the oldest input had waited by then.
#[derive(Default)]
struct Began {
    at: Instant,
    oldest_wait: Duration,
}

impl Flight {
    pub(super) fn new(meters: Meters, inputs: usize) -> Self {
        Self {
            meters,
            inputs,
            stage: Stage::InFlight,
            began: Began::default(),
        }
    }

    /// Its inputs wait no more.
    pub(in crate::drive) fn takes_off(&self) {
        self.meters.tell(|to| {
            to.lower(Amount::Waiting, self.inputs);
            to.raise(Amount::BatchesInFlight, 1);
        });
    }

    pub(in crate::drive::observe) fn begins(
        &mut self,
        oldest: Option<Since>,
        now: impl FnOnce() -> Instant,
    ) {
        let at = now();
        let oldest_wait = oldest.map_or(Duration::ZERO, |Since(since)| at - since);
        self.began = Began { at, oldest_wait };
    }

    /// Its inputs give back their places by themselves.
    pub(in crate::drive::observe) fn ended(
        mut self,
        now: impl FnOnce() -> Instant,
        Tried(tries): Tried,
        tally: Option<&Tally>,
    ) {
        self.stage = Stage::Over;
        let Began { at, oldest_wait } = self.began;
        let now = now();
        self.meters.tell(|to| {
            to.lower(Amount::BatchesInFlight, 1);
            to.count(Count::Batches, 1);
            to.count(Count::Batched, self.inputs as u64);
            if let Some(tally) = tally {
                to.tallied(tally);
            }
            to.record(Spread::BatchInputs, self.inputs as f64);
            if tries > 0 {
                to.record(Spread::BatchTries, f64::from(tries));
            }
            to.record(Spread::RoundTrip, (now - at).as_secs_f64());
            to.record(Spread::OldestWait, oldest_wait.as_secs_f64());
        });
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        if matches!(self.stage, Stage::InFlight) {
            self.meters.tell(|to| {
                to.lower(Amount::BatchesInFlight, 1);
                to.lower(Amount::Queueing, self.inputs);
            });
        }
    }
}
