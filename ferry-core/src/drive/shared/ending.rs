//! How it all ends: closed and drained, left by its last handle, or cut off with its runtime.

use alloc::sync::Arc;
use core::future::Future;

use super::Shared;
use crate::{
    Cause,
    drive::{
        bound::tell, carries::Carries, closing::Closing, mailbox::Order, shard::Effects,
        sync::atomic::Ordering::SeqCst,
    },
};

impl<C: Carries> Shared<C> {
    pub(in crate::drive) fn is_closed(&self) -> bool {
        self.closed.load(SeqCst)
    }

    /// Takes no more inputs; completes when the last answer is given.
    pub(in crate::drive) fn close(self: &Arc<Self>) -> impl Future<Output = ()> + Send + use<C> {
        self.closed.store(true, SeqCst);
        for shard in &self.shards {
            let mut state = shard.state.lock();
            state.per_key.close();
            let mut effects = Effects::default();
            shard.settle(&mut state, self, &mut effects);
            let waiting = state.key_lines.dismiss();
            drop(state);
            self.act(effects);
            for waiter in waiting {
                tell(&waiter);
            }
        }
        for waiter in self.room.dismiss() {
            drop(waiter.give(None));
        }
        Arc::clone(self).drained()
    }

    /// Completes when the handle is closed and every answer is given.
    pub(in crate::drive) async fn drained(self: Arc<Self>) {
        let closing = Closing::new(&self.closers);
        // Who drains it looks for closers after that; what was drained before is seen here.
        if !self.is_drained() {
            closing.over().await;
        }
    }

    fn is_drained(&self) -> bool {
        let drained = self.shards_drained.load(SeqCst) == self.shards.len();
        let idle = self.permits.taken() == 0 && self.answering.load(SeqCst) == 0;
        (drained && idle) || self.dead.load(SeqCst)
    }

    pub(super) fn tell_closers(&self) {
        if self.is_drained() {
            self.closers.tell();
        }
    }

    /// A caller is about to be answered outside of any batch.
    pub(in crate::drive) fn answering(&self) {
        self.answering.fetch_add(1, SeqCst);
    }

    pub(in crate::drive) fn answered(&self) {
        self.answering.fetch_sub(1, SeqCst);
        if self.is_closed() {
            self.tell_closers();
        }
    }

    pub(super) fn is_orphaned(&self) -> bool {
        self.orphaned.load(SeqCst)
    }

    /// The last handle is gone: parked tasks end, and the others when they have nothing left to do.
    pub(in crate::drive) fn orphan(self: &Arc<Self>) {
        self.orphaned.store(true, SeqCst);
        for shard in &self.shards {
            let idle = core::mem::take(&mut shard.state.lock().idle);
            for mailbox in idle {
                mailbox.put(Order::Retire);
            }
        }
        self.watch_no_longer_than_needed();
    }

    /// Once the last handle is gone: an alarm for what has been carried meanwhile would keep the task
    /// that watches the clock, and the store with it. What is still due sets it anew.
    pub(in crate::drive) fn watch_no_longer_than_needed(self: &Arc<Self>) {
        if self.is_orphaned() {
            self.alarm.retire();
            self.tick();
        }
    }

    /// The runtime has dropped a task: nothing will move any more. Everyone who waits is told.
    fn die(self: &Arc<Self>) {
        if self.dying.swap(true, SeqCst) {
            return;
        }
        self.closed.store(true, SeqCst);
        for shard in &self.shards {
            while let Some(carried) = shard.evict_or_close() {
                self.observer.abandoned();
                self.release_room(1);
                carried.fail(Cause::Abandoned);
            }
        }
        drop(self.close());
        self.dead.store(true, SeqCst);
        self.tell_closers();
    }
}

/// Held by a task of this handle for as long as it lives. Dropped before the task was relieved, it
/// says that the runtime dropped the task.
pub(in crate::drive) struct OnDuty<C: Carries>(Option<Arc<Shared<C>>>);

impl<C: Carries> OnDuty<C> {
    pub(in crate::drive) fn new(shared: &Arc<Shared<C>>) -> Self {
        Self(Some(Arc::clone(shared)))
    }

    pub(in crate::drive) fn shared(&self) -> &Arc<Shared<C>> {
        match &self.0 {
            Some(shared) => shared,
            None => unreachable!("a relieved task has ended"),
        }
    }

    /// The task ends as it should.
    pub(in crate::drive) fn relieve(mut self) {
        self.0 = None;
    }
}

impl<C: Carries> Drop for OnDuty<C> {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take() {
            shared.die();
        }
    }
}
