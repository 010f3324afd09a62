//! What an audit finds, and how it is called.

use std::{collections::BTreeMap, fmt::Display};

/// How many wrongs are described one by one; the rest are only counted.
pub(crate) const EXAMPLES_MAX: usize = 10;

/// What an audit found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Accounts in the file.
    pub accounts: u64,
    /// Postings in the file, of all runs.
    pub entries: u64,
    /// Postings of this run that are in the file just as they were sent.
    pub applied_once: u64,
    /// Inputs refused to one copy and applied by another, which was still under way.
    pub refused_then_applied: u64,
    /// Accounts whose statements lack something, as the accounts know.
    pub late: Vec<String>,
    /// What is wrong, by kind.
    pub wrongs: BTreeMap<Wrong, u64>,
    /// The first few wrongs, described.
    pub examples: Vec<String>,
}

/// A kind of wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// An id is in the file more than once.
    AppliedTwice,
    /// A client was told that its input is applied, and it is not in the file.
    Lost,
    /// A client was told something else than what the file says.
    Contradicted,
    /// An entry of this run that no client sent as it is.
    NeverSent,
    /// An account whose entries do not add up, one after another, to what it holds.
    Unbalanced,
    /// An account that was below zero at some time.
    Negative,
    /// An entry whose content is not what it was fingerprinted as.
    Altered,
    /// A statement that is not what the postings that it shows come to, or does not show those that its
    /// account says it does.
    Misstated,
}

impl Wrong {
    /// All kinds, in the order in which they are told.
    pub const ALL: [Self; 8] = [
        Self::AppliedTwice,
        Self::Lost,
        Self::Contradicted,
        Self::NeverSent,
        Self::Unbalanced,
        Self::Negative,
        Self::Altered,
        Self::Misstated,
    ];

    /// In two or three words.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AppliedTwice => "applied twice",
            Self::Lost => "lost",
            Self::Contradicted => "contradicted",
            Self::NeverSent => "never sent",
            Self::Unbalanced => "out of balance",
            Self::Negative => "below zero",
            Self::Altered => "altered",
            Self::Misstated => "misstated",
        }
    }

    /// What the name means.
    #[must_use]
    pub fn meaning(self) -> &'static str {
        match self {
            Self::AppliedTwice => "in the file more than once",
            Self::Lost => "answered as applied, and not in the file",
            Self::Contradicted => "answered otherwise than the file says",
            Self::NeverSent => "in the file, and not as any client sent it",
            Self::Unbalanced => "accounts whose postings do not add up",
            Self::Negative => "accounts that went below zero",
            Self::Altered => "not what their fingerprints were taken over",
            Self::Misstated => "statements that do not say what the postings say",
        }
    }
}

impl Findings {
    /// How many wrongs of a kind there are.
    #[must_use]
    pub fn count(&self, wrong: Wrong) -> u64 {
        self.wrongs.get(&wrong).copied().unwrap_or(0)
    }

    /// How many there are of all kinds.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.wrongs.values().sum()
    }

    pub(crate) fn note(&mut self, wrong: Wrong, detail: impl Display) {
        *self.wrongs.entry(wrong).or_default() += 1;
        if self.examples.len() < EXAMPLES_MAX {
            self.examples.push(detail.to_string());
        }
    }
}
