//! What a node says of an input, and how that is written in a result line and read from one.

use std::{future::Future, pin::Pin};

use ferry_tokio::{Answer, AnswerOf, Failure};
use serde::{Deserialize, Serialize};

use crate::{
    fold::{Ledger, Outcome, Receipt, Refusal},
    store::StoreError,
};

/// What a node says of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// It has an outcome, durable.
    Outcome {
        /// Which.
        outcome: Outcome,
        /// Whether the account's statement does not show it yet.
        is_late: bool,
    },
    /// It has none.
    Failed {
        /// Whether it may be in the ledger all the same.
        is_in_doubt: bool,
        /// In words.
        reason: String,
    },
}

/// A reply to come; `None`: the node is gone, and what became of the input is not known.
pub type Coming = Pin<Box<dyn Future<Output = Option<Reply>> + Send>>;

impl From<Result<AnswerOf<Ledger>, Failure<StoreError>>> for Reply {
    fn from(answer: Result<AnswerOf<Ledger>, Failure<StoreError>>) -> Self {
        match answer {
            Ok(Answer {
                outcome,
                durability,
            }) => Self::Outcome {
                outcome,
                is_late: !durability.is_projected(),
            },
            Err(failure) => Self::Failed {
                is_in_doubt: failure.is_in_doubt(),
                reason: failure.to_string(),
            },
        }
    }
}

/// The line that is written for an input.
#[derive(Debug, Serialize, Deserialize)]
pub struct ResultLine {
    /// The input's line, from 1.
    pub line: u64,
    /// Its id, if it could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What became of it, and what is known besides.
    #[serde(flatten)]
    pub told: Told,
}

/// What is told of an input.
#[derive(Debug, Serialize, Deserialize)]
pub struct Told {
    /// What became of it.
    pub status: Status,
    /// Which of the account's postings it is, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<u64>,
    /// The account's balance, in cents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub balance: Option<i64>,
    /// Whether the account's statement does not show it yet.
    #[serde(default, skip_serializing_if = "is_not")]
    pub late: bool,
    /// Of a failed one, whether it may be in the ledger all the same.
    #[serde(default, skip_serializing_if = "is_not")]
    pub in_doubt: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What became of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It is in the ledger now.
    Applied,
    /// It was there before.
    Already,
    /// The account does not take it.
    Refused,
    /// Its id is there with other content.
    Mismatch,
    /// It is no input.
    Bad,
    /// The store could not write it.
    Failed,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde asks for")]
fn is_not(flag: &bool) -> bool {
    !flag
}

impl Told {
    /// An input without an outcome, and why.
    #[must_use]
    pub fn no(status: Status, reason: String) -> Self {
        Self {
            status,
            number: None,
            balance: None,
            late: false,
            in_doubt: false,
            reason: Some(reason),
        }
    }

    fn yes(status: Status, receipt: Receipt) -> Self {
        Self {
            status,
            number: Some(receipt.number),
            balance: Some(receipt.balance),
            late: false,
            in_doubt: false,
            reason: None,
        }
    }

    /// What the reply was; `None` where no node replies like this.
    #[must_use]
    pub fn reply(self) -> Option<Reply> {
        let receipt = || {
            Some(Receipt {
                number: self.number?,
                balance: self.balance?,
            })
        };
        let outcome = match self.status {
            Status::Applied => Outcome::Applied(receipt()?),
            Status::Already => Outcome::Already(receipt()?),
            Status::Refused => {
                let balance = self.balance?;
                let reasons = [
                    Refusal::BeyondBalance { balance },
                    Refusal::BalanceTooLarge { balance },
                ];
                let told = self.reason.as_deref();
                let refusal = reasons
                    .into_iter()
                    .find(|refusal| told == Some(&refusal.to_string()));
                Outcome::Refused(refusal?)
            }
            Status::Mismatch => Outcome::Mismatch,
            Status::Bad => return None,
            Status::Failed => {
                return Some(Reply::Failed {
                    is_in_doubt: self.in_doubt,
                    reason: self.reason?,
                });
            }
        };
        Some(Reply::Outcome {
            outcome,
            is_late: self.late,
        })
    }
}

impl From<Reply> for Told {
    fn from(reply: Reply) -> Self {
        let (outcome, is_late) = match reply {
            Reply::Outcome { outcome, is_late } => (outcome, is_late),
            Reply::Failed {
                is_in_doubt,
                reason,
            } => {
                return Self {
                    in_doubt: is_in_doubt,
                    ..Self::no(Status::Failed, reason)
                };
            }
        };
        let told = match outcome {
            Outcome::Applied(receipt) => Self::yes(Status::Applied, receipt),
            Outcome::Already(receipt) => Self::yes(Status::Already, receipt),
            Outcome::Refused(refusal) => Self {
                balance: Some(refusal.balance()),
                ..Self::no(Status::Refused, refusal.to_string())
            },
            Outcome::Mismatch => {
                let reason =
                    "this id is in the ledger with another amount or memo; nothing was changed";
                Self::no(Status::Mismatch, reason.to_owned())
            }
        };
        Self {
            late: is_late,
            ..told
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_read_from_its_line_as_it_was() {
        let receipt = Receipt {
            number: 3,
            balance: 50,
        };
        let outcomes = [
            Outcome::Applied(receipt),
            Outcome::Already(receipt),
            Outcome::Refused(Refusal::BeyondBalance { balance: 5 }),
            Outcome::Refused(Refusal::BalanceTooLarge { balance: i64::MAX }),
            Outcome::Mismatch,
        ];
        let outcomes = outcomes
            .into_iter()
            .flat_map(|outcome| [true, false].map(|is_late| Reply::Outcome { outcome, is_late }));
        let failures = [true, false].map(|is_in_doubt| Reply::Failed {
            is_in_doubt,
            reason: "why".into(),
        });
        for reply in outcomes.chain(failures) {
            let line = ResultLine {
                line: 1,
                id: Some("a".into()),
                told: reply.clone().into(),
            };
            let json = serde_json::to_string(&line).unwrap();
            let read: ResultLine = serde_json::from_str(&json).unwrap();
            assert_eq!(read.told.reply(), Some(reply), "{json}");
        }
    }
}
