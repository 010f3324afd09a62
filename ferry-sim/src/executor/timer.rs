//! Timers.

use core::{
    pin::Pin,
    task::{Context, Poll},
};
use std::sync::Arc;

use ferry_core::Instant;

use super::{shared::Core, timers::TimerId};

/// Completes at its moment of virtual time.
///
/// # Cancel safety
///
/// Dropping it clears its timer: the clock does not jump there.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Sleep {
    core: Arc<Core>,
    due: Instant,
    /// Set since it was polled first; it has gone off where the moment has come.
    timer: Option<TimerId>,
}

impl Sleep {
    pub(super) fn new(core: Arc<Core>, due: Instant) -> Self {
        let timer = None;
        Self { core, due, timer }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.core.now() >= self.due {
            if self.timer.take().is_none() && !self.core.may_be_over_at_once() {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            return Poll::Ready(());
        }
        let timer = self.core.set_timer(self.due, cx.waker(), self.timer);
        self.timer = Some(timer);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(timer) = self.timer {
            self.core.clear_timer(timer);
        }
    }
}
