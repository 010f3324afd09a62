//! Ferry on async-std, for programs that are still on it: async-std is discontinued, and names smol as what to move to.

use std::{
    future::Future,
    time::{Duration, Instant as Clock},
};

use async_std::task;
use ferry_core::{Instant, drive::Runtime};

/// async-std as Ferry sees it: its timers, and the tasks and blocking threads of its one runtime, which begins when it is
/// first used and ends with the program.
#[derive(Clone, Debug)]
pub struct AsyncStd {
    epoch: Clock,
}

/// Makes a [`Ferry`](ferry_core::drive::Ferry) on async-std; see [`ferry_core::drive::Builder`].
pub type Builder = ferry_core::drive::Builder<AsyncStd>;

impl Default for AsyncStd {
    fn default() -> Self {
        let epoch = Clock::now();
        Self { epoch }
    }
}

impl Runtime for AsyncStd {
    fn now(&self) -> Instant {
        Instant::EPOCH + self.epoch.elapsed()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static {
        task::sleep(duration)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        drop(task::spawn(task));
    }

    fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        task::spawn_blocking(work)
    }
}
