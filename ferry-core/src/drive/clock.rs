//! One task that watches the clock for all shards.

use alloc::sync::Arc;
use core::{
    future::{Future, poll_fn},
    mem,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use crate::Instant;

use super::{carries::Carries, lock::Mutex, runtime::Runtime, shared::OnDuty};

/// When the shards have to be looked at next.
#[derive(Default)]
pub(super) struct Alarm(Mutex<State>);

#[derive(Default)]
struct State {
    due: Option<Instant>,
    watch: Watch,
}

/// Who watches.
#[derive(Default)]
enum Watch {
    /// Nobody was needed yet.
    #[default]
    Unmanned,
    Manned(Option<Waker>),
    /// Goes once nothing is due any more.
    Retiring(Option<Waker>),
}

impl Watch {
    fn waker(&mut self) -> Option<&mut Option<Waker>> {
        match self {
            Self::Unmanned => None,
            Self::Manned(waker) | Self::Retiring(waker) => Some(waker),
        }
    }
}

impl Alarm {
    /// Sets the alarm, unless it is to go off sooner. True when somebody has to be found to watch it.
    #[must_use]
    pub(super) fn set(&self, due: Instant) -> bool {
        let mut state = self.0.lock();
        if state.due.is_some_and(|before| before <= due) {
            return false;
        }
        state.due = Some(due);
        let Some(waker) = state.watch.waker().map(Option::take) else {
            state.watch = Watch::Manned(None);
            return true;
        };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
        false
    }

    pub(super) fn retire(&self) {
        let mut state = self.0.lock();
        let waker = match mem::take(&mut state.watch) {
            Watch::Unmanned => None,
            Watch::Manned(waker) | Watch::Retiring(waker) => {
                state.watch = Watch::Retiring(None);
                waker
            }
        };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// When the alarm is to go off; `None` when it is time to retire.
    async fn next(&self) -> Option<Instant> {
        poll_fn(|cx| {
            let mut state = self.0.lock();
            match (state.due, &state.watch) {
                (Some(due), _) => Poll::Ready(Some(due)),
                (None, Watch::Retiring(_)) => Poll::Ready(None),
                (None, Watch::Unmanned | Watch::Manned(_)) => {
                    let before = state
                        .watch
                        .waker()
                        .and_then(|w| w.replace(cx.waker().clone()));
                    drop(state);
                    drop(before);
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Waits for the sleep to end, or for an alarm that is due sooner.
    async fn sooner_or(&self, due: Instant, mut sleep: Pin<&mut impl Future<Output = ()>>) {
        poll_fn(|cx: &mut Context<'_>| {
            let mut state = self.0.lock();
            if state.due.is_none_or(|now_due| now_due < due) {
                return Poll::Ready(());
            }
            let before = state
                .watch
                .waker()
                .and_then(|w| w.replace(cx.waker().clone()));
            drop(state);
            drop(before);
            sleep.as_mut().poll(cx)
        })
        .await;
    }

    /// It has gone off; one set meanwhile to go off sooner stays.
    fn clear(&self, due: Instant) {
        let mut state = self.0.lock();
        if state.due == Some(due) {
            state.due = None;
        }
    }
}

/// Watches the clock until the handle is gone and nothing is due any more.
pub(super) async fn keep_time<C: Carries, R: Runtime>(runtime: Arc<R>, on_duty: OnDuty<C>) {
    let alarm = &on_duty.shared().alarm;
    while let Some(due) = alarm.next().await {
        let now = runtime.now();
        if now < due {
            // Too early or too late, the clock is read again after.
            alarm.sooner_or(due, pin!(runtime.sleep(due - now))).await;
        } else {
            alarm.clear(due);
            on_duty.shared().tick();
        }
    }
    on_duty.relieve();
}
