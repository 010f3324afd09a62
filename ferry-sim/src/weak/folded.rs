//! The fold of a batch, by hand.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ferry_core::{Fold, Step, StepOf};

use super::trip::Trips;
use crate::{
    history::Heard,
    history::HeardBy,
    history::Reach,
    history::Why,
    kind::{Kind, RecordOf},
    policy::Mistake,
    sent::{Carried, Quirk, Sent, ToldBy},
    workload::{KeyOf, StateOf},
};

/// The inputs of a batch, and what is known of them.
pub(super) struct Batch<K: Kind> {
    pub(super) key: KeyOf<K::Load>,
    pub(super) inputs: Vec<Sent<K::Load>>,
    pub(super) answers: Vec<Option<HeardBy<K::Load>>>,
    /// Whether a commit of some of them may have landed unheard.
    pub(super) is_in_doubt: bool,
}

/// What a fold came to.
pub(super) struct Folded<K: Kind> {
    pub(super) state: StateOf<K::Load>,
    pub(super) entries: Vec<Sent<K::Load>>,
    /// Of the inputs at these places.
    pub(super) outcomes: Vec<(usize, ToldBy<K::Load>)>,
}

/// Why an input has to leave the batch, and the fold to begin again.
enum Leaves {
    Panicked,
    Overtaken,
}

impl<K: Kind> Batch<K> {
    pub(super) fn fail(&mut self, at: usize, why: Why) {
        self.answers[at] = Some(Heard::InDoubt(why));
    }

    pub(super) fn fail_all(&mut self, open: &[usize], heard: &HeardBy<K::Load>) {
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
                Err((at, leaves)) => {
                    open.retain(|&other| other != at);
                    batch.fail(
                        at,
                        match leaves {
                            Leaves::Panicked => Why::Panicked,
                            Leaves::Overtaken => Why::Overtaken,
                        },
                    );
                }
            }
        }
    }

    fn folded(
        &self,
        batch: &Batch<K>,
        open: &[usize],
        record: Option<&RecordOf<K::Load>>,
    ) -> Result<Folded<K>, (usize, Leaves)> {
        let before = || match record {
            Some(record) => record.state.clone(),
            None => self.fold.empty(&batch.key),
        };
        let (mut state, mut entries, mut outcomes) = (before(), Vec::new(), Vec::new());
        for &at in open {
            let input = &batch.inputs[at];
            let step = self.step(&mut state, input).ok_or((at, Leaves::Panicked))?;
            outcomes.push((
                at,
                match step {
                    Step::Applied(entry, told) => {
                        let later = batch.inputs.get(at + 1..).unwrap_or_default();
                        let is_there = |sent| self.holds(&mut before(), sent);
                        if batch.is_in_doubt && later.iter().any(is_there) {
                            return Err((at, Leaves::Overtaken));
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
        if self.mistakes(Mistake::PanicNotCaught) {
            self.weakened_if(input.quirk == Quirk::Panics);
            return Some(self.fold.step(state, input));
        }
        catch_unwind(AssertUnwindSafe(|| self.fold.step(state, input))).ok()
    }

    /// Whether the state holds the input.
    fn holds(&self, state: &mut StateOf<K::Load>, sent: &Sent<K::Load>) -> bool {
        // Without its quirk: this is no step that it is given.
        let fold = &self.fold.fold;
        matches!(fold.step(state, &sent.content), Step::Already(_))
    }
}
