//! What can happen in a run.

use core::{fmt, time::Duration};

use crate::{
    history::{Call, Life, SubmissionId},
    purses::StoreError,
    store::Fate,
};

/// Events, and how each is told; first those of calls of the store.
macro_rules! events {
    (
        calls {
            $($(#[$of_asked:meta])* $asked:ident { $($of_call:ident: $call_type:ty),* $(,)? }
                $call_words:literal $(, $call_arg:expr)*;)*
        }
        others {
            $($(#[$of_other:meta])* $other:ident { $($field:ident: $type:ty),* $(,)? }
                $words:literal $(, $arg:expr)*;)*
        }
    ) => {
        /// What happened. A run's trace is the hash of these, in order, each with its moment.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        #[expect(missing_docs, reason = "they are told by their `Display`")]
        pub enum Event {
            $($(#[$of_other])* $other { $($field: $type),* },)*
            $($(#[$of_asked])* $asked { call: Call, $($of_call: $call_type),* },)*
        }

        impl Event {
            /// The call of the store that it is about.
            #[must_use]
            pub fn call(&self) -> Option<Call> {
                match self {
                    $(Self::$asked { call, .. } => Some(*call),)*
                    $(Self::$other { .. } => None,)*
                }
            }

            #[expect(unused_variables, reason = "not every field is told")]
            fn tell(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$asked { call: _, $($of_call),* } => write!(f, $call_words $(, $call_arg)*),)*
                    $(Self::$other { $($field),* } => write!(f, $words $(, $arg)*),)*
                }
            }
        }
    };
}

events! {
    calls {
        Read { failed: bool }
            "{}", if *failed { "read failed" } else { "read" };
        /// It has found the record at this version, for a batch of so many inputs; none: to project it.
        Served { version: Option<u64>, inputs: usize }
            "found {}{}", At(*version), For(*inputs);
        /// Versions are told by their numbers, from one on for each key; 0 is any that was deleted since. Inputs are told with
        /// the submissions in which they came.
        Commit { expected: Option<u64>, inputs: Vec<(u64, SubmissionId)>, fate: Fate }
            "commit of {:?} on {}, {fate}", numbers(inputs), At(*expected);
        Landed { version: u64 }
            "landed as version {version}";
        Refused { expected: Option<u64>, found: Option<u64> }
            "refused, expected {}, found {}", At(*expected), At(*found);
        Lost {}
            "answered before it was durable, and lost";
        /// Of the record at this version, which owes the entries from this position on.
        Project { version: u64, fate: Fate }
            "projection of version {version}, {fate}";
        /// Entries for a view that is in another store, of the record at this version.
        Show { version: u64, from: usize, to: usize, fate: Fate }
            "entries from {from} to {to} for the view, {fate}";
        /// The marker alone, to this version.
        Mark { version: u64, fate: Fate }
            "marker to version {version}, {fate}";
        /// The view was given these entries.
        Shown { from: usize, to: usize }
            "the view is given the entries from {from} to {to}";
        /// The marker stands where the record had so many entries.
        Marked { to: usize }
            "marker moved to entry {to}";
        ProjectionRefused {}
            "projection refused";
        Told { verdict: Verdict }
            "told {verdict:?}";
    }
    others {
        Polled { task: u64 }
            "task {task} polled";
        Submitted { submission: SubmissionId, node: usize, key: u32, number: u64, input: String }
            "{submission}: input {number} for key {key}, {input}, to node {node}";
        Unreachable { node: usize, number: u64 }
            "input {number}: node {node} is not there";
        Deserted { submission: SubmissionId }
            "{submission}: its caller has gone";
        Answered { submission: SubmissionId, kind: AnswerKind, answer: String }
            "{submission}: heard {answer}";
        /// Its node is done with it: it is answered, though its caller may not have heard yet, or it is withdrawn, or the node
        /// has crashed.
        LetGo { submission: SubmissionId }
            "{submission}: its node is done with it";
        GaveUp { number: u64 }
            "input {number}: its client gave up";
        Resume { node: usize, key: u32 }
            "node {node} is to resume key {key}";
        Resumed { node: usize, key: u32 }
            "node {node} is done resuming key {key}";
        Deleted { key: u32 }
            "key {key} is deleted";
        Crashed { node: usize }
            "node {node} crashed";
        Restarted { node: usize }
            "node {node} started";
        Frozen { node: usize, pause: Duration }
            "node {node} frozen for {pause:?}";
        Thawed { node: usize }
            "node {node} thawed";
        Stalled { node: usize, pause: Duration }
            "node {node} is held up by a step for {pause:?}";
        ClockJumped { node: usize, by: Duration }
            "the clock of node {node} jumps by {by:?}";
        /// It takes in no more, and is gone once what it has is carried.
        ShutDown { node: usize }
            "node {node} is to shut down";
        Closed { node: usize }
            "node {node} closed";
        /// No new fault from here on; of what is broken for good it is told what.
        Healed { broken: Option<String> }
            "everything healed{}", But(broken.as_deref());
    }
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
    Panicked,
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
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(call) = self.call() {
            write!(f, "{call}: ")?;
        }
        self.tell(f)
    }
}

struct For(usize);

impl fmt::Display for For {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            0 => Ok(()),
            inputs => write!(f, " for {inputs} inputs"),
        }
    }
}

struct But<'a>(Option<&'a str>);

impl fmt::Display for But<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(broken) => write!(f, " but {broken}"),
            None => Ok(()),
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
