//! One task that watches the clock for all shards.

use alloc::sync::Arc;
use core::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use crate::Instant;

use super::{carries::Carries, catch::wake, lock::Mutex, runtime::Runtime, shared::OnDuty};

/// When the shards have to be looked at next.
#[derive(Default)]
pub(super) struct Alarm(Mutex<State>);

#[derive(Default)]
struct State {
    due: Option<Instant>,
    watch: Watch,
    /// Who watches goes once nothing is due any more.
    is_retiring: bool,
}

/// Who watches.
#[derive(Default)]
enum Watch {
    #[default]
    Nobody,
    Somebody(Option<Waker>),
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
        match &mut state.watch {
            Watch::Nobody => {
                state.watch = Watch::Somebody(None);
                true
            }
            Watch::Somebody(waker) => {
                let waker = waker.take();
                drop(state);
                if let Some(waker) = waker {
                    wake(waker);
                }
                false
            }
        }
    }

    /// Who watches goes, unless the alarm is set again.
    pub(super) fn retire(&self) {
        let mut state = self.0.lock();
        state.is_retiring = true;
        state.due = None;
        let waker = state.replace_waker(None);
        drop(state);
        if let Some(waker) = waker {
            wake(waker);
        }
    }

    /// When the alarm is to go off; `None` when it is time to retire. Whoever sets it after that has to
    /// find somebody else.
    async fn next(&self) -> Option<Instant> {
        poll_fn(|cx| {
            let waker = cx.waker().clone();
            let mut state = self.0.lock();
            if state.due.is_some() {
                return Poll::Ready(state.due);
            }
            if state.is_retiring {
                let before = core::mem::take(&mut state.watch);
                drop(state);
                drop(before);
                return Poll::Ready(None);
            }
            let before = state.replace_waker(Some(waker));
            drop(state);
            drop(before);
            Poll::Pending
        })
        .await
    }

    /// Waits for the sleep to end, or for an alarm that is due sooner.
    async fn sooner_or(&self, due: Instant, mut sleep: Pin<&mut impl Future<Output = ()>>) {
        poll_fn(|cx: &mut Context<'_>| {
            let waker = cx.waker().clone();
            let mut state = self.0.lock();
            if state.due.is_none_or(|now_due| now_due < due) {
                return Poll::Ready(());
            }
            let before = state.replace_waker(Some(waker));
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

impl State {
    fn replace_waker(&mut self, waker: Option<Waker>) -> Option<Waker> {
        match &mut self.watch {
            Watch::Nobody => None,
            Watch::Somebody(before) => core::mem::replace(before, waker),
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
