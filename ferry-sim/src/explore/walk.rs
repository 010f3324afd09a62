//! The walk: every state that a schedule can come to, once.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use super::{
    flaw::Flaw,
    moves::Move,
    points::{Met, Point},
    scope::{InvalidScope, Scope},
    state::State,
    violation::{Property, Violation},
    world::{Seen, World},
};

/// How far a walk has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Different states so far.
    pub states: u64,
    /// Different ends so far.
    pub ends: u64,
}

/// What a walk has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Different states.
    pub states: u64,
    /// Moves that led from one to another.
    pub moves: u64,
    /// Different states in which a schedule ended.
    pub ends: u64,
    /// Complete schedules: ways from the beginning to an end. What cannot be counted is `u128::MAX`.
    pub schedules: u128,
    /// Moves of the longest.
    pub depth_max: usize,
    /// Different places of the machines.
    pub places: usize,
    /// The moves and ends that met each point, in the order of [`Point::ALL`].
    points: Vec<u64>,
    /// The schedule that violates something, if one does; the walk has ended there.
    pub found: Option<Found>,
}

/// A schedule that violates something.
#[derive(Clone, Debug, PartialEq, Eq)]
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

    /// The points that it never met.
    pub fn missing(&self) -> impl Iterator<Item = Point> + '_ {
        let all = Point::ALL.iter().copied();
        all.filter(|&point| self.count(point) == 0)
    }
}

/// Walks all schedules of this scope, up to the first that violates something. `told` hears now and then how far it
/// has come.
///
/// # Errors
///
/// When a bound of the scope is out of range.
pub fn walk(scope: Scope, told: impl FnMut(Progress)) -> Result<Report, InvalidScope> {
    walk_until(scope, None, told, |seen| !seen.violations.is_empty())
}

/// As [`walk`], without a safeguard: up to the first schedule in which that made a difference and this property is
/// violated.
///
/// # Errors
///
/// When a bound of the scope is out of range.
pub fn walk_without(
    flaw: Flaw,
    fails: Property,
    scope: Scope,
    told: impl FnMut(Progress),
) -> Result<Report, InvalidScope> {
    walk_until(scope, Some(flaw), told, |seen| seen.is_caught(fails))
}

impl Seen {
    pub(super) fn is_caught(&self, fails: Property) -> bool {
        let mut properties = self.violations.iter().map(Violation::property);
        self.is_weakened && properties.any(|property| property == fails)
    }
}

fn walk_until(
    scope: Scope,
    flaw: Option<Flaw>,
    mut told: impl FnMut(Progress),
    is_found: impl Fn(&Seen) -> bool,
) -> Result<Report, InvalidScope> {
    scope.check()?;
    let mut walk = Walk::new(World::new(scope, flaw));
    let start = walk.world.start();
    walk.enters(start, fingerprint(&walk.world.start()));
    while let Some(step) = walk.next_move() {
        let seen = walk.takes(step);
        if is_found(&seen) {
            walk.finds(seen.violations);
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
    /// For each state that it has left: the complete schedules from there.
    known: BTreeMap<u128, u128>,
    report: Report,
}

struct Turn {
    state: State,
    fingerprint: u128,
    moves: Vec<Move>,
    /// The moves that were tried.
    tried: usize,
    /// The complete schedules by those.
    schedules: u128,
    has_ended: bool,
}

impl Walk {
    fn new(world: World) -> Self {
        Self {
            world,
            path: Vec::new(),
            known: BTreeMap::new(),
            report: Report {
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
        self.report.depth_max = self.report.depth_max.max(self.path.len());
        self.path.push(Turn {
            state,
            fingerprint,
            moves,
            tried: 0,
            schedules: 0,
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
                fingerprint,
                schedules,
                ..
            } = self.path.pop()?;
            self.known.insert(fingerprint, schedules);
            match self.path.last_mut() {
                Some(turn) => turn.schedules = turn.schedules.saturating_add(schedules),
                None => self.report.schedules = schedules,
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
                    Some(schedules) => turn.schedules = turn.schedules.saturating_add(*schedules),
                    None => self.enters(state, fingerprint),
                }
                seen
            }
            Step::End => {
                self.report.ends += 1;
                turn.schedules = 1;
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

    fn finds(&mut self, violations: Vec<Violation>) {
        let tried = self.path.iter().filter(|turn| turn.tried > 0);
        self.report.found = Some(Found {
            choices: tried.map(|turn| turn.tried - 1).collect(),
            violations,
        });
    }
}

/// Two states with the same one are taken for one: of a billion, some two are alike by chance with a probability of
/// less than one in 10²⁰.
fn fingerprint(state: &State) -> u128 {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        state.hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}
