//! The adapter itself.

use std::{future::Future, panic, time::Duration};

use ferry_core::{Instant, drive::Runtime};
use tokio::{runtime::Handle, time};

/// Tokio as Ferry sees it: its clock, so that paused time works, its timers, tasks and blocking
/// threads.
///
/// The runtime needs its time driver ([`enable_time`](tokio::runtime::Builder::enable_time)). Close the
/// handle before shutting the runtime down; otherwise what waits fails as
/// [`Abandoned`](ferry_core::Cause::Abandoned).
#[derive(Clone, Debug)]
pub struct Tokio {
    handle: Handle,
    epoch: time::Instant,
}

impl Tokio {
    /// The runtime of this handle.
    ///
    /// # Panics
    ///
    /// When the runtime was built without timers.
    #[must_use]
    pub fn on(handle: Handle) -> Self {
        let epoch = {
            let _inside = handle.enter();
            // Panics without timers: here, where somebody sees it, and not in a task later on.
            drop(time::sleep(Duration::ZERO));
            time::Instant::now()
        };
        Self { handle, epoch }
    }
}

impl Default for Tokio {
    /// The runtime that this is called in.
    ///
    /// # Panics
    ///
    /// Outside a Tokio runtime, or when it was built without timers.
    fn default() -> Self {
        Self::on(Handle::current())
    }
}

impl Runtime for Tokio {
    /// With paused time, right only when called from inside the runtime.
    fn now(&self) -> Instant {
        Instant::EPOCH + self.epoch.elapsed()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static {
        time::sleep(duration)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        drop(self.handle.spawn(task));
    }

    fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        let work = self.handle.spawn_blocking(work);
        async move {
            match work.await {
                Ok(output) => output,
                Err(error) => match error.try_into_panic() {
                    Ok(payload) => panic::resume_unwind(payload),
                    // Given up by a runtime that is shutting down, which drops this task next.
                    Err(_cancelled) => std::future::pending().await,
                },
            }
        }
    }
}
