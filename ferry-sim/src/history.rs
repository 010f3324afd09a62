//! What a run leaves behind for the checkers: every submission with its answer, every write that took effect,
//! what the store holds at the end, and in which state the nodes were.

use core::{convert::Infallible, fmt, time::Duration};
use std::{collections::BTreeMap, sync::Arc};

use ferry_core::{Cause, Failure, Instant, drive::Stats};

use crate::{
    calls::{Asked, Pace},
    executor::Halt,
    lives::Lived,
    purses::StoreError,
    sent::{Quirk, Sent, ToldBy},
    store::CALL_PANICS,
    workload::{InputOf, StateOf, Workload},
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

/// How far an outcome was said to have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// It is durable, and there is no view.
    Durable,
    /// The view shows it.
    Projected,
    /// It is durable, and the view may be late.
    Committed(Why),
}

/// What a client heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Heard<O> {
    /// This is durable, and has come so far.
    Outcome(O, Reach),
    /// Not written, and never will be.
    NotCommitted(Why),
    /// May have been written.
    InDoubt(Why),
    /// Not even taken in.
    Rejected,
}

pub(crate) type HeardBy<W> = Heard<ToldBy<W>>;

/// Why an input failed, or its view is late.
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
    /// A step panicked, or what was to give the input's id.
    Panicked,
    /// A call of the store panicked.
    CallPanicked,
    /// The process went down with it.
    Abandoned,
    /// Something that does not happen here.
    Other,
}

impl Why {
    /// `store`: what a store's own error is.
    fn of<E>(cause: &Cause<E>, store: impl FnOnce(&E) -> Self) -> Self {
        match cause {
            Cause::Expired => Self::Expired,
            Cause::Refused => Self::Refused,
            Cause::Overtaken => Self::Overtaken,
            Cause::Store(error) => store(error),
            Cause::Panicked(message) if **message == *CALL_PANICS => Self::CallPanicked,
            Cause::Panicked(_) => Self::Panicked,
            Cause::Abandoned => Self::Abandoned,
            Cause::Miscounted { .. } | _ => Self::Other,
        }
    }
}

impl From<&Cause<StoreError>> for Why {
    fn from(cause: &Cause<StoreError>) -> Self {
        Self::of(cause, |error| Self::Store(*error))
    }
}

impl From<&Cause<Infallible>> for Why {
    fn from(cause: &Cause<Infallible>) -> Self {
        Self::of(cause, |never| match *never {})
    }
}

impl<O> From<Failure<StoreError>> for Heard<O> {
    fn from(failure: Failure<StoreError>) -> Self {
        match failure {
            Failure::NotCommitted(cause) => Self::NotCommitted((&cause).into()),
            Failure::InDoubt(cause) => Self::InDoubt((&cause).into()),
        }
    }
}

/// One attempt of a client at one node.
#[derive(Debug)]
pub struct Submission<W: Workload> {
    /// Where it went.
    pub life: Life,
    /// Of which key.
    pub key: u32,
    /// Which input it is.
    pub number: u64,
    /// What it says.
    pub content: Arc<InputOf<W>>,
    /// What is wrong with it.
    pub quirk: Quirk,
    /// When it was submitted.
    pub at: Instant,
    /// How long it may take, by the node's clock.
    pub within: Option<Duration>,
    /// What its caller heard, and when; `None` where it had gone, or the node had.
    pub answer: Option<(Instant, HeardBy<W>)>,
    /// When its caller dropped what it waited for, if it did.
    pub deserted: Option<Instant>,
}

/// Somebody who told a node to resume a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resume {
    /// Whom.
    pub life: Life,
    /// Which key.
    pub key: u32,
    /// When.
    pub at: Instant,
    /// What came of it, and when; `None` where the node had gone.
    pub answer: Option<(Instant, Resumed)>,
}

/// What came of a resume.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resumed {
    /// The view shows what there was when it was asked for.
    Shown,
    /// The view may be late.
    StillPending,
    /// The node takes in no more.
    Closed,
}

/// What a node has shown of itself at some moment.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    /// Which.
    pub life: Life,
    /// When.
    pub at: Instant,
    /// After how many submissions.
    pub submitted: usize,
    /// What.
    pub stats: Stats,
}

/// A write that took effect.
#[derive(Debug)]
pub struct Written<W: Workload> {
    /// When.
    pub at: Instant,
    /// Of which key.
    pub key: u32,
    /// By which node; `None`: by nobody of the fleet.
    pub by: Option<Life>,
    /// What it did.
    pub what: What<W>,
}

