//! The contract of a store, clause by clause.

use std::{marker::PhantomData, path::PathBuf};

use ferry_sim::conformance;
use ferry_sqlite::{Options, SqliteStore};
use ferry_test_journals::{Contents, Database, Deleted, Journals, Views};
use pollster::block_on;
use rusqlite::Connection;
use tempfile::TempDir;

/// A file of journals with this view.
struct File<V> {
    folder: TempDir,
    view: PhantomData<fn(V)>,
}

impl<V> File<V> {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
            view: PhantomData,
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("journals.db")
    }
}

impl<V: 'static> Database for File<V> {
    type Store = SqliteStore<String, i64, V>;

    const LARGE: &str = "large\u{0}\u{10FFFF}";

    async fn open(&self) -> Self::Store {
        let options = Options::new().readers(1);
        options.open(self.path()).expect("opens")
    }

    async fn delete_row(&self, key: &str) {
        let connection = Connection::open(self.path()).expect("opens");
        let sql = "DELETE FROM ferry_record WHERE key = ?1";
        connection.execute(sql, [key]).expect("deletes");
    }
}

impl Views for File<Contents> {
    async fn shown(&self, store: &Self::Store, key: &str) -> Option<Contents> {
        let shown = store.view(key).await.expect("reads");
        shown.map(|shown| shown.view)
    }

    async fn pending(&self, store: &Self::Store) -> Vec<String> {
        store.pending(10_000).await.expect("reads")
    }
}

#[test]
fn a_store_with_views_keeps_the_contract() {
    let subject = Journals::new(File::<Contents>::new(), Deleted::ByCommit);
    let report = block_on(conformance::check_projected_store(&subject));
    report.assert_held();
    assert_eq!(report.skipped().count(), 0, "{report}");
}

#[test]
fn a_store_without_views_keeps_the_contract() {
    let subject = Journals::new(File::<()>::new(), Deleted::ByCommit);
    let report = block_on(conformance::check_store(&subject));
    report.assert_held();
    assert_eq!(report.skipped().count(), 0, "{report}");
}

#[test]
fn a_row_deleted_by_hand_is_forgotten_by_those_who_create_it_and_by_nobody_else() {
    let subject = Journals::new(File::<Contents>::new(), Deleted::ByHand);
    let report = block_on(conformance::check_projected_store(&subject));
    let broken: Vec<_> = report.broken().map(|checked| checked.name).collect();
    assert_eq!(broken, ["absent_again"], "{report}");
}
