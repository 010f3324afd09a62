//! What a store holds for a key, and what it can answer to a write.

use core::{error::Error, fmt, time::Duration};

/// The types of a store: what it holds for each key, and how it fails.
///
/// Everything else in Ferry names them through one parameter: a [`Fold`](crate::Fold) says which
/// schema it folds on, a store (feature `drive`) extends the schema with its calls.
///
/// ```
/// use ferry_core::Schema;
///
/// struct Accounts; // a table of accounts
///
/// impl Schema for Accounts {
///     type Key = u64;
///     type Id = u128; // of an input, e.g. a ULID that the client chose
///     type State = i64; // the balance
///     type Version = u64;
///     type Entry = (u128, i64);
///     type Error = std::io::Error;
/// }
/// ```
pub trait Schema: Sized {
    /// Names one entity; inputs of one key are applied in one order.
    type Key;
    /// Names one input: chosen by the client, and the same in every retry of that input. Compared
    /// where a commit is in doubt, to find the same input sent twice in one batch.
    type Id: PartialEq;
    /// The part of a record that the fold sees, ids already applied included.
    type State;
    /// The fence token. Never repeats for a key, not even after a delete and a re-create: draw it
    /// fresh for every commit, or keep counting where the record was deleted.
    type Version: Clone + PartialEq;
    /// What one applied input adds to the record.
    type Entry;
    /// How the store fails.
    type Error;
}

/// What a store holds for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<State, Version> {
    /// What the fold sees.
    pub state: State,
    /// What the next commit is fenced on.
    pub version: Version,
}

/// The record of a schema.
pub type RecordOf<S> = Record<<S as Schema>::State, <S as Schema>::Version>;

/// The fenced write that a store is asked for: all of it, or nothing.
pub struct Commit<'a, S: Schema> {
    /// The version that was read, and that the record must still have; `None`: there was no
    /// record, and there must still be none.
    pub expected: Option<&'a S::Version>,
    /// The state to store.
    pub state: &'a S::State,
    /// What the applied inputs add, in order; never empty.
    pub entries: &'a [S::Entry],
}

impl<S: Schema> Clone for Commit<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Schema> Copy for Commit<'_, S> {}

impl<S: Schema> fmt::Debug for Commit<'_, S>
where
    S::Version: fmt::Debug,
    S::State: fmt::Debug,
    S::Entry: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commit")
            .field("expected", &self.expected)
            .field("state", &self.state)
            .field("entries", &self.entries)
            .finish()
    }
}

/// Why a store call failed, and what kind of failure that is.
///
/// A `Fault` says that nothing was written. A commit that may have landed is
/// [`CommitError::InDoubt`] instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault<E> {
    /// The store's own error.
    pub error: E,
    /// What the retry does about it.
    pub class: Class,
}

impl<E> Fault<E> {
    /// May well succeed when tried again: a lost connection, a lock not granted in time.
    pub fn transient(error: E) -> Self {
        Self {
            error,
            class: Class::Transient,
        }
    }

    /// The store asks for less; `pause` is its own hint of how long to wait, if it gave one.
    pub fn throttled(error: E, pause: Option<Duration>) -> Self {
        Self {
            error,
            class: Class::Throttled(pause),
        }
    }

    /// Will fail the same way every time: too large, malformed, not allowed.
    pub fn permanent(error: E) -> Self {
        Self {
            error,
            class: Class::Permanent,
        }
    }
}

impl<E> Fault<E> {
    /// The same with another error, as for a store that wraps another.
    pub fn map<T>(self, wrap: impl FnOnce(E) -> T) -> Fault<T> {
        Fault {
            error: wrap(self.error),
            class: self.class,
        }
    }
}

impl<E: fmt::Display> fmt::Display for Fault<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.class {
            Class::Transient => write!(f, "transient store error: {}", self.error),
            Class::Throttled(_) => write!(f, "throttled by the store: {}", self.error),
            Class::Permanent => write!(f, "permanent store error: {}", self.error),
        }
    }
}

impl<E: Error + 'static> Error for Fault<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        // The message has told the error itself.
        self.error.source()
    }
}

/// What the retry does about a [`Fault`].
///
/// Exhaustive on purpose: a new class must be handled by everyone who reacts to one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Tried again after the usual backoff.
    Transient,
    /// Tried again after a longer backoff, and not before the store's own hint.
    Throttled(Option<Duration>),
    /// Not tried again as it is: a batch is split until the inputs at fault fail alone.
    Permanent,
}

/// What a commit that did not report success has to say: three cases, never fewer.
///
/// Exhaustive on purpose: a store that learns of a fourth case must not compile unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommitError<E> {
    /// The record is not as it was read. Another writer's commit is the usual reason; where a layer
    /// below sends a request again by itself, the reason can be the request's own first copy. So it
    /// says nothing about the inputs yet: the next read finds out.
    Refused,
    /// Certainly not written, now or later.
    NotLanded(Fault<E>),
    /// May have been written, or may still be: a time-out, a connection lost after the request
    /// went out, an error whose meaning is not known. When in doubt, say so.
    InDoubt(E),
}

impl<E> From<Fault<E>> for CommitError<E> {
    fn from(fault: Fault<E>) -> Self {
        Self::NotLanded(fault)
    }
}

impl<E> CommitError<E> {
    /// The same with another error, as for a store that wraps another.
    pub fn map<T>(self, wrap: impl FnOnce(E) -> T) -> CommitError<T> {
        match self {
            Self::Refused => CommitError::Refused,
            Self::NotLanded(fault) => CommitError::NotLanded(fault.map(wrap)),
            Self::InDoubt(error) => CommitError::InDoubt(wrap(error)),
        }
    }
}

impl<E: fmt::Display> fmt::Display for CommitError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused => f.write_str("refused: the record changed since it was read"),
            Self::NotLanded(fault) => write!(f, "not written: {fault}"),
            Self::InDoubt(error) => write!(f, "may have been written: {error}"),
        }
    }
}

impl<E: Error + 'static> Error for CommitError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Refused => None,
            Self::NotLanded(fault) => fault.source(),
            Self::InDoubt(error) => error.source(),
        }
    }
}
