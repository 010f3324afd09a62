//! The real machines, each driven by hand up to its next step that others can notice.

use super::{
    account::{Outcome, Submission},
    flaw::Flaw,
    process::Process,
    resumer::Resumer,
    store::{Stored, Write},
};
use ferry_core::projected_write::resume::Resumed;

/// Who takes steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Takes inputs in and carries them; its number.
    Process(u8),
    /// Resumes once.
    Resumer,
}

/// What a machine is told.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Event {
    /// An input arrives, of so much.
    Submit(Submission, i16),
    /// The inputs that wait have waited long enough for company.
    Company,
    Read(Option<Stored>),
    /// A commit landed, with this version.
    Committed(u8),
    Projected,
    Refused,
    /// The request had no effect, and will have none.
    Failed,
    /// There was no answer.
    InDoubt,
}

/// What a machine wants next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wants {
    /// It waits to be given something.
    Nothing,
    /// Its inputs wait for company.
    Company,
    Read(Reads),
    Write(Write),
    /// It has resumed, or come to grief (`None`).
    Over(Option<Resumed>),
}

/// What a record is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reads {
    /// To fold a batch on it.
    ToFold,
    /// To see what the view lacks.
    ToProject,
}

/// How an input was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Verdict {
    /// Durable, and the view shows it.
    Projected(Outcome),
    /// Durable.
    Committed(Outcome),
    NotCommitted,
    InDoubt,
}

/// A caller hears an answer.
pub(super) type Told = (Submission, Verdict);

/// What came of an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Response {
    pub(super) wants: Wants,
    pub(super) told: Vec<Told>,
    /// Whether the flaw, if there is one, has made a difference.
    pub(super) is_weakened: bool,
}

pub(super) enum Machine {
    Process(Box<Process>),
    Resumer(Box<Resumer>),
}

impl Machine {
    pub(super) fn new(kind: Kind, attempts: u32, flaw: Option<Flaw>) -> Self {
        match kind {
            Kind::Process(number) => Self::Process(Box::new(Process::new(number, attempts, flaw))),
            Kind::Resumer => Self::Resumer(Box::new(Resumer::new(attempts))),
        }
    }

    /// Whatever comes first, before any event.
    pub(super) fn begins(&mut self) -> Response {
        match self {
            Self::Process(process) => process.response(),
            Self::Resumer(resumer) => resumer.response(),
        }
    }

    pub(super) fn hears(&mut self, event: &Event) -> Response {
        match self {
            Self::Process(process) => {
                process.hears(event);
                process.response()
            }
            Self::Resumer(resumer) => {
                resumer.hears(event);
                resumer.response()
            }
        }
    }
}