/// What a write did.
#[derive(Debug)]
pub enum What<W: Workload> {
    /// It added these to the record, in order.
    Commit(Vec<Sent<W>>),
    /// It deleted the record, and its view.
    Delete,
    /// It put the record's entries from this position to before that one into the view.
    Show {
        /// How many entries come before the first.
        from: usize,
        /// How many there are with the last.
        to: usize,
        /// Whether an entry goes to its own position, and one that is there already is left alone; otherwise they
        /// are added to the end.
        is_by_position: bool,
    },
    /// It put the record's entries up to this one into the view, in place of all that was there.
    ShowInstead(usize),
    /// It moved the marker to where the record had so many entries.
    Mark(usize),
}

/// A node at the end, once nothing moved any more.
#[derive(Clone, Debug)]
pub struct NodeEnd {
    /// Which.
    pub life: Life,
    /// Before it was closed.
    pub stats: Stats,
    /// Tasks that were left after its handle was dropped.
    pub tasks_left: usize,
}

/// For more inputs no room is made beforehand.
const INPUTS_MAX: usize = 1_000;

/// All of it.
pub struct History<W: Workload> {
    /// By their ids.
    pub submissions: Vec<Submission<W>>,
    /// The store's true log, in the order in which the writes took effect.
    pub log: Vec<Written<W>>,
    /// What nodes asked of the store, in the order in which they did.
    pub calls: Vec<Asked>,
    /// At which pace they were to.
    pub pace: Pace,
    /// Who was told by hand to resume which key, in the order of the asking.
    pub resumes: Vec<Resume>,
    /// What came over the nodes.
    pub lives: BTreeMap<Life, Lived>,
    /// What nodes have shown of themselves, in the order of its times.
    pub looks: Vec<Look>,
    /// What the store holds at the end.
    pub records: BTreeMap<u32, StateOf<W>>,
    /// Whether records have views.
    pub has_views: bool,
    /// Keys whose records are pending at the end.
    pub pending: Vec<u32>,
    /// Inputs whose clients were still waiting at the end.
    pub unanswered: Vec<u64>,
    /// A key that was broken for good, by no fault of the write's.
    pub broken: Option<u32>,
    /// Lives that ended before the run did, by a crash or in order.
    pub ended: Vec<Life>,
    /// How the time after the healing ended.
    pub halt: Option<Halt>,
    /// The nodes at the end.
    pub nodes: Vec<NodeEnd>,
}

impl<W: Workload> Default for History<W> {
    fn default() -> Self {
        Self {
            submissions: Vec::new(),
            log: Vec::new(),
            calls: Vec::new(),
            pace: Pace::default(),
            resumes: Vec::new(),
            lives: BTreeMap::new(),
            looks: Vec::new(),
            records: BTreeMap::new(),
            has_views: false,
            pending: Vec::new(),
            unanswered: Vec::new(),
            broken: None,
            ended: Vec::new(),
            halt: None,
            nodes: Vec::new(),
        }
    }
}

impl<W: Workload> fmt::Debug for History<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("History")
            .field("submissions", &self.submissions)
            .field("log", &self.log)
            .finish_non_exhaustive()
    }
}

impl<W: Workload> History<W> {
    /// Empty, but with room for what comes of so many inputs, most of the time.
    pub(crate) fn with_room_for(inputs: u64) -> Self {
        let inputs = usize::try_from(inputs).map_or(INPUTS_MAX, |inputs| inputs.min(INPUTS_MAX));
        Self {
            submissions: Vec::with_capacity(2 * inputs),
            log: Vec::with_capacity(4 * inputs),
            calls: Vec::with_capacity(8 * inputs),
            looks: Vec::with_capacity(inputs),
            ..Self::default()
        }
    }

    /// A key's first so many entries, as its record stands.
    pub(crate) fn entries(&self, key: u32, entries: usize) -> Vec<&Sent<W>> {
        let mut sent = Vec::new();
        for written in self.log.iter().filter(|written| written.key == key) {
            match &written.what {
                What::Commit(added) => sent.extend(added),
                What::Delete => sent.clear(),
                What::Show { .. } | What::ShowInstead(_) | What::Mark(_) => {}
            }
        }
        sent.truncate(entries);
        sent
    }

    /// The numbers of a key's first so many inputs, as its record stands.
    pub(crate) fn shown(&self, key: u32, entries: usize) -> Vec<u64> {
        let entries = self.entries(key, entries);
        entries.iter().map(|sent| sent.number).collect()
    }
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

impl<O: fmt::Debug> fmt::Display for Heard<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outcome(outcome, Reach::Durable) => outcome.fmt(f),
            Self::Outcome(outcome, Reach::Projected) => {
                outcome.fmt(f)?;
                f.write_str(", projected")
            }
            Self::Outcome(outcome, Reach::Committed(why)) => {
                write!(f, "{outcome:?}, and its view may be late ({why:?})")
            }
            Self::NotCommitted(why) => write!(f, "not committed ({why:?})"),
            Self::InDoubt(why) => write!(f, "in doubt ({why:?})"),
            Self::Rejected => f.write_str("rejected"),
        }
    }
}
