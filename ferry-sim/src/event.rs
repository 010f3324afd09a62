//! What can happen in a run.

use core::{fmt, time::Duration};

use crate::{
    fold::{Outcome, StoreError},
    history::{Answer, Ask, Call, SubmissionId},
    store::Fate,
};

/// What happened. A run's trace is the hash of these, in order, each with its moment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[expect(missing_docs, reason = "they are told by their `Display`")]
pub enum Event {
    Polled {
        task: u64,
    },
    Submitted {
        submission: SubmissionId,
        node: usize,
        ask: Ask,
    },
    Unreachable {
        node: usize,
        id: u64,
    },
    Deserted {
        submission: SubmissionId,
    },
    Answered {
        submission: SubmissionId,
        answer: Answer,
    },
    GaveUp {
        id: u64,
    },
    Read {
        call: Call,
        failed: bool,
    },
    Commit {
        call: Call,
        expected: Option<u64>,
        ids: Vec<u64>,
        fate: Fate,
    },
    Landed {
        call: Call,
        version: u64,
    },
    Refused {
        call: Call,
        expected: Option<u64>,
        found: Option<u64>,
    },
    Lost {
        call: Call,
    },
    Told {
        call: Call,
        verdict: Verdict,
    },
    Crashed {
        node: usize,
    },
    Restarted {
        node: usize,
    },
    Frozen {
        node: usize,
        pause: Duration,
    },
    Thawed {
        node: usize,
    },
    Healed,
    Closed {
        node: usize,
    },
}

/// What a store's caller heard of its commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the cases of a commit's answer")]
pub enum Verdict {
    Landed,
    Refused,
    NotLanded(StoreError),
    InDoubt(StoreError),
}

impl Event {
    /// Whether it is part of the story, and not of the executor's own doing.
    #[must_use]
    pub fn is_story(&self) -> bool {
        !matches!(self, Self::Polled { .. })
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Polled { task } => write!(f, "task {task} polled"),
            Self::Submitted {
                submission,
                node,
                ask,
            } => {
                write!(f, "{submission}: {ask} to node {node}")
            }
            Self::Unreachable { node, id } => write!(f, "input {id}: node {node} is not there"),
            Self::Deserted { submission } => write!(f, "{submission}: its caller has gone"),
            Self::Answered { submission, answer } => write!(f, "{submission}: heard {answer}"),
            Self::GaveUp { id } => write!(f, "input {id}: its client gave up"),
            Self::Read {
                call,
                failed: false,
            } => write!(f, "{call}: read"),
            Self::Read { call, failed: true } => write!(f, "{call}: read failed"),
            Self::Commit {
                call,
                expected,
                ids,
                fate,
            } => {
                write!(
                    f,
                    "{call}: commit of {ids:?} on {}, {fate}",
                    Shown(*expected)
                )
            }
            Self::Landed { call, version } => write!(f, "{call}: landed as version {version}"),
            Self::Refused {
                call,
                expected,
                found,
            } => {
                let (expected, found) = (Shown(*expected), Shown(*found));
                write!(f, "{call}: refused, expected {expected}, found {found}")
            }
            Self::Lost { call } => write!(f, "{call}: answered before it was durable, and lost"),
            Self::Told { call, verdict } => write!(f, "{call}: told {verdict:?}"),
            Self::Crashed { node } => write!(f, "node {node} crashed"),
            Self::Restarted { node } => write!(f, "node {node} restarted"),
            Self::Frozen { node, pause } => write!(f, "node {node} frozen for {pause:?}"),
            Self::Thawed { node } => write!(f, "node {node} thawed"),
            Self::Healed => f.write_str("everything healed"),
            Self::Closed { node } => write!(f, "node {node} closed"),
        }
    }
}

struct Shown(Option<u64>);

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(version) => write!(f, "version {version}"),
            None => f.write_str("no record"),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Applied(at) => write!(
                f,
                "applied as number {}, balance {}",
                at.entries, at.balance
            ),
            Self::Declined(at) => {
                write!(
                    f,
                    "declined after {} entries, balance {}",
                    at.entries, at.balance
                )
            }
            Self::Mismatch => f.write_str("mismatch"),
            Self::TooOld => f.write_str("too old"),
        }
    }
}
