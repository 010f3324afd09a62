//! Whether a record is what it has to be.

use ferry_core::{Fold, Record, Step};

use super::{
    case::{Case, Kept, tell_step},
    check::Finding,
    subject::{StateOf, Subject},
};

/// A number that no check applies: a step with it tells what the state is.
const PROBE: u32 = 9_999;

/// What a record has to hold.
#[derive(Clone, Copy, Default)]
pub(super) struct Wanted<'a> {
    /// Applied, in this order.
    pub(super) applied: &'a [u32],
    /// Applied after these, all or none.
    pub(super) batch: &'a [u32],
    /// Not applied.
    pub(super) absent: &'a [u32],
}

impl Wanted<'_> {
    pub(super) fn numbers(&self) -> Vec<u32> {
        [self.applied, self.batch, self.absent, &[PROBE]].concat()
    }
}

/// A record of which it is open whether a batch is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Without,
    With,
}

impl<S: Subject> Case<'_, S> {
    /// Reads, and has the record hold these inputs and not those.
    pub(super) async fn shows(
        &self,
        store: &S::Store,
        applied: &[u32],
        absent: &[u32],
    ) -> Result<Option<Kept<S>>, Finding> {
        let wanted = Wanted {
            applied,
            absent,
            ..Wanted::default()
        };
        let record = self.read(store, &wanted.numbers()).await?;
        self.judge(record, wanted)?;
        self.read(store, &[]).await
    }

    /// Reads, and has the record hold these inputs, and of the batch all or nothing.
    pub(super) async fn shows_whole(
        &self,
        store: &S::Store,
        applied: &[u32],
        batch: &[u32],
    ) -> Result<Shown, Finding> {
        let wanted = Wanted {
            applied,
            batch,
            ..Wanted::default()
        };
        let record = self.read(store, &wanted.numbers()).await?;
        self.judge(record, wanted)
    }

    /// Holds a record that was read for the numbers wanted against them.
    pub(super) fn judge(
        &self,
        record: Option<Kept<S>>,
        wanted: Wanted<'_>,
    ) -> Result<Shown, Finding> {
        let mut state = match record {
            Some(record) => record.state,
            None if wanted.applied.is_empty() => self.subject.fold().empty(&self.key),
            None => {
                let holding = format!("a record with inputs {}", told(&wanted.applied));
                return Err(Finding::new(holding, "no record"));
            }
        };
        let after = [wanted.applied, wanted.batch].concat();
        let (without, outcomes) = self.model(wanted.applied);
        let (with, outcomes_with) = self.model(&after);
        let is_without = self.was_deleted || self.subject.is_same(&state, &without);
        let is_with = self.was_deleted || self.subject.is_same(&state, &with);
        self.holds(&mut state, wanted.applied, &outcomes)?;
        let first = wanted.batch.first();
        let shown = match first.is_some_and(|&first| self.knows(&mut state, first)) {
            true => Shown::With,
            false => Shown::Without,
        };
        let (is_same, mut model, held) = match shown {
            Shown::With => (is_with, with, &after[..]),
            Shown::Without => (is_without, without, wanted.applied),
        };
        if !is_same {
            return Err(self.differs(&mut state, held, wanted.absent));
        }
        match shown {
            Shown::With => {
                let outcomes = &outcomes_with[wanted.applied.len()..];
                self.holds(&mut state, wanted.batch, outcomes)?;
            }
            Shown::Without => {
                // The first was applied a moment ago, to see whether it is known.
                if let Some((&first, rest)) = wanted.batch.split_first() {
                    let _known = self.knows(&mut model, first);
                    self.lacks(&mut state, &mut model, rest)?;
                }
            }
        }
        self.lacks(&mut state, &mut model, wanted.absent)?;
        self.lacks(&mut state, &mut model, &[PROBE])?;
        Ok(shown)
    }

    /// What to say of a state that is not the one of the inputs that it knows.
    fn differs(&self, state: &mut StateOf<S>, held: &[u32], absent: &[u32]) -> Finding {
        let expected = format!("the state that inputs {} lead to", told(&held));
        let intruder = absent.iter().find(|&&number| self.knows(state, number));
        let seen = match intruder {
            Some(number) => format!("input {number} is in it, and was to be turned away"),
            None => "another state, though it knows these inputs".to_owned(),
        };
        Finding::new(expected, seen)
    }

    /// Has a record that was read for some of the inputs applied to it, in whatever order, tell of each of them.
    pub(super) fn tells(
        &self,
        record: Option<Kept<S>>,
        applied: &[u32],
        asked: &[u32],
    ) -> Result<(), Finding> {
        let Some(Record { mut state, .. }) = record else {
            return Err(Finding::new("a record", "no record"));
        };
        let (model, outcomes) = self.model(applied);
        if !self.subject.is_same(&state, &model) {
            return Err(self.differs(&mut state, applied, &[]));
        }
        for (place, number) in applied.iter().enumerate() {
            if asked.contains(number) {
                self.holds(&mut state, &[*number], &outcomes[place..=place])?;
            }
        }
        Ok(())
    }

    /// The state that these inputs lead to from nothing, and what they were told.
    fn model(&self, numbers: &[u32]) -> (StateOf<S>, Vec<Option<Outcome<S>>>) {
        let fold = self.subject.fold();
        let mut state = fold.empty(&self.key);
        let outcomes = numbers
            .iter()
            .map(|&number| match fold.step(&mut state, &self.input(number)) {
                Step::Applied(_, outcome) => Some(outcome),
                Step::Already(_) | Step::Refused(_) | Step::Mismatch(_) | Step::TooOld(_) => None,
            })
            .collect();
        (state, outcomes)
    }

    fn holds(
        &self,
        state: &mut StateOf<S>,
        numbers: &[u32],
        outcomes: &[Option<Outcome<S>>],
    ) -> Result<(), Finding> {
        for (&number, first) in numbers.iter().zip(outcomes) {
            let step = self.subject.fold().step(state, &self.input(number));
            let as_before = match &step {
                Step::Already(outcome) => self.was_deleted || Some(outcome) == first.as_ref(),
                Step::Applied(..) | Step::Refused(_) | Step::Mismatch(_) | Step::TooOld(_) => false,
            };
            if !as_before {
                let outcome = first.as_ref().map(|outcome| format!("{outcome:?}"));
                let expected = format!(
                    "input {number} to be already applied, with the outcome that it was first given, {}",
                    outcome.as_deref().unwrap_or("whatever it is"),
                );
                return Err(Finding::new(expected, tell_step(&step)));
            }
        }
        Ok(())
    }

    fn lacks(
        &self,
        state: &mut StateOf<S>,
        model: &mut StateOf<S>,
        numbers: &[u32],
    ) -> Result<(), Finding> {
        let fold = self.subject.fold();
        for &number in numbers {
            let input = self.input(number);
            let (step, right) = (fold.step(state, &input), fold.step(model, &input));
            let is_right = match (&step, &right) {
                (Step::Applied(_, outcome), Step::Applied(_, right)) => {
                    self.was_deleted || outcome == right
                }
                _ => false,
            };
            if !is_right {
                let expected = format!(
                    "of input {number}, by a step on this record: {}",
                    tell_step(&right)
                );
                return Err(Finding::new(expected, tell_step(&step)));
            }
        }
        Ok(())
    }
}

type Outcome<S> = <<S as Subject>::Fold as Fold>::Outcome;

/// What is long, its beginning and its end.
pub(super) fn told(long: &impl std::fmt::Debug) -> String {
    const ENDS: usize = 120;
    let long = format!("{long:?}");
    let (begins, ends) = (
        long.char_indices().nth(ENDS),
        long.char_indices().nth_back(ENDS),
    );
    match (begins, ends) {
        (Some((begins, _)), Some((ends, _))) if begins < ends => {
            format!("{} ... {}", &long[..begins], &long[ends..])
        }
        _ => long,
    }
}
