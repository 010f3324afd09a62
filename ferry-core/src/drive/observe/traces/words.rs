//! What the values of fields are called.

use crate::{Cause, Class, CommitError, Coverage, Fault, ProjectResult};

pub(super) fn of_cause<E>(cause: &Cause<E>) -> &'static str {
    match cause {
        Cause::Expired => "expired",
        Cause::Refused => "refused",
        Cause::Overtaken => "overtaken",
        Cause::Store(_) => "store",
        Cause::Panicked(_) => "panicked",
        Cause::Miscounted { .. } => "miscounted",
        Cause::Abandoned => "abandoned",
    }
}

/// What a call of the store said, and of which class a fault was.
#[derive(Clone, Copy)]
pub(super) struct Said {
    pub(super) word: &'static str,
    pub(super) class: Option<&'static str>,
}

impl Said {
    pub(super) const PANICKED: Self = Self::plain("panicked");

    const fn plain(word: &'static str) -> Self {
        Self { word, class: None }
    }

    fn fault<E>(word: &'static str, fault: &Fault<E>) -> Self {
        let class = Some(match fault.class {
            Class::Transient => "transient",
            Class::Throttled(_) => "throttled",
            Class::Permanent => "permanent",
        });
        Self { word, class }
    }

    pub(super) fn by_read<R, E>(read: &Result<Option<R>, Fault<E>>) -> Self {
        match read {
            Ok(Some(_)) => Self::plain("found"),
            Ok(None) => Self::plain("absent"),
            Err(fault) => Self::fault("failed", fault),
        }
    }

    pub(super) fn by_commit<V, E>(committed: &Result<V, CommitError<E>>) -> Self {
        match committed {
            Ok(_) => Self::plain("landed"),
            Err(error) => Self::by_error(error),
        }
    }

    pub(super) fn by_project<V, E>(projected: &ProjectResult<V, E>) -> Self {
        match projected {
            Ok(Coverage::Whole) => Self::plain("landed"),
            Ok(Coverage::Part { fault, .. }) => Self::fault("landed in part", fault),
            Err(error) => Self::by_error(error),
        }
    }

    fn by_error<E>(error: &CommitError<E>) -> Self {
        match error {
            CommitError::Refused => Self::plain("refused"),
            CommitError::NotLanded(fault) => Self::fault("not landed", fault),
            CommitError::InDoubt(_) => Self::plain("in doubt"),
        }
    }
}
