//! The read side of a record: the user's code for it, and what it adds to an answer.

use core::fmt;

use crate::{Cause, CommitError, Fault, Fold, RecordOf};

/// A fold whose records have a view: the key's read-side picture, brought up to date by a second
/// fenced write after each commit.
///
/// The record carries a **marker**: which version the view has reached. A record whose marker is behind
/// its version is pending, for whoever reads it, so any process can finish what another has begun.
///
/// ```
/// use ferry_core::{Fold, Projection, RecordOf, Schema, Step, StepOf};
///
/// struct Accounts;
///
/// impl Schema for Accounts {
///     type Key = u64;
///     type Id = u64;
///     type State = Account;
///     type Version = u64;
///     type Entry = i64;
///     type Error = std::io::Error;
/// }
///
/// #[derive(Default)]
/// struct Account {
///     balance: i64,
///     marker: u64, // the version that the view shows; a commit leaves it as it is
/// }
///
/// struct Deposits;
/// # impl Fold for Deposits {
/// #     type Schema = Accounts;
/// #     type Input = (u64, i64);
/// #     type Outcome = i64;
/// #     fn id(&self, deposit: &(u64, i64)) -> u64 { deposit.0 }
/// #     fn empty(&self, _: &u64) -> Account { Account::default() }
/// #     fn step(&self, account: &mut Account, &(_, cents): &(u64, i64)) -> StepOf<Self> {
/// #         account.balance += cents;
/// #         Step::Applied(cents, account.balance)
/// #     }
/// # }
///
/// impl Projection for Deposits {
///     type View = ();
///
///     fn pending(&self, record: &RecordOf<Accounts>) -> bool {
///         record.state.marker != record.version
///     }
/// }
/// ```
pub trait Projection: Fold {
    /// What the view includes, where a projection can land in part; `()` where it cannot.
    type View;

    /// Whether the view lacks something of this record: its marker is behind its version.
    ///
    /// Asked of a record as it was read, and of one as it was just committed: the state that the fold
    /// made, the marker in it as it was read, and the new version.
    ///
    /// # Panics
    ///
    /// A panic is taken for a projection that fails for good: the inputs are answered as committed.
    fn pending(&self, record: &RecordOf<Self::Schema>) -> bool;

    /// Whether a view that was written in part includes what this input did. Asked after
    /// [`Coverage::Part`] alone, and only of inputs that have an entry in the record: one that `step`
    /// declined waits for the whole.
    ///
    /// # Panics
    ///
    /// A panic is taken for a no.
    fn includes(&self, view: &Self::View, input: &Self::Input) -> bool {
        let _ = (view, input);
        false
    }
}

/// How much of a record its view shows after a projection that landed.
///
/// Exhaustive on purpose: there is nothing between all of it and a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage<View, E> {
    /// All of it: the marker has reached the record's version.
    Whole,
    /// A part of it; the marker is where it was, or short of the record's version, and the record is
    /// pending still.
    Part {
        /// What the view includes now.
        view: View,
        /// Why not the rest, and whether trying again can help.
        fault: Fault<E>,
    },
}

impl<View, E> Coverage<View, E> {
    /// The same with another error, as for a store that wraps another.
    pub fn map_err<T>(self, wrap: impl FnOnce(E) -> T) -> Coverage<View, T> {
        match self {
            Self::Whole => Coverage::Whole,
            Self::Part { view, fault } => Coverage::Part {
                view,
                fault: fault.map(wrap),
            },
        }
    }
}

/// What a store answers to a projection: how much of the record the view shows now, or as a commit that did not
/// report success.
pub type ProjectResult<View, E> = Result<Coverage<View, E>, CommitError<E>>;

/// What a caller hears of an input that is durable, where its record has a view.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer<Outcome, E> {
    /// What `step` gave.
    pub outcome: Outcome,
    /// Whether the view is known to show it.
    pub durability: Durability<E>,
}

/// Whether or not the error can be cloned: it is shared.
impl<Outcome: Clone, E> Clone for Answer<Outcome, E> {
    fn clone(&self) -> Self {
        Self {
            outcome: self.outcome.clone(),
            durability: self.durability.clone(),
        }
    }
}

/// How far what an input did has come. Durable it is in either case.
///
/// Exhaustive on purpose: there is nothing between a view that is known to show it and one that is not.
#[derive(PartialEq, Eq)]
pub enum Durability<E> {
    /// The view shows the record that the outcome rests on, or a later one.
    Projected,
    /// Durable, and the view is not known to show it yet; this is what the last projection came to grief
    /// on. A sweeper or the key's next batch finishes it. Sending the input again does not make it
    /// faster.
    Committed(Cause<E>),
}

impl<E> Durability<E> {
    /// Whether the view is known to show it.
    pub fn is_projected(&self) -> bool {
        matches!(self, Self::Projected)
    }

    /// Why the view is not known to show it; `None` if it is.
    pub fn cause(&self) -> Option<&Cause<E>> {
        match self {
            Self::Projected => None,
            Self::Committed(cause) => Some(cause),
        }
    }
}

impl<E> Clone for Durability<E> {
    fn clone(&self) -> Self {
        match self {
            Self::Projected => Self::Projected,
            Self::Committed(cause) => Self::Committed(cause.clone()),
        }
    }
}

impl<E: fmt::Debug> fmt::Debug for Durability<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Projected => f.write_str("Projected"),
            Self::Committed(cause) => f.debug_tuple("Committed").field(cause).finish(),
        }
    }
}

impl<E: fmt::Display> fmt::Display for Durability<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Projected => f.write_str("projected"),
            Self::Committed(cause) => {
                write!(
                    f,
                    "committed, and the view may be late: {cause}; do not send it again for that"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;

    use super::*;

    #[test]
    fn an_answer_can_be_cloned_though_its_error_cannot() {
        #[derive(Debug, PartialEq)]
        struct Down;

        let cause = Cause::Store(Arc::new(Down));
        let answer = Answer {
            outcome: 7,
            durability: Durability::Committed(cause),
        };
        assert_eq!(answer, answer.clone());
    }
}
