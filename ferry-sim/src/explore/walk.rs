//! The walk: every state that a schedule can come to, once.

use std::collections::BTreeMap;

use super::{
    fingerprint::fingerprint,
    flaw::Flaw,
    moves::Move,
    mutants::Mutant,
    points::{Met, Point},
    scope::{InvalidScope, Scope},
    shortest::shortest,
    state::State,
    violation::Violation,
    world::{Seen, World},
};

/// How far a walk has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Different states so far.
    pub states: u64,
    /// Different ends so far.
    pub ends: u64,
}

/// What a walk has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// What was walked.
    pub scope: Scope,
    /// Different states.
    pub states: u64,
    /// Moves that led from one to another.
    pub moves: u64,
    /// Different states in which a schedule ended.
    pub ends: u64,
    /// Complete schedules: ways from the beginning to an end. What cannot be counted is `u64::MAX`.
    pub schedules: u64,
    /// Moves of the longest.
    pub depth_max: usize,
    /// Different places of the machines.
    pub places: usize,
    /// The moves and ends that met each point, in the order of [`Point::ALL`].
    points: Vec<u64>,
    /// A schedule that violates something, if one does: the walk has ended there, and the counts are those up to it.
    pub found: Option<Found>,
}

/// A schedule that violates something.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Found {
    /// What was chosen at each move, counted from 0.
    pub choices: Vec<usize>,
    /// What is wrong after the last of them.
    pub violations: Vec<Violation>,
}

impl Report {
    /// How many different moves or ends met it.
    #[must_use]
    pub fn count(&self, point: Point) -> u64 {
        self.points[point as usize]
    }

    /// The points that it never met and should have. Of a scope in which less can happen than in the default one
    /// none is asked for.
    pub fn missing(&self) -> impl Iterator<Item = Point> + '_ {
        let all = Point::ALL.iter().copied();
        all.filter(|&point| self.scope.has_room_for(point) && self.count(point) == 0)
    }
}

/// What a walk ends at.
#[derive(Clone, Copy)]
pub(super) enum Sought {
    /// Whatever is wrong.
    Anything,
    /// What a mutant goes without made a difference, and the property that it keeps is violated.
    Caught(Mutant),
}

impl Sought {
    pub(super) fn of(mutant: Option<&Mutant>) -> Self {
        mutant.map_or(Self::Anything, |mutant| Self::Caught(*mutant))
    }

    pub(super) fn flaw(self) -> Option<Flaw> {
        match self {
            Self::Anything => None,
            Self::Caught(mutant) => Some(mutant.flaw),
        }
    }

    pub(super) fn is_in(self, seen: &Seen) -> bool {
        let mut violated = seen.violations.iter().map(Violation::property);
        match self {
            Self::Anything => violated.next().is_some(),
            Self::Caught(mutant) => {
                seen.is_weakened && violated.any(|property| property == mutant.fails)
            }
        }
    }
}

/// Walks all schedules of this scope, up to the first that violates something. `told` hears now and then how far it
/// has come.
///
/// # Errors
///
/// When a bound of the scope is out of range.
pub fn walk(scope: Scope, told: impl FnMut(Progress)) -> Result<Report, InvalidScope> {
    walk_to(scope, Sought::Anything, told)
}

pub(super) fn walk_to(
    scope: Scope,
    sought: Sought,
    mut told: impl FnMut(Progress),
) -> Result<Report, InvalidScope> {
    scope.check()?;
    let mut walk = Walk::new(World::new(scope, sought.flaw()));
    let start = walk.world.start();
    let of_start = fingerprint(&start);
    walk.enters(start, of_start);
    while let Some(step) = walk.next_move() {
        let seen = walk.takes(step);
        if sought.is_in(&seen) {
            walk.report.found = Some(shortest(scope, sought, walk.found(seen.violations)));
            break;
        }
        if walk.report.moves % 4096 == 0 {
            told(walk.progress());
        }
    }
    told(walk.progress());
    walk.report.places = walk.world.unfolded.len();
    Ok(walk.report)
}

