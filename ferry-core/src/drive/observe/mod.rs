//! What is told to the outside: spans and events (feature `tracing`), counters, gauges and histograms (feature `metrics`).
//!
//! The driver calls this module at the same places with the features and without; without, nothing is here to be done.
//! Recorders and subscribers are foreign code: they run when nothing is locked, and a panic of theirs ends here. No key, no input and
//! no error of a store is ever told.
//!
//! | to see | read |
//! | --- | --- |
//! | what the driver calls | this file, `carrying.rs` |
//! | counters, gauges, histograms | `meters/`; without the feature `no_meters.rs` |
//! | spans and events | `traces/`; without the feature `no_traces.rs` |

mod carrying;
#[cfg(feature = "metrics")]
mod meters;
#[cfg(not(feature = "metrics"))]
#[path = "no_meters.rs"]
mod meters;
#[cfg(not(feature = "tracing"))]
#[path = "no_traces.rs"]
mod traces;
#[cfg(feature = "tracing")]
mod traces;

use crate::{Instant, fold_write::Tally, per_key::Reason};

use self::{
    meters::{Meters, Since},
    traces::Traces,
};
use super::{
    carries::{BatchOf, Carries},
    run::{Heard, Tries},
};

pub(super) use carrying::{Passes, Trip};
pub(super) use meters::Flight;
pub(super) use traces::{Caller, Sweep, Turn, carried_along};

/// What tells of one handle.
pub(super) struct Observer {
    meters: Meters,
    traces: Traces,
}

/// Where an input comes from, and since when it waits.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    since: Since,
    caller: Caller,
}

impl Origin {
    pub(super) fn new(now: Instant, caller: Caller) -> Self {
        let since = Since::at(now);
        Self { since, caller }
    }
}

/// What became of a batch that is over.
#[derive(Clone, Copy)]
pub(super) enum End<'a> {
    /// `None`: all its inputs have their outcomes, and no more is told.
    Carried(Option<&'a Tally>),
    /// A panic took it along.
    Lost(&'a Tally),
}

impl<'a> End<'a> {
    pub(super) fn tally(self) -> Option<&'a Tally> {
        match self {
            Self::Carried(tally) => tally,
            Self::Lost(tally) => Some(tally),
        }
    }
}

impl Observer {
    /// Of the handle of this name.
    pub(super) fn named(name: &str) -> Self {
        Self {
            meters: Meters::named(name),
            traces: Traces::named(name),
        }
    }

    // ---- the way of an input ------------------------------------------------------------------------

    /// One of the `max_queueing` places is taken.
    pub(super) fn room_taken(&self) {
        self.meters.room_taken();
    }

    pub(super) fn room_released(&self, places: usize) {
        self.meters.room_released(places);
    }

    pub(super) fn accepted(&self) {
        self.meters.accepted();
    }

    pub(super) fn rejected(&self, reason: Reason) {
        self.meters.rejected(reason);
    }

    /// By its caller, while it waited.
    pub(super) fn withdrawn(&self) {
        self.meters.withdrawn();
    }

    /// While it waited.
    pub(super) fn expired(&self) {
        self.meters.expired();
    }

    /// It waited when the runtime went.
    pub(super) fn abandoned(&self) {
        self.meters.abandoned();
    }

    // ---- batches and resumes ------------------------------------------------------------------------

    /// Of a batch that has left the waiting. Nothing is told yet.
    pub(super) fn flight(&self, inputs: usize) -> Flight {
        self.meters.flight(inputs)
    }

    /// Its round trip begins. The clock is read where a time is told.
    pub(super) fn trip<C: Carries>(
        &self,
        mut flight: Flight,
        batch: &BatchOf<C>,
        now: impl FnOnce() -> Instant,
    ) -> Trip {
        let items = batch.items();
        let oldest = items.first().map(|oldest| oldest.input.origin.since);
        flight.begins(oldest, now);
        let callers = items.iter().map(|item| item.input.origin.caller);
        Trip {
            flight,
            passes: Passes::new(self.traces.batch(items.len(), callers)),
        }
    }

    /// A batch is over, and its callers hear next. The clock is read where a time is told.
    pub(super) fn landed(
        &self,
        trip: Trip,
        now: impl FnOnce() -> Instant,
        inputs: usize,
        end: End<'_>,
    ) {
        let Trip { flight, passes } = trip;
        let Passes { tries, trace } = passes;
        flight.ended(now, tries, end.tally());
        trace.landed(&self.traces, inputs, end);
    }

    /// One pass of a resume begins.
    pub(super) fn resume(&self) -> Passes {
        Passes::new(self.traces.resume())
    }

    /// It is over, and those who asked hear next.
    pub(super) fn resumed<E>(&self, passes: Passes, tries: Tries, tally: &Tally, heard: &Heard<E>) {
        self.meters.resumed(tally);
        passes.trace.resumed(&self.traces, tries, heard);
    }

    /// It panicked.
    pub(super) fn resume_panicked(&self) {
        self.traces.resume_panicked();
    }

    // ---- sweeps -------------------------------------------------------------------------------------

    pub(super) fn sweep(&self) -> Sweep {
        self.traces.sweep()
    }

    pub(super) fn turn(&self) -> Turn {
        self.traces.turn()
    }
}
