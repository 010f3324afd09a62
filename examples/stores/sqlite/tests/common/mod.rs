//! A small account store with statements, and the steps that the stories are told in.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::allow_attributes,
    reason = "compiled into each test program, and each uses its own part"
)]

use std::{
    cell::Cell,
    collections::BTreeSet,
    fmt::Debug,
    future::Future,
    path::{Path, PathBuf},
    pin::{Pin, pin},
    sync::{Arc, mpsc},
    task::{Context, Poll, Wake, Waker},
    thread::{self, JoinHandle},
};

use ferry_core::{
    Commit, CommitError, Coverage, Fault, RecordOf,
    drive::{ProjectedStore, Store},
};
use ferry_sqlite::{
    Entry, Fingerprint, Options, Shown, SqliteError, SqliteStore, Stored, Version, View,
};
use rusqlite::Connection;
use serde::{Deserialize, Serialize};
use tempfile::TempDir;

pub type Accounts = SqliteStore<i64, String, Statement>;
pub type Account = RecordOf<Accounts>;
pub type Committed = Result<Version, CommitError<SqliteError>>;
pub type Projected = Result<Coverage<(), SqliteError>, CommitError<SqliteError>>;

/// What an account's readers are shown: an entry that is missing, or there twice, is seen in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Statement {
    pub balance: Option<i64>,
    pub ids: Vec<String>,
}

impl View<i64, String> for Statement {
    fn advance(&mut self, balance: Option<&i64>, entries: &[Entry<String>]) {
        ADVANCED.set(ADVANCED.get() + 1);
        if let Some(Halt { reached, go_on }) = HALT.take() {
            reached.send(()).expect("is waited for");
            go_on.recv().expect("is let go on");
        }
        self.balance = balance.copied();
        self.ids
            .extend(entries.iter().map(|entry| entry.id.clone()));
    }
}

thread_local! {
    /// How many projections this thread has brought as far as their writes.
    static ADVANCED: Cell<usize> = const { Cell::new(0) };
    /// Where this thread's next projection is to wait, between its read and its write.
    static HALT: Cell<Option<Halt>> = const { Cell::new(None) };
}

struct Halt {
    reached: mpsc::Sender<()>,
    go_on: mpsc::Receiver<()>,
}

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

/// Projects a record as it was read, whatever has happened since.
pub fn project_on(store: &Accounts, account: &str, seen: &Account) -> Projected {
    pollster::block_on(project_later(store.clone(), account, seen))
}

/// As [`project_on`], for whoever wants to poll it.
pub fn project_later(
    store: Accounts,
    account: &str,
    seen: &Account,
) -> Pin<Box<dyn Future<Output = Projected> + Send>> {
    let account = key(account);
    let seen = seen.clone();
    Box::pin(async move { store.project(&account, &seen).await })
}

/// A projection that knows what it is going to write, and has not begun to.
pub struct Slow {
    go_on: mpsc::Sender<()>,
    thread: JoinHandle<Projected>,
}

pub fn project_slowly(store: &Accounts, account: &str, seen: &Account) -> Slow {
    let (reached, wait) = mpsc::channel();
    let (go_on, told) = mpsc::channel();
    let projection = project_later(store.clone(), account, seen);
    let thread = thread::spawn(move || {
        HALT.set(Some(Halt {
            reached,
            go_on: told,
        }));
        pollster::block_on(projection)
    });
    wait.recv().expect("comes to its write");
    Slow { go_on, thread }
}

impl Slow {
    pub fn finish(self) -> Projected {
        self.go_on.send(()).expect("still waits");
        self.thread.join().expect("ends")
    }
}

/// Polls a projection until its write is in the queue, where something has to hold it up.
pub fn queue_up<F: Future + Unpin>(projection: &mut F) {
    let before = ADVANCED.get();
    let (woken, wait) = mpsc::channel();
    let waker = Waker::from(Arc::new(Woken(woken)));
    loop {
        let polled = pin!(&mut *projection).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending(), "was held up by nothing");
        if ADVANCED.get() > before {
            return;
        }
        wait.recv().expect("its read is answered");
    }
}

struct Woken(mpsc::Sender<()>);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        // Nobody waits any more where the projection was queued up already.
        let _gone = self.0.send(());
    }
}

/// Reads and projects, if there is anything to project.
pub fn project(store: &Accounts, account: &str) {
    let seen = read(store, account, &[]).expect("is there");
    if seen.state.is_pending(seen.version) {
        let coverage = project_on(store, account, &seen).expect("lands");
        assert!(matches!(coverage, Coverage::Whole), "{coverage:?}");
    }
}

pub fn shown(store: &Accounts, account: &str) -> Option<Shown<Statement>> {
    pollster::block_on(store.view(account)).expect("reads")
}

pub fn pending(store: &Accounts) -> Vec<String> {
    pollster::block_on(store.pending(usize::MAX)).expect("reads")
}

/// The view shows this version, with these entries and a balance of their number.
pub fn assert_shows(store: &Accounts, account: &str, version: Version, ids: &[&str]) {
    let shown = shown(store, account).expect("has a view");
    assert_eq!(shown.version, version);
    assert_eq!(shown.entries, ids.len() as u64);
    assert_eq!(shown.view.ids, ids);
    assert_eq!(shown.view.balance, Some(ids.len() as i64));
}

#[track_caller]
pub fn assert_refused<T: Debug>(result: Result<T, CommitError<SqliteError>>) {
    assert!(matches!(result, Err(CommitError::Refused)), "{result:?}");
}
