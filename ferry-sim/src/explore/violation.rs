//! What has to hold, and what can be wrong.

use core::fmt;

use super::account::Submission;

/// What has to hold in every schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Property {
    /// P1: no input is applied twice.
    AppliedOnce,
    /// P2: every answer is true.
    TrueAnswers,
    /// P3: nothing acknowledged is lost.
    NothingLost,
    /// P4: inputs that go through one process are applied in their order.
    InOrder,
    /// P5: after one more resume at rest, the view shows everything.
    Projected,
    /// P6: view and marker never go back, and the view is that of one version, each entry in it once.
    ViewInStep,
    /// P7: at rest everyone is answered.
    Answered,
}

impl Property {
    /// Its number.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::AppliedOnce => 1,
            Self::TrueAnswers => 2,
            Self::NothingLost => 3,
            Self::InOrder => 4,
            Self::Projected => 5,
            Self::ViewInStep => 6,
            Self::Answered => 7,
        }
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::AppliedOnce => "no input is applied twice",
            Self::TrueAnswers => "every answer is true",
            Self::NothingLost => "nothing acknowledged is lost",
            Self::InOrder => "inputs through one process are applied in order",
            Self::Projected => "in the end the view shows everything",
            Self::ViewInStep => "the view is that of one version, and never goes back",
            Self::Answered => "at rest everyone is answered",
        };
        write!(f, "P{} ({words})", self.number())
    }
}

/// One thing that is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "they are told by their `Display`")]
pub enum Violation {
    AppliedTwice {
        submission: Submission,
    },
    NotInTheLog {
        submission: Submission,
    },
    WrongOutcome {
        submission: Submission,
    },
    NeverTooMuch {
        submission: Submission,
    },
    NotInTheView {
        submission: Submission,
    },
    CommittedAllTheSame {
        submission: Submission,
    },
    NeverInDoubt {
        submission: Submission,
    },
    ResumedTooLittle {
        first_read: u8,
        shown: u8,
    },
    NotInTheRecord {
        submission: Submission,
    },
    Overtaken {
        submission: Submission,
        by: Submission,
    },
    StillPending {
        version: u8,
        marker: u8,
    },
    ViewIncomplete {
        entries: usize,
        shown: usize,
    },
    MarkerWentBack {
        from: u8,
        to: u8,
    },
    ViewWentBack {
        from: u8,
        to: u8,
    },
    ProjectedTwice {
        input: u8,
    },
    ViewOfNoVersion {
        version: u8,
    },
    Unanswered {
        submission: Submission,
    },
}

impl Violation {
    /// What it violates.
    #[must_use]
    pub fn property(&self) -> Property {
        match self {
            Self::AppliedTwice { .. } => Property::AppliedOnce,
            Self::WrongOutcome { .. }
            | Self::NeverTooMuch { .. }
            | Self::NotInTheView { .. }
            | Self::CommittedAllTheSame { .. }
            | Self::NeverInDoubt { .. }
            | Self::ResumedTooLittle { .. } => Property::TrueAnswers,
            Self::NotInTheLog { .. } | Self::NotInTheRecord { .. } => Property::NothingLost,
            Self::Overtaken { .. } => Property::InOrder,
            Self::StillPending { .. } | Self::ViewIncomplete { .. } => Property::Projected,
            Self::MarkerWentBack { .. }
            | Self::ViewWentBack { .. }
            | Self::ProjectedTwice { .. }
            | Self::ViewOfNoVersion { .. } => Property::ViewInStep,
            Self::Unanswered { .. } => Property::Answered,
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AppliedTwice { submission } => {
                write!(
                    f,
                    "{submission} was applied, and the input had been already"
                )
            }
            Self::NotInTheLog { submission } => {
                write!(f, "{submission} was acknowledged and is not in the log")
            }
            Self::WrongOutcome { submission } => {
                write!(
                    f,
                    "{submission} was answered with another outcome than the log's"
                )
            }
            Self::NeverTooMuch { submission } => {
                write!(
                    f,
                    "{submission} was declined, and the balance never was too low for it"
                )
            }
            Self::NotInTheView { submission } => {
                write!(
                    f,
                    "{submission} was answered as projected, and the view does not show it"
                )
            }
            Self::CommittedAllTheSame { submission } => {
                write!(
                    f,
                    "{submission} was answered as not committed, and it is in the log"
                )
            }
            Self::NeverInDoubt { submission } => {
                write!(
                    f,
                    "{submission} was answered as in doubt, and never could have been written"
                )
            }
            Self::ResumedTooLittle { first_read, shown } => write!(
                f,
                "a resume that had read version {first_read} was over, and the view shows {shown}"
            ),
            Self::NotInTheRecord { submission } => {
                write!(
                    f,
                    "{submission} was acknowledged and is gone from the record"
                )
            }
            Self::Overtaken { submission, by } => {
                write!(f, "{submission} was applied behind {by}, which came later")
            }
            Self::StillPending { version, marker } => {
                write!(
                    f,
                    "version {version} is pending for good: the marker is {marker}"
                )
            }
            Self::ViewIncomplete { entries, shown } => {
                write!(
                    f,
                    "nothing is pending, and the view shows {shown} of {entries} entries"
                )
            }
            Self::MarkerWentBack { from, to } => write!(f, "the marker went from {from} to {to}"),
            Self::ViewWentBack { from, to } => write!(f, "the view went from {from} to {to}"),
            Self::ProjectedTwice { input } => {
                let letter = char::from(b'A' + input % 26);
                write!(f, "{letter} is in the view twice")
            }
            Self::ViewOfNoVersion { version } => {
                write!(
                    f,
                    "the view says version {version}, and shows something else"
                )
            }
            Self::Unanswered { submission } => {
                write!(
                    f,
                    "{submission} was never answered, and its process is alive"
                )
            }
        }
    }
}
