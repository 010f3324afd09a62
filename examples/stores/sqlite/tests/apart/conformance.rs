//! The contract, clause by clause, with the view in another file than its record.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use ferry_sim::conformance::{self, Blocking, ProjectedSubject, Subject};

use super::{
    Account, TwoFiles,
    files::{Files, Statement, shows},
    postings::{Posting, Postings},
};

struct Apart {
    files: Files,
    fold: Postings<TwoFiles>,
    keys: AtomicU32,
}

impl Subject for Apart {
    type Fold = Postings<TwoFiles>;
    type Store = Blocking<TwoFiles>;

    fn fold(&self) -> &Self::Fold {
        &self.fold
    }

    async fn open(&self) -> Self::Store {
        Blocking(self.files.open(&Arc::default()))
    }

    fn fresh_key(&self) -> String {
        format!("account {}", self.keys.fetch_add(1, Ordering::Relaxed))
    }

    fn input(&self, number: u32) -> Posting {
        Posting {
            id: format!("posting {number}"),
            amount: number.into(),
        }
    }

    fn is_same(&self, read: &Account, committed: &Account) -> bool {
        read.balance == committed.balance
    }
}

impl ProjectedSubject for Apart {
    type Picture = Statement;

    async fn shown(&self, _: &Self::Store, account: &String) -> Statement {
        self.files.shown(account)
    }

    fn picture(&self, applied: &[u32]) -> Statement {
        let balance = applied.iter().map(|&number| i64::from(number)).sum();
        shows(applied.len() as i64, balance)
    }
}

#[test]
fn a_view_in_another_file_keeps_the_contract() {
    let subject = Apart {
        files: Files::new(),
        fold: Postings::new(),
        keys: AtomicU32::new(0),
    };
    let report = pollster::block_on(conformance::check_projected_store(&subject));
    report.assert_held();
    assert_eq!(report.skipped().count(), 4, "{report}");
}
