//! The adapter to smol.

use std::{
    future::Future,
    sync::{Arc, Weak},
    time::{Duration, Instant as Clock},
};

use ferry_core::{Instant, drive::Runtime};
use smol::{Executor, Timer};

/// smol as Ferry sees it: its timers and blocking threads, and an executor for the tasks.
///
/// An executor of your own has to be run by somebody for as long as anything is awaited. Close the handle before you drop the
/// executor; otherwise what waits fails as [`Abandoned`](ferry_core::Cause::Abandoned).
#[derive(Clone, Debug)]
pub struct Smol {
    tasks: Tasks,
    epoch: Clock,
}

/// Where tasks are spawned.
#[derive(Clone, Debug)]
enum Tasks {
    Globally,
    On(&'static Executor<'static>),
    /// A task holds its runtime, and must not keep alive what holds the task.
    OnWhileThere(Weak<Executor<'static>>),
}

impl Smol {
    /// An executor of yours. The handle does not keep it alive: once the last `Arc` of it is gone, so is the runtime.
    #[must_use]
    pub fn on(executor: &Arc<Executor<'static>>) -> Self {
        Self::with(Tasks::OnWhileThere(Arc::downgrade(executor)))
    }

    /// An executor of yours that is there to the end of the program.
    #[must_use]
    pub fn on_static(executor: &'static Executor<'static>) -> Self {
        Self::with(Tasks::On(executor))
    }

    fn with(tasks: Tasks) -> Self {
        Self {
            tasks,
            epoch: Clock::now(),
        }
    }
}

impl Default for Smol {
    /// smol's global executor, the one of [`smol::spawn`], on as many threads as the environment variable `SMOL_THREADS` says.
    fn default() -> Self {
        Self::with(Tasks::Globally)
    }
}

impl Runtime for Smol {
    fn now(&self) -> Instant {
        Instant::EPOCH + self.epoch.elapsed()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static {
        let timer = Timer::after(duration);
        async move {
            timer.await;
        }
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        match &self.tasks {
            Tasks::Globally => smol::spawn(task).detach(),
            Tasks::On(executor) => executor.spawn(task).detach(),
            Tasks::OnWhileThere(executor) => match executor.upgrade() {
                Some(executor) => executor.spawn(task).detach(),
                None => drop(task),
            },
        }
    }

    fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        smol::unblock(work)
    }
}
