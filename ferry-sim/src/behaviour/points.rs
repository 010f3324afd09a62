//! What has to occur in behaviours: if nothing goes wrong in them, that the specification allows them proves little.

use std::collections::{BTreeMap, BTreeSet};

use super::line::{Actor, Came, Committed, Line, Manner, Projection, Said, Submitted, Writes};
use crate::points::Whose;

macro_rules! points {
    ($($point:ident: $fenced:literal, $projected:literal, $words:literal;)*) => {
        /// Something that has to occur in the behaviours of many seeds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Point {
            $(#[doc = $words] $point,)*
        }

        impl Point {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$point,)*];

            /// In words.
            #[must_use]
            pub fn words(self) -> &'static str {
                match self { $(Self::$point => $words,)* }
            }

            /// How often it has to occur in the behaviours that are chosen of two hundred seeds, one of each. Zero: it is
            /// too rare to be asked for, or cannot occur in this simulation.
            #[must_use]
            pub fn least(self, of: Whose) -> u64 {
                let (fenced, projected) = match self { $(Self::$point => ($fenced, $projected),)* };
                match of {
                    Whose::Fenced => fenced,
                    Whose::Projected => projected,
                }
            }
        }
    };
}

points! {
    Committed: 2_000, 2_000, "a commit was sent";
    Landed: 1_500, 1_500, "a commit landed";
    LandedLate: 20, 20, "a commit landed when its node had given it up";
    LandedAfterCrash: 10, 8, "a commit landed after its node had crashed";
    LandedUnheard: 200, 200, "a commit landed, and its node heard nothing of use";
    Refused: 80, 80, "a commit was refused";
    RefusedByItself: 30, 30, "a commit was refused, since its own first copy had landed";
    InDoubt: 400, 400, "a commit was in doubt";
    NotLanded: 300, 300, "a commit did not land for certain";
    Crash: 60, 80, "a node crashed with inputs in it";
    CrashInFlight: 20, 20, "a node crashed with a commit in flight";
    Applied: 2_000, 2_000, "an input was answered as applied";
    Duplicate: 400, 400, "an input was answered from what another submission of it had left";
    Declined: 100, 80, "an input was declined";
    Mismatch: 50, 50, "an id came with other content";
    TooOld: 3, 3, "an id was too old";
    NotCommitted: 300, 300, "an input was told not committed";
    AnsweredInDoubt: 100, 100, "an input was told in doubt";
    Overtaken: 1, 1, "an input was overtaken";
    Withdrawn: 80, 100, "an input was withdrawn";
    Unheard: 80, 100, "an input was answered, and nobody heard it";
    Deleted: 200, 0, "a record was deleted";
    LookedAt: 0, 800, "a node looked at what its record owes";
    Resumed: 0, 600, "a resumer looked at what a record owes";
    Projected: 0, 2_000, "a projection took effect";
    ProjectedInPart: 0, 80, "a projection showed a part";
    ProjectedLate: 0, 500, "a projection took effect when its sender had given it up";
    ProjectionRefused: 0, 50, "a projection was refused";
    ProjectionUnknown: 0, 800, "nobody knew what came of a projection";
    ToldProjected: 0, 1_500, "an outcome was told as projected";
    ToldCommitted: 0, 150, "an outcome was told, and its view could be late";
}

/// How often each [`Point`] occurred. Empty at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points(Vec<u64>);

impl Default for Points {
    fn default() -> Self {
        Self(vec![0; Point::ALL.len()])
    }
}

impl Points {
    /// How often each occurs in these lines, which are those of one behaviour.
    #[must_use]
    pub fn of(lines: &[Line]) -> Self {
        let mut counter = Counter::default();
        lines.iter().for_each(|line| counter.take(line));
        counter.points
    }

    /// How often it occurred.
    #[must_use]
    pub fn count(&self, point: Point) -> u64 {
        self.0[point as usize]
    }

    /// Adds another's counts to these.
    pub fn add(&mut self, other: &Self) {
        for (count, other) in self.0.iter_mut().zip(&other.0) {
            *count += other;
        }
    }

    /// What occurred less often than it has to in the behaviours of so many seeds, with how often it has to.
    pub fn missing(&self, of: Whose, seeds: u64) -> impl Iterator<Item = (Point, u64)> {
        let least = move |point: Point| seeds * point.least(of) / 200;
        let all = Point::ALL.iter().map(move |&point| (point, least(point)));
        all.filter(|&(point, least)| self.count(point) < least)
    }
}

