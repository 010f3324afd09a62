//! How a parked task is told what to do next.

use core::{
    future::poll_fn,
    mem,
    task::{Poll, Waker},
};

use crate::{Cause, guard::discard};

use super::{
    carries::{BatchOf, Carries},
    catch::wake,
    lock::Mutex,
    observe::Flight,
};

/// A batch to carry.
pub(super) struct Work<C: Carries> {
    /// Where its key is kept.
    pub(super) shard: usize,
    /// Of its key.
    pub(super) hash: u64,
    /// How many inputs it had.
    pub(super) inputs: usize,
    pub(super) batch: Unbegun<C>,
    pub(super) flight: Flight,
}

/// A batch that nobody has begun to carry. Dropped, it tells its callers that nothing was written.
pub(super) struct Unbegun<C: Carries>(Option<BatchOf<C>>);

impl<C: Carries> Unbegun<C> {
    pub(super) fn new(batch: BatchOf<C>) -> Self {
        Self(Some(batch))
    }

    pub(super) fn begin(mut self) -> BatchOf<C> {
        match self.0.take() {
            Some(batch) => batch,
            None => unreachable!("a batch is begun once"),
        }
    }
}

impl<C: Carries> Drop for Unbegun<C> {
    fn drop(&mut self) {
        let Some(mut batch) = self.0.take() else {
            return;
        };
        for item in batch.drain() {
            item.input.fail(Cause::Abandoned);
        }
        discard(batch);
    }
}

/// What a parked task is told.
pub(super) enum Order<C: Carries> {
    Carry(Work<C>),
    /// The handle is gone, and so is the need.
    Retire,
}

/// Where a parked task waits for its next order. It gets at most one at a time, since it is taken
/// off the list of the idle first.
pub(super) struct Mailbox<C: Carries>(Mutex<Content<C>>);

enum Content<C: Carries> {
    Empty,
    Awaited(Waker),
    Holds(Order<C>),
}

impl<C: Carries> Mailbox<C> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Content::Empty))
    }

    pub(super) fn put(&self, order: Order<C>) {
        let before = mem::replace(&mut *self.0.lock(), Content::Holds(order));
        if let Content::Awaited(waker) = before {
            wake(waker);
        }
    }

    pub(super) async fn next(&self) -> Order<C> {
        poll_fn(|cx| {
            let waker = cx.waker().clone();
            let mut content = self.0.lock();
            match mem::replace(&mut *content, Content::Empty) {
                Content::Holds(order) => Poll::Ready(order),
                before @ (Content::Empty | Content::Awaited(_)) => {
                    *content = Content::Awaited(waker);
                    drop(content);
                    drop(before);
                    Poll::Pending
                }
            }
        })
        .await
    }
}
