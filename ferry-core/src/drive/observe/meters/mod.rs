//! Counters, gauges and histograms, by the `metrics` crate.

mod flight;
mod names;

use alloc::{sync::Arc, vec, vec::Vec};
use core::{array, mem};

use metrics::{Counter, Gauge, Histogram, Key, KeyName, Label, Level, Metadata, Recorder};

use crate::{
    Instant,
    fold_write::Tally,
    guard::{discard, guard},
    per_key::Reason,
};

use super::carrying::Pass;

use names::{Amount, Count, HANDLE, Named, REASON, REJECTED, Spread};

pub(in crate::drive) use flight::Flight;

/// What tells of one handle.
#[derive(Clone)]
pub(super) struct Meters(Arc<Registered>);

/// What the recorder gave for each meter of a handle.
struct Registered {
    counts: [Counter; Count::ALL.len()],
    rejected: [Counter; REASONS.len()],
    amounts: [Gauge; Amount::ALL.len()],
    spreads: [Histogram; Spread::ALL.len()],
}

const REASONS: [&str; 4] = ["queue_full", "key_full", "too_heavy", "closed"];

fn place_of(reason: Reason) -> usize {
    match reason {
        Reason::QueueFull => 0,
        Reason::KeyFull => 1,
        Reason::TooHeavy => 2,
        Reason::Closed => 3,
    }
}

/// Since when an input waits.
#[derive(Clone, Copy)]
pub(super) struct Since(Instant);

impl Since {
    pub(super) fn at(now: Instant) -> Self {
        Self(now)
    }
}

/// How often a batch was tried.
#[derive(Clone, Copy)]
pub(super) struct Tried(u32);

impl Tried {
    pub(super) const NONE: Self = Self(0);

    pub(super) fn begins(&mut self, pass: Pass) {
        match pass {
            Pass::Try => self.0 += 1,
            Pass::Project => {}
        }
    }
}

impl Meters {
    /// Asks the recorder that is installed now for the meters of the handle of this name. One that comes later is not asked any
    /// more, and one that panics is not told anything.
    pub(super) fn named(name: &str) -> Self {
        let name = Arc::from(name);
        let register = || metrics::with_recorder(|recorder| Registered::by(recorder, &name));
        Self(Arc::new(
            guard(register).unwrap_or_else(|_| Registered::with_nobody()),
        ))
    }

    pub(super) fn room_taken(&self) {
        self.tell(|to| to.raise(Amount::Queueing, 1));
    }

    pub(super) fn room_released(&self, places: usize) {
        self.tell(|to| to.lower(Amount::Queueing, places));
    }

    pub(super) fn accepted(&self) {
        self.tell(|to| {
            to.raise(Amount::Waiting, 1);
            to.count(Count::Accepted, 1);
        });
    }

    pub(super) fn rejected(&self, reason: Reason) {
        self.tell(|to| to.rejected[place_of(reason)].increment(1));
    }

    pub(super) fn withdrawn(&self) {
        self.tell(|to| {
            to.lower(Amount::Waiting, 1);
            to.count(Count::Withdrawn, 1);
        });
    }

    pub(super) fn expired(&self) {
        self.tell(|to| {
            to.lower(Amount::Waiting, 1);
            to.count(Count::Expired, 1);
        });
    }

    pub(super) fn abandoned(&self) {
        self.tell(|to| to.lower(Amount::Waiting, 1));
    }

    pub(super) fn flight(&self, inputs: usize) -> Flight {
        Flight::new(self.clone(), inputs)
    }

    pub(super) fn resumed(&self, tally: &Tally) {
        self.tell(|to| {
            to.count(Count::Resumes, 1);
            to.tallied(tally);
        });
    }

    /// What a panic of the recorder keeps from being told is lost to it, and nothing else is.
    fn tell(&self, words: impl FnOnce(&Registered)) {
        drop(guard(|| words(&self.0)));
    }
}

impl Registered {
    fn by(recorder: &dyn Recorder, handle: &Arc<str>) -> Self {
        describe(recorder);
        let labels = || vec![Label::new(HANDLE, Arc::clone(handle))];
        let key = |named: &Named, labels| Key::from_parts(named.name, labels);
        Self {
            counts: Count::ALL
                .map(|named| recorder.register_counter(&key(&named, labels()), &metadata())),
            rejected: REASONS.map(|reason| {
                let mut labels: Vec<Label> = labels();
                labels.push(Label::new(REASON, reason));
                recorder.register_counter(&key(&REJECTED, labels), &metadata())
            }),
            amounts: Amount::ALL
                .map(|named| recorder.register_gauge(&key(&named, labels()), &metadata())),
            spreads: Spread::ALL
                .map(|named| recorder.register_histogram(&key(&named, labels()), &metadata())),
        }
    }

    fn with_nobody() -> Self {
        Self {
            counts: array::from_fn(|_| Counter::noop()),
            rejected: array::from_fn(|_| Counter::noop()),
            amounts: array::from_fn(|_| Gauge::noop()),
            spreads: array::from_fn(|_| Histogram::noop()),
        }
    }

    fn count(&self, count: Count, more: u64) {
        if more > 0 {
            self.counts[count as usize].increment(more);
        }
    }

    fn raise(&self, amount: Amount, by: usize) {
        self.amounts[amount as usize].increment(by as f64);
    }

    fn lower(&self, amount: Amount, by: usize) {
        self.amounts[amount as usize].decrement(by as f64);
    }

    fn record(&self, spread: Spread, value: f64) {
        self.spreads[spread as usize].record(value);
    }

    fn tallied(&self, tally: &Tally) {
        let Tally {
            reads,
            commits,
            refused,
            in_doubt,
            faults,
            retries,
            splits,
            projections,
            projections_failed,
            applied,
            duplicates,
            declined,
            mismatches,
            too_old,
            expired,
            failed,
            late,
        } = *tally;
        for (count, more) in [
            (Count::Reads, reads),
            (Count::Commits, commits),
            (Count::Refused, refused),
            (Count::InDoubt, in_doubt),
            (Count::Faults, faults),
            (Count::Retries, retries),
            (Count::Splits, splits),
            (Count::Projections, projections),
            (Count::ProjectionsFailed, projections_failed),
            (Count::Applied, applied),
            (Count::Duplicates, duplicates),
            (Count::Declined, declined),
            (Count::Mismatches, mismatches),
            (Count::TooOld, too_old),
            (Count::ExpiredInFlight, expired),
            (Count::Failed, failed),
            (Count::Late, late),
        ] {
            self.count(count, more);
        }
    }
}

fn metadata() -> Metadata<'static> {
    Metadata::new("ferry", Level::INFO, Some(module_path!()))
}

fn describe(recorder: &dyn Recorder) {
    let name = |named: &Named| KeyName::from(named.name);
    for named in Count::ALL.into_iter().chain([REJECTED]) {
        recorder.describe_counter(name(&named), Some(named.unit), named.text.into());
    }
    for named in Amount::ALL {
        recorder.describe_gauge(name(&named), Some(named.unit), named.text.into());
    }
    for named in Spread::ALL {
        recorder.describe_histogram(name(&named), Some(named.unit), named.text.into());
    }
}

/// What a recorder gave is the recorder's code to let go of.
impl Drop for Registered {
    fn drop(&mut self) {
        for counter in self.counts.iter_mut().chain(&mut self.rejected) {
            discard(mem::replace(counter, Counter::noop()));
        }
        for gauge in &mut self.amounts {
            discard(mem::replace(gauge, Gauge::noop()));
        }
        for histogram in &mut self.spreads {
            discard(mem::replace(histogram, Histogram::noop()));
        }
    }
}
