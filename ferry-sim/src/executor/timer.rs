//! Timers.

use core::{
    pin::Pin,
    task::{Context, Poll},
};
use std::sync::Arc;

use ferry_core::Instant;

use super::shared::{Core, TimerId};

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
    timer: Option<TimerId>,
}

impl Sleep {
    pub(super) fn new(core: Arc<Core>, due: Instant) -> Self {
        let timer = None;
        Self { core, due, timer }
    }

    fn clear(&mut self) {
        if let Some(timer) = self.timer.take() {
            self.core.clear_timer(timer);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.clear();
        if self.core.now() >= self.due {
            return Poll::Ready(());
        }
        self.timer = Some(self.core.set_timer(self.due, cx.waker().clone()));
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.clear();
    }
}
