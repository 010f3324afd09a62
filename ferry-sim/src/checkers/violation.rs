//! What can be wrong with a run.

use core::{fmt, time::Duration};

use ferry_core::Instant;

use super::Property;
use crate::{
    executor::Halt,
    history::{Life, SubmissionId},
    trace::Difference,
};

/// One thing that is wrong with a run.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "they are told by their `Display`")]
pub enum Violation {
    AppliedTwice {
        number: u64,
        first: SubmissionId,
        second: SubmissionId,
    },
    WrongOutcome {
        submission: SubmissionId,
        heard: String,
        stored: String,
    },
    ForOtherContent {
        submission: SubmissionId,
        heard: String,
    },
    NeverSo {
        submission: SubmissionId,
        heard: String,
    },
    NoDoubt {
        submission: SubmissionId,
        heard: String,
    },
    NobodyLeft {
        submission: SubmissionId,
        heard: String,
    },
    NotShown {
        submission: SubmissionId,
        entries: usize,
        shown: usize,
    },
    Blamed {
        submission: SubmissionId,
        heard: String,
    },
    StillPending {
        key: u32,
    },
    NeverShown {
        key: u32,
        shown: usize,
        entries: usize,
    },
    ShownTwice {
        key: u32,
        shown: usize,
        again: usize,
    },
    ViewLacks {
        key: u32,
        shown: usize,
        next: usize,
    },
    ViewWentBack {
        key: u32,
        shown: usize,
        to: usize,
    },
    MarkerWentBack {
        key: u32,
        marker: usize,
        to: usize,
    },
    MarkedUnshown {
        key: u32,
        shown: usize,
        to: usize,
    },
    MarkedWithinCommit {
        key: u32,
        to: usize,
    },
    WroteAfterAll {
        submission: SubmissionId,
        heard: String,
        landed: Instant,
    },
    NeverWritten {
        submission: SubmissionId,
        number: u64,
    },
    WrittenAfterwards {
        submission: SubmissionId,
        answered: Instant,
        landed: Instant,
    },
    NotInRecord {
        submission: SubmissionId,
        key: u32,
        number: u64,
    },
    Overtaken {
        life: Life,
        key: u32,
        earlier: SubmissionId,
        by: SubmissionId,
    },
    Unanswered {
        number: u64,
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
    BatchTooLarge {
        life: Life,
        key: u32,
        inputs: usize,
        inputs_max: usize,
    },
    BatchTooHeavy {
        life: Life,
        key: u32,
        weight: usize,
        weight_max: usize,
    },
    TooManyInFlight {
        life: Life,
        key: u32,
        batches: usize,
        batches_max: usize,
    },
    TriedTooOften {
        life: Life,
        key: u32,
        tries: u32,
        attempts: u32,
    },
    TooSoon {
        life: Life,
        key: u32,
        pause: Duration,
        least: Duration,
    },
    NoBackoff {
        failures: u64,
        nats: u64,
    },
    InStep {
        one: (Life, u32),
        other: (Life, u32),
        pauses: [Duration; 3],
    },
    SweptTooOften {
        life: Life,
        key: u32,
        tries: u64,
        most: u64,
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
            | Self::NeverSo { .. }
            | Self::NoDoubt { .. }
            | Self::NobodyLeft { .. }
            | Self::NotShown { .. }
            | Self::WroteAfterAll { .. } => Property::TrueAnswers,
            Self::StillPending { .. } | Self::NeverShown { .. } => Property::Projected,
            Self::ShownTwice { .. }
            | Self::ViewLacks { .. }
            | Self::ViewWentBack { .. }
            | Self::MarkerWentBack { .. }
            | Self::MarkedUnshown { .. }
            | Self::MarkedWithinCommit { .. } => Property::ViewForward,
            Self::Blamed { .. } => Property::NoHarm,
            Self::NeverWritten { .. }
            | Self::WrittenAfterwards { .. }
            | Self::NotInRecord { .. } => Property::NothingLost,
            Self::Overtaken { .. } => Property::InOrder,
            Self::Unanswered { .. } | Self::NeverQuiet { .. } => Property::Answered,
            Self::StillHeld { .. }
            | Self::TasksLeft { .. }
            | Self::BatchTooLarge { .. }
            | Self::BatchTooHeavy { .. }
            | Self::TooManyInFlight { .. } => Property::NoLeaks,
            Self::TriedTooOften { .. }
            | Self::TooSoon { .. }
            | Self::NoBackoff { .. }
            | Self::InStep { .. }
            | Self::SweptTooOften { .. } => Property::BoundedWork,
            Self::Diverged(_) => Property::SameTrace,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AppliedTwice {
                number,
                first,
                second,
            } => {
                write!(
                    f,
                    "input {number} is in the log twice, from {first} and from {second}"
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
            Self::NeverSo { submission, heard } => {
                write!(
                    f,
                    "{submission} heard \"{heard}\", which was not so meanwhile"
                )
            }
            Self::NoDoubt { submission, heard } => write!(
                f,
                "{submission} heard \"{heard}\", and there is nothing to doubt: no commit may have brought it"
            ),
            Self::NobodyLeft { submission, heard } => {
                write!(
                    f,
                    "{submission} heard \"{heard}\", and its node was there all the time"
                )
            }
            Self::NotShown {
                submission,
                entries,
                shown,
            } => write!(
                f,
                "{submission} heard that the view shows its entry, number {entries}, and it showed {shown}"
            ),
            Self::Blamed { submission, heard } => {
                write!(
                    f,
                    "{submission} heard \"{heard}\", and nothing is wrong with it"
                )
            }
            Self::StillPending { key } => write!(f, "the record of key {key} is pending for good"),
            Self::NeverShown {
                key,
                shown,
                entries,
            } => write!(
                f,
                "the record of key {key} has {entries} entries, and its view shows {shown} for good"
            ),
            Self::ShownTwice { key, shown, again } => write!(
                f,
                "the view of key {key} showed {shown} entries, and was given those after {again} again"
            ),
            Self::ViewLacks { key, shown, next } => write!(
                f,
                "the view of key {key} showed {shown} entries, and was given those after {next}"
            ),
            Self::ViewWentBack { key, shown, to } => {
                write!(
                    f,
                    "the view of key {key} went from entry {shown} back to {to}"
                )
            }
            Self::MarkerWentBack { key, marker, to } => {
                write!(
                    f,
                    "the marker of key {key} went from entry {marker} back to {to}"
                )
            }
            Self::MarkedUnshown { key, shown, to } => write!(
                f,
                "the marker of key {key} went to entry {to}, and the view showed {shown}"
            ),
            Self::MarkedWithinCommit { key, to } => {
                write!(
                    f,
                    "the marker of key {key} went to entry {to}, where no commit ended"
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
            Self::NeverWritten { submission, number } => {
                write!(
                    f,
                    "{submission} was acknowledged, and input {number} is not in the log"
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
                number,
            } => {
                write!(
                    f,
                    "{submission} was acknowledged, and the record of key {key} lacks input {number}"
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
            Self::Unanswered { number, halt } => {
                write!(
                    f,
                    "the client of input {number} still waits; the run ended as {halt:?}"
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
            Self::BatchTooLarge {
                life,
                key,
                inputs,
                inputs_max,
            } => write!(
                f,
                "at key {key}, {life} committed {inputs} inputs at once, and a batch has {inputs_max} at most"
            ),
            Self::BatchTooHeavy {
                life,
                key,
                weight,
                weight_max,
            } => write!(
                f,
                "at key {key}, {life} committed inputs that weigh {weight}, and a batch weighs {weight_max} at most"
            ),
            Self::TooManyInFlight {
                life,
                key,
                batches,
                batches_max,
            } => write!(
                f,
                "with that of key {key}, {life} had {batches} batches in flight, and {batches_max} are the most"
            ),
            Self::TriedTooOften {
                life,
                key,
                tries,
                attempts,
            } => write!(
                f,
                "at key {key}, {life} tried the same {tries} times, and has {attempts} attempts"
            ),
            Self::TooSoon {
                life,
                key,
                pause,
                least,
            } => write!(
                f,
                "at key {key}, {life} came back to a store that throttles after {pause:?}, and {least:?} were due"
            ),
            Self::NoBackoff { failures, nats } => write!(
                f,
                "after {failures} failures the pauses were so short as they are by chance once in e to the {nats}"
            ),
            Self::InStep { one, other, pauses } => write!(
                f,
                "{} at key {} and {} at key {} both paused for {pauses:?}",
                one.0, one.1, other.0, other.1
            ),
            Self::SweptTooOften {
                life,
                key,
                tries,
                most,
            } => write!(
                f,
                "{life} tried to project key {key} {tries} times, which is throttled for good, and {most} are due at most"
            ),
            Self::Diverged(difference) => write!(f, "the second run differs {difference}"),
        }
    }
}
