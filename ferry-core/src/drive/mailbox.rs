//! How a parked task is told what to do next.

use core::{
    future::poll_fn,
    mem,
    task::{Poll, Waker},
};

use super::{
    carries::{BatchOf, Carries},
    lock::Mutex,
};

/// A batch to carry.
pub(super) struct Work<C: Carries> {
    /// Where its key is kept.
    pub(super) shard: usize,
    /// Of its key.
    pub(super) hash: u64,
    /// How many inputs it had.
    pub(super) inputs: usize,
    pub(super) batch: BatchOf<C>,
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
            waker.wake();
        }
    }

    pub(super) async fn next(&self) -> Order<C> {
        poll_fn(|cx| {
            let mut content = self.0.lock();
            match mem::replace(&mut *content, Content::Empty) {
                Content::Holds(order) => Poll::Ready(order),
                before @ (Content::Empty | Content::Awaited(_)) => {
                    *content = Content::Awaited(cx.waker().clone());
                    drop(content);
                    drop(before);
                    Poll::Pending
                }
            }
        })
        .await
    }
}
