//! What a posting does to an account: the only code that decides anything about money.

use std::fmt;

use ferry_stored::{Check, Entry, Fingerprint, Stored};
use ferry_tokio::{Fold, Projection, RecordOf, Step};
use serde::{Deserialize, Serialize};

use crate::store::Store;

/// One deposit or withdrawal: Ferry's input, with the account as its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Posting {
    /// Chosen by the client: names the posting within its account.
    pub id: String,
    /// Cents: above zero a deposit, below zero a withdrawal.
    pub amount: i64,
    /// Whatever the client wants to remember.
    pub memo: String,
}

/// What an account's record holds, beside the ids that it knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Account {
    /// Cents, never below zero.
    pub balance: i64,
    /// How many postings made it.
    pub postings: u64,
}

/// What an applied posting led to. Kept with it, so that a retry hears exactly the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// Which of the account's postings it is, from 1.
    pub number: u64,
    /// The account's balance right after it, in cents.
    pub balance: i64,
}

impl fmt::Display for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cents from {} postings", self.balance, self.postings)
    }
}

impl fmt::Display for Receipt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "posting {}, balance {} cents", self.number, self.balance)
    }
}

/// What a client hears of a posting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is stored now.
    Applied(Receipt),
    /// It was stored before; this is what it was answered with then.
    Already(Receipt),
    /// A business no. Nothing is written, so the same posting may be applied later on.
    Refused(Refusal),
    /// Its id is stored with another amount or memo. Nothing is changed.
    Mismatch,
}

/// Why an account does not take a posting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It withdraws more than the account holds.
    BeyondBalance {
        /// What the account holds, in cents.
        balance: i64,
    },
    /// The balance would be larger than can be counted.
    BalanceTooLarge {
        /// What the account holds, in cents.
        balance: i64,
    },
}

impl Refusal {
    /// What the account holds, in cents.
    #[must_use]
    pub fn balance(self) -> i64 {
        match self {
            Self::BeyondBalance { balance } | Self::BalanceTooLarge { balance } => balance,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BeyondBalance { .. } => "more than the account holds",
            Self::BalanceTooLarge { .. } => "the balance would be larger than can be counted",
        })
    }
}

/// What a posting says apart from its id. Two postings with one id are the same posting if this is
/// the same, byte for byte.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Content {
    /// As in the [`Posting`].
    pub amount: i64,
    /// As in the [`Posting`].
    pub memo: String,
}

impl Posting {
    /// What is kept of the posting in its entry, and what its fingerprint is taken over.
    #[must_use]
    pub fn content(&self) -> Vec<u8> {
        let content = Content {
            amount: self.amount,
            memo: self.memo.clone(),
        };
        serde_json::to_vec(&content).expect("a number and a text have a JSON form")
    }
}

impl Account {
    /// The account after a posting of this amount.
    ///
    /// # Errors
    ///
    /// Why it does not take it.
    pub fn post(self, amount: i64) -> Result<Self, Refusal> {
        let Self { balance, postings } = self;
        match balance.checked_add(amount) {
            None => Err(Refusal::BalanceTooLarge { balance }),
            Some(after) if after < 0 => Err(Refusal::BeyondBalance { balance }),
            Some(after) => Ok(Self {
                balance: after,
                postings: postings + 1,
            }),
        }
    }

    /// The receipt of the posting that led here.
    #[must_use]
    pub fn receipt(self) -> Receipt {
        Receipt {
            number: self.postings,
            balance: self.balance,
        }
    }
}

/// The fold of the ledger.
#[derive(Clone, Copy, Debug)]
pub struct Ledger;

impl Fold for Ledger {
    type Schema = Store;
    type Input = Posting;
    type Outcome = Outcome;

    fn id(&self, posting: &Posting) -> String {
        posting.id.clone()
    }

    fn empty(&self, _account: &String) -> Stored<Account, Receipt> {
        Stored::default()
    }

    fn step(
        &self,
        stored: &mut Stored<Account, Receipt>,
        posting: &Posting,
    ) -> Step<Entry<Receipt>, Outcome> {
        let content = posting.content();
        let fingerprint = Fingerprint::of(&content);
        match stored.known.check(&posting.id, fingerprint) {
            Check::Same(receipt) => return Step::Already(Outcome::Already(*receipt)),
            Check::Mismatch => return Step::Mismatch(Outcome::Mismatch),
            Check::New => {}
        }
        match stored.body.unwrap_or_default().post(posting.amount) {
            Err(refusal) => Step::Refused(Outcome::Refused(refusal)),
            Ok(account) => {
                stored.body = Some(account);
                let receipt = account.receipt();
                let entry = stored.apply(&posting.id, fingerprint, receipt, content);
                Step::Applied(entry, Outcome::Applied(receipt))
            }
        }
    }
}

