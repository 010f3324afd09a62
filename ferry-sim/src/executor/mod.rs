//! A deterministic executor on virtual time: one thread, and every choice drawn from a seed.
//!
//! Tasks belong to groups, one for each process that is simulated: a group can be crashed, which drops its
//! tasks, and frozen for a while. Of the tasks that are ready, the schedule draws which is polled next; when
//! none is, the clock jumps to the next timer.

mod runtime;
mod shared;
mod timer;

use std::sync::Arc;

use ferry_core::Instant;

use self::shared::Core;
use crate::{chance::Chance, event::Event, trace::Trace};

pub use runtime::Process;
pub use timer::Sleep;

/// After so many polls without time passing, something spins.
const POLLS_MAX: u32 = 200_000;

/// A deterministic executor. Dropping it drops its tasks.
#[derive(Debug)]
pub struct Executor {
    core: Arc<Core>,
}

/// Why a run came to a halt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Halt {
    /// The time was up.
    TimeUp,
    /// Nothing can move any more: no task is ready, and no timer is set.
    Quiet,
    /// Tasks keep each other busy without time passing.
    Spinning,
}

impl Executor {
    /// An executor whose schedule is drawn from this seed, at the epoch.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self::with(Chance::new(seed), Trace::new(crate::trace::Keep::Nothing))
    }

    pub(crate) fn with(schedule: Chance, trace: Trace) -> Self {
        Self {
            core: Arc::new(Core::new(schedule, trace)),
        }
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
        loop {
            if let Some(task) = self.core.pick() {
                self.core.tell(Event::Polled { task });
                self.core.poll(task);
                polls += 1;
                if polls > POLLS_MAX {
                    return Halt::Spinning;
                }
                continue;
            }
            polls = 0;
            match self.core.next_timer() {
                None => return Halt::Quiet,
                Some(due) if due <= end => self.core.jump(due),
                Some(_) => {
                    self.core.jump(end);
                    return Halt::TimeUp;
                }
            }
        }
    }

    /// Drops all tasks, and gives the trace.
    pub(crate) fn end(self) -> Trace {
        self.core.crash_all();
        self.core.take_trace()
    }
}

impl Drop for Executor {
    fn drop(&mut self) {
        // Tasks hold the executor that holds them.
        self.core.crash_all();
    }
}
