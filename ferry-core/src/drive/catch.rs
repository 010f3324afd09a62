//! Keeps a panic of the user's code from going further than the batch it worked on.

use alloc::sync::Arc;
use core::{
    future::Future,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use pin_project_lite::pin_project;

use crate::guard::guard;

pin_project! {
    /// Completes with what the call returned, or with the message of its panic.
    #[project = CatchProjection]
    pub(super) enum Catch<F> {
        Called { #[pin] future: F },
        /// The panic came before there was a future.
        Panicked { message: Arc<str> },
        Over,
    }
}

pub(super) fn catch<F: Future>(call: impl FnOnce() -> F) -> Catch<F> {
    match guard(call) {
        Ok(future) => Catch::Called { future },
        Err(message) => Catch::Panicked { message },
    }
}

impl<F: Future> Future for Catch<F> {
    type Output = Result<F::Output, Arc<str>>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let output = match self.as_mut().project() {
            CatchProjection::Called { future } => match guard(|| future.poll(cx)) {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(output)) => Ok(output),
                Err(message) => Err(message),
            },
            CatchProjection::Panicked { message } => Err(Arc::clone(message)),
            CatchProjection::Over => panic!("`Catch` polled after it completed"),
        };
        // What it says was said; a panic of its `Drop` changes nothing.
        drop(guard(|| self.set(Catch::Over)));
        Poll::Ready(output)
    }
}

/// Wakes a task. A panic of its waker is its own affair.
pub(super) fn wake(waker: Waker) {
    drop(guard(|| waker.wake()));
}
