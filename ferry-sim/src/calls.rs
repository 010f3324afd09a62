//! What nodes ask of the store, and what they hear: noted for those who check how much of it there is.

use core::time::Duration;

use ferry_core::{
    Class, CommitError, Coverage, Fault, Instant, Retry, drive::Runtime, per_key::Limits,
};

use crate::{
    history::{Life, SubmissionId},
    kind::Kind,
    world::{State, World},
};

/// A call of the store, as its caller saw it.
#[derive(Clone, Debug)]
pub struct Asked {
    /// Who made it.
    pub life: Life,
    /// Whose record it is about.
    pub key: u32,
    /// What for.
    pub ask: Ask,
    /// When.
    pub at: Instant,
    /// The number of the version that a commit is based on, or that a read for inputs has found; 0: of no record. `None` of any
    /// other call, of a read that was not answered, and of a version whose record was deleted before the commit was asked for.
    pub version: Option<u64>,
    /// What its caller heard, and when; `None` where the caller was gone by then.
    pub came: Option<(Instant, Came)>,
}

/// What a call is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// To read a record that inputs are to be folded on, which came in these attempts.
    Read(Vec<SubmissionId>),
    /// To read a record that is to be projected.
    Look,
    /// To commit entries that came in these attempts.
    Commit(Vec<SubmissionId>),
    /// To project.
    Project,
}

/// A call of which is to be noted what came of it.
#[derive(Debug)]
#[must_use]
pub(crate) struct Noted(usize);

/// What a caller heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Came {
    /// It is done, or a part of it.
    Done,
    /// The record is not as it was read.
    Refused,
    /// Nothing was done.
    Failed(Class),
    /// It may have been done.
    InDoubt,
    /// Nothing: the call panicked. It may have been done.
    Panicked,
}

/// At which pace nodes are to go about it, all of them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// How many inputs a batch has at most, and how many batches are in flight.
    pub limits: Limits,
    /// How a round trip is tried again, and a resume.
    pub retry: Retry,
    /// A sweeper's pause between two turns.
    pub sweep_every: Duration,
    /// The longest that a sweeper leaves a key alone that keeps failing.
    pub sweep_pause_max: Duration,
    /// By how much a node's clock is fast at most, in a thousand.
    pub drift: u64,
    /// Whether clocks of nodes jump ahead, so that a pause may be shorter than it was to be.
    pub is_jumpy: bool,
    /// How many keys a sweeper resumes at a time.
    pub sweeps_at_once: usize,
    /// Who carries the batches.
    pub carrier: Carrier,
}

/// Who carries the batches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carrier {
    /// The handle itself.
    #[default]
    Ferry,
    /// A driver that is written by hand, behind the handle.
    ByHand,
    /// Others in front of the handle, or in its place: what it promises of batches is not theirs.
    Others,
}

impl<E> From<&Fault<E>> for Came {
    fn from(fault: &Fault<E>) -> Self {
        Self::Failed(fault.class)
    }
}

impl<E> From<&CommitError<E>> for Came {
    fn from(error: &CommitError<E>) -> Self {
        match error {
            CommitError::Refused => Self::Refused,
            CommitError::NotLanded(fault) => fault.into(),
            CommitError::InDoubt(_) => Self::InDoubt,
        }
    }
}

impl Came {
    pub(crate) fn of<T, E>(result: &Result<T, E>) -> Self
    where
        Self: for<'e> From<&'e E>,
    {
        match result {
            Ok(_) => Self::Done,
            Err(error) => error.into(),
        }
    }

    pub(crate) fn of_projection<V, E>(result: &Result<Coverage<V, E>, CommitError<E>>) -> Self {
        match result {
            Ok(Coverage::Part { fault, .. }) => fault.into(),
            Ok(Coverage::Whole) => Self::Done,
            Err(error) => error.into(),
        }
    }

    /// Whether it is as it will be every time, so that halves are to be tried apart.
    pub(crate) fn is_for_good(self) -> bool {
        match self {
            Self::Failed(Class::Permanent) | Self::Panicked => true,
            Self::Done
            | Self::Refused
            | Self::InDoubt
            | Self::Failed(Class::Transient | Class::Throttled(_)) => false,
        }
    }

    /// Whether the same is to be tried again, after a pause.
    pub(crate) fn is_tried_again(self) -> bool {
        match self {
            Self::Done | Self::Failed(Class::Permanent) | Self::Panicked => false,
            Self::Refused
            | Self::InDoubt
            | Self::Failed(Class::Transient | Class::Throttled(_)) => true,
        }
    }
}

impl<K: Kind> State<K> {
    /// Notes a call that is made at this moment, of this version if it is a commit.
    pub(crate) fn asks(
        &mut self,
        at: Instant,
        life: Life,
        key: u32,
        ask: Ask,
        version: Option<u64>,
    ) -> Noted {
        let calls = &mut self.history.calls;
        calls.push(Asked {
            life,
            key,
            ask,
            at,
            version,
            came: None,
        });
        Noted(calls.len() - 1)
    }
}

impl<K: Kind> World<K> {
    /// Notes which version it is about.
    pub(crate) fn is_about(&self, &Noted(nth): &Noted, version: Option<u64>) {
        self.lock().history.calls[nth].version = version;
    }

    /// Notes what came of it.
    pub(crate) fn hears(&self, Noted(nth): Noted, came: Came) {
        self.lock().history.calls[nth].came = Some((self.process.now(), came));
    }
}
