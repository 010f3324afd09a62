//! What a batch adds to the gauges until it is over, and what it tells then.

use core::time::Duration;

use crate::{Instant, fold_write::Tally};

use super::{
    Meters, Since, Tries,
    names::{Amount, Count, Spread},
};

/// A batch from when it leaves the waiting. Dropped before it is over, with a task that the runtime dropped, it takes back what it has
/// added.
pub(in crate::drive) struct Flight {
    meters: Meters,
    inputs: usize,
    counted_as: CountedAs,
    began: Began,
}

enum CountedAs {
    Waiting,
    InFlight,
    Nothing,
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
            counted_as: CountedAs::Waiting,
            began: Began::default(),
        }
    }

    /// Its inputs wait no more.
    pub(in crate::drive) fn takes_off(&mut self) {
        self.counted_as = CountedAs::InFlight;
        self.meters.0.lower(Amount::Waiting, self.inputs);
        self.meters.0.raise(Amount::BatchesInFlight, 1);
    }

    pub(in super::super) fn begins(
        &mut self,
        oldest: Option<Since>,
        now: impl FnOnce() -> Instant,
    ) {
        let at = now();
        let oldest_wait = oldest.map_or(Duration::ZERO, |Since(since)| at - since);
        self.began = Began { at, oldest_wait };
    }

    /// Its inputs give back their places by themselves.
    pub(in super::super) fn ended(
        mut self,
        now: Instant,
        Tries(tries): Tries,
        tally: Option<&Tally>,
    ) {
        self.counted_as = CountedAs::Nothing;
        let registered = &self.meters.0;
        registered.lower(Amount::BatchesInFlight, 1);
        registered.count(Count::Batches, 1);
        registered.count(Count::Batched, self.inputs as u64);
        if let Some(tally) = tally {
            registered.tallied(tally);
        }
        registered.record(Spread::BatchInputs, self.inputs as f64);
        if tries > 0 {
            registered.record(Spread::BatchTries, f64::from(tries));
        }
        let Began { at, oldest_wait } = self.began;
        registered.record(Spread::RoundTrip, (now - at).as_secs_f64());
        registered.record(Spread::OldestWait, oldest_wait.as_secs_f64());
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        let registered = &self.meters.0;
        match self.counted_as {
            CountedAs::Waiting => registered.lower(Amount::Waiting, self.inputs),
            CountedAs::InFlight => registered.lower(Amount::BatchesInFlight, 1),
            CountedAs::Nothing => return,
        }
        registered.lower(Amount::Queueing, self.inputs);
    }
}
