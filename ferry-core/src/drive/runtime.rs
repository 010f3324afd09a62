//! What the driver asks of an async runtime.

use core::{future::Future, time::Duration};

use crate::Instant;

/// What the driver asks of an async runtime: a clock, timers, tasks, and threads for blocking work.
///
/// An adapter is a few dozen lines without logic; `ferry-tokio` and `ferry-smol` are there to copy. What a handle needs of
/// it is tested with one line, `ferry_sim::runtime_behaviours!`.
pub trait Runtime: Send + Sync + 'static {
    /// The time on the runtime's own clock, the one that [`sleep`](Self::sleep) goes by. Never goes
    /// back.
    fn now(&self) -> Instant;

    /// Completes once `duration` has passed. May complete late; the driver reads the clock after. It is called from tasks of
    /// this runtime alone.
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static;

    /// Runs a task to its end, whether or not anybody waits for it. It may begin within this call: the driver holds no lock
    /// then.
    ///
    /// A runtime that was shut down drops the task at once; the driver notices and fails what is
    /// waiting instead of leaving it.
    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static);

    /// Runs `work` where it may block, and completes with what it returned.
    ///
    /// # Panics
    ///
    /// A panic of `work` is carried to the returned future. If the runtime gives up the work since it is shut down, the future
    /// panics or never completes: the task that awaits it is dropped.
    fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static;
}
