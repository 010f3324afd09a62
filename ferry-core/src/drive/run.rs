//! One run of a resume, and those who wait for it.

use alloc::{sync::Arc, vec::Vec};
use core::mem;

use crate::{
    Cause, Class,
    projected_write::{Unpaid, resume::Resumed},
};

use super::{bound::Waiter, lock::Mutex, observe::Caller};

/// What who asked hears.
pub(super) type Heard<E> = Result<Resumed, Unpaid<E>>;

/// How often a run tries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tries {
    One,
    /// As the write's retry says.
    All,
}

/// One run, of one key.
pub(super) struct Run<E>(Mutex<Askers<E>>);

/// Who waits for a run. It has to be a read that began after they asked that answers them: an earlier one
/// may not have seen the commit that they ask for.
struct Askers<E> {
    /// Those whom the pass under way will answer.
    heard: Vec<Arc<Waiter<Heard<E>>>>,
    /// Those who came after its last read.
    next: Vec<Asker<E>>,
    is_over: bool,
}

struct Asker<E> {
    tries: Tries,
    waiter: Arc<Waiter<Heard<E>>>,
    caller: Caller,
}

impl<E> Run<E> {
    pub(super) fn new(tries: Tries, waiter: Arc<Waiter<Heard<E>>>, caller: Caller) -> Self {
        let first = Asker {
            tries,
            waiter,
            caller,
        };
        Self(Mutex::new(Askers {
            heard: Vec::new(),
            next: alloc::vec![first],
            is_over: false,
        }))
    }

    /// False when the run is over.
    pub(super) fn join(
        &self,
        tries: Tries,
        waiter: &Arc<Waiter<Heard<E>>>,
        caller: Caller,
    ) -> bool {
        let mut askers = self.0.lock();
        if !askers.is_over {
            // Those who have gone make room, so that a call that hangs does not gather ever more of them.
            if askers.next.len() == askers.next.capacity() {
                askers.next.retain(|asker| !asker.waiter.has_gone());
                // So that it is not done again before as many more have come.
                let kept = askers.next.len();
                askers.next.reserve(kept.max(4));
            }
            askers.next.push(Asker {
                tries,
                waiter: Arc::clone(waiter),
                caller,
            });
        }
        !askers.is_over
    }

    /// How often the next pass tries; `None`: nobody asks, and the run is over.
    pub(super) fn wanted(&self) -> Option<Tries> {
        let mut askers = self.0.lock();
        let wanted = askers.next.iter().map(|asker| asker.tries).max();
        askers.is_over = wanted.is_none();
        wanted
    }

    /// A read begins: this pass answers whoever has asked by now and wants no more tries than it makes. Says who they are.
    pub(super) fn reads(&self, makes: Tries) -> Vec<Caller> {
        let mut askers = self.0.lock();
        let next = mem::take(&mut askers.next);
        let mut callers = Vec::with_capacity(next.len());
        for asker in next {
            if asker.tries <= makes {
                callers.push(asker.caller);
                askers.heard.push(asker.waiter);
            } else {
                askers.next.push(asker);
            }
        }
        callers
    }

    /// A pass is over, and this came of it.
    pub(super) fn tell(&self, heard: &Heard<E>) {
        let waiters = mem::take(&mut self.0.lock().heard);
        for waiter in waiters {
            // One that has gone needs no word.
            drop(waiter.give(heard.clone()));
        }
    }

    /// The run cannot go on.
    pub(super) fn end(&self, cause: &Cause<E>) {
        let mut askers = self.0.lock();
        askers.is_over = true;
        let next = mem::take(&mut askers.next);
        askers
            .heard
            .extend(next.into_iter().map(|asker| asker.waiter));
        drop(askers);
        self.tell(&Err(Unpaid {
            cause: cause.clone(),
            class: Class::Transient,
            is_overtaken: false,
        }));
    }
}

/// The run of a task; dropped with it, it tells whoever still waits.
pub(super) struct Running<E>(pub(super) Arc<Run<E>>);

impl<E> Drop for Running<E> {
    fn drop(&mut self) {
        self.0.end(&Cause::Abandoned);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn those_who_have_gone_are_not_kept() {
        let run = Run::<()>::new(Tries::All, Waiter::new(), Caller::here());
        for _ in 0..10_000 {
            let waiter = Waiter::new();
            assert!(run.join(Tries::All, &waiter, Caller::here()));
            waiter.leave();
        }
        assert!(run.0.lock().next.capacity() < 100);
    }
}
