//! Makes a run smaller that violates something: delta debugging over what it drew.

use crate::{
    chance::STREAMS,
    checkers::Property,
    simulation::Report,
    tape::{Choices, Path},
};

/// What is left of a run once all is left out that does not matter.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Shrunk {
    /// What it draws.
    pub choices: Choices,
    /// What is wrong with it.
    pub report: Report,
    /// Which property it violates, as the whole run does.
    pub property: Property,
    /// How many choices the whole run had that were not the simplest.
    pub choices_before: usize,
    /// How many runs it took.
    pub runs: u64,
}

/// How far shrinking has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Runs so far.
    pub runs: u64,
    /// Choices that are left, those that are the simplest not counted.
    pub choices: usize,
}

/// Something that can be left out by itself.
#[derive(Clone, Debug)]
enum Part {
    /// A stream with all that come from it.
    Below(Path),
    /// A stream alone.
    Stream(Path),
    /// One draw.
    Draw(Path, usize),
}

impl Part {
    fn leave_out(&self, choices: &mut Choices) {
        match self {
            Self::Below(path) => choices.clear_below(path),
            Self::Stream(path) => choices.clear_from(path, 0),
            Self::Draw(path, nth) => choices.set(path, *nth, 0),
        }
    }
}

/// From the coarsest to the finest: what a pass tries to leave out.
const PASSES: [fn(&Choices) -> Vec<Part>; 7] = [
    |choices| below(choices, None, 1),
    |choices| draws(choices, |path| path.steps() == [number_of("setting")]),
    |choices| below(choices, Some("clients"), 2),
    |choices| below(choices, Some("weather"), 2),
    |choices| below(choices, Some("faults"), 3),
    |choices| {
        let all = choices.streams();
        all.map(|(path, _)| Part::Stream(path.clone())).collect()
    },
    |choices| draws(choices, |_| true),
];

fn number_of(stream: &str) -> u32 {
    let found = (0..).zip(STREAMS).find(|(_, name)| *name == stream);
    found.map_or(u32::MAX, |(number, _)| number)
}

/// Each stream of this depth, with what comes from it; those of one of the run's own streams, or of all.
fn below(choices: &Choices, of: Option<&str>, depth: usize) -> Vec<Part> {
    let of = of.map(number_of);
    let mut parts: Vec<Path> = Vec::new();
    for (path, _) in choices.streams() {
        let is_of = of.is_none_or(|of| path.steps().first() == Some(&of));
        if let Some(steps) = path.steps().get(..depth).filter(|_| is_of) {
            let path = Path::new(steps.to_vec());
            if parts.last() != Some(&path) {
                parts.push(path);
            }
        }
    }
    parts.into_iter().map(Part::Below).collect()
}

fn draws(choices: &Choices, is_of: fn(&Path) -> bool) -> Vec<Part> {
    let mut parts = Vec::new();
    for (path, values) in choices.streams().filter(|(path, _)| is_of(path)) {
        let there = (0..values.len()).filter(|&nth| values[nth] != 0);
        parts.extend(there.map(|nth| Part::Draw(path.clone(), nth)));
    }
    parts
}

/// Shrinks what a run drew. `attempt` runs something smaller, and says what that has drawn if it still shows the same.
pub(crate) fn shrink(
    whole: Choices,
    runs_max: u64,
    attempt: impl FnMut(Choices) -> Option<Choices>,
    progress: impl FnMut(Progress),
) -> (Choices, u64) {
    let mut shrinker = Shrinker {
        best: whole,
        runs: 0,
        runs_max,
        attempt,
        progress,
    };
    loop {
        let mut is_smaller = false;
        for pass in PASSES {
            let parts = pass(&shrinker.best);
            is_smaller |= shrinker.leave_out(parts);
        }
        is_smaller |= shrinker.lower();
        if !is_smaller || shrinker.is_spent() {
            return (shrinker.best, shrinker.runs);
        }
    }
}

struct Shrinker<A, P> {
    best: Choices,
    runs: u64,
    runs_max: u64,
    attempt: A,
    progress: P,
}

