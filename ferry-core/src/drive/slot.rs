//! Where one answer is left for its caller.

use alloc::sync::Arc;
use core::{
    mem,
    task::{Context, Poll, Waker},
};

use crate::{Cause, Failure, guard::discard};

use super::{catch::wake, lock::Mutex};

/// What a caller hears.
pub(super) type Verdict<A, E> = Result<A, Failure<E>>;

/// A place for one answer. It is used again for another input once both sides have let go of it.
pub(super) struct Slot<T>(Mutex<Content<T>>);

enum Content<T> {
    Empty,
    Awaited(Waker),
    Answered(T),
    /// Nobody is interested any more.
    Deserted,
}

impl<T> Slot<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::new(Content::Empty))
    }

    /// Takes the answer, or has the task woken when it is there.
    pub(super) fn poll(&self, cx: &mut Context<'_>) -> Poll<T> {
        if let Some(answered) = self.look(cx.waker()) {
            return answered;
        }
        // A waker is foreign code: it is cloned, and dropped, when nothing is locked.
        let waker = cx.waker().clone();
        let mut content = self.0.lock();
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
    fn look(&self, waker: &Waker) -> Option<Poll<T>> {
        let mut content = self.0.lock();
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

    /// The caller is not interested any more. False when the answer was there already.
    pub(super) fn desert(&self) -> bool {
        let before = mem::replace(&mut *self.0.lock(), Content::Deserted);
        !matches!(before, Content::Answered(_))
    }

    /// Makes the slot ready to be used again, if nobody else holds it.
    pub(super) fn renewed(mut self: Arc<Self>) -> Option<Arc<Self>> {
        let slot = Arc::get_mut(&mut self)?;
        slot.0 = Mutex::new(Content::Empty);
        Some(self)
    }
}

/// The side of a slot that answers. Dropped unused, it says that the input was abandoned, so that no
/// caller waits for ever.
pub(super) struct Reply<A, E>(Option<Arc<Slot<Verdict<A, E>>>>);

impl<A, E> Reply<A, E> {
    pub(super) fn new(slot: Arc<Slot<Verdict<A, E>>>) -> Self {
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
        let Some(slot) = self.0.take() else { return };
        let mut content = slot.0.lock();
        let (before, unwanted) = if matches!(*content, Content::Deserted) {
            (Content::Empty, Some(verdict))
        } else {
            (
                mem::replace(&mut *content, Content::Answered(verdict)),
                None,
            )
        };
        drop(content);
        // Let go first: the caller can then have the slot used again.
        drop(slot);
        discard(unwanted);
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
