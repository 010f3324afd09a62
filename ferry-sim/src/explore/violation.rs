//! What can be wrong with a schedule.

use core::fmt;

use super::account::Submission;
use crate::checkers::Property;

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
    MarkerAhead {
        marker: u8,
        shown: u8,
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
    /// What it violates. At rest, nobody has a step left: that is when everyone must have been answered.
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
            | Self::MarkerAhead { .. }
            | Self::ProjectedTwice { .. }
            | Self::ViewOfNoVersion { .. } => Property::ViewForward,
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
            Self::MarkerAhead { marker, shown } => {
                write!(f, "the marker is at {marker}, and the view shows {shown}")
            }
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
