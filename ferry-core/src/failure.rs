//! What a caller hears when its input has no outcome.

use alloc::sync::Arc;
use core::{error::Error, fmt};

/// Why an input has no outcome, and what is known about its commit.
///
/// Sending the same id with the same content again is safe in either case. What differs is what
/// may be told to a person, or undone, in the meantime.
///
/// Exhaustive on purpose: there is no third thing to know about a commit.
#[derive(PartialEq, Eq)]
pub enum Failure<E> {
    /// Nothing of this submission was written, and nothing will be. Said only with proof. Of another
    /// copy of the input, sent before and not heard of, it says nothing.
    NotCommitted(Cause<E>),
    /// It may have been written, or may still be. Send it again, same id and content, to find out.
    InDoubt(Cause<E>),
}

impl<E> Failure<E> {
    /// What the last try came to grief on.
    pub fn cause(&self) -> &Cause<E> {
        match self {
            Self::NotCommitted(cause) | Self::InDoubt(cause) => cause,
        }
    }

    /// Whether the input may have been written, or may still be.
    pub fn is_in_doubt(&self) -> bool {
        matches!(self, Self::InDoubt(_))
    }
}

/// What the last try of an input came to grief on, or the read that was to tell how it ended.
///
/// Cheap to clone: the failure of one store call is the failure of every input it carried.
#[derive(PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause<E> {
    /// The input's deadline passed. Give it longer, or offer less at once.
    Expired,
    /// Others changed the record before each of the tries. Of a commit: route the key's inputs to fewer
    /// processes, or allow more tries. Of a projection: somebody else is at work on this record, and will
    /// most likely bring the view up to date.
    Refused,
    /// Inputs submitted after it are, or may be, stored already: they went in a commit whose answer did not come, and whose
    /// fold declined this one. Applied now, it would be out of order. Send it again, to be judged by the record as it
    /// is.
    Overtaken,
    /// The store failed. Shared by all inputs of the try.
    Store(Arc<E>),
    /// A panic in `step` or `pending`, in the store's call or in the batch call. The panic hook has told where.
    Panicked(Arc<str>),
    /// The batch call returned another number of outcomes than it was given inputs. Fix the call.
    Miscounted {
        /// How many inputs it was given.
        inputs: usize,
        /// How many outcomes it returned.
        outcomes: usize,
    },
    /// The runtime was shut down, or dropped the task that carried the batch. Close the handle
    /// before its runtime; send the input again elsewhere.
    Abandoned,
}

impl<E> Clone for Cause<E> {
    fn clone(&self) -> Self {
        match self {
            Self::Expired => Self::Expired,
            Self::Refused => Self::Refused,
            Self::Overtaken => Self::Overtaken,
            Self::Store(error) => Self::Store(Arc::clone(error)),
            Self::Panicked(message) => Self::Panicked(Arc::clone(message)),
            Self::Miscounted { inputs, outcomes } => Self::Miscounted {
                inputs: *inputs,
                outcomes: *outcomes,
            },
            Self::Abandoned => Self::Abandoned,
        }
    }
}

impl<E> Clone for Failure<E> {
    fn clone(&self) -> Self {
        match self {
            Self::NotCommitted(cause) => Self::NotCommitted(cause.clone()),
            Self::InDoubt(cause) => Self::InDoubt(cause.clone()),
        }
    }
}

impl<E: fmt::Debug> fmt::Debug for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCommitted(cause) => f.debug_tuple("NotCommitted").field(cause).finish(),
            Self::InDoubt(cause) => f.debug_tuple("InDoubt").field(cause).finish(),
        }
    }
}

impl<E: fmt::Debug> fmt::Debug for Cause<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired => f.write_str("Expired"),
            Self::Refused => f.write_str("Refused"),
            Self::Overtaken => f.write_str("Overtaken"),
            Self::Store(error) => f.debug_tuple("Store").field(error).finish(),
            Self::Panicked(message) => f.debug_tuple("Panicked").field(message).finish(),
            Self::Miscounted { inputs, outcomes } => f
                .debug_struct("Miscounted")
                .field("inputs", inputs)
                .field("outcomes", outcomes)
                .finish(),
            Self::Abandoned => f.write_str("Abandoned"),
        }
    }
}

impl<E: fmt::Display> fmt::Display for Failure<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotCommitted(cause) => write!(f, "not committed: {cause}"),
            Self::InDoubt(cause) => write!(
                f,
                "may have been committed: {cause}; send the same id and content again to find out"
            ),
        }
    }
}

impl<E: fmt::Display> fmt::Display for Cause<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expired => f.write_str("its deadline passed"),
            Self::Refused => f.write_str("others kept changing the record"),
            Self::Overtaken => f.write_str("declined, and then overtaken by inputs after it"),
            Self::Store(error) => write!(f, "the store failed: {error}"),
            Self::Panicked(message) => write!(f, "user code panicked: {message}"),
            Self::Miscounted { inputs, outcomes } => {
                write!(
                    f,
                    "the batch call returned {outcomes} outcomes for {inputs} inputs"
                )
            }
            Self::Abandoned => f.write_str("the runtime dropped the task that carried it"),
        }
    }
}

impl<E: Error + 'static> Error for Failure<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self.cause() {
            // The message has told the error itself; `cause` gives it.
            Cause::Store(error) => error.source(),
            Cause::Expired
            | Cause::Refused
            | Cause::Overtaken
            | Cause::Panicked(_)
            | Cause::Miscounted { .. }
            | Cause::Abandoned => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use core::{error::Error, fmt};

    use super::*;

    #[derive(Debug, PartialEq)]
    struct Down;

    impl fmt::Display for Down {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("down")
        }
    }

    impl Error for Down {}

    #[test]
    fn a_failure_tells_its_cause_once_and_can_be_compared() {
        let failure = Failure::NotCommitted(Cause::Store(Arc::new(Down)));
        assert_eq!(failure.to_string(), "not committed: the store failed: down");
        assert!(failure.source().is_none(), "the message has told it");
        assert_eq!(failure, failure.clone());
        assert_ne!(failure, Failure::InDoubt(failure.cause().clone()));
    }
}
