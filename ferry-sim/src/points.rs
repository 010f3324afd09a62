//! What has to happen now and then: a green run in which nothing happened proves nothing.

use crate::{
    history::{Heard, Reach, Why},
    sent::{How, Told},
};

/// Something that has to happen at least so often over many seeds.
macro_rules! points {
    ($($point:ident: $fenced:literal, $projected:literal, $words:literal;)*) => {
        /// Something that has to happen at least so often over many seeds.
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

            /// Its name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$point => stringify!($point),)* }
            }

            /// The one with this name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|point| point.name() == name)
            }

            /// How often it has to happen in a thousand seeds of the default size. Zero: it is too rare to be asked of every
            /// run, or cannot happen in this simulation.
            #[must_use]
            pub fn least_per_thousand(self, of: Whose) -> u64 {
                let (fenced, projected) = match self {
                    $(Self::$point => ($fenced, $projected),)*
                };
                match of {
                    Whose::Fenced => fenced,
                    Whose::Projected => projected,
                }
            }
        }
    };
}

/// Of which simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the two that there are")]
pub enum Whose {
    Fenced,
    Projected,
}

impl Whose {
    /// Its name, as it is given on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fenced => "fenced",
            Self::Projected => "projected",
        }
    }

    /// The one with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let mut all = [Self::Fenced, Self::Projected].into_iter();
        all.find(|whose| whose.name() == name)
    }
}

points! {
    WriteBusy: 1_000, 1_000, "a write failed before it took effect";
    Throttled: 300, 300, "a write was throttled";
    ThrottledWithHint: 300, 300, "a write was throttled, with a hint";
    Permanent: 300, 300, "a record was turned away for good";
    AnswerLost: 300, 300, "a write landed and its answer was lost";
    AnswerBroken: 300, 300, "a write landed and was answered with an error";
    RequestLost: 300, 300, "a write was lost on its way";
    LandedLate: 300, 300, "a commit landed after its caller had given it up";
    LandedAfterDeath: 20, 20, "a commit landed after its process had died";
    RefusedLate: 300, 300, "a commit came late and was refused";
    HiddenLanding: 100, 100, "a write was delivered twice, and its caller heard that it was refused";
    SecondCopy: 300, 300, "a write was delivered twice, and its caller heard that it landed";
    LostRace: 1_000, 1_000, "a commit was refused, since another writer was first";
    ReadFailed: 1_000, 1_000, "a read failed";
    CallPanicked: 300, 300, "a call of the store panicked";
    Slow: 1_000, 1_000, "a call was slow";
    Crash: 300, 300, "a node crashed";
    CrashAtStep: 100, 100, "a node crashed at a step of its store call";
    Blackout: 100, 100, "all nodes crashed at once";
    Misrouted: 1_000, 1_000, "a client went to a node that was not the key's";
    ShutDown: 100, 100, "a node was shut down in order";
    Freeze: 300, 300, "a node was frozen";
    Stall: 100, 100, "a step held up its process";
    ClockJump: 300, 300, "a node's clock jumped ahead";
    Deleted: 300, 300, "a record was deleted";
    Batch: 1_000, 1_000, "several inputs went in one commit";
    Repeated: 1_000, 1_000, "a client sent its input again";
    RepeatedLate: 300, 300, "a client sent its input again long after it was answered";
    SentTwice: 1_000, 1_000, "a client sent an input twice at once";
    Duplicate: 1_000, 1_000, "an input was answered from what was stored";
    OtherContent: 100, 100, "an id was sent with other content, and told so";
    TooOld: 100, 100, "an id was sent that might be forgotten, and told so";
    Applied: 1_000, 0, "a client heard that its input was applied";
    Declined: 300, 300, "an input was declined";
    StepPanicked: 300, 300, "a step panicked";
    NotCommitted: 1_000, 1_000, "a client heard that its input was not committed";
    InDoubt: 1_000, 1_000, "a client heard that its input was in doubt";
    Overtaken: 10, 10, "an input that had been declined was overtaken by inputs after it";
    Rejected: 100, 100, "an input was rejected, since there was no room";
    WaitedForRoom: 100, 100, "a client waited for room";
    Expired: 100, 100, "an input's deadline passed";
    Abandoned: 20, 20, "a caller in the process that crashed heard so";
    Deserted: 300, 300, "a caller dropped its future";
    GaveUp: 300, 300, "a client gave up";
    Unreachable: 300, 300, "a client found no node";
    BrokenForGood: 100, 100, "one part stayed broken when all else was healed";
    Projected: 0, 1_000, "a client heard that the view shows its input";
    Committed: 0, 300, "a client heard that its input is durable, and its view late";
    ShownLate: 0, 100, "a projection landed late";
    ProjectionRefusedLate: 0, 100, "a projection came late and was refused";
    ShownInPart: 0, 300, "a projection landed in part";
    Resumed: 0, 300, "somebody resumed a key";
    SweptByHand: 0, 300, "somebody had all pending records resumed";
    Swept: 0, 300, "a sweeper found pending records";
    Shuffled: 0, 300, "a sweeper took keys in another order than its query gave them";
    QueryFailed: 0, 300, "a sweeper's query failed";
}