impl Projection for Ledger {
    type View = ();

    fn pending(&self, record: &RecordOf<Store>) -> bool {
        record.state.is_pending(record.version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posting(id: &str, amount: i64) -> Posting {
        Posting {
            id: id.into(),
            amount,
            memo: "m".into(),
        }
    }

    fn outcome(stored: &mut Stored<Account, Receipt>, posting: &Posting) -> Outcome {
        match Ledger.step(stored, posting) {
            Step::Applied(entry, outcome) => {
                let Outcome::Applied(receipt) = outcome else {
                    panic!("{outcome:?}")
                };
                assert_eq!((&entry.id, entry.outcome), (&posting.id, receipt));
                assert_eq!(entry.fingerprint, Fingerprint::of(&entry.body));
                outcome
            }
            Step::Already(outcome)
            | Step::Refused(outcome)
            | Step::Mismatch(outcome)
            | Step::TooOld(outcome) => outcome,
        }
    }

    #[test]
    fn deposits_and_withdrawals_add_up() {
        let account = &mut Stored::default();
        let receipt = |number, balance| Outcome::Applied(Receipt { number, balance });
        assert_eq!(outcome(account, &posting("a", 100)), receipt(1, 100));
        assert_eq!(outcome(account, &posting("b", -30)), receipt(2, 70));
        assert_eq!(outcome(account, &posting("c", -70)), receipt(3, 0));
    }

    #[test]
    fn more_than_the_account_holds_is_refused_and_changes_nothing() {
        let account = &mut Stored::default();
        let refused = |balance| Outcome::Refused(Refusal::BeyondBalance { balance });
        assert_eq!(outcome(account, &posting("a", -1)), refused(0));
        assert_eq!(account.body, None);
        outcome(account, &posting("b", 100));
        assert_eq!(outcome(account, &posting("c", -101)), refused(100));
        assert_eq!(outcome(account, &posting("d", i64::MIN)), refused(100));
        assert_eq!(
            account.body,
            Some(Account {
                balance: 100,
                postings: 1
            })
        );
    }

    #[test]
    fn a_refused_posting_may_be_applied_later() {
        let account = &mut Stored::default();
        let withdrawal = posting("a", -10);
        outcome(account, &withdrawal);
        outcome(account, &posting("b", 10));
        let applied = Outcome::Applied(Receipt {
            number: 2,
            balance: 0,
        });
        assert_eq!(outcome(account, &withdrawal), applied);
    }

    #[test]
    fn a_balance_that_cannot_be_counted_is_refused() {
        let account = &mut Stored::default();
        outcome(account, &posting("a", i64::MAX));
        let refusal = Refusal::BalanceTooLarge { balance: i64::MAX };
        assert_eq!(
            outcome(account, &posting("b", 1)),
            Outcome::Refused(refusal)
        );
        assert_eq!(
            account.body,
            Some(Account {
                balance: i64::MAX,
                postings: 1
            })
        );
    }

    #[test]
    fn a_repeat_hears_what_it_was_first_answered_with() {
        let account = &mut Stored::default();
        let first = posting("a", 100);
        outcome(account, &first);
        outcome(account, &posting("b", 11));
        let already = Outcome::Already(Receipt {
            number: 1,
            balance: 100,
        });
        assert_eq!(outcome(account, &first), already);
        assert_eq!(
            account.body,
            Some(Account {
                balance: 111,
                postings: 2
            })
        );
    }

    #[test]
    fn an_id_with_other_content_is_a_mismatch_and_changes_nothing() {
        let account = &mut Stored::default();
        outcome(account, &posting("a", 100));
        let memo = Posting {
            memo: "n".into(),
            ..posting("a", 100)
        };
        for other in [posting("a", 101), memo] {
            assert_eq!(outcome(account, &other), Outcome::Mismatch);
            assert_eq!(
                account.body,
                Some(Account {
                    balance: 100,
                    postings: 1
                })
            );
        }
    }

    #[test]
    fn the_content_of_a_posting_stays_what_it_was() {
        // Its fingerprint is in the files: other bytes would make every retry of an older posting a
        // mismatch.
        let content = Posting {
            memo: "a \"b\" \u{e9}\n".into(),
            ..posting("x", -5)
        }
        .content();
        let text = std::str::from_utf8(&content).unwrap();
        assert_eq!(text, "{\"amount\":-5,\"memo\":\"a \\\"b\\\" \u{e9}\\n\"}");
    }
}
