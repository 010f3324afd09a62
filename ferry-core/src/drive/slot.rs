//! Where one answer is left for its caller.

use alloc::sync::{Arc, Weak};
use core::{
    mem,
    task::{Context, Poll, Waker},
};

use crate::{Cause, Failure, guard::discard, per_key::Ticket};

use super::{catch::wake, lock::Mutex};

/// What a caller hears.
pub(super) type Verdict<A, E> = Result<A, Failure<E>>;

/// A place for one answer. It is used again for another input once both sides have let go of it.
pub(super) struct Slot<A, E> {
    home: Weak<dyn Home<A, E>>,
    content: Mutex<Content<Verdict<A, E>>>,
}

/// Where the inputs are kept whose answers come in a slot.
pub(super) trait Home<A, E>: Send + Sync {
    fn withdraw(&self, ticket: Ticket);
}

enum Content<T> {
    /// And so it is left by the last who lets go of it.
    Empty,
    Awaited(Waker),
    Answered(T),
    /// Nobody is interested any more.
    Deserted,
}

impl<A, E> Slot<A, E> {
    pub(super) fn new(home: Weak<dyn Home<A, E>>) -> Self {
        Self {
            home,
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
    pub(super) fn desert(&self, ticket: Ticket) {
        let mut content = self.content.lock();
        let is_answered = matches!(*content, Content::Answered(_));
        let left = if is_answered {
            Content::Empty
        } else {
            Content::Deserted
        };
        let before = mem::replace(&mut *content, left);
        drop(content);
        if !is_answered {
            if let Some(home) = self.home.upgrade() {
                home.withdraw(ticket);
            }
        }
        // Last, since it may panic, which is the business of who dropped the submission.
        drop(before);
    }

    /// Whether nobody else holds it.
    pub(super) fn is_free(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) == 1
    }
}

/// The side of a slot that answers. Dropped unused, it says that the input was abandoned, so that no
/// caller waits for ever.
pub(super) struct Reply<A, E>(Option<Arc<Slot<A, E>>>);

impl<A, E> Reply<A, E> {
    pub(super) fn new(slot: Arc<Slot<A, E>>) -> Self {
        Self(Some(slot))
    }

    /// Leaves the answer, and wakes who waits for it. The slot is handed back, to be used again once the
    /// caller has let go of it.
    pub(super) fn post(mut self, verdict: Verdict<A, E>) -> Option<Arc<Slot<A, E>>> {
        self.leave(verdict)
    }

    /// No answer is due, since the input was never accepted or was withdrawn.
    pub(super) fn forgo(mut self) {
        self.0 = None;
    }

    fn leave(&mut self, verdict: Verdict<A, E>) -> Option<Arc<Slot<A, E>>> {
        let slot = self.0.take()?;
        let mut content = slot.content.lock();
        let (left, unwanted) = if matches!(*content, Content::Deserted) {
            (Content::Empty, Some(verdict))
        } else {
            (Content::Answered(verdict), None)
        };
        let before = mem::replace(&mut *content, left);
        drop(content);
        discard(unwanted);
        if let Content::Awaited(waker) = before {
            wake(waker);
        }
        Some(slot)
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
