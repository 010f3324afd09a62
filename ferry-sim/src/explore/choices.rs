//! One schedule again, by its choices; and the least choices that show the same.

use core::fmt;

use super::{
    flaw::Flaw,
    scope::{InvalidScope, Scope},
    telling::Telling,
    violation::{Property, Violation},
    world::World,
};

/// A schedule, told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replay {
    /// What happened, in order.
    pub steps: Vec<Step>,
    /// What is wrong.
    pub violations: Vec<Violation>,
    /// Whether what was left out made a difference by then.
    is_weakened: bool,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What was chosen, counted from 0.
    pub choice: usize,
    /// From how many.
    pub of: usize,
    /// What happened, in words.
    pub words: String,
}

/// There is no such schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoReplay {
    /// A bound of the scope is out of range.
    Scope(InvalidScope),
    /// There are not so many choices there: it was found in another scope, or with another safeguard left out.
    Choice {
        /// Which of the choices, counted from 0.
        at: usize,
        /// What was to be chosen.
        choice: usize,
        /// From how many.
        of: usize,
    },
    /// The schedule ends before all has been chosen.
    TooMany {
        /// After so many choices.
        after: usize,
    },
}

impl fmt::Display for NoReplay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scope(error) => error.fmt(f),
            Self::Choice { at, choice, of } => write!(
                f,
                "choice {choice} at place {at} is not one of the {of} there (0 to {}); give the scope and the flaw \
                 that the choices were found with",
                of - 1
            ),
            Self::TooMany { after } => write!(
                f,
                "the schedule is over after {after} choices; give the scope and the flaw that they were found with"
            ),
        }
    }
}

impl core::error::Error for NoReplay {}

impl From<InvalidScope> for NoReplay {
    fn from(error: InvalidScope) -> Self {
        Self::Scope(error)
    }
}

/// Runs the schedule of these choices, and of the first wherever they do not say, up to what violates something or
/// to its end.
///
/// # Errors
///
/// When there is no such schedule.
pub fn replay(scope: Scope, flaw: Option<Flaw>, choices: &[usize]) -> Result<Replay, NoReplay> {
    replay_until(scope, flaw, choices, |replay| !replay.violations.is_empty())
}

/// As [`replay`], up to where this property is violated.
pub(super) fn replay_until(
    scope: Scope,
    flaw: Option<Flaw>,
    choices: &[usize],
    is_found: impl Fn(&Replay) -> bool,
) -> Result<Replay, NoReplay> {
    scope.check()?;
    let mut world = World::new(scope, flaw);
    let mut state = world.start();
    let mut replay = Replay {
        steps: Vec::new(),
        violations: Vec::new(),
        is_weakened: false,
    };
    loop {
        let moves = world.moves(&state);
        let (at, of) = (replay.steps.len(), moves.len());
        if of == 0 {
            if choices.len() > at {
                return Err(NoReplay::TooMany { after: at });
            }
            let seen = world.ends(state);
            replay.is_weakened = seen.is_weakened;
            replay.violations.extend(seen.violations);
            return Ok(replay);
        }
        let choice = choices.get(at).copied().unwrap_or(0);
        let Some(&step) = moves.get(choice) else {
            return Err(NoReplay::Choice { at, choice, of });
        };
        let telling = Telling {
            world: &world,
            state: &state,
            step,
        };
        let words = telling.to_string();
        let seen = world.takes(&mut state, step);
        replay.steps.push(Step { choice, of, words });
        replay.is_weakened = seen.is_weakened;
        replay.violations.extend(seen.violations);
        if is_found(&replay) {
            return Ok(replay);
        }
    }
}

impl Replay {
    /// Whether the safeguard that was left out made a difference, and the property is violated.
    pub(super) fn is_caught(&self, fails: Property) -> bool {
        self.is_weakened && self.violates(fails)
    }

    fn violates(&self, property: Property) -> bool {
        let mut violated = self.violations.iter().map(Violation::property);
        violated.any(|violated| violated == property)
    }
}

/// The least choices, as far as leaving out and lowering one at a time comes, whose schedule violates the property
/// as well. Those at the end that are 0 anyway are left out.
///
/// # Errors
///
/// When there is no such schedule as the one to begin with.
pub fn shrink(
    scope: Scope,
    flaw: Option<Flaw>,
    fails: Property,
    choices: &[usize],
) -> Result<Vec<usize>, NoReplay> {
    let is_it = |replay: &Replay| match flaw {
        Some(_) => replay.is_caught(fails),
        None => replay.violates(fails),
    };
    let length = |choices: &[usize]| {
        let replay = replay_until(scope, flaw, choices, is_it)?;
        Ok::<_, NoReplay>(is_it(&replay).then_some(replay.steps.len()))
    };
    let mut best = choices.to_vec();
    let Some(mut steps) = length(&best)? else {
        return Ok(best);
    };
    loop {
        let better = candidates(&best).find_map(|candidate| {
            let length = length(&candidate).ok().flatten()?;
            (length <= steps).then_some((candidate, length))
        });
        match better {
            Some((candidate, length)) => (best, steps) = (candidate, length),
            None => break,
        }
    }
    while best.last() == Some(&0) {
        best.pop();
    }
    Ok(best)
}

/// Choices that are less than these by one, what changes most first.
fn candidates(choices: &[usize]) -> impl Iterator<Item = Vec<usize>> + '_ {
    let without = (1..=2).rev().flat_map(move |count| {
        (0..(choices.len() + 1).saturating_sub(count)).map(move |at| {
            let mut fewer = choices.to_vec();
            fewer.drain(at..at + count);
            fewer
        })
    });
    let lower = (0..choices.len()).flat_map(move |at| {
        (0..choices[at]).map(move |choice| {
            let mut lower = choices.to_vec();
            lower[at] = choice;
            lower
        })
    });
    without.chain(lower)
}