/// What is to be done next.
enum Step {
    Move(Move),
    /// The innermost state has no move.
    End,
}

struct Walk {
    world: World,
    /// The states on the way to where it is, and what it has not tried there yet.
    path: Vec<Turn>,
    /// What it found from each state that it has left.
    known: BTreeMap<u128, Ahead>,
    report: Report,
}

/// The complete schedules from a state on.
#[derive(Clone, Copy, Default)]
struct Ahead {
    schedules: u64,
    /// Moves of the longest.
    longest: u32,
}

impl Ahead {
    /// One move before this.
    fn adds(&mut self, ahead: Self) {
        self.schedules = self.schedules.saturating_add(ahead.schedules);
        self.longest = self.longest.max(ahead.longest + 1);
    }
}

struct Turn {
    state: State,
    fingerprint: u128,
    moves: Vec<Move>,
    /// The moves that were tried.
    tried: usize,
    /// What was found by those.
    ahead: Ahead,
    has_ended: bool,
}

impl Walk {
    fn new(world: World) -> Self {
        let scope = world.scope;
        Self {
            world,
            path: Vec::new(),
            known: BTreeMap::new(),
            report: Report {
                scope,
                states: 0,
                moves: 0,
                ends: 0,
                schedules: 0,
                depth_max: 0,
                places: 0,
                points: vec![0; Point::ALL.len()],
                found: None,
            },
        }
    }

    fn progress(&self) -> Progress {
        let Report { states, ends, .. } = self.report;
        Progress { states, ends }
    }

    fn enters(&mut self, state: State, fingerprint: u128) {
        let moves = self.world.moves(&state);
        self.report.states += 1;
        self.path.push(Turn {
            state,
            fingerprint,
            moves,
            tried: 0,
            ahead: Ahead::default(),
            has_ended: false,
        });
    }

    /// Goes back to where there is something to try, and says what; `None` when all has been tried.
    fn next_move(&mut self) -> Option<Step> {
        loop {
            let turn = self.path.last_mut()?;
            if turn.moves.is_empty() && !turn.has_ended {
                turn.has_ended = true;
                return Some(Step::End);
            }
            if let Some(&step) = turn.moves.get(turn.tried) {
                turn.tried += 1;
                return Some(Step::Move(step));
            }
            let Turn {
                fingerprint, ahead, ..
            } = self.path.pop()?;
            self.known.insert(fingerprint, ahead);
            match self.path.last_mut() {
                Some(turn) => turn.ahead.adds(ahead),
                None => {
                    self.report.schedules = ahead.schedules;
                    self.report.depth_max = ahead.longest as usize;
                }
            }
        }
    }

    fn takes(&mut self, step: Step) -> Seen {
        let Some(turn) = self.path.last_mut() else {
            unreachable!("there was something to try")
        };
        let seen = match step {
            Step::Move(step) => {
                self.report.moves += 1;
                let mut state = turn.state.clone();
                let seen = self.world.takes(&mut state, step);
                let fingerprint = fingerprint(&state);
                match self.known.get(&fingerprint) {
                    Some(ahead) => turn.ahead.adds(*ahead),
                    None => self.enters(state, fingerprint),
                }
                seen
            }
            Step::End => {
                self.report.ends += 1;
                turn.ahead.schedules = 1;
                self.world.ends(turn.state.clone())
            }
        };
        self.counts(seen.met);
        seen
    }

    fn counts(&mut self, met: Met) {
        for point in met.points() {
            self.report.points[point as usize] += 1;
        }
    }

    fn found(&self, violations: Vec<Violation>) -> Found {
        let tried = self.path.iter().filter(|turn| turn.tried > 0);
        Found {
            choices: tried.map(|turn| turn.tried - 1).collect(),
            violations,
        }
    }
}
