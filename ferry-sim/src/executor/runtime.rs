//! A simulated process, as Ferry sees it: a runtime.

use core::{fmt, time::Duration};
use std::{
    panic::{self, AssertUnwindSafe},
    sync::Arc,
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
    core: Arc<Core>,
    group: usize,
}

impl Process {
    pub(super) fn new(core: Arc<Core>) -> Self {
        let group = core.add_group();
        Self { core, group }
    }

    /// Another process on the same executor.
    #[must_use]
    pub fn another(&self) -> Self {
        Self::new(Arc::clone(&self.core))
    }

    /// Drops its tasks; those that are started from now on are dropped at once.
    pub fn crash(&self) {
        self.core.crash(self.group);
    }

    /// Polls none of its tasks until it is thawed. Its timers go off meanwhile.
    pub fn freeze(&self) {
        self.core.freeze(self.group);
    }

    /// Goes on after a freeze.
    pub fn thaw(&self) {
        self.core.thaw(self.group);
    }

    /// How many tasks it has that are not over.
    #[must_use]
    pub fn tasks(&self) -> usize {
        self.core.tasks_of(self.group)
    }

    pub(crate) fn tell(&self, event: Event) {
        self.core.tell(event);
    }
}

impl Runtime for Process {
    fn now(&self) -> Instant {
        self.core.now()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static {
        Sleep::new(Arc::clone(&self.core), self.core.now() + duration)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.core.spawn(self.group, Box::pin(task));
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
            .field("group", &self.group)
            .finish_non_exhaustive()
    }
}
