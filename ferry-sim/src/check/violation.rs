//! What can be wrong with a run.

use core::fmt;

use ferry_core::Instant;

use crate::{
    executor::Halt,
    fold::Outcome,
    history::{Answer, Life, SubmissionId},
    trace::Difference,
};

/// What has to hold in every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Property {
    /// P1: no input is applied twice.
    AppliedOnce,
    /// P2: every answer is true.
    TrueAnswers,
    /// P3: nothing acknowledged is lost.
    NothingLost,
    /// P4: inputs of one key that go through one process are applied in their order.
    InOrder,
    /// P7: every caller is answered soon after the world is healthy.
    Answered,
    /// P8: nothing leaks.
    NoLeaks,
    /// P11: the same seed gives the same trace.
    SameTrace,
}

impl Property {
    /// Its number.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::AppliedOnce => 1,
            Self::TrueAnswers => 2,
            Self::NothingLost => 3,
            Self::InOrder => 4,
            Self::Answered => 7,
            Self::NoLeaks => 8,
            Self::SameTrace => 11,
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::AppliedOnce => "no input is applied twice",
            Self::TrueAnswers => "every answer is true",
            Self::NothingLost => "nothing acknowledged is lost",
            Self::InOrder => "inputs through one process are applied in order",
            Self::Answered => "everyone is answered once the world is healthy",
            Self::NoLeaks => "nothing leaks",
            Self::SameTrace => "the same seed gives the same trace",
        };
        write!(f, "P{} ({words})", self.number())
    }
}

/// One thing that is wrong with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "they are told by their `Display`")]
pub enum Violation {
    AppliedTwice {
        id: u64,
        first: SubmissionId,
        second: SubmissionId,
    },
    WrongOutcome {
        submission: SubmissionId,
        heard: Outcome,
        stored: Outcome,
    },
    ForOtherContent {
        submission: SubmissionId,
        heard: Outcome,
    },
    WronglyDeclined {
        submission: SubmissionId,
        heard: Outcome,
    },
    NoMismatch {
        submission: SubmissionId,
    },
    NothingForgotten {
        submission: SubmissionId,
    },
    WroteAfterAll {
        submission: SubmissionId,
        heard: Answer,
        landed: Instant,
    },
    NeverWritten {
        submission: SubmissionId,
        id: u64,
    },
    WrittenAfterwards {
        submission: SubmissionId,
        answered: Instant,
        landed: Instant,
    },
    NotInRecord {
        submission: SubmissionId,
        key: u32,
        id: u64,
    },
    Overtaken {
        life: Life,
        key: u32,
        earlier: SubmissionId,
        by: SubmissionId,
    },
    Unanswered {
        id: u64,
        halt: Halt,
    },
    NeverQuiet {
        halt: Halt,
    },
    StillHeld {
        node: usize,
        queueing: usize,
        waiting: usize,
        batches: usize,
        keys: usize,
    },
    TasksLeft {
        node: usize,
        tasks: usize,
    },
    Diverged(Difference),
}

impl Violation {
    /// Which property it violates.
    #[must_use]
    pub fn property(&self) -> Property {
        match self {
            Self::AppliedTwice { .. } => Property::AppliedOnce,
            Self::WrongOutcome { .. }
            | Self::ForOtherContent { .. }
            | Self::WronglyDeclined { .. }
            | Self::NoMismatch { .. }
            | Self::NothingForgotten { .. }
            | Self::WroteAfterAll { .. } => Property::TrueAnswers,
            Self::NeverWritten { .. }
            | Self::WrittenAfterwards { .. }
            | Self::NotInRecord { .. } => Property::NothingLost,
            Self::Overtaken { .. } => Property::InOrder,
            Self::Unanswered { .. } | Self::NeverQuiet { .. } => Property::Answered,
            Self::StillHeld { .. } | Self::TasksLeft { .. } => Property::NoLeaks,
            Self::Diverged(_) => Property::SameTrace,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AppliedTwice { id, first, second } => {
                write!(
                    f,
                    "input {id} is in the log twice, from {first} and from {second}"
                )
            }
            Self::WrongOutcome {
                submission,
                heard,
                stored,
            } => {
                write!(
                    f,
                    "{submission} heard \"{heard}\", and the log says \"{stored}\""
                )
            }
            Self::ForOtherContent { submission, heard } => {
                write!(
                    f,
                    "{submission} heard \"{heard}\", which is of other content"
                )
            }
            Self::WronglyDeclined { submission, heard } => {
                write!(
                    f,
                    "{submission} heard \"{heard}\", which was not so meanwhile"
                )
            }
            Self::NoMismatch { submission } => {
                write!(f, "{submission} heard of a mismatch that was not there")
            }
            Self::NothingForgotten { submission } => {
                write!(
                    f,
                    "{submission} heard that it is too old, and nothing is ever forgotten"
                )
            }
            Self::WroteAfterAll {
                submission,
                heard,
                landed,
            } => {
                write!(
                    f,
                    "{submission} heard \"{heard}\", and was written at {landed:?}"
                )
            }
            Self::NeverWritten { submission, id } => {
                write!(
                    f,
                    "{submission} was acknowledged, and input {id} is not in the log"
                )
            }
            Self::WrittenAfterwards {
                submission,
                answered,
                landed,
            } => {
                write!(
                    f,
                    "{submission} was acknowledged at {answered:?}, and written at {landed:?}"
                )
            }
            Self::NotInRecord {
                submission,
                key,
                id,
            } => {
                write!(
                    f,
                    "{submission} was acknowledged, and the record of key {key} lacks input {id}"
                )
            }
            Self::Overtaken {
                life,
                key,
                earlier,
                by,
            } => {
                let Life { node, nth } = life;
                write!(
                    f,
                    "at key {key}, node {node}.{nth}, {earlier} was overtaken by {by}"
                )
            }
            Self::Unanswered { id, halt } => {
                write!(
                    f,
                    "the client of input {id} still waits; the run ended as {halt:?}"
                )
            }
            Self::NeverQuiet { halt } => {
                write!(
                    f,
                    "everyone is answered, and things still move; the run ended as {halt:?}"
                )
            }
            Self::StillHeld {
                node,
                queueing,
                waiting,
                batches,
                keys,
            } => write!(
                f,
                "node {node} still shows {queueing} queueing, {waiting} waiting, {batches} batches, {keys} keys"
            ),
            Self::TasksLeft { node, tasks } => {
                write!(
                    f,
                    "node {node} was closed and let go of, and has {tasks} tasks left"
                )
            }
            Self::Diverged(difference) => write!(f, "the second run differs {difference}"),
        }
    }
}
