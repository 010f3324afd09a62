//! A simulated process, as Ferry sees it: a runtime.

use core::{fmt, time::Duration};
use std::{
    panic::{self, AssertUnwindSafe},
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering::Relaxed},
    },
};

use ferry_core::{Instant, drive::Runtime};
use futures_channel::oneshot;

use super::{shared::Core, timer::Sleep};
use crate::event::Event;

/// A process: its tasks run until it is crashed. All clones are one.
///
/// Blocking work runs as a task of the process, to its end without a stop.
#[derive(Clone)]
pub struct Process {
    own: Arc<Own>,
}

/// What its clones share.
struct Own {
    core: Arc<Core>,
    group: usize,
    clock: Clock,
}

/// How a process's own clock differs from the world's.
#[derive(Debug, Default)]
struct Clock {
    /// By how much it is faster, in a thousand.
    drift: AtomicI64,
    /// By how much it has jumped ahead, in nanoseconds.
    ahead: AtomicU64,
}

impl Clock {
    fn shown(&self, world: Instant) -> Instant {
        let ahead = Duration::from_nanos(self.ahead.load(Relaxed));
        let drifted = match self.drift.load(Relaxed) {
            0 => world,
            drift => {
                let rate = (1_000 + drift).max(1).unsigned_abs();
                let nanos = u128::from(world.nanos()) * u128::from(rate) / 1_000;
                Instant::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
        };
        drifted + ahead
    }

    /// How long it takes in the world until so much has passed on this clock.
    fn in_the_world(&self, duration: Duration) -> Duration {
        match self.drift.load(Relaxed) {
            0 => duration,
            drift => {
                let rate = (1_000 + drift).max(1).unsigned_abs();
                let nanos = duration.as_nanos().saturating_mul(1_000) / u128::from(rate) + 1;
                Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
        }
    }
}

impl Process {
    pub(super) fn new(core: Arc<Core>) -> Self {
        let (group, clock) = (core.add_group(), Clock::default());
        let own = Arc::new(Own { core, group, clock });
        Self { own }
    }

    /// Lets its clock go so much faster than the world's, in a thousand; slower where it is negative, and never as much as
    /// a thousand. Only before anything reads it, or it may go back.
    pub fn drift(&self, per_mille: i64) {
        self.own.clock.drift.store(per_mille.max(-999), Relaxed);
    }

    /// Lets its clock jump ahead. What sleeps goes on sleeping.
    pub fn jump(&self, by: Duration) {
        let nanos = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
        self.own.clock.ahead.fetch_add(nanos, Relaxed);
    }

    /// Another process on the same executor.
    #[must_use]
    pub fn another(&self) -> Self {
        Self::new(Arc::clone(&self.own.core))
    }

    /// Drops its tasks; those that are started from now on are dropped at once.
    pub fn crash(&self) {
        self.own.core.crash(self.own.group);
    }

    /// Polls none of its tasks until it is thawed. Its timers go off meanwhile.
    pub fn freeze(&self) {
        self.own.core.freeze(self.own.group);
    }

    /// Goes on after a freeze.
    pub fn thaw(&self) {
        self.own.core.thaw(self.own.group);
    }

    /// How many tasks it has that are not over.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.own.core.tasks_of(self.own.group)
    }

    pub(crate) fn tell(&self, event: Event) {
        self.own.core.tell(event);
    }
}

impl Runtime for Process {
    fn now(&self) -> Instant {
        self.own.clock.shown(self.own.core.now())
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static {
        let due = self.own.core.now() + self.own.clock.in_the_world(duration);
        Sleep::new(Arc::clone(&self.own.core), due)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.own.core.spawn(self.own.group, Box::pin(task));
    }

    fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        let (done, awaited) = oneshot::channel();
        self.spawn(async move {
            // Nobody may be waiting any more.
            drop(done.send(panic::catch_unwind(AssertUnwindSafe(work))));
        });
        async move {
            match awaited.await {
                Ok(Ok(output)) => output,
                Ok(Err(payload)) => panic::resume_unwind(payload),
                // The process crashed, and this task with it.
                Err(oneshot::Canceled) => core::future::pending().await,
            }
        }
    }
}

impl fmt::Debug for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Process")
            .field("group", &self.own.group)
            .finish_non_exhaustive()
    }
}
