//! The two files as a stranger reads them.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use rusqlite::{Connection, OptionalExtension};
use tempfile::TempDir;

use super::TwoFiles;
use crate::node::way::Way;

pub(crate) struct Files {
    folder: TempDir,
}

/// What a view shows of an account, or is to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Statement {
    pub(crate) position: i64,
    pub(crate) count: i64,
    pub(crate) balance: i64,
}

/// So many entries, each of them once.
pub(crate) fn shows(entries: i64, balance: i64) -> Statement {
    Statement {
        position: entries,
        count: entries,
        balance,
    }
}

impl Files {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        Self { folder }
    }

    pub(crate) fn records_path(&self) -> PathBuf {
        self.folder.path().join("records.db")
    }

    pub(crate) fn views_path(&self) -> PathBuf {
        self.folder.path().join("views.db")
    }

    pub(crate) fn open(&self, way: &Arc<Way>) -> TwoFiles {
        let way = Arc::clone(way);
        TwoFiles::open(&self.records_path(), &self.views_path(), way).expect("opens")
    }

    pub(crate) fn records(&self) -> Connection {
        Connection::open(self.records_path()).expect("connects")
    }

    pub(crate) fn views(&self) -> Connection {
        Connection::open(self.views_path()).expect("connects")
    }

    pub(crate) fn pending(&self) -> Vec<String> {
        let store = self.open(&Arc::default());
        store.pending(u32::MAX).expect("reads")
    }

    /// What the view shows of an account.
    pub(crate) fn shown(&self, account: &str) -> Statement {
        let sql = "SELECT position, count, balance FROM statement WHERE key = ?1";
        let shown = self.views().query_row(sql, [account], |row| {
            Ok(Statement {
                position: row.get(0)?,
                count: row.get(1)?,
                balance: row.get(2)?,
            })
        });
        shown.optional().expect("reads").unwrap_or_default()
    }

    /// The accounts, with the ids of their entries and what these add up to.
    pub(crate) fn books(&self) -> BTreeMap<String, (Vec<String>, Statement)> {
        let records = self.records();
        let sql = "SELECT key, id, amount, seq FROM entry ORDER BY key, seq";
        let mut statement = records.prepare(sql).expect("prepares");
        let mut rows = statement.query([]).expect("queries");
        let mut books = BTreeMap::<_, (Vec<_>, Statement)>::new();
        while let Some(row) = rows.next().expect("reads") {
            let account = row.get(0).expect("is text");
            let (ids, sums) = books.entry(account).or_default();
            ids.push(row.get(1).expect("is text"));
            sums.position = row.get(3).expect("is a number");
            sums.count += 1;
            sums.balance += row.get::<_, i64>(2).expect("is a number");
        }
        books
    }

    /// The accounts whose views do not show what their entries say: what is shown, and what should be.
    pub(crate) fn damage(&self) -> Vec<(String, Statement, Statement)> {
        let books = self.books().into_iter();
        books
            .map(|(account, (_, sums))| (self.shown(&account), sums, account))
            .filter(|(shown, sums, _)| shown != sums)
            .map(|(shown, sums, account)| (account, shown, sums))
            .collect()
    }

    /// The ids of an account's entries, which its view shows, each of them once; and nobody owes anything.
    #[track_caller]
    pub(crate) fn all_is_shown(&self, account: &str) -> Vec<String> {
        assert_eq!(self.pending(), [""; 0]);
        let sql = "SELECT count(*) FROM record WHERE marker <> version";
        let behind: i64 = self
            .records()
            .query_row(sql, [], |row| row.get(0))
            .expect("reads");
        assert_eq!(behind, 0);
        assert_eq!(self.damage(), []);
        self.books().remove(account).expect("is there").0
    }
}
