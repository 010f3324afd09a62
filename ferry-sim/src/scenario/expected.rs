//! What a caller is to hear.

use core::fmt;

use crate::{
    history::{Heard, HeardBy, Reach, Why},
    purses::{Outcome, Purses, Standing, StoreError},
    sent::Told,
};

/// What a caller is to hear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// This, and its view shows it, where there is one.
    Outcome(Outcome),
    /// This, and its view may be late.
    Late(Outcome),
    NotCommitted(Why),
    InDoubt(Why),
    Rejected,
    /// Its node, or it itself, has gone.
    Nothing,
}

pub(super) fn applied(entries: u64, balance: i64) -> Expected {
    Expected::Outcome(Outcome::Applied(Standing { entries, balance }))
}

pub(super) fn late(entries: u64, balance: i64) -> Expected {
    Expected::Late(Outcome::Applied(Standing { entries, balance }))
}

pub(super) fn declined(entries: u64, balance: i64) -> Expected {
    Expected::Outcome(Outcome::Declined(Standing { entries, balance }))
}

pub(super) const MISMATCH: Expected = Expected::Outcome(Outcome::Mismatch);
pub(super) const TOO_OLD: Expected = Expected::Outcome(Outcome::TooOld);
pub(super) const REJECTED: Expected = Expected::Rejected;
pub(super) const NOTHING: Expected = Expected::Nothing;

pub(super) fn not_committed(why: impl Into<Why>) -> Expected {
    Expected::NotCommitted(why.into())
}

pub(super) fn in_doubt(why: impl Into<Why>) -> Expected {
    Expected::InDoubt(why.into())
}

impl From<StoreError> for Why {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Expected {
    pub(super) fn is_met_by(self, heard: Option<&HeardBy<Purses>>) -> bool {
        match (self, heard) {
            (Self::Outcome(expected), Some(Heard::Outcome(Told { outcome, .. }, reach))) => {
                expected == *outcome && !matches!(reach, Reach::Committed(_))
            }
            (Self::Late(expected), Some(Heard::Outcome(Told { outcome, .. }, reach))) => {
                expected == *outcome && matches!(reach, Reach::Committed(_))
            }
            (Self::NotCommitted(expected), Some(Heard::NotCommitted(why)))
            | (Self::InDoubt(expected), Some(Heard::InDoubt(why))) => expected == *why,
            (Self::Rejected, Some(Heard::Rejected)) | (Self::Nothing, None) => true,
            _ => false,
        }
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Outcome(outcome) => write!(f, "\"{outcome:?}\""),
            Self::Late(outcome) => write!(f, "\"{outcome:?}, and its view may be late\""),
            Self::NotCommitted(why) => write!(f, "\"not committed ({why:?})\""),
            Self::InDoubt(why) => write!(f, "\"in doubt ({why:?})\""),
            Self::Rejected => f.write_str("\"rejected\""),
            Self::Nothing => f.write_str("nothing"),
        }
    }
}