impl<A, P> Shrinker<A, P>
where
    A: FnMut(Choices) -> Option<Choices>,
    P: FnMut(Progress),
{
    fn is_spent(&self) -> bool {
        self.runs >= self.runs_max
    }

    /// Takes this instead if it differs and still shows the same.
    fn take(&mut self, candidate: Choices) -> bool {
        if candidate == self.best || self.is_spent() {
            return false;
        }
        self.runs += 1;
        let taken = (self.attempt)(candidate).filter(|drawn| is_less(drawn, &self.best));
        let is_taken = taken.is_some();
        self.best = taken.unwrap_or_else(|| core::mem::take(&mut self.best));
        (self.progress)(Progress {
            runs: self.runs,
            choices: self.best.len(),
        });
        is_taken
    }

    /// Leaves out as many of the parts as it can: all at once, then halves of them, and so on down to each.
    fn leave_out(&mut self, mut parts: Vec<Part>) -> bool {
        let mut is_smaller = false;
        let mut size = parts.len();
        while size > 0 {
            let mut at = 0;
            while at < parts.len() {
                let chunk = at..parts.len().min(at + size);
                let mut candidate = self.best.clone();
                let without = parts[chunk.clone()].iter();
                without.for_each(|part| part.leave_out(&mut candidate));
                if candidate == self.best {
                    // Gone with something else.
                    parts.drain(chunk);
                } else if self.take(candidate) {
                    is_smaller = true;
                    parts.drain(chunk);
                } else {
                    at += size;
                }
            }
            size /= 2;
        }
        is_smaller
    }

    /// Makes the draws less that have to be there: as little as can be, or half as often as it goes.
    fn lower(&mut self) -> bool {
        let mut is_smaller = false;
        for part in draws(&self.best, |_| true) {
            let Part::Draw(path, nth) = part else {
                continue;
            };
            let with = |best: &Choices, value| {
                let mut candidate = best.clone();
                candidate.set(&path, nth, value);
                candidate
            };
            if self.best.get(&path, nth) > 1 && self.take(with(&self.best, 1)) {
                is_smaller = true;
                continue;
            }
            while self.best.get(&path, nth) > 1 {
                let half = self.best.get(&path, nth) / 2;
                if !self.take(with(&self.best, half)) {
                    break;
                }
                is_smaller = true;
            }
        }
        is_smaller
    }
}

/// Fewer choices, or as many and lesser ones: so that it comes to an end.
fn is_less(one: &Choices, other: &Choices) -> bool {
    let sum = |choices: &Choices| -> u128 {
        let values = choices.streams().flat_map(|(_, values)| values);
        values.map(|&value| u128::from(value)).sum()
    };
    let (len, len_other) = (one.len(), other.len());
    len < len_other || (len == len_other && sum(one) < sum(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(steps: &[u32]) -> Path {
        Path::new(steps.to_vec())
    }

    fn whole() -> Choices {
        let mut whole = Choices::default();
        for stream in 0..6 {
            for fork in 0..20 {
                for nth in 0..4 {
                    whole.set(&path(&[stream, fork]), nth, 1 << 40);
                }
            }
        }
        whole
    }

    #[test]
    fn what_does_not_matter_is_left_out_and_what_does_is_made_less() {
        let needed = |choices: &Choices| {
            choices.get(&path(&[1, 7]), 0) > 0
                && choices.get(&path(&[1, 13]), 2) > 1_000
                && choices.get(&path(&[3, 2]), 3) > 0
        };
        let attempt = |choices| Some(choices).filter(needed);
        let mut last = None;
        let (left, runs) = shrink(whole(), 2_000, attempt, |progress| last = Some(progress));
        assert_eq!(left.len(), 3, "{left:?}");
        assert!((1_001..=2_048).contains(&left.get(&path(&[1, 13]), 2)));
        assert!(runs < 300, "{runs} runs");
        assert_eq!(last.map(|last| last.choices), Some(3));
    }

    #[test]
    fn it_ends_after_as_many_runs_as_it_is_told() {
        let attempt = |_| None;
        let (left, runs) = shrink(whole(), 10, attempt, |_| {});
        assert_eq!((left, runs), (whole(), 10));
    }
}
