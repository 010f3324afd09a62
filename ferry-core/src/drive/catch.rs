//! Keeps a panic of a user's async call from going further than the batch it worked on.

use alloc::sync::Arc;
use core::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
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

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project() {
            CatchProjection::Called { future } => match guard(|| future.poll(cx)) {
                Ok(Poll::Pending) => Poll::Pending,
                Ok(Poll::Ready(output)) => Poll::Ready(Ok(output)),
                Err(message) => Poll::Ready(Err(message)),
            },
            CatchProjection::Panicked { message } => Poll::Ready(Err(Arc::clone(message))),
        }
    }
}
