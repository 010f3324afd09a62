//! The fold of a batch, by hand.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
};

use ferry_core::{Fold, Instant, Step, StepOf};

use super::trip::Trips;
use crate::{
    history::{Heard, HeardBy, Reach, Why},
    kind::{Kind, RecordOf},
    policy::Mistake,
    sent::{Carried, How, Sent, ToldBy},
    workload::{KeyOf, StateOf, VersionOf},
};

/// The inputs of a batch, and what is known of them.
pub(super) struct Batch<K: Kind> {
    pub(super) key: KeyOf<K::Load>,
    pub(super) inputs: Vec<Sent<K::Load>>,
    pub(super) answers: Vec<Option<HeardBy<K::Load>>>,
    pub(super) started: Instant,
    /// Why a commit of some of them may have landed unheard, the last one; whether or not a read has told since.
    pub(super) doubted_for: Option<Why>,
    /// The inputs of which no read has told since, by their numbers; with the version that the commit is based on.
    pub(super) in_doubt: BTreeMap<u64, Option<VersionOf<K::Load>>>,
    /// The inputs that have landed, by their numbers.
    pub(super) landed: BTreeSet<u64>,
}

/// What a fold came to.
pub(super) struct Folded<K: Kind> {
    pub(super) state: StateOf<K::Load>,
    pub(super) entries: Vec<Sent<K::Load>>,
    /// Of the inputs at these places.
    pub(super) outcomes: Vec<(usize, ToldBy<K::Load>)>,
}

impl<K: Kind> Batch<K> {
    pub(super) fn is_in_doubt(&self) -> bool {
        self.doubted_for.is_some()
    }

    /// Whether a commit on this version that holds the input may still land.
    fn may_land_on(&self, version: Option<&VersionOf<K::Load>>, at: usize) -> bool {
        let based = self.in_doubt.get(&self.inputs[at].number);
        based.is_some_and(|based| based.as_ref() == version)
    }

    /// Whether a copy of the input goes on without it.
    fn has_twin_beside(&self, open: &[usize], at: usize) -> bool {
        let number = self.inputs[at].number;
        let others = self.inputs.iter().zip(&self.answers).enumerate();
        others.into_iter().any(|(other, (sent, answer))| {
            sent.number == number && answer.is_none() && !open.contains(&other)
        })
    }

    pub(super) fn tell_all(&mut self, open: &[usize], heard: &HeardBy<K::Load>) {
        for &at in open {
            self.answers[at] = Some(heard.clone());
        }
    }

    pub(super) fn answer(&mut self, outcomes: Vec<(usize, ToldBy<K::Load>)>) {
        for (at, told) in outcomes {
            self.answers[at] = Some(Heard::Outcome(told, Reach::Durable));
        }
    }
}

impl<K: Kind> Trips<K> {
    /// Without proof nobody is told that nothing was written.
    pub(super) fn fail_all(&self, batch: &mut Batch<K>, open: &[usize], why: Why) {
        for &at in open {
            let number = batch.inputs[at].number;
            let is_open = batch.in_doubt.contains_key(&number) || batch.has_twin_beside(open, at);
            let has_landed = batch.landed.contains(&number);
            let is_forgotten = self.mistakes(Mistake::TwinsForgotten);
            self.weakened_if(is_forgotten && has_landed && !is_open);
            batch.answers[at] = Some(if is_open || (has_landed && !is_forgotten) {
                Heard::InDoubt(why)
            } else {
                Heard::NotCommitted(why)
            });
        }
    }

    /// Versions never come again: what is based on another one than the record has will not land, and has not, where the record
    /// lacks it.
    pub(super) fn prove(
        &self,
        batch: &mut Batch<K>,
        open: &[usize],
        record: Option<&RecordOf<K::Load>>,
    ) {
        let version = record.map(|record| &record.version);
        for &at in open {
            let input = &batch.inputs[at];
            let is_there =
                record.is_some_and(|record| self.has_had(&mut record.state.clone(), input));
            if !is_there && !batch.may_land_on(version, at) {
                batch.in_doubt.remove(&batch.inputs[at].number);
            }
        }
    }

