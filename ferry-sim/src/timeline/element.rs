//! What is drawn.

use serde::Serialize;

/// Something to be drawn in a lane: a bar from one moment to another, or a mark at one.
#[derive(Debug, Serialize)]
pub(super) struct Element {
    pub(super) what: What,
    /// How it ended, where that can differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) end: Option<End>,
    pub(super) from: u64,
    /// The same as `from`: it is a mark.
    pub(super) to: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) key: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) node: Option<usize>,
    /// What it is called where there is room for a word or two.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(super) label: String,
    /// What it is, in a sentence.
    pub(super) title: String,
    /// The numbers of the inputs that it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) inputs: Vec<u64>,
    /// The events that it was made of, by their places among the lines.
    pub(super) lines: Vec<usize>,
    /// When it took effect in the store: more than once where it was delivered more than once.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) effects: Vec<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum What {
    /// All of an input's attempts.
    Input,
    Attempt,
    Unreachable,
    GaveUp,
    Life,
    Crash,
    Frozen,
    Stalled,
    Closing,
    ClockJump,
    Resume,
    Read,
    Commit,
    Project,
    Show,
    Mark,
    Version,
    Deleted,
    /// A write that reached the store and was turned away.
    TurnedAway,
    Lost,
    View,
    Debt,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum End {
    Landed,
    InPart,
    Refused,
    NotLanded,
    InDoubt,
    /// Its node was gone before it was told.
    Untold,
    Durable,
    Projected,
    Committed,
    NotCommitted,
    Rejected,
    Deserted,
    /// Its node was gone before it answered.
    Unanswered,
}

impl End {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Landed => "landed",
            Self::InPart => "landed in part",
            Self::Refused => "refused",
            Self::NotLanded => "not landed",
            Self::InDoubt => "in doubt",
            Self::Untold => "its node went before it was told",
            Self::Durable => "durable",
            Self::Projected => "projected",
            Self::Committed => "committed, its view late",
            Self::NotCommitted => "not committed",
            Self::Rejected => "rejected",
            Self::Deserted => "its caller went away",
            Self::Unanswered => "never answered",
        }
    }
}

/// An event: when it was, and its place among the lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) at: u64,
    pub(super) index: usize,
}

impl Element {
    /// A mark, until it gets another end.
    pub(super) fn at(line: Line, what: What, title: String) -> Self {
        Self {
            what,
            end: None,
            from: line.at,
            to: line.at,
            key: None,
            node: None,
            label: String::new(),
            title,
            inputs: Vec::new(),
            lines: vec![line.index],
            effects: Vec::new(),
        }
    }

    pub(super) fn of_key(self, key: u32) -> Self {
        let key = Some(key);
        Self { key, ..self }
    }

    pub(super) fn of_node(self, node: usize) -> Self {
        let node = Some(node);
        Self { node, ..self }
    }

    pub(super) fn until(&mut self, line: Line) {
        self.to = line.at;
        self.lines.push(line.index);
    }

    pub(super) fn ends(&mut self, line: Line, end: End) {
        self.until(line);
        self.end = Some(end);
    }
}
