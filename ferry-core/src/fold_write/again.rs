//! What comes after a try that failed: the next one after a pause, the halves apart, or the end.

use alloc::boxed::Box;

use super::{
    Command, ErrorOf, Sleeping,
    overtaken::part,
    trip::{Aim, Trip},
};
use crate::{Cause, Class, Fold, Instant, guard::discard};

/// What a try failed on, and at which stage.
pub(super) enum Setback<E> {
    /// At its read: one more would tell nothing new.
    Read(Cause<E>),
    /// At its commit, which may have left it open what became of an input.
    Commit(Cause<E>),
}

impl<E> Setback<E> {
    /// There is a further try, and what this one failed on is nobody's answer.
    fn forget(self) {
        match self {
            Self::Read(cause) | Self::Commit(cause) => discard(cause),
        }
    }
}

impl<F: Fold> Trip<F> {
    /// A call of the store failed for certain.
    pub(super) fn failed(
        self: Box<Self>,
        now: Instant,
        setback: Setback<ErrorOf<F>>,
        class: Class,
    ) -> Command<F> {
        match class {
            Class::Permanent => self.split(now, setback),
            Class::Transient | Class::Throttled(_) => self.again(now, setback, class),
        }
    }

    /// A try failed: sleeps and begins the next, unless it was the last.
    pub(super) fn again(
        mut self: Box<Self>,
        now: Instant,
        setback: Setback<ErrorOf<F>>,
        class: Class,
    ) -> Command<F> {
        self.tries_failed += 1;
        let until = now + self.jitter.pause(&self.retry, self.tries_failed, class);
        let is_last = self.tries_failed >= self.retry.attempts;
        if is_last || until > self.started + self.retry.total {
            return self.end(now, setback);
        }
        setback.forget();
        self.tally.retries += 1;
        self.sleep(now, until)
    }

    fn sleep(self: Box<Self>, now: Instant, until: Instant) -> Command<F> {
        let deadline = self.held().filter_map(|held| held.deadline).min();
        let duration = deadline.map_or(until, |deadline| until.min(deadline)) - now;
        Command::Sleep(Sleeping {
            trip: self,
            until,
            duration,
        })
    }

    pub(super) fn woken(mut self: Box<Self>, now: Instant, until: Instant) -> Command<F> {
        self.expire(now);
        if now < until && self.held().next().is_some() {
            self.sleep(now, until)
        } else {
            self.read(now, Aim::Carry)
        }
    }

    /// Something in the group will fail every time: tries the halves apart, the first one first. For
    /// an input that is alone it was the last try; of the others, nobody is told what it failed on.
    pub(super) fn split(
        mut self: Box<Self>,
        now: Instant,
        setback: Setback<ErrorOf<F>>,
    ) -> Command<F> {
        if self.group.len() == 1 {
            return self.end(now, setback);
        }
        self.tally.splits += 1;
        let half = self.group.len().div_ceil(2);
        let second = self.group.split_off(half);
        part(&mut self.group, &second);
        self.later.push(second);
        self.tries_failed = 0;
        setback.forget();
        self.read(now, Aim::Carry)
    }
}
