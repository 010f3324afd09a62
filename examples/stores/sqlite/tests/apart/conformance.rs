//! The contract, clause by clause, with the view in another file than its record.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use ferry_core::drive::BlockingProjectedStore;
use ferry_sim::conformance::{self, Blocking, ProjectedSubject, Report, Subject};

use super::{
    Account, TwoFiles,
    careless::{AnyPosition, AnyVersion, Careless},
    files::{Files, Statement, shows},
    postings::{Accounts, Posting, Postings},
};

/// Two files, and the store on them.
struct Apart<S> {
    files: Files,
    open: fn(TwoFiles) -> S,
    fold: Postings<S>,
    keys: AtomicU32,
}

impl<S: BlockingProjectedStore<View = Vec<String>> + Accounts> Subject for Apart<S> {
    type Fold = Postings<S>;
    type Store = Blocking<S>;

    fn fold(&self) -> &Self::Fold {
        &self.fold
    }

    async fn open(&self) -> Self::Store {
        Blocking((self.open)(self.files.open(&Arc::default())))
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

impl<S: BlockingProjectedStore<View = Vec<String>> + Accounts> ProjectedSubject for Apart<S> {
    type Picture = Statement;

    async fn shown(&self, _: &Self::Store, account: &String) -> Statement {
        self.files.shown(account)
    }

    async fn finds_pending(&self, _: &Self::Store, account: &String) -> Option<bool> {
        Some(self.files.pending().contains(account))
    }

    fn picture(&self, applied: &[u32]) -> Statement {
        let balance = applied.iter().map(|&number| i64::from(number)).sum();
        shows(applied.len() as i64, balance)
    }
}

fn check<S: BlockingProjectedStore<View = Vec<String>> + Accounts>(
    open: fn(TwoFiles) -> S,
) -> Report {
    pollster::block_on(conformance::check_projected_store(&Apart {
        files: Files::new(),
        open,
        fold: Postings::new(),
        keys: AtomicU32::new(0),
    }))
}

fn broken(report: &Report) -> Vec<&'static str> {
    report.broken().map(|checked| checked.name).collect()
}

#[test]
fn a_view_in_another_file_keeps_the_contract() {
    let report = check(|files| files);
    report.assert_held();
    let skipped = report.skipped().map(|checked| checked.name);
    let skipped: Vec<_> = skipped.collect();
    let records_are_never_deleted = ["created_again", "absent_again"];
    assert_eq!(skipped[..2], records_are_never_deleted, "{report}");
    assert_eq!(skipped[2..], ["large_record", "projection_created_again"]);
}

#[test]
fn a_view_that_takes_entries_at_any_position_does_not() {
    let report = check(Careless::<AnyPosition>::new);
    assert!(broken(&report).contains(&"projected_twice"), "{report}");
}

#[test]
fn a_marker_that_is_moved_for_any_version_does_not() {
    let report = check(Careless::<AnyVersion>::new);
    assert_eq!(broken(&report)[0], "older_projection", "{report}");
}
