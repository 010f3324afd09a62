//! Those who wait for the last answer.

use alloc::{collections::BTreeMap, sync::Arc};

use super::{
    bound::{Waiter, tell},
    lock::Mutex,
};

#[derive(Default)]
pub(super) struct Closers(Mutex<Waiting>);

#[derive(Default)]
struct Waiting {
    waiters: BTreeMap<u64, Arc<Waiter<()>>>,
    joined: u64,
}

impl Closers {
    /// It is over.
    pub(super) fn tell(&self) {
        let waiters = core::mem::take(&mut self.0.lock().waiters);
        for waiter in waiters.into_values() {
            tell(&waiter);
        }
    }
}

/// Waits for the end; dropped, it does no more.
pub(super) struct Closing<'a> {
    closers: &'a Closers,
    waiter: Arc<Waiter<()>>,
    number: u64,
}

impl<'a> Closing<'a> {
    pub(super) fn new(closers: &'a Closers) -> Self {
        let waiter = Waiter::new();
        let mut waiting = closers.0.lock();
        let number = waiting.joined;
        waiting.joined += 1;
        waiting.waiters.insert(number, Arc::clone(&waiter));
        drop(waiting);
        Self {
            closers,
            waiter,
            number,
        }
    }

    pub(super) async fn over(&self) {
        self.waiter.word().await;
    }
}

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let waiter = self.closers.0.lock().waiters.remove(&self.number);
        drop(waiter);
    }
}
