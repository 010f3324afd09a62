//! The answers of a projected write: those that are known, and the outcomes that are held back until it
//! is known whether the view shows them.

use alloc::collections::VecDeque;

use super::{Answered, debt::Debt};
use crate::{
    Answer, Cause, Durability, Instant, Projection,
    fold_write::{self, ErrorOf, Settled, Trace},
    guard::discard,
    per_key::Ticket,
};

pub(super) struct Answers<P: Projection> {
    pub(super) known: VecDeque<Answered<P>>,
    held_back: VecDeque<HeldBack<P>>,
    /// Held back, and then answered as committed.
    pub(super) late: u64,
}

/// An input whose outcome is durable.
struct HeldBack<P: Projection> {
    ticket: Ticket,
    deadline: Option<Instant>,
    trace: Trace,
    input: P::Input,
    outcome: P::Outcome,
}

/// Whether the view shows the record that outcomes rest on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Shown {
    Yes,
    NotKnown,
}

impl<P: Projection> Answers<P> {
    pub(super) fn new() -> Self {
        Self {
            known: VecDeque::new(),
            held_back: VecDeque::new(),
            late: 0,
        }
    }

    /// Whether nobody waits for the view.
    pub(super) fn is_complete(&self) -> bool {
        self.held_back.is_empty()
    }

    /// The soonest deadline of those that wait for the view.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.held_back.iter().filter_map(|held| held.deadline).min()
    }

    /// Takes what the fold write has settled. Failures are known whole; outcomes rest on a record that
    /// the view shows, or not.
    pub(super) fn take(&mut self, command: &mut fold_write::Command<P>, shown: Shown) {
        for Settled {
            deadline,
            trace,
            answered,
        } in command.settled()
        {
            let fold_write::Answered {
                ticket,
                input,
                result,
            } = answered;
            let outcome = match result {
                Ok(outcome) => outcome,
                Err(failure) => {
                    let result = Err(failure);
                    self.known.push_back(Answered {
                        ticket,
                        input,
                        result,
                    });
                    continue;
                }
            };
            let held = HeldBack {
                ticket,
                deadline,
                trace,
                input,
                outcome,
            };
            match shown {
                Shown::Yes => self.known.push_back(held.answered(Durability::Projected)),
                Shown::NotKnown => self.held_back.push_back(held),
            }
        }
    }

    /// The view shows everything that was durable so far.
    pub(super) fn all_shown(&mut self) {
        let shown = self.held_back.drain(..);
        self.known
            .extend(shown.map(|held| held.answered(Durability::Projected)));
    }

    /// The view was written in part, and includes this. What left no entry rests on the whole record: the
    /// view may include a twin of it, applied since.
    pub(super) fn shown_in_part(&mut self, projection: &P, view: &P::View) {
        let is_included = |held: &HeldBack<P>| {
            held.trace == Trace::Entry && Debt::includes(projection, view, &held.input)
        };
        self.answer_where(is_included, Durability::Projected);
    }

    /// Those whose deadline has passed wait no longer.
    pub(super) fn expire(&mut self, now: Instant) {
        let before = self.held_back.len();
        let is_due = |held: &HeldBack<P>| held.deadline.is_some_and(|deadline| deadline <= now);
        self.answer_where(is_due, Durability::Committed(Cause::Expired));
        self.late += (before - self.held_back.len()) as u64;
    }

    /// The view is not known to show what still waits for it.
    pub(super) fn all_late(&mut self, cause: Cause<ErrorOf<P>>) {
        self.late += self.held_back.len() as u64;
        let late = self.held_back.drain(..);
        self.known
            .extend(late.map(|held| held.answered(Durability::Committed(cause.clone()))));
        discard(cause);
    }

    /// Lets go of what nobody asked for.
    pub(super) fn forget(&mut self) {
        self.known.drain(..).for_each(Answered::discard);
        self.held_back.drain(..).for_each(HeldBack::discard);
        self.late = 0;
    }

    fn answer_where(
        &mut self,
        chosen: impl Fn(&HeldBack<P>) -> bool,
        durability: Durability<ErrorOf<P>>,
    ) {
        let mut at = 0;
        while let Some(held) = self.held_back.get(at) {
            if !chosen(held) {
                at += 1;
            } else if let Some(held) = self.held_back.remove(at) {
                self.known.push_back(held.answered(durability.clone()));
            }
        }
    }
}

impl<P: Projection> HeldBack<P> {
    fn answered(self, durability: Durability<ErrorOf<P>>) -> Answered<P> {
        Answered {
            ticket: self.ticket,
            input: self.input,
            result: Ok(Answer {
                outcome: self.outcome,
                durability,
            }),
        }
    }

    /// Each part on its own, in case its `Drop` panics.
    fn discard(self) {
        discard(self.input);
        discard(self.outcome);
    }
}

impl<P: Projection> Answered<P> {
    /// Each part on its own, in case its `Drop` panics.
    fn discard(self) {
        discard(self.input);
        match self.result {
            Ok(Answer {
                outcome,
                durability,
            }) => {
                discard(outcome);
                discard(durability);
            }
            Err(failure) => discard(failure),
        }
    }
}
