//! One future beside the tasks, run to its end.

use core::{
    pin::pin,
    sync::atomic::{AtomicBool, Ordering},
    task::{Context, Poll, Waker},
    time::Duration,
};
use std::{
    sync::Arc,
    task::Wake,
    thread::{self, Thread},
};

use super::Executor;

/// How long to wait at a time for what other threads may bring, when nothing else can move.
const MOMENT: Duration = Duration::from_millis(1);

/// Whether the future was woken since it was polled last.
struct Woken {
    is_woken: AtomicBool,
    thread: Thread,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

impl Executor {
    /// Runs a future to its end, and the tasks meanwhile. The future is polled when no task is ready; when it cannot move
    /// either, the clock jumps to the next timer; and where there is none, this waits for another thread to wake something.
    ///
    /// Never returns if the future waits for what nobody brings.
    pub fn block_on<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let woken = Arc::new(Woken {
            is_woken: AtomicBool::new(true),
            thread: thread::current(),
        });
        let waker = Waker::from(Arc::clone(&woken));
        loop {
            self.run_until(self.core.now());
            if woken.is_woken.swap(false, Ordering::Acquire) {
                if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker))
                {
                    return output;
                }
            } else if self.core.jump_if_idle().is_break() {
                thread::park_timeout(MOMENT);
            }
        }
    }
}