/// What kind of thing it is that happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are told by their words")]
pub enum Group {
    WentWrong,
    ClientsDid,
    CameOfIt,
}

impl Group {
    /// All of them, in the order in which they are told.
    pub const ALL: &[Self] = &[Self::WentWrong, Self::ClientsDid, Self::CameOfIt];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::WentWrong => "went_wrong",
            Self::ClientsDid => "clients_did",
            Self::CameOfIt => "came_of_it",
        }
    }

    /// In words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::WentWrong => "What went wrong",
            Self::ClientsDid => "What was done to it",
            Self::CameOfIt => "What came of it",
        }
    }
}

const WENT_WRONG: &[Point] = &[
    Point::WriteBusy,
    Point::Throttled,
    Point::ThrottledWithHint,
    Point::Permanent,
    Point::AnswerLost,
    Point::AnswerBroken,
    Point::RequestLost,
    Point::ReadFailed,
    Point::CallPanicked,
    Point::Slow,
    Point::Crash,
    Point::CrashAtStep,
    Point::Blackout,
    Point::Misrouted,
    Point::Freeze,
    Point::Stall,
    Point::StepPanicked,
    Point::ClockJump,
    Point::QueryFailed,
    Point::BrokenForGood,
];

const CLIENTS_DID: &[Point] = &[
    Point::Repeated,
    Point::RepeatedLate,
    Point::SentTwice,
    Point::Deserted,
    Point::GaveUp,
    Point::Resumed,
    Point::SweptByHand,
    Point::Deleted,
    Point::ShutDown,
];

impl Point {
    /// What kind of thing it is.
    #[must_use]
    pub fn group(self) -> Group {
        if WENT_WRONG.contains(&self) {
            Group::WentWrong
        } else if CLIENTS_DID.contains(&self) {
            Group::ClientsDid
        } else {
            Group::CameOfIt
        }
    }
}

impl Point {
    /// Those that are of inputs that were applied.
    pub(crate) const APPLIED: [Self; 3] = [Self::Applied, Self::Projected, Self::Committed];

    /// What it is that a caller has heard this.
    pub(crate) fn of<O>(answer: &Heard<Told<O>>) -> Option<Self> {
        match answer {
            Heard::Outcome(told, _) if told.how == How::Declined => Some(Self::Declined),
            Heard::Outcome(told, _) if told.how == How::Mismatch => Some(Self::OtherContent),
            Heard::Outcome(told, _) if told.how == How::TooOld => Some(Self::TooOld),
            Heard::Rejected => Some(Self::Rejected),
            Heard::NotCommitted(Why::Expired) | Heard::InDoubt(Why::Expired) => Some(Self::Expired),
            Heard::NotCommitted(Why::Abandoned) | Heard::InDoubt(Why::Abandoned) => {
                Some(Self::Abandoned)
            }
            Heard::NotCommitted(Why::Overtaken) | Heard::InDoubt(Why::Overtaken) => {
                Some(Self::Overtaken)
            }
            Heard::NotCommitted(Why::Panicked) | Heard::InDoubt(Why::Panicked) => {
                Some(Self::StepPanicked)
            }
            Heard::NotCommitted(_) => Some(Self::NotCommitted),
            Heard::InDoubt(_) => Some(Self::InDoubt),
            Heard::Outcome(_, Reach::Projected) => Some(Self::Projected),
            Heard::Outcome(_, Reach::Committed(_)) => Some(Self::Committed),
            Heard::Outcome(_, Reach::Durable) => Some(Self::Applied),
        }
    }
}

/// How often each happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Points(Vec<u64>);

impl Default for Points {
    fn default() -> Self {
        Self(vec![0; Point::ALL.len()])
    }
}

impl Points {
    pub(crate) fn met(&mut self, point: Point) {
        self.0[point as usize] += 1;
    }

    pub(crate) fn met_times(&mut self, point: Point, times: u64) {
        self.0[point as usize] += times;
    }

    /// How often it happened.
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

    /// What happened less often than it has to in so many seeds, with how often it has to.
    pub fn missing(&self, of: Whose, seeds: u64) -> impl Iterator<Item = (Point, u64)> {
        let least = move |point: Point| seeds * point.least_per_thousand(of) / 1_000;
        let all = Point::ALL.iter().map(move |&point| (point, least(point)));
        all.filter(|&(point, least)| self.count(point) < least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_in_which_nothing_happened_lacks_everything() {
        let mut points = Points::default();
        let asked = |point: &&Point| point.least_per_thousand(Whose::Projected) > 0;
        let all = Point::ALL.iter().filter(asked).count();
        assert_eq!(points.missing(Whose::Projected, 1_000).count(), all);
        assert_eq!(points.missing(Whose::Projected, 0).count(), 0);
        for _ in 0..300 {
            points.met(Point::Crash);
        }
        assert!(
            points
                .missing(Whose::Projected, 1_000)
                .all(|(point, _)| point != Point::Crash)
        );
        assert!(
            points
                .missing(Whose::Projected, 1_010)
                .any(|missing| missing == (Point::Crash, 303))
        );
    }
}
