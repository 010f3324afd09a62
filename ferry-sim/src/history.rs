//! What a run leaves behind for the checkers: every submission with its answer, every commit that took effect,
//! what the store holds at the end, and in which state the nodes were.

use core::fmt;
use std::collections::BTreeMap;

use ferry_core::{Cause, Failure, Instant, drive::Stats};

use crate::{
    executor::Halt,
    fold::{Input, Outcome, Purse, StoreError},
};

/// Names one attempt of a client at one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SubmissionId(pub u64);

/// Names one life of a node: each restart begins another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Life {
    /// Which node.
    pub node: usize,
    /// Which of its lives.
    pub nth: u32,
}

/// Names one call of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// Which call.
    pub nth: u64,
    /// Who made it.
    pub life: Life,
    /// Whose record it is about.
    pub key: u32,
}

/// What a client asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ask {
    /// Whose purse.
    pub key: u32,
    /// The input's id.
    pub id: u64,
    /// How much.
    pub cents: i64,
}

/// What a client heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Answer {
    /// This is durable.
    Outcome(Outcome),
    /// Not written, and never will be.
    NotCommitted(Why),
    /// May have been written.
    InDoubt(Why),
    /// Not even taken in.
    Rejected,
}

/// Why an input failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Why {
    /// Its deadline passed.
    Expired,
    /// Others kept changing the record.
    Refused,
    /// Declined, and then overtaken.
    Overtaken,
    /// The store failed.
    Store(StoreError),
    /// The process went down with it.
    Abandoned,
    /// Something that does not happen here.
    Other,
}

impl From<&Cause<StoreError>> for Why {
    fn from(cause: &Cause<StoreError>) -> Self {
        match cause {
            Cause::Expired => Self::Expired,
            Cause::Refused => Self::Refused,
            Cause::Overtaken => Self::Overtaken,
            Cause::Store(error) => Self::Store(**error),
            Cause::Abandoned => Self::Abandoned,
            Cause::Panicked(_) | Cause::Miscounted { .. } | _ => Self::Other,
        }
    }
}

impl From<Result<Outcome, Failure<StoreError>>> for Answer {
    fn from(heard: Result<Outcome, Failure<StoreError>>) -> Self {
        match heard {
            Ok(outcome) => Self::Outcome(outcome),
            Err(Failure::NotCommitted(cause)) => Self::NotCommitted((&cause).into()),
            Err(Failure::InDoubt(cause)) => Self::InDoubt((&cause).into()),
        }
    }
}

/// One attempt of a client at one node.
#[derive(Clone, Copy, Debug)]
pub struct Submission {
    /// Where it went.
    pub life: Life,
    /// What it asked.
    pub ask: Ask,
    /// When it was submitted.
    pub at: Instant,
    /// What its caller heard, and when; `None` where it had gone, or the node had.
    pub answer: Option<(Instant, Answer)>,
}

/// A commit that took effect.
#[derive(Clone, Debug)]
pub struct Landed {
    /// When.
    pub at: Instant,
    /// Of which call.
    pub call: Call,
    /// What it added, in order.
    pub entries: Vec<Input>,
}

/// A node at the end, once nothing moved any more.
#[derive(Clone, Debug)]
pub struct NodeEnd {
    /// Which.
    pub node: usize,
    /// Before it was closed.
    pub stats: Stats,
    /// Tasks that were left after its handle was dropped.
    pub tasks_left: usize,
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// By their ids.
    pub submissions: Vec<Submission>,
    /// The store's true log, in the order in which the commits took effect.
    pub landed: Vec<Landed>,
    /// What the store holds at the end.
    pub records: BTreeMap<u32, Purse>,
    /// Inputs whose clients were still waiting at the end.
    pub unanswered: Vec<u64>,
    /// How the time after the healing ended.
    pub halt: Option<Halt>,
    /// The nodes at the end.
    pub nodes: Vec<NodeEnd>,
}

impl fmt::Display for SubmissionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "submission {}", self.0)
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { nth, life, key } = self;
        write!(
            f,
            "call {nth} of node {}.{}, key {key}",
            life.node, life.nth
        )
    }
}

impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "input {} of {:+} for key {}",
            self.id, self.cents, self.key
        )
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outcome(outcome) => outcome.fmt(f),
            Self::NotCommitted(why) => write!(f, "not committed ({why:?})"),
            Self::InDoubt(why) => write!(f, "in doubt ({why:?})"),
            Self::Rejected => f.write_str("rejected"),
        }
    }
}
