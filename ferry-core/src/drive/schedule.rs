//! How a sweeper goes about it.

use core::{error::Error, fmt, time::Duration};

use crate::Retry;

use super::sweep::CONCURRENCY;

/// How a [`Sweeper`](super::Sweeper) goes about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// The pause between the end of a turn and the next, give or take a half, so that processes that were
    /// started together do not stay together. The first turn begins at once: what a crash has left is found as soon
    /// as a process is back; of several that are started at the same moment, each goes through the keys in an order of its
    /// own. Default 10 s. Raised, debts that nobody waits for last
    /// longer; lowered, the query is asked more often.
    pub every: Duration,
    /// How many keys are resumed at a time. Default 8. Raised, a large backlog is gone sooner, and the store
    /// has more to do beside its batches.
    pub concurrency: usize,
    /// The longest that a key which keeps failing is left alone; its pauses begin with `every`, double, and
    /// are drawn at random below that. Default 5 min. Raised, keys that fail for good cost less; lowered,
    /// one that can be projected again is noticed sooner.
    pub pause_max: Duration,
}

impl Default for Schedule {
    fn default() -> Self {
        Self {
            every: Duration::from_secs(10),
            concurrency: CONCURRENCY,
            pause_max: Duration::from_secs(300),
        }
    }
}

impl Schedule {
    /// Whether these settings make sense together.
    ///
    /// # Errors
    ///
    /// Names what does not.
    pub fn check(&self) -> Result<(), InvalidSchedule> {
        if self.every.is_zero() {
            Err(InvalidSchedule::NoPause)
        } else if self.concurrency == 0 {
            Err(InvalidSchedule::NoConcurrency)
        } else if self.pause_max < self.every {
            Err(InvalidSchedule::PauseMaxBelowEvery {
                every: self.every,
                pause_max: self.pause_max,
            })
        } else {
            Ok(())
        }
    }

    /// As a retry without end.
    pub(super) fn retry(&self) -> Retry {
        Retry {
            base: self.every,
            factor: 2,
            cap: self.pause_max,
            attempts: u32::MAX,
            total: Duration::MAX,
        }
    }
}

/// Settings of [`Schedule`] that make no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidSchedule {
    /// `every` is zero, so that the query would be asked without a pause.
    NoPause,
    /// `concurrency` is 0, so that nothing would ever be resumed.
    NoConcurrency,
    /// `pause_max` is below `every`. Raise the one or lower the other.
    PauseMaxBelowEvery {
        /// As given.
        every: Duration,
        /// As given.
        pause_max: Duration,
    },
}

impl fmt::Display for InvalidSchedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoPause => f.write_str("`every` is zero; set it to a second or more"),
            Self::NoConcurrency => f.write_str("`concurrency` is 0; set it to 1 or more"),
            Self::PauseMaxBelowEvery { every, pause_max } => write!(
                f,
                "`pause_max` ({pause_max:?}) is below `every` ({every:?}); raise it or lower that"
            ),
        }
    }
}

impl Error for InvalidSchedule {}
