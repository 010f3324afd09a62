//! What has to happen now and then: a green run in which nothing happened proves nothing.

use crate::{
    fold::Outcome,
    history::{Answer, Why},
};

/// Something that has to happen at least so often over many seeds.
macro_rules! points {
    ($($point:ident: $least:literal, $words:literal;)*) => {
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

            /// How often it has to happen, in a thousand seeds of the default size. Zero: it is too rare to be asked of
            /// every run, and is asked of the seeds that are kept for it.
            #[must_use]
            pub fn least_per_thousand(self) -> u64 {
                match self { $(Self::$point => $least,)* }
            }
        }
    };
}

points! {
    CommitBusy: 1_000, "a commit failed before it took effect";
    Throttled: 300, "a commit was throttled";
    ThrottledWithHint: 300, "a commit was throttled, with a hint";
    Permanent: 300, "a record was turned away for good";
    AnswerLost: 300, "a commit landed and its answer was lost";
    AnswerBroken: 300, "a commit landed and was answered with an error";
    RequestLost: 300, "a commit was lost on its way";
    LandedLate: 300, "a commit landed after its caller had given it up";
    LandedAfterDeath: 20, "a commit landed after its process had died";
    RefusedLate: 300, "a commit came late and was refused";
    HiddenLanding: 100, "a commit was delivered twice, and its caller heard that it was refused";
    SecondCopy: 300, "a commit was delivered twice, and its caller heard that it landed";
    LostRace: 1_000, "a commit was refused, since another writer was first";
    ReadFailed: 1_000, "a read failed";
    Slow: 1_000, "a call was slow";
    Crash: 300, "a node crashed";
    CrashAtStep: 100, "a node crashed at a step of its store call";
    Freeze: 300, "a node was frozen";
    Batch: 1_000, "several inputs went in one commit";
    Repeated: 1_000, "a client sent its input again";
    SentTwice: 1_000, "a client sent an input twice at once";
    Duplicate: 1_000, "an input was answered from what was stored";
    OtherContent: 300, "an id was sent with other content, and told so";
    Declined: 1_000, "an input was declined";
    NotCommitted: 1_000, "a client heard that its input was not committed";
    InDoubt: 1_000, "a client heard that its input was in doubt";
    Overtaken: 0, "an input that had been declined was overtaken by inputs after it";
    Rejected: 100, "an input was rejected, since there was no room";
    Expired: 100, "an input's deadline passed";
    Abandoned: 20, "a caller in the process that crashed heard so";
    Deserted: 300, "a caller dropped its future";
    GaveUp: 300, "a client gave up";
    Unreachable: 300, "a client found no node";
}

impl Point {
    /// What it is that a caller has heard this.
    pub(crate) fn of(answer: Answer) -> Option<Self> {
        match answer {
            Answer::Rejected => Some(Self::Rejected),
            Answer::NotCommitted(Why::Expired) | Answer::InDoubt(Why::Expired) => {
                Some(Self::Expired)
            }
            Answer::NotCommitted(Why::Abandoned) | Answer::InDoubt(Why::Abandoned) => {
                Some(Self::Abandoned)
            }
            Answer::NotCommitted(Why::Overtaken) | Answer::InDoubt(Why::Overtaken) => {
                Some(Self::Overtaken)
            }
            Answer::NotCommitted(_) => Some(Self::NotCommitted),
            Answer::InDoubt(_) => Some(Self::InDoubt),
            Answer::Outcome(Outcome::Declined(_)) => Some(Self::Declined),
            Answer::Outcome(Outcome::Mismatch) => Some(Self::OtherContent),
            Answer::Outcome(Outcome::Applied(_) | Outcome::TooOld) => None,
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
    pub fn missing(&self, seeds: u64) -> impl Iterator<Item = (Point, u64)> {
        let least = move |point: Point| seeds * point.least_per_thousand() / 1_000;
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
        let asked = |point: &&Point| point.least_per_thousand() > 0;
        let all = Point::ALL.iter().filter(asked).count();
        assert_eq!(points.missing(1_000).count(), all);
        assert_eq!(points.missing(0).count(), 0);
        for _ in 0..300 {
            points.met(Point::Crash);
        }
        assert!(
            points
                .missing(1_000)
                .all(|(point, _)| point != Point::Crash)
        );
        assert!(
            points
                .missing(1_010)
                .any(|missing| missing == (Point::Crash, 303))
        );
    }
}
