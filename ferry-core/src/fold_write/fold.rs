//! What the answer to a read leads to: the fold, and the answers that rest on the record alone.

use alloc::{boxed::Box, sync::Arc};

use super::{
    Command, Committing, ErrorOf, SchemaOf, StateOf, VersionOf,
    again::Setback,
    group::Fate,
    overtaken::leave,
    proposal::Proposal,
    trip::{Aim, Trip},
};
use crate::{
    Cause, Class, Fault, Fold, Instant, RecordOf, Step,
    guard::{discard, guard},
};

impl<F: Fold> Trip<F> {
    pub(super) fn read_done(
        mut self: Box<Self>,
        now: Instant,
        aim: Aim,
        record: Option<RecordOf<SchemaOf<F>>>,
    ) -> Command<F> {
        let (mut state, version) = match record {
            Some(record) => (record.state, Some(record.version)),
            None => match guard(|| self.fold.empty(self.key())) {
                Ok(state) => (state, None),
                Err(message) => return self.give_up(now, Cause::Panicked(message)),
            },
        };
        let folded = self.fold_group(&mut state, version.as_ref());
        if self.fail_the_overtaken() {
            discard(state);
            discard(version);
            discard(folded);
            return self.read(now, aim);
        }
        self.answer_settled();
        if folded.is_ok() && matches!(aim, Aim::Carry) && !self.entries.is_empty() {
            self.tally.commits += 1;
            return Command::Commit(Committing {
                trip: self,
                proposal: Proposal::new(version, state),
            });
        }
        discard(state);
        discard(version);
        self.nothing_to_commit(now, aim, folded)
    }

    fn nothing_to_commit(
        mut self: Box<Self>,
        now: Instant,
        aim: Aim,
        folded: Result<(), Arc<str>>,
    ) -> Command<F> {
        match folded {
            Err(message) => {
                // The inputs before it have their fates; it stands where the fates end.
                self.fail(self.fates.len(), Cause::Panicked(message));
                self.read(now, aim)
            }
            Ok(()) if self.group.is_empty() => self.read(now, Aim::Carry),
            Ok(()) if matches!(aim, Aim::Settle) => self.settle(now),
            Ok(()) => {
                // A commit in doubt may yet apply what this fold declined. Wait for it to show.
                let setback = Setback::Read(self.doubted_for.clone());
                self.again(now, setback, Class::Transient)
            }
        }
    }

    fn fold_group(
        &mut self,
        state: &mut StateOf<F>,
        version: Option<&VersionOf<F>>,
    ) -> Result<(), Arc<str>> {
        self.forget_the_fold();
        for (held, id) in self.group.iter_mut().zip(&self.ids) {
            let fate = match guard(|| self.fold.step(state, &held.input))? {
                Step::Applied(entry, outcome) => {
                    self.entries.push(entry);
                    Fate::Applied(outcome)
                }
                Step::Already(outcome) => {
                    let mut before = self.fates.iter().zip(&self.ids);
                    if before.any(|(fate, other)| fate.is_applied() && other == id) {
                        Fate::Twin(outcome)
                    } else {
                        Fate::Already(outcome)
                    }
                }
                Step::Refused(outcome) => Fate::Declined(outcome),
                Step::Mismatch(outcome) => Fate::Mismatched(outcome),
                Step::TooOld(outcome) => Fate::TooOld(outcome),
            };
            held.learn(&fate, version);
            self.fates.push_back(fate);
        }
        Ok(())
    }

    /// Answers the inputs whose outcome rests on the record as read: those that were folded before
    /// the first that changed the state.
    fn answer_settled(&mut self) {
        let unchanged = self
            .fates
            .iter()
            .take_while(|fate| !fate.is_applied())
            .count();
        let mut at = 0;
        for _ in 0..unchanged {
            if self.group[at].is_settled(&self.fates[at]) {
                self.answer(at);
            } else {
                at += 1;
            }
        }
    }

    /// Answers an input of the group with what the fold made of it.
    pub(super) fn answer(&mut self, at: usize) {
        let (Some(held), Some(fate)) = (self.group.remove(at), self.fates.remove(at)) else {
            unreachable!("a folded input has a fate")
        };
        let is_stored = matches!(fate, Fate::Already(_));
        leave(self.group.iter_mut().take(at), &held, is_stored);
        match fate {
            Fate::Applied(_) => self.tally.applied += 1,
            Fate::Already(_) | Fate::Twin(_) => self.tally.duplicates += 1,
            Fate::Declined(_) => self.tally.declined += 1,
            Fate::Mismatched(_) => self.tally.mismatches += 1,
            Fate::TooOld(_) => self.tally.too_old += 1,
        }
        self.settled.push_back(held.answered(fate));
    }

    pub(super) fn read_failed(
        mut self: Box<Self>,
        now: Instant,
        aim: Aim,
        fault: Fault<ErrorOf<F>>,
    ) -> Command<F> {
        self.tally.faults += 1;
        let cause = Cause::Store(Arc::new(fault.error));
        match aim {
            Aim::Settle => self.give_up(now, cause),
            Aim::Carry => self.failed(now, Setback::Read(cause), fault.class),
        }
    }

    pub(super) fn read_panicked(
        mut self: Box<Self>,
        now: Instant,
        aim: Aim,
        message: Arc<str>,
    ) -> Command<F> {
        self.tally.faults += 1;
        let cause = Cause::Panicked(message);
        match aim {
            Aim::Settle => self.give_up(now, cause),
            Aim::Carry => self.split(now, Setback::Read(cause)),
        }
    }
}
