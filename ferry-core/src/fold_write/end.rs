//! The end of a group that has no further try, and what an input hears that fails.

use alloc::{boxed::Box, collections::VecDeque, vec::Vec};

use super::{
    Command, ErrorOf,
    again::Setback,
    group::{Held, Naming},
    overtaken::leave,
    trip::{Aim, Trip},
};
use crate::{
    Cause, Fold, Instant,
    guard::{discard, guard},
};

impl<F: Fold> Trip<F> {
    /// There is no further try. If a commit left it open what became of an input, a read tells.
    pub(super) fn end(
        mut self: Box<Self>,
        now: Instant,
        setback: Setback<ErrorOf<F>>,
    ) -> Command<F> {
        match setback {
            Setback::Commit(cause) if !self.group.iter().all(Held::is_clear) => {
                self.remember(cause);
                self.read(now, Aim::Settle)
            }
            Setback::Read(cause) | Setback::Commit(cause) => self.give_up(now, cause),
        }
    }

    /// What the fold applied is not in the record: it fails, as not committed if its commit cannot land
    /// any more. What was folded behind it is told by a further read, without it.
    pub(super) fn settle(mut self: Box<Self>, now: Instant) -> Command<F> {
        let cause = self.cause.clone();
        if self.entries.is_empty() {
            return self.give_up(now, cause);
        }
        // Out of the group while they fail: a twin in it is not committed any more either.
        let group = core::mem::take(&mut self.group);
        let mut open = VecDeque::new();
        for (held, fate) in group.into_iter().zip(core::mem::take(&mut self.fates)) {
            if fate.is_applied() {
                self.tally.failed += 1;
                self.answer_failed(held, cause.clone());
            } else {
                open.push_back(held);
            }
            discard(fate);
        }
        self.group = open;
        self.read(now, Aim::Settle)
    }

    /// Fails what is left of the group, and goes on with the next.
    pub(super) fn give_up(
        mut self: Box<Self>,
        now: Instant,
        cause: Cause<ErrorOf<F>>,
    ) -> Command<F> {
        let mut group = core::mem::take(&mut self.group);
        for held in group.drain(..) {
            self.tally.failed += 1;
            self.answer_failed(held, cause.clone());
        }
        self.group = group;
        self.read(now, Aim::Carry)
    }

    /// Fails the inputs whose deadline has passed, in any group.
    pub(super) fn expire(&mut self, now: Instant) {
        let mut expired = Vec::new();
        for group in core::iter::once(&mut self.group).chain(&mut self.later) {
            while let Some(at) = group.iter().position(|held| held.is_due(now)) {
                let Some(held) = group.remove(at) else { break };
                leave(group.iter_mut().take(at), &held, false);
                expired.push(held);
            }
        }
        for held in expired {
            self.tally.expired += 1;
            self.answer_failed(held, Cause::Expired);
        }
    }

    /// Fails an input of the group.
    pub(super) fn fail(&mut self, at: usize, cause: Cause<ErrorOf<F>>) {
        if let Some(held) = self.group.remove(at) {
            leave(self.group.iter_mut().take(at), &held, false);
            self.tally.failed += 1;
            self.answer_failed(held, cause);
        }
    }

    /// Answers an input that has left the groups with the failure that is true of it.
    pub(super) fn answer_failed(&mut self, mut held: Held<F>, cause: Cause<ErrorOf<F>>) {
        // Without an id nobody is known not to be a twin; but what fails since it never had one is not written for another either.
        let is_nameless = held.naming == Naming::Never && matches!(cause, Cause::Panicked(_));
        let if_unknown = !is_nameless;
        if held.is_clear() && self.has_twin_of(&held).unwrap_or(if_unknown) {
            held.may_be_stored();
        }
        self.settled.push_back(held.failed(cause));
    }

    /// Whether the same input is held once more, and may yet be written for it; `None` where an id panics.
    fn has_twin_of(&self, left: &Held<F>) -> Option<bool> {
        let id = |held: &Held<F>| guard(|| self.fold.id(&held.input)).ok();
        let mut held = self.held().peekable();
        if held.peek().is_none() {
            return Some(false);
        }
        let left = id(left)?;
        let mut is_unknown = false;
        for held in held {
            match id(held) {
                Some(id) if id == left => return Some(true),
                Some(_) => {}
                None => is_unknown = true,
            }
        }
        (!is_unknown).then_some(false)
    }
}
