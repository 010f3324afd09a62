//! One schedule again, by its choices.

use core::fmt;

use super::{
    actions::{self, Action},
    events::{Events, KEY, heard},
    mutants::Mutant,
    scope::{InvalidScope, Scope},
    telling::Telling,
    violation::Violation,
    walk::Sought,
    world::World,
};
use crate::event::Event;

/// A schedule, told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Replay {
    /// How many processes there are. In the events they are nodes, and those who resume are the nodes after them.
    pub processes: u8,
    /// Who is there at the beginning.
    pub begins: Vec<Event>,
    /// What happened, in order.
    pub steps: Vec<Step>,
    /// Whether it went to its end, where all are at rest. What is wrong there is so although the account was resumed once
    /// more, unless that is what the mutant goes without.
    pub is_complete: bool,
    /// What is wrong after the last of them.
    pub violations: Vec<Violation>,
}

impl Replay {
    /// The key that its events are of: the account's.
    pub const KEY: u32 = KEY;
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// What was chosen, counted from 0.
    pub choice: usize,
    /// From how many.
    pub of: usize,
    /// What happened, in words.
    pub words: String,
    /// What happened, and was then told, as the specification has it.
    pub actions: Vec<Action>,
    /// Who heard what then, in words.
    pub heard: Vec<String>,
    /// All of it as the events of the other simulations.
    pub events: Vec<Event>,
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
                "move {}: {choice} is none of its {of} choices (0 to {}); give the scope and the mutant that the \
                 choices were found with",
                at + 1,
                of - 1
            ),
            Self::TooMany { after } => write!(
                f,
                "the schedule is over after {after} choices; give the scope and the mutant that they were found with"
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
/// to its end. Without what the mutant goes without, if one is given: then it goes on to where that shows.
///
/// # Errors
///
/// When there is no such schedule.
pub fn replay(
    scope: Scope,
    mutant: Option<&Mutant>,
    choices: &[usize],
) -> Result<Replay, NoReplay> {
    scope.check()?;
    let sought = Sought::of(mutant);
    let mut world = World::new(scope, sought.flaw());
    let mut state = world.start();
    let mut events = Events::default();
    let mut replay = Replay {
        processes: scope.processes,
        begins: Events::begin(&state),
        steps: Vec::new(),
        is_complete: false,
        violations: Vec::new(),
    };
    loop {
        let moves = world.moves(&state);
        let (at, of) = (replay.steps.len(), moves.len());
        if of == 0 {
            if choices.len() > at {
                return Err(NoReplay::TooMany { after: at });
            }
            replay.is_complete = true;
            replay.violations = world.ends(state).violations;
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
        let mut actions = actions::of(&world, &state, step);
        let made = events.made(&world, &state, step);
        let seen = world.takes(&mut state, step);
        let told = (seen.told_at).map(|(actor, place)| (actor, world.unfolded.at(place)));
        let (heard, told) = told.map_or_else(Default::default, |(actor, response)| {
            let told = response.told.iter();
            actions.extend(told.map(|&(_, verdict)| actions::of_told(verdict)));
            (heard(response), events.told(actor, response))
        });
        replay.steps.push(Step {
            choice,
            of,
            words,
            actions,
            heard,
            events: made.into_iter().chain(told).collect(),
        });
        if sought.is_in(&seen) {
            replay.violations = seen.violations;
            return Ok(replay);
        }
    }
}
