//! A line of a behaviour: a step of the specification, with whom and what it is about.

/// An input as it was submitted once. Repetitions of one input have the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Submitted {
    /// Which of the inputs.
    pub number: u64,
    /// Which of its submissions, from one on.
    pub nth: u64,
    /// What it says.
    pub cents: i64,
}

/// What is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the cases of an answer")]
pub enum Said {
    /// As this entry of the record, from one on.
    Applied(u64),
    Declined,
    Mismatch,
    TooOld,
    NotCommitted,
    InDoubt,
}

/// Why an input fails, as far as it has a step of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the steps that there are")]
pub enum Because {
    Overtaken,
    Otherwise,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The version on which it is to land; 0: no record.
    pub on: u64,
    /// What it applies, in order.
    pub adds: Vec<Submitted>,
}

/// A step of the specification. Nodes are told by their numbers; a life after a crash is the same node again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// The node takes the submission in.
    Submit(usize, Submitted),
    /// The node's read is served.
    Read {
        /// Who reads.
        node: usize,
        /// What the record's version is; 0: there is none.
        version: u64,
        /// For how many submissions of those that it holds.
        inputs: usize,
    },
    /// The node sends a commit.
    Commit(usize, Committed),
    /// A commit reaches the store, and makes this version.
    Land(Committed, u64),
    /// The node is told that its commit landed.
    Landed(usize),
    /// The node is told that its commit was refused.
    Refused(usize),
    /// The node is told that its commit has not landed, and will not.
    NotLanded(usize),
    /// The node is told nothing in time, or nothing of use.
    InDoubt(usize),
    /// The node answers with what the fold made of the submission, or why it fails.
    Answer(usize, Submitted, Said, Because),
    /// The node is done with a submission, and nobody hears how.
    Leave(usize, Submitted),
    /// A caller does not wait any more, nor does its submission.
    Withdraw(usize, Submitted),
    /// All that the node knows is gone.
    Crash(usize),
    /// The record is deleted.
    Delete,
}