#[derive(Default)]
struct Counter {
    points: Points,
    /// The commit that a node waits for, and whether it has landed.
    awaited: BTreeMap<usize, (Committed, bool)>,
    orphans: Vec<Committed>,
    written: BTreeSet<Submitted>,
    /// How many entries the record had at each version.
    entries: BTreeMap<u64, usize>,
    projecting: BTreeMap<Actor, Projection>,
}

impl Counter {
    fn met(&mut self, point: Point) {
        self.points.0[point as usize] += 1;
    }

    fn take(&mut self, line: &Line) {
        match line {
            Line::Commit(node, commit) => {
                self.met(Point::Committed);
                self.awaited.insert(*node, (commit.clone(), false));
            }
            Line::Land(commit, version) => self.landed(commit, *version),
            Line::Landed(node) => {
                self.awaited.remove(node);
            }
            Line::Refused(node) => {
                self.met(Point::Refused);
                self.told(*node, Point::RefusedByItself);
            }
            Line::NotLanded(node) => {
                self.met(Point::NotLanded);
                self.awaited.remove(node);
            }
            Line::InDoubt(node) => {
                self.met(Point::InDoubt);
                self.told(*node, Point::LandedUnheard);
            }
            Line::Answer(_, submitted, said, manner) => self.answered(submitted, *said, *manner),
            Line::Leave(..) => self.met(Point::Unheard),
            Line::Withdraw(..) => self.met(Point::Withdrawn),
            Line::Crash(node) => self.crashed(*node),
            Line::Delete => self.met(Point::Deleted),
            Line::Look(Actor::Node(_), _) => self.met(Point::LookedAt),
            Line::Look(Actor::Resumer(_), _) => self.met(Point::Resumed),
            Line::Project(projection) => self.projecting(*projection),
            Line::Arrive(projection) => self.arrived(projection),
            Line::Told(by, came) => {
                self.projecting.remove(by);
                match came {
                    Came::Shown => {}
                    Came::Refused => self.met(Point::ProjectionRefused),
                    Came::Unknown => self.met(Point::ProjectionUnknown),
                }
            }
            Line::ResumerCrash(node) => {
                self.projecting.remove(&Actor::Resumer(*node));
            }
            Line::Submit(..) | Line::Read { .. } => {}
        }
    }

    fn landed(&mut self, commit: &Committed, version: u64) {
        self.met(Point::Landed);
        self.written.extend(&commit.adds);
        let before = self.entries.get(&commit.on).copied().unwrap_or(0);
        self.entries.insert(version, before + commit.adds.len());
        let mut awaited = self.awaited.values_mut();
        match awaited.find(|(awaited, _)| awaited == commit) {
            Some((_, has_landed)) => *has_landed = true,
            None if self.orphans.contains(commit) => self.met(Point::LandedAfterCrash),
            None => self.met(Point::LandedLate),
        }
    }

    /// A node was told of its commit; this was met if that had landed.
    fn told(&mut self, node: usize, if_landed: Point) {
        if let Some((_, true)) = self.awaited.remove(&node) {
            self.met(if_landed);
        }
    }

    fn answered(&mut self, submitted: &Submitted, said: Said, manner: Manner) {
        self.met(match said {
            Said::Applied(_) => Point::Applied,
            Said::Declined => Point::Declined,
            Said::Mismatch => Point::Mismatch,
            Said::TooOld => Point::TooOld,
            Said::NotCommitted => Point::NotCommitted,
            Said::InDoubt => Point::AnsweredInDoubt,
        });
        if matches!(said, Said::Applied(_)) && !self.written.contains(submitted) {
            self.met(Point::Duplicate);
        }
        match manner {
            Manner::Durable | Manner::Failed => {}
            Manner::Projected => self.met(Point::ToldProjected),
            Manner::Committed => self.met(Point::ToldCommitted),
            Manner::Overtaken => self.met(Point::Overtaken),
        }
    }

    fn crashed(&mut self, node: usize) {
        self.met(Point::Crash);
        self.projecting.remove(&Actor::Node(node));
        if let Some((commit, _)) = self.awaited.remove(&node) {
            self.met(Point::CrashInFlight);
            self.orphans.push(commit);
        }
    }

    fn projecting(&mut self, projection: Projection) {
        let all = self.entries.get(&projection.version).copied();
        if projection.writes == Writes::Show && all.is_some_and(|all| projection.to < all) {
            self.met(Point::ProjectedInPart);
        }
        self.projecting.insert(projection.by, projection);
    }

    fn arrived(&mut self, projection: &Projection) {
        self.met(Point::Projected);
        let awaited = self.projecting.get(&projection.by);
        if awaited.is_none_or(|awaited| awaited.version != projection.version) {
            self.met(Point::ProjectedLate);
        }
    }
}
