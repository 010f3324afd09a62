//! What a runtime's test crate provides, and what the suite makes of it.

use std::{future::Future, panic, sync::mpsc, thread, time::Duration};

use ferry_core::{
    Instant,
    drive::{Builder, Carries, Ferry, Runtime, Stats},
};

/// A runtime to show the behaviours on. Each is shown on one of its own, on a thread of its own.
pub trait Host: Sized + 'static {
    /// After so long a behaviour is reported as hanging, by the clock of the machine. None is expected to take any time at all;
    /// a machine that is slow, or an interpreter, may ask for more.
    const PATIENCE: Duration = Duration::from_secs(120);

    /// What the handles are built on.
    type Runtime: Runtime + Clone;

    /// A runtime without tasks.
    fn start() -> Self;

    /// The runtime: the same one each time, with one clock.
    fn runtime(&self) -> Self::Runtime;

    /// Runs the story to its end, and the runtime's tasks meanwhile: on this thread or on others.
    fn run<T>(&self, story: impl Future<Output = T>) -> T;

    /// Begins a handle on it.
    fn builder(&self) -> Builder<Self::Runtime> {
        Builder::on(self.runtime())
    }

    /// The time by its clock.
    fn now(&self) -> Instant {
        self.runtime().now()
    }
}

/// A host whose tasks can be dropped in mid-way, as they are when a program ends.
pub trait ShutsDown: Host {
    /// Returns when every task is dropped, and drops from then on whatever is spawned.
    fn shut_down(self);
}

/// Shows one behaviour on a fresh runtime.
///
/// # Panics
///
/// When the runtime does not show it, or does not come to an end within the host's [`PATIENCE`](Host::PATIENCE).
pub fn show<H: Host>(behaviour: fn(H)) {
    let (done, is_done) = mpsc::channel();
    let story = thread::spawn(move || {
        behaviour(H::start());
        done.send(()).unwrap();
    });
    if is_done.recv_timeout(H::PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
        panic!("it hangs: nothing has come of it in {:?}", H::PATIENCE);
    }
    if let Err(payload) = story.join() {
        panic::resume_unwind(payload);
    }
}

/// That no input, batch or key is left behind.
#[track_caller]
pub fn assert_nothing_is_left<C: Carries>(ferry: &Ferry<C>) {
    let left = gauges(&ferry.stats());
    assert_eq!(left, [0; 4], "waiting, queueing, batches in flight, keys");
}

fn gauges(stats: &Stats) -> [usize; 4] {
    [
        stats.waiting,
        stats.queueing,
        stats.batches_in_flight,
        stats.keys,
    ]
}

/// Runs a future in a task of the host's, and completes with what it returned.
pub fn in_a_task<H: Host, T: Send + 'static>(
    host: &H,
    future: impl Future<Output = T> + Send + 'static,
) -> impl Future<Output = T> + Unpin {
    let (sender, receiver) = tokio::sync::oneshot::channel();
    host.runtime().spawn(async move {
        // Nobody may be there to hear it.
        let _ = sender.send(future.await);
    });
    Box::pin(async move { receiver.await.expect("the task was dropped or panicked") })
}
