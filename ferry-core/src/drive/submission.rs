//! The future that a caller holds.

use alloc::sync::Arc;
use core::{
    fmt,
    future::Future,
    mem,
    pin::Pin,
    task::{Context, Poll},
};

use futures_core::FusedFuture;

use crate::Failure;

use super::slot::{Berth, Slot};

/// An accepted input, on its way. Completes with the outcome once that is durable, or with why there
/// is none.
///
/// # Cancel safety
///
/// Dropping it withdraws an input that still waits for its batch. One that is in flight is carried to
/// its end, and its answer is dropped: a commit is never cut in half, and the other callers of the
/// batch notice nothing. Progress does not depend on this future being polled.
#[must_use = "dropping a submission withdraws the input if it still waits"]
pub struct Submission<A, E> {
    /// `None` once the answer was taken.
    way: Option<Way<A, E>>,
}

struct Way<A, E> {
    slot: Arc<Slot<A, E>>,
    berth: Berth,
    is_polled: bool,
}

impl<A, E> Submission<A, E> {
    pub(super) fn new(slot: Arc<Slot<A, E>>, berth: Berth) -> Self {
        Self {
            way: Some(Way {
                slot,
                berth,
                is_polled: false,
            }),
        }
    }
}

impl<A, E> Future for Submission<A, E> {
    type Output = Result<A, Failure<E>>;

    /// # Panics
    ///
    /// When polled again after it has completed.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(way) = &mut self.way else {
            panic!("`Submission` polled after it completed")
        };
        let is_first = !mem::replace(&mut way.is_polled, true);
        let Poll::Ready(answer) = way.slot.poll(cx, is_first) else {
            return Poll::Pending;
        };
        way.slot.come_back();
        self.way = None;
        Poll::Ready(answer)
    }
}

impl<A, E> FusedFuture for Submission<A, E> {
    fn is_terminated(&self) -> bool {
        self.way.is_none()
    }
}

impl<A, E> Drop for Submission<A, E> {
    fn drop(&mut self) {
        if let Some(Way { slot, berth, .. }) = self.way.take() {
            slot.desert(berth);
        }
    }
}

impl<A, E> fmt::Debug for Submission<A, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ticket = self.way.as_ref().map(|way| way.berth.ticket);
        f.debug_struct("Submission")
            .field("ticket", &ticket)
            .finish_non_exhaustive()
    }
}
