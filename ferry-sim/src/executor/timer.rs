//! Timers.

use core::{
    pin::Pin,
    task::{Context, Poll, Waker},
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
    timer: Option<(TimerId, Waker)>,
}

impl Sleep {
    pub(super) fn new(core: Arc<Core>, due: Instant) -> Self {
        let timer = None;
        Self { core, due, timer }
    }

    fn clear(&mut self) {
        if let Some((timer, _)) = self.timer.take() {
            self.core.clear_timer(timer);
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.core.now() >= self.due {
            if self.timer.is_none() && !self.core.may_be_over_at_once() {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            self.clear();
            return Poll::Ready(());
        }
        let is_set = (self.timer.as_ref()).is_some_and(|(_, waker)| waker.will_wake(cx.waker()));
        if !is_set {
            self.clear();
            let waker = cx.waker().clone();
            self.timer = Some((self.core.set_timer(self.due, waker.clone()), waker));
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.clear();
    }
}
