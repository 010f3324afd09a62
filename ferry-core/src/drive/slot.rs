//! Where one answer is left for its caller.

use alloc::sync::Arc;
use core::{
    mem,
    task::{Context, Poll, Waker},
};

use crate::{Cause, Failure, guard::discard, per_key::Ticket};

use super::{catch::wake, lock::Mutex, pool::Pool};

/// What a caller hears.
pub(super) type Verdict<A, E> = Result<A, Failure<E>>;

/// A place for one answer. It is used again for another input once both sides have let go of it.
pub(super) struct Slot<A, E> {
    /// Where it comes back to.
    pool: Arc<Pool<A, E>>,
    content: Mutex<Content<Verdict<A, E>>>,
}

/// Where the inputs are kept whose answers come in a slot.
pub(super) trait Home<A, E>: Send + Sync {
    /// False when the input does not wait any more.
    fn withdraw(self: Arc<Self>, berth: Berth) -> bool;
}

/// Where an input is kept.
#[derive(Clone, Copy)]
pub(super) struct Berth {
    /// The number of its shard.
    pub(super) shard: usize,
    pub(super) ticket: Ticket,
}

enum Content<T> {
    /// And so it comes back to its pool.
    Empty,
    Awaited(Waker),
    Answered(T),
    /// Nobody is interested any more.
    Deserted,
}

impl<A, E> Slot<A, E> {
    pub(super) fn new(pool: Arc<Pool<A, E>>) -> Self {
        Self {
            pool,
            content: Mutex::new(Content::Empty),
        }
    }

    /// Takes the answer, or has the task woken when it is there. `is_first`: nobody has asked before, so that no waker is here.
    pub(super) fn poll(&self, cx: &mut Context<'_>, is_first: bool) -> Poll<Verdict<A, E>> {
        if !is_first {
            if let Some(answered) = self.look(cx.waker()) {
                return answered;
            }
        }
        // A waker is foreign code: it is cloned, and dropped, when nothing is locked.
        let waker = cx.waker().clone();
        let mut content = self.content.lock();
        match mem::replace(&mut *content, Content::Empty) {
            Content::Answered(answer) => Poll::Ready(answer),
            before @ (Content::Empty | Content::Awaited(_) | Content::Deserted) => {
                *content = Content::Awaited(waker);
                drop(content);
                drop(before);
                Poll::Pending
            }
        }
    }

    /// `None` when the waker has to be left here first.
    fn look(&self, waker: &Waker) -> Option<Poll<Verdict<A, E>>> {
        let mut content = self.content.lock();
        match mem::replace(&mut *content, Content::Empty) {
            Content::Answered(answer) => Some(Poll::Ready(answer)),
            before @ (Content::Empty | Content::Awaited(_) | Content::Deserted) => {
                let is_there =
                    matches!(&before, Content::Awaited(before) if before.will_wake(waker));
                *content = before;
                is_there.then_some(Poll::Pending)
            }
        }
    }

    /// The caller is not interested any more: its input is withdrawn if it still waits.
    pub(super) fn desert(self: &Arc<Self>, berth: Berth) {
        let mut content = self.content.lock();
        let is_answered = matches!(*content, Content::Answered(_));
        let left = if is_answered {
            Content::Empty
        } else {
            Content::Deserted
        };
        let before = mem::replace(&mut *content, left);
        drop(content);
        let is_withdrawn = || {
            let home = self.pool.home.upgrade();
            home.is_some_and(|home| home.withdraw(berth))
        };
        if is_answered {
            self.come_back();
        } else if is_withdrawn() {
            *self.content.lock() = Content::Empty;
            self.come_back();
        }
        // Last, since it may panic, which is the business of who dropped the submission.
        drop(before);
    }

    /// The caller has its answer, or there is no caller any more. Whoever still holds it does nothing but let go.
    pub(super) fn come_back(self: &Arc<Self>) {
        self.pool.keep(self);
    }
}

/// The side of a slot that answers. Dropped unused, it says that the input was abandoned, so that no
/// caller waits for ever.
pub(super) struct Reply<A, E>(Option<Arc<Slot<A, E>>>);

impl<A, E> Reply<A, E> {
    pub(super) fn new(slot: Arc<Slot<A, E>>) -> Self {
        Self(Some(slot))
    }

    /// Leaves the answer, and wakes who waits for it.
    pub(super) fn post(mut self, verdict: Verdict<A, E>) {
        self.leave(verdict);
    }

    /// No answer is due, since the input was never accepted or was withdrawn.
    pub(super) fn forgo(mut self) {
        self.0 = None;
    }

    fn leave(&mut self, verdict: Verdict<A, E>) {
        let Some(slot) = self.0.take() else {
            return;
        };
        let mut content = slot.content.lock();
        let (left, unwanted) = if matches!(*content, Content::Deserted) {
            (Content::Empty, Some(verdict))
        } else {
            (Content::Answered(verdict), None)
        };
        let before = mem::replace(&mut *content, left);
        drop(content);
        if let Some(unwanted) = unwanted {
            slot.come_back();
            discard(unwanted);
        }
        if let Content::Awaited(waker) = before {
            wake(waker);
        }
    }
}

impl<A, E> Drop for Reply<A, E> {
    fn drop(&mut self) {
        let cause = if std::thread::panicking() {
            // Of a type that the store and the fold have in common, most likely: a `Drop`, say.
            Cause::Panicked(Arc::from("a panic took the batch along"))
        } else {
            Cause::Abandoned
        };
        self.leave(Err(Failure::InDoubt(cause)));
    }
}
