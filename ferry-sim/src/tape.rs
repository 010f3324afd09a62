//! What a run drew, as a list of choices that can be changed and played again.

use core::fmt;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Names a stream of draws: which of the run's own streams, then the number of the fork, and so on down.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Path(Vec<u32>);

impl Path {
    pub(crate) fn new(steps: Vec<u32>) -> Self {
        Self(steps)
    }

    pub(crate) fn steps(&self) -> &[u32] {
        &self.0
    }

    pub(crate) fn child(&self, nth: u32) -> Self {
        let mut steps = self.0.clone();
        steps.push(nth);
        Self(steps)
    }

    /// Whether it is this one, or comes from it.
    pub(crate) fn is_below(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

/// All that a run drew. What is not in it is zero, and zero is the simplest that can be drawn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choices(BTreeMap<Path, Vec<u64>>);

impl Choices {
    /// How many there are that are not the simplest.
    #[must_use]
    pub fn len(&self) -> usize {
        let values = self.0.values().flatten();
        values.filter(|&&value| value != 0).count()
    }

    /// Whether everything is the simplest.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The streams, in order, none of them without a choice.
    pub(crate) fn streams(&self) -> impl Iterator<Item = (&Path, &[u64])> {
        self.0
            .iter()
            .map(|(path, values)| (path, values.as_slice()))
    }

    pub(crate) fn get(&self, path: &Path, nth: usize) -> u64 {
        let values = self.0.get(path);
        values
            .and_then(|values| values.get(nth))
            .map_or(0, |&value| value)
    }

    /// Sets one choice.
    pub(crate) fn set(&mut self, path: &Path, nth: usize, value: u64) {
        let values = self.0.entry(path.clone()).or_default();
        if values.len() <= nth {
            values.resize(nth + 1, 0);
        }
        values[nth] = value;
        self.trim(path);
    }

    /// Lets a stream and all that come from it be zero.
    pub(crate) fn clear_below(&mut self, path: &Path) {
        self.0.retain(|own, _| !own.is_below(path));
    }

    /// Lets a stream be zero from this choice on, but not those that come from it.
    pub(crate) fn clear_from(&mut self, path: &Path, nth: usize) {
        if let Some(values) = self.0.get_mut(path) {
            values.truncate(nth);
        }
        self.trim(path);
    }

    fn trim(&mut self, path: &Path) {
        if let Some(values) = self.0.get_mut(path) {
            let len = values.iter().rposition(|&value| value != 0);
            values.truncate(len.map_or(0, |last| last + 1));
            if values.is_empty() {
                self.0.remove(path);
            }
        }
    }
}

/// Where a run's streams note what they draw, and what they are to draw.
#[derive(Clone, Debug)]
pub(crate) struct Tape(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    /// `None`: whatever the seed gives.
    given: Option<Choices>,
    polls_max: u64,
    drawn: Mutex<Vec<(Path, Vec<u64>)>>,
}

impl Tape {
    /// For a run whose draws come from its seed, and are noted.
    pub(crate) fn recording() -> Self {
        Self::of(None, u64::MAX)
    }

    /// For a run with these draws, of at most so many polls: where all draws are the simplest, things can go on at once and
    /// without an end.
    pub(crate) fn playing(choices: Choices, polls_max: u64) -> Self {
        Self::of(Some(choices), polls_max)
    }

    fn of(given: Option<Choices>, polls_max: u64) -> Self {
        Self(Arc::new(Inner {
            given,
            polls_max,
            drawn: Mutex::default(),
        }))
    }

    pub(crate) fn polls_max(&self) -> u64 {
        self.0.polls_max
    }

    fn drawn(&self) -> MutexGuard<'_, Vec<(Path, Vec<u64>)>> {
        self.0.drawn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a stream, and says under which number.
    fn begin(&self, path: Path) -> usize {
        let mut drawn = self.drawn();
        drawn.push((path, Vec::new()));
        drawn.len() - 1
    }

    /// What was drawn so far.
    pub(crate) fn choices(&self) -> Choices {
        let drawn = self.drawn();
        let mut choices = Choices(drawn.iter().cloned().collect());
        for (path, _) in drawn.iter() {
            choices.trim(path);
        }
        choices
    }
}

/// One stream of a run whose draws are noted.
pub(crate) struct Taped {
    tape: Tape,
    path: Path,
    number: usize,
    nth: usize,
    forks: u32,
}

impl Taped {
    pub(crate) fn new(tape: &Tape, path: Path) -> Self {
        Self {
            tape: tape.clone(),
            number: tape.begin(path.clone()),
            path,
            nth: 0,
            forks: 0,
        }
    }

    /// The next draw, where the seed would give this.
    pub(crate) fn next(&mut self, seeded: impl FnOnce() -> u64) -> u64 {
        let value = match &self.tape.0.given {
            Some(choices) => choices.get(&self.path, self.nth),
            None => seeded(),
        };
        self.nth += 1;
        self.tape.drawn()[self.number].1.push(value);
        value
    }

    pub(crate) fn fork(&mut self) -> Self {
        self.forks += 1;
        Self::new(&self.tape, self.path.child(self.forks - 1))
    }
}

impl fmt::Debug for Taped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Taped")
            .field("path", &self.path)
            .field("nth", &self.nth)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(steps: &[u32]) -> Path {
        Path::new(steps.to_vec())
    }

    #[test]
    fn what_is_zero_at_the_end_is_no_choice() {
        let mut choices = Choices::default();
        choices.set(&path(&[1]), 2, 7);
        choices.set(&path(&[1, 0]), 0, 8);
        choices.set(&path(&[10]), 0, 9);
        assert_eq!(choices.len(), 3);
        assert_eq!(choices.get(&path(&[1]), 1), 0);
        choices.clear_from(&path(&[1]), 2);
        assert_eq!(choices.streams().count(), 2);
        choices.clear_below(&path(&[1]));
        assert_eq!(choices.len(), 1);
        choices.set(&path(&[10]), 0, 0);
        assert!(choices.is_empty() && choices == Choices::default());
    }

    #[test]
    fn a_run_that_is_played_draws_what_is_given_and_then_zero() {
        let mut given = Choices::default();
        given.set(&path(&[0]), 0, 5);
        given.set(&path(&[0, 1]), 1, 6);
        let tape = Tape::playing(given.clone(), u64::MAX);
        let mut stream = Taped::new(&tape, path(&[0]));
        let draws = |stream: &mut Taped| [(); 3].map(|()| stream.next(|| 99));
        assert_eq!(draws(&mut stream), [5, 0, 0]);
        let (mut first, mut second) = (stream.fork(), stream.fork());
        assert_eq!(draws(&mut second), [0, 6, 0]);
        assert_eq!(draws(&mut first), [0; 3]);
        assert_eq!(tape.choices(), given);
    }
}
