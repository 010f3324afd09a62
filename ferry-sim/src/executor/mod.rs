//! A deterministic executor on virtual time: one thread, and every choice drawn from a seed.
//!
//! Tasks belong to groups, one for each process that is simulated: a group can be crashed, which drops its
//! tasks, and frozen for a while. Of the tasks that are ready, the schedule draws which is polled next; when
//! none is, the clock jumps to the next timer.

mod block_on;
mod runtime;
mod shared;
mod tasks;
mod timer;
mod timers;

use core::{
    ops::ControlFlow,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};
use std::sync::Arc;

use ferry_core::Instant;

use self::shared::{Core, Polled};
use crate::{
    chance::Chance,
    trace::{Keep, Trace},
};

pub use runtime::Process;
pub use timer::Sleep;

/// After so many polls without time passing, something spins.
const POLLS_MAX: u32 = 200_000;

/// A deterministic executor. Dropping it drops its tasks.
#[derive(Debug)]
pub struct Executor {
    core: Arc<Core>,
    polls_left: AtomicU64,
}

/// Why a run came to a halt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The time was up.
    TimeUp,
    /// Nothing can move any more: no task is ready, and no timer is set.
    Quiet,
    /// Tasks keep each other busy without time passing, or without an end.
    Spinning,
}

impl Executor {
    /// An executor whose schedule is drawn from this seed, at the epoch.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::with(Chance::new(seed), Trace::new(Keep::Nothing))
    }

    pub(crate) fn with(schedule: Chance, trace: Trace) -> Self {
        Self {
            core: Arc::new(Core::new(schedule, trace)),
            polls_left: AtomicU64::new(u64::MAX),
        }
    }

    /// Comes to a halt after so many polls, whatever the time.
    pub(crate) fn at_most(self, polls: u64) -> Self {
        self.polls_left.store(polls, Relaxed);
        self
    }

    /// A new process, with no tasks yet.
    #[must_use]
    pub fn process(&self) -> Process {
        Process::new(Arc::clone(&self.core))
    }

    /// Runs until nothing can move any more, or this moment is reached. The tasks that are due at that
    /// moment still run.
    pub fn run_until(&self, end: Instant) -> Halt {
        let mut polls = 0;
        let mut polled = None;
        loop {
            if let ControlFlow::Break(halt) = self.core.turn(end, &mut polled, &mut polls) {
                return halt;
            }
            if let Some(Polled { running, .. }) = &mut polled {
                if running.poll().is_ready() {
                    self.core.end(polled.take());
                }
            }
            polls += 1;
            let left = self.polls_left.load(Relaxed).saturating_sub(1);
            self.polls_left.store(left, Relaxed);
            if polls > POLLS_MAX || left == 0 {
                self.core.rest(polled);
                return Halt::Spinning;
            }
        }
    }

    /// Drops all tasks, and gives the hash of all events, how many there were, and what was kept of them.
    pub(crate) fn end(self) -> (u64, usize, Keep) {
        self.core.crash_all();
        self.core.end_trace()
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        // Tasks hold the executor that holds them.
        self.core.crash_all();
    }
}
