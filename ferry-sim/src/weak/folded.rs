//! The fold of a batch, by hand.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
};

use ferry_core::{Fold, Instant, Step, StepOf};

use super::trip::Trips;
use crate::{
    history::{Heard, HeardBy, Reach, Why},
    kind::{Kind, RecordOf},
    policy::Mistake,
    sent::{Carried, Sent, ToldBy},
    workload::{KeyOf, StateOf},
};

/// The inputs of a batch, and what is known of them.
pub(super) struct Batch<K: Kind> {
    pub(super) key: KeyOf<K::Load>,
    pub(super) inputs: Vec<Sent<K::Load>>,
    pub(super) answers: Vec<Option<HeardBy<K::Load>>>,
    pub(super) started: Instant,
    /// Whether a commit of some of them may have landed unheard.
    pub(super) is_in_doubt: bool,
    /// Which inputs, by their numbers.
    pub(super) in_doubt: BTreeSet<u64>,
}

/// What a fold came to.
pub(super) struct Folded<K: Kind> {
    pub(super) state: StateOf<K::Load>,
    pub(super) entries: Vec<Sent<K::Load>>,
    /// Of the inputs at these places.
    pub(super) outcomes: Vec<(usize, ToldBy<K::Load>)>,
}

impl<K: Kind> Batch<K> {
    /// Without proof nobody is told that nothing was written.
    pub(super) fn fail_all(&mut self, open: &[usize], why: Why) {
        for &at in open {
            let is_in_doubt = self.in_doubt.contains(&self.inputs[at].number);
            self.answers[at] = Some(if is_in_doubt {
                Heard::InDoubt(why)
            } else {
                Heard::NotCommitted(why)
            });
        }
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
                    batch.fail_all(open, Why::Panicked);
                    open.clear();
                }
                Err((at, why)) => {
                    batch.fail_all(&[at], why);
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
                        if batch.is_in_doubt && later.iter().any(is_there) {
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
