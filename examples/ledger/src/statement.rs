//! What an account's readers are shown: the view of its record.

use std::fmt;

use ferry_stored::{Entry, View};
use serde::{Deserialize, Serialize};

use crate::fold::{Account, Content, Receipt};

/// How many postings a statement lists.
pub const LAST_MAX: usize = 5;

/// An account's statement, kept beside its record and brought up to it by the second write.
///
/// It is made of the postings alone, one after the other: one that was taken in twice, or left out, shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    /// Cents.
    pub balance: i64,
    /// How many postings made it.
    pub postings: u64,
    /// The last of them, the newest first.
    pub last: Vec<Line>,
}

/// A posting as a statement lists it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The posting's id.
    pub id: String,
    /// Cents.
    pub amount: i64,
    /// The balance right after it, in cents.
    pub balance: i64,
}

impl View<Account, Receipt> for Statement {
    fn advance(&mut self, _account: Option<&Account>, entries: &[Entry<Receipt>]) {
        for entry in entries {
            self.take(entry);
        }
    }
}

impl Statement {
    fn take(&mut self, entry: &Entry<Receipt>) {
        // What cannot be read is found by the audit, which adds up the entries too.
        let content = serde_json::from_slice(&entry.body);
        let amount = content.map_or(0, |content: Content| content.amount);
        self.balance = self.balance.saturating_add(amount);
        self.postings += 1;
        self.last.truncate(LAST_MAX - 1);
        let line = Line {
            id: entry.id.clone(),
            amount,
            balance: self.balance,
        };
        self.last.insert(0, line);
    }
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            balance, postings, ..
        } = self;
        write!(f, "{balance} cents from {postings} postings")?;
        if let Some(newest) = self.last.first() {
            write!(f, ", the last of them {}", newest.id)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use ferry_stored::Stored;
    use ferry_tokio::{Fold, Step};

    use super::*;
    use crate::{fold::Ledger, workload::posting};

    fn entries(amounts: &[i64]) -> Vec<Entry<Receipt>> {
        let mut stored = Stored::default();
        let mut entries = Vec::new();
        for (index, &amount) in (0..).zip(amounts) {
            let posting = posting("r", 0, index, amount);
            let step = Ledger.step(&mut stored, &posting);
            let Step::Applied(entry, _outcome) = step else {
                panic!("not applied: {step:?}");
            };
            entries.push(entry);
        }
        entries
    }

    #[test]
    fn a_statement_is_the_same_however_the_postings_come() {
        let entries = entries(&[100, -30, 5, 5, 5, 5, -20]);
        let mut at_once = Statement::default();
        at_once.advance(None, &entries);
        let mut one_by_one = Statement::default();
        for entry in &entries {
            one_by_one.advance(None, std::slice::from_ref(entry));
        }
        assert_eq!(at_once, one_by_one);
        assert_eq!((at_once.balance, at_once.postings), (70, 7));
        let last: Vec<_> = at_once.last.iter().map(|line| line.amount).collect();
        assert_eq!(last, [-20, 5, 5, 5, 5]);
        let balances: Vec<_> = at_once.last.iter().map(|line| line.balance).collect();
        assert_eq!(balances, [70, 90, 85, 80, 75]);
    }

    #[test]
    fn a_posting_that_is_taken_twice_shows() {
        let entries = entries(&[100, -30]);
        let mut right = Statement::default();
        right.advance(None, &entries);
        let mut wrong = right.clone();
        wrong.advance(None, &entries[1..]);
        assert_ne!(right, wrong);
    }
}
