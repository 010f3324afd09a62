//! What the simulated clients sent, and what they were told.

use std::fmt;

use crate::fold::Receipt;

/// Everything that the clients of one run sent and heard; the default is a run without clients.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// What the ids of this run begin with.
    pub run: String,
    /// By client, each in the order in which it sent.
    pub clients: Vec<Vec<Sent>>,
}

/// One input that a client sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The account's number.
    pub account: u32,
    /// Cents.
    pub amount: i64,
    /// What came of it.
    pub heard: Heard,
}

/// What a client was told about one input in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Heard {
    /// Nothing: it gave up.
    Nothing,
    /// Nothing: it went with the node that it had sent it to.
    Gone,
    /// It is applied, and led to this.
    Applied(Receipt),
    /// The account does not hold that much; no other copy of the input is under way.
    Refused,
    /// The account did not hold that much then. An earlier copy of the input was left behind without
    /// an answer; a refusal is not stored, so that copy may be applied yet.
    RefusedWithCopies,
    /// That its id is known with other content, which is not so.
    Mismatch,
}

impl Heard {
    /// Whether it was a business no.
    #[must_use]
    pub fn is_refused(self) -> bool {
        matches!(self, Self::Refused | Self::RefusedWithCopies)
    }
}

impl fmt::Display for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing | Self::Gone => f.write_str("nothing"),
            Self::Applied(receipt) => write!(f, "applied, {receipt}"),
            Self::Refused | Self::RefusedWithCopies => f.write_str("refused"),
            Self::Mismatch => f.write_str("mismatch"),
        }
    }
}

impl Answers {
    /// All inputs sent.
    pub fn sent(&self) -> impl Iterator<Item = &Sent> {
        self.clients.iter().flatten()
    }

    /// The input that an id of this run names: its client and which one of it.
    #[must_use]
    pub fn find(&self, id: &str) -> Option<(usize, usize)> {
        if self.clients.is_empty() {
            return None;
        }
        let (client, index) = id
            .strip_prefix(&self.run)?
            .strip_prefix('-')?
            .split_once('-')?;
        Some((client.parse().ok()?, index.parse().ok()?))
    }
}
