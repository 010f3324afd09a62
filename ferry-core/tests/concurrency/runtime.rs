//! A runtime whose tasks run in the order that the scheduler likes, and whose time passes when it likes.

use std::{
    future::{Future, pending},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use ferry_core::{Instant, drive::Runtime};
use shuttle::future::{self, JoinHandle, block_on, yield_now};

/// A sleep this long never ends: only what is dropped or told otherwise gets out of it.
pub(crate) const FAR: Duration = Duration::from_secs(3600);

/// All clones are one. What it keeps itself goes without scheduling: it is not what is looked at.
#[derive(Clone, Default)]
pub(crate) struct Tasks(Arc<Inner>);

#[derive(Default)]
struct Inner {
    nanos: AtomicU64,
    is_shut_down: AtomicBool,
    spawned: Mutex<Vec<JoinHandle<()>>>,
}

impl Runtime for Tasks {
    fn now(&self) -> Instant {
        Instant::from_nanos(self.0.nanos.load(SeqCst))
    }

    /// It is over at any moment, and takes the clock with it.
    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static {
        let inner = Arc::clone(&self.0);
        let due = self.now() + duration;
        async move {
            if duration >= FAR {
                pending::<()>().await;
            }
            yield_now().await;
            inner.nanos.fetch_max(due.nanos(), SeqCst);
        }
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if self.0.is_shut_down.load(SeqCst) {
            return drop(task);
        }
        let spawned = future::spawn(task);
        if self.0.is_shut_down.load(SeqCst) {
            spawned.abort();
        }
        self.keep(spawned);
    }

    fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        let working = future::spawn(async move { work() });
        async move { working.await.expect("nobody aborts it") }
    }
}

impl Tasks {
    /// Drops every task, wherever it has got to.
    pub(crate) fn shut_down(&self) {
        self.0.is_shut_down.store(true, SeqCst);
        let spawned = self.take();
        for task in &spawned {
            task.abort();
        }
        for task in spawned {
            self.keep(task);
        }
    }

    /// Waits for every task to end.
    pub(crate) fn join(&self) {
        loop {
            let spawned = self.take();
            if spawned.is_empty() {
                return;
            }
            for task in spawned {
                // Or else it was aborted.
                drop(block_on(task));
            }
        }
    }

    fn keep(&self, task: JoinHandle<()>) {
        let mut spawned = self
            .0
            .spawned
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        spawned.push(task);
    }

    fn take(&self) -> Vec<JoinHandle<()>> {
        let mut spawned = self
            .0
            .spawned
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *spawned)
    }
}
