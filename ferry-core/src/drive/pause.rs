//! A pause that can be waited for on any thread, inside of the runtime or not.

use alloc::{boxed::Box, sync::Arc};
use core::{
    future::{Future, poll_fn},
    pin::pin,
    task::{Context, Poll},
    time::Duration,
};

use super::{
    bound::{Waiter, tell},
    carries::Carries,
    shared::{OnDuty, Shared},
};

/// A task of the runtime sleeps for it. Dropped, it is called off.
///
/// When the runtime drops that task, the pause is over and the handle is dead.
pub(super) struct Pause {
    is_over: Arc<Waiter<()>>,
    off: Arc<Waiter<()>>,
}

impl Pause {
    pub(super) fn begin<C: Carries>(shared: &Arc<Shared<C>>, duration: Duration) -> Self {
        let (is_over, off) = (Waiter::new(), Waiter::new());
        let over = Over(Arc::clone(&is_over));
        let task = sleep(OnDuty::new(shared), duration, Arc::clone(&off), over);
        shared.crew.spawn(Box::pin(task));
        Self { is_over, off }
    }

    pub(super) fn poll_over(&self, cx: &mut Context<'_>) -> Poll<()> {
        self.is_over.poll_word(cx)
    }
}

impl Drop for Pause {
    fn drop(&mut self) {
        tell(&self.off);
    }
}

/// Says that the pause is over, however it ended.
struct Over(Arc<Waiter<()>>);

impl Drop for Over {
    fn drop(&mut self) {
        tell(&self.0);
    }
}

async fn sleep<C: Carries>(
    on_duty: OnDuty<C>,
    duration: Duration,
    off: Arc<Waiter<()>>,
    over: Over,
) {
    let sleep = on_duty.shared().crew.sleep(duration);
    let (Some(()) | None) = or_stop(&off, sleep).await;
    on_duty.relieve();
    drop(over);
}

/// `None` when it is time to stop.
pub(super) async fn or_stop<T>(stop: &Waiter<()>, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|cx| match stop.poll_word(cx) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => future.as_mut().poll(cx).map(Some),
    })
    .await
}
