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

/// How it came to be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// By the fold, and it is durable. Of a write without a view.
    Durable,
    /// By the fold, and the view shows it.
    Projected,
    /// By the fold; it is durable, and the view may be late.
    Committed,
    /// It fails, since it would be applied behind one that came after it.
    Overtaken,
    /// It fails otherwise.
    Failed,
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The version on which it is to land; 0: no record.
    pub on: u64,
    /// What it applies, in order.
    pub adds: Vec<Submitted>,
}

/// Who projects. Nodes are told by their numbers; a life after a crash is the same node again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Actor {
    /// A node, for those whose outcomes it holds back.
    Node(usize),
    /// What resumes the key on a node.
    Resumer(usize),
}

impl Actor {
    /// On which node.
    #[must_use]
    pub fn node(self) -> usize {
        match self {
            Self::Node(node) | Self::Resumer(node) => node,
        }
    }
}

/// What a projection writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    /// View and marker at once.
    Both,
    /// Entries of a view that is in another store.
    Show,
    /// The marker alone.
    Mark,
}

/// A projection, or one half of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Projection {
    /// Who sent it.
    pub by: Actor,
    /// What it writes.
    pub writes: Writes,
    /// Which version it is of.
    pub version: u64,
    /// How many entries the view is to show.
    pub to: usize,
}

/// What came of a projection, as its sender was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the cases of an answer")]
pub enum Came {
    Shown,
    Refused,
    Unknown,
}

/// A step of the specification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// The node takes the submission in.
    Submit(usize, Submitted),
    /// The node's read is served, to fold on.
    Read {
        /// Who reads.
        node: usize,
        /// What the record's version is; 0: there is none.
        version: u64,
        /// For how many submissions of those that it holds.
        inputs: usize,
        /// Whether outcomes may rest on it; not if it fails the overtaken, and reads again.
        is_settling: bool,
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
    /// The node answers a submission.
    Answer(usize, Submitted, Said, Manner),
    /// The node is done with a submission, and nobody hears how.
    Leave(usize, Submitted),
    /// A caller does not wait any more, nor does its submission.
    Withdraw(usize, Submitted),
    /// All that the node knows is gone.
    Crash(usize),
    /// The record is deleted.
    Delete,
    /// A look at the record is served, to project what it owes; it has this version.
    Look(Actor, u64),
    /// A projection is sent. Of one that writes view and marker at once, it shows all.
    Project(Projection),
    /// A projection takes effect.
    Arrive(Projection),
    /// Its sender is told of it.
    Told(Actor, Came),
    /// A resumer is gone.
    ResumerCrash(usize),
}