    /// Answers those whose answer no commit of theirs can belie any more; and who is left.
    pub(super) fn answer_settled(
        &self,
        batch: &mut Batch<K>,
        folded: Folded<K>,
        record: Option<&RecordOf<K::Load>>,
    ) -> Vec<usize> {
        let version = record.map(|record| &record.version);
        let is_open = |(at, told): &(usize, ToldBy<K::Load>)| {
            matches!(told.how, How::Declined | How::Mismatch) && batch.may_land_on(version, *at)
        };
        let (open, settled): (Vec<_>, Vec<_>) = folded.outcomes.into_iter().partition(is_open);
        let left = open.iter().map(|&(at, _)| at).collect();
        batch.answer(settled);
        if self.mistakes(Mistake::DeclinedInDoubt) && !open.is_empty() {
            self.weakened();
            batch.answer(open);
            return Vec::new();
        }
        left
    }

    /// Folds those that are open on the record; one that cannot be carried with the others is answered, and is open no more.
    pub(super) fn fold(
        &self,
        batch: &mut Batch<K>,
        open: &mut Vec<usize>,
        record: Option<&RecordOf<K::Load>>,
    ) -> Folded<K> {
        loop {
            match self.folded(batch, open, record) {
                Ok(folded) => return folded,
                Err((_, Why::Panicked)) if self.mistakes(Mistake::PanicNotCaught) => {
                    self.weakened_if(open.len() > 1);
                    self.fail_all(batch, open, Why::Panicked);
                    open.clear();
                }
                Err((at, why)) => {
                    self.fail_all(batch, &[at], why);
                    open.retain(|&other| other != at);
                }
            }
        }
    }

    /// Or which input has to leave, and why.
    fn folded(
        &self,
        batch: &Batch<K>,
        open: &[usize],
        record: Option<&RecordOf<K::Load>>,
    ) -> Result<Folded<K>, (usize, Why)> {
        let before = || match record {
            Some(record) => record.state.clone(),
            None => self.fold.empty(&batch.key),
        };
        let (mut state, mut entries, mut outcomes) = (before(), Vec::new(), Vec::new());
        for &at in open {
            let input = &batch.inputs[at];
            let step = self.step(&mut state, input).ok_or((at, Why::Panicked))?;
            outcomes.push((
                at,
                match step {
                    Step::Applied(entry, told) => {
                        let later = batch.inputs.get(at + 1..).unwrap_or_default();
                        let is_there = |sent| self.has_had(&mut before(), sent);
                        if batch.is_in_doubt() && later.iter().any(is_there) {
                            if !self.mistakes(Mistake::LateApplied) {
                                return Err((at, Why::Overtaken));
                            }
                            self.weakened();
                        }
                        entries.push(entry);
                        told
                    }
                    Step::Already(told) => {
                        if self.mistakes(Mistake::TwinsApplied) && !self.holds(&mut before(), input)
                        {
                            self.weakened();
                            entries.push(input.clone());
                        }
                        told
                    }
                    Step::Refused(told) | Step::Mismatch(told) | Step::TooOld(told) => told,
                },
            ));
        }
        Ok(Folded {
            state,
            entries,
            outcomes,
        })
    }

    /// `None`: it panicked.
    fn step(
        &self,
        state: &mut StateOf<K::Load>,
        input: &Sent<K::Load>,
    ) -> Option<StepOf<Carried<K>>> {
        catch_unwind(AssertUnwindSafe(|| self.fold.step_of(state, input))).ok()
    }

    /// Whether the state holds the input, or may have forgotten it.
    fn has_had(&self, state: &mut StateOf<K::Load>, sent: &Sent<K::Load>) -> bool {
        let fold = &self.fold.fold;
        matches!(
            fold.step(state, &sent.content),
            Step::Already(_) | Step::TooOld(_)
        )
    }

    /// Whether the state holds the input.
    fn holds(&self, state: &mut StateOf<K::Load>, sent: &Sent<K::Load>) -> bool {
        // Without its quirk: this is no step that it is given.
        let fold = &self.fold.fold;
        matches!(fold.step(state, &sent.content), Step::Already(_))
    }
}
