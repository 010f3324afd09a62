//! A small account store, and the steps that the stories are told in.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    reason = "compiled into each test program, and each uses its own part"
)]

use std::{
    collections::BTreeSet,
    future::Future,
    path::{Path, PathBuf},
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use ferry_core::{Commit, CommitError, Fault, RecordOf, drive::Store};
use ferry_sqlite::{Entry, Fingerprint, Options, SqliteError, SqliteStore, Stored, Version};
use rusqlite::Connection;
use tempfile::TempDir;

pub type Accounts = SqliteStore<i64, String>;
pub type Account = RecordOf<Accounts>;
pub type Committed = Result<Version, CommitError<SqliteError>>;

pub struct File {
    folder: TempDir,
}

impl File {
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a temporary folder"),
        }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self) -> PathBuf {
        self.folder.path().join("accounts.db")
    }

    pub fn open(&self) -> Accounts {
        SqliteStore::open(self.path()).expect("opens")
    }

    pub fn open_with(&self, options: &Options) -> Accounts {
        options.open(self.path()).expect("opens")
    }

    /// Another connection, as another program would have.
    pub fn connection(&self) -> Connection {
        Connection::open(self.path()).expect("connects")
    }

    /// Every key and id in the file, on a fresh connection.
    pub fn ids(&self) -> BTreeSet<(String, String)> {
        let conn = self.connection();
        let mut statement = conn
            .prepare("SELECT key, id FROM ferry_entry")
            .expect("prepares");
        statement
            .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
            .expect("queries")
            .collect::<Result<_, _>>()
            .expect("reads")
    }
}

pub fn content(id: &str) -> Fingerprint {
    Fingerprint::of(id.as_bytes())
}

/// The state that depositing 1 for each id leads to, and its entries.
pub fn fold(
    state: &Stored<i64, String>,
    ids: &[&str],
) -> (Stored<i64, String>, Vec<Entry<String>>) {
    let mut state = state.clone();
    let mut entries = Vec::new();
    for id in ids {
        let balance = state.body.get_or_insert_default();
        *balance += 1;
        let outcome = format!("balance {balance}");
        entries.push(state.apply(*id, content(id), outcome, *b"+1"));
    }
    (state, entries)
}

pub fn key(name: &str) -> String {
    name.to_owned()
}

pub fn read(store: &Accounts, account: &str, ids: &[&str]) -> Option<Account> {
    try_read(store, account, ids).expect("reads")
}

pub fn try_read(
    store: &Accounts,
    account: &str,
    ids: &[&str],
) -> Result<Option<Account>, Fault<SqliteError>> {
    let ids: Vec<String> = ids.iter().map(|id| key(id)).collect();
    pollster::block_on(store.read(&key(account), &ids))
}

/// Deposits on what was read, whatever has happened since.
pub fn deposit_on(
    store: &Accounts,
    account: &str,
    seen: Option<&Account>,
    ids: &[&str],
) -> Committed {
    pollster::block_on(deposit_later(store.clone(), account, seen, ids))
}

/// As [`deposit_on`], for whoever wants to poll it.
pub fn deposit_later(
    store: Accounts,
    account: &str,
    seen: Option<&Account>,
    ids: &[&str],
) -> Pin<Box<dyn Future<Output = Committed> + Send>> {
    let account = key(account);
    let empty = Stored::default();
    let (state, entries) = fold(seen.map_or(&empty, |record| &record.state), ids);
    let expected = seen.map(|record| record.version);
    Box::pin(async move {
        let commit = Commit {
            expected: expected.as_ref(),
            state: &state,
            entries: &entries,
        };
        store.commit(&account, commit).await
    })
}

/// Reads and deposits.
pub fn deposit(store: &Accounts, account: &str, ids: &[&str]) -> Committed {
    let seen = read(store, account, ids);
    deposit_on(store, account, seen.as_ref(), ids)
}

pub fn balance(store: &Accounts, account: &str) -> Option<i64> {
    read(store, account, &[]).and_then(|record| record.state.body)
}

/// Polls once, which puts a commit into the store's queue.
pub fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}
