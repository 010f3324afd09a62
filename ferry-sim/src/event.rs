//! What can happen in a run.

use core::{fmt, time::Duration};

use crate::{
    history::{Call, Life, SubmissionId},
    purses::StoreError,
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
        key: u32,
        number: u64,
        input: String,
    },
    Unreachable {
        node: usize,
        number: u64,
    },
    Deserted {
        submission: SubmissionId,
    },
    Answered {
        submission: SubmissionId,
        kind: AnswerKind,
        answer: String,
    },
    /// Its node is done with it: it is answered, though its caller may not have heard yet, or it is withdrawn, or the node has
    /// crashed.
    LetGo {
        submission: SubmissionId,
    },
    GaveUp {
        number: u64,
    },
    Read {
        call: Call,
        failed: bool,
    },
    /// A read has found the record at this version, for a batch of so many inputs; none: to project it.
    Served {
        call: Call,
        version: Option<u64>,
        inputs: usize,
    },
    /// Versions are told by their numbers, from one on for each key; 0 is any that was deleted since.
    Commit {
        call: Call,
        expected: Option<u64>,
        /// Which inputs, and in which submissions they came.
        inputs: Vec<(u64, SubmissionId)>,
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
    /// Of the record at this version, which owes the entries from this position on.
    Project {
        call: Call,
        version: u64,
        fate: Fate,
    },
    /// Entries for a view that is in another store, of the record at this version.
    Show {
        call: Call,
        version: u64,
        from: usize,
        to: usize,
        fate: Fate,
    },
    /// The marker alone, to this version.
    Mark {
        call: Call,
        version: u64,
        fate: Fate,
    },
    /// The view was given these entries.
    Shown {
        call: Call,
        from: usize,
        to: usize,
    },
    /// The marker stands where the record had so many entries.
    Marked {
        call: Call,
        to: usize,
    },
    ProjectionRefused {
        call: Call,
    },
    Told {
        call: Call,
        verdict: Verdict,
    },
    Resume {
        node: usize,
        key: u32,
    },
    Resumed {
        node: usize,
        key: u32,
    },
    Deleted {
        key: u32,
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
    Stalled {
        node: usize,
        pause: Duration,
    },
    ClockJumped {
        node: usize,
        by: Duration,
    },
    /// It takes in no more, and is gone once what it has is carried.
    ShutDown {
        node: usize,
    },
    Closed {
        node: usize,
    },
    /// No new fault from here on; of what is broken for good it is told what.
    Healed {
        broken: Option<String>,
    },
}

/// What an answer amounts to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the cases of an answer")]
pub enum AnswerKind {
    Durable,
    Projected,
    Committed,
    NotCommitted,
    InDoubt,
    Rejected,
}

/// What a store's caller heard of its commit, or its projection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the cases of a write's answer")]
pub enum Verdict {
    Landed,
    LandedInPart,
    Refused,
    NotLanded(StoreError),
    InDoubt(StoreError),
}

impl Event {
    /// Whether it is part of the story, and not of what goes on behind it: the executor's own doing, and moments that are
    /// told of a moment later by what comes of them.
    #[must_use]
    pub fn is_story(&self) -> bool {
        !matches!(
            self,
            Self::Polled { .. } | Self::Served { .. } | Self::LetGo { .. }
        )
    }

    /// The call of the store that it is about.
    #[must_use]
    pub fn call(&self) -> Option<Call> {
        match self {
            Self::Read { call, .. }
            | Self::Served { call, .. }
            | Self::Commit { call, .. }
            | Self::Landed { call, .. }
            | Self::Refused { call, .. }
            | Self::Lost { call }
            | Self::Project { call, .. }
            | Self::Show { call, .. }
            | Self::Mark { call, .. }
            | Self::Shown { call, .. }
            | Self::Marked { call, .. }
            | Self::ProjectionRefused { call }
            | Self::Told { call, .. } => Some(*call),
            Self::Polled { .. }
            | Self::Submitted { .. }
            | Self::Unreachable { .. }
            | Self::Deserted { .. }
            | Self::Answered { .. }
            | Self::LetGo { .. }
            | Self::GaveUp { .. }
            | Self::Resume { .. }
            | Self::Resumed { .. }
            | Self::Deleted { .. }
            | Self::Crashed { .. }
            | Self::Restarted { .. }
            | Self::Frozen { .. }
            | Self::Thawed { .. }
            | Self::Stalled { .. }
            | Self::ClockJumped { .. }
            | Self::ShutDown { .. }
            | Self::Closed { .. }
            | Self::Healed { .. } => None,
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Polled { task } => write!(f, "task {task} polled"),
            Self::Submitted {
                submission,
                node,
                key,
                number,
                input,
            } => write!(
                f,
                "{submission}: input {number} for key {key}, {input}, to node {node}"
            ),
            Self::Unreachable { node, number } => {
                write!(f, "input {number}: node {node} is not there")
            }
            Self::Deserted { submission } => write!(f, "{submission}: its caller has gone"),
            Self::Answered {
                submission, answer, ..
            } => write!(f, "{submission}: heard {answer}"),
            Self::LetGo { submission } => write!(f, "{submission}: its node is done with it"),
            Self::GaveUp { number } => write!(f, "input {number}: its client gave up"),
            Self::Read {
                call,
                failed: false,
            } => write!(f, "{call}: read"),
            Self::Read { call, failed: true } => write!(f, "{call}: read failed"),
            Self::Served {
                call,
                version,
                inputs: 0,
            } => write!(f, "{call}: found {}", At(*version)),
            Self::Served {
                call,
                version,
                inputs,
            } => write!(f, "{call}: found {} for {inputs} inputs", At(*version)),
            Self::Commit {
                call,
                expected,
                inputs,
                fate,
            } => {
                let (numbers, on) = (numbers(inputs), At(*expected));
                write!(f, "{call}: commit of {numbers:?} on {on}, {fate}")
            }
            Self::Landed { call, version } => write!(f, "{call}: landed as version {version}"),
            Self::Refused {
                call,
                expected,
                found,
            } => {
                let (expected, found) = (At(*expected), At(*found));
                write!(f, "{call}: refused, expected {expected}, found {found}")
            }
            Self::Lost { call } => write!(f, "{call}: answered before it was durable, and lost"),
            Self::Project {
                call,
                version,
                fate,
            } => write!(f, "{call}: projection of version {version}, {fate}"),
            Self::Show {
                call,
                from,
                to,
                fate,
                ..
            } => write!(
                f,
                "{call}: entries from {from} to {to} for the view, {fate}"
            ),
            Self::Mark {
                call,
                version,
                fate,
            } => write!(f, "{call}: marker to version {version}, {fate}"),
            Self::Shown { call, from, to } => {
                write!(
                    f,
                    "{call}: the view is given the entries from {from} to {to}"
                )
            }
            Self::Marked { call, to } => write!(f, "{call}: marker moved to entry {to}"),
            Self::ProjectionRefused { call } => write!(f, "{call}: projection refused"),
            Self::Told { call, verdict } => write!(f, "{call}: told {verdict:?}"),
            Self::Resume { node, key } => write!(f, "node {node} is to resume key {key}"),
            Self::Resumed { node, key } => write!(f, "node {node} is done resuming key {key}"),
            Self::Deleted { key } => write!(f, "key {key} is deleted"),
            Self::Crashed { node } => write!(f, "node {node} crashed"),
            Self::Restarted { node } => write!(f, "node {node} started"),
            Self::Frozen { node, pause } => write!(f, "node {node} frozen for {pause:?}"),
            Self::Thawed { node } => write!(f, "node {node} thawed"),
            Self::Stalled { node, pause } => {
                write!(f, "node {node} is held up by a step for {pause:?}")
            }
            Self::ClockJumped { node, by } => write!(f, "the clock of node {node} jumps by {by:?}"),
            Self::ShutDown { node } => write!(f, "node {node} is to shut down"),
            Self::Closed { node } => write!(f, "node {node} closed"),
            Self::Healed { broken: None } => f.write_str("everything healed"),
            Self::Healed {
                broken: Some(broken),
            } => write!(f, "everything healed but {broken}"),
        }
    }
}

impl fmt::Display for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "node {}.{}", self.node, self.nth)
    }
}

/// Which inputs a commit applies.
pub(crate) fn numbers(inputs: &[(u64, SubmissionId)]) -> Vec<u64> {
    inputs.iter().map(|(number, _)| *number).collect()
}

struct At(Option<u64>);

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(0) => f.write_str("a record that was deleted since"),
            Some(version) => write!(f, "version {version}"),
            None => f.write_str("no record"),
        }
    }
}
