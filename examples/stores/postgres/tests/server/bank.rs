//! A small account store, and the steps that the stories are told in.

use std::{collections::BTreeSet, future::Future, time::Duration};

use ferry_core::{
    Commit, CommitError, Coverage, Fault, Fold, Projection, RecordOf, Step, StepOf,
    drive::{ProjectedStore, Store},
};
use ferry_postgres::{
    Check, Entry, Fingerprint, Options, PostgresError, PostgresStore, Shown, Stored, Version, View,
};
use ferry_test_servers::postgres::Server;
use serde::{Deserialize, Serialize};
use tokio::{runtime::Runtime, task::JoinHandle, time::sleep};
use tokio_postgres::{Client, NoTls};

pub(crate) type Accounts = PostgresStore<i64, String, Statement>;
pub(crate) type Account = RecordOf<Accounts>;
pub(crate) type Committed = Result<Version, CommitError<PostgresError>>;

/// A view that tells when it took an entry in twice, or not in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Statement {
    pub(crate) ids: Vec<String>,
    pub(crate) balance: i64,
}

impl View<i64, String> for Statement {
    fn advance(&mut self, balance: Option<&i64>, entries: &[Entry<String>]) {
        self.ids
            .extend(entries.iter().map(|entry| entry.id.clone()));
        self.balance = balance.copied().unwrap_or(0);
    }
}

/// One account's deposits, each answered with the balance that it led to.
pub(crate) struct Deposits;

impl Fold for Deposits {
    type Schema = Accounts;
    type Input = String;
    type Outcome = String;

    fn id(&self, id: &String) -> String {
        id.clone()
    }

    fn empty(&self, _account: &String) -> Stored<i64, String> {
        Stored::default()
    }

    fn step(&self, account: &mut Stored<i64, String>, id: &String) -> StepOf<Self> {
        let fingerprint = Fingerprint::of(id.as_bytes());
        match account.known.check(id, fingerprint) {
            Check::Same(outcome) => Step::Already(outcome.clone()),
            Check::Mismatch => panic!("the id of another"),
            Check::New => {
                let balance = account.body.unwrap_or(0) + 1;
                account.body = Some(balance);
                let outcome = format!("balance {balance}");
                let entry = account.apply(id, fingerprint, outcome.clone(), *b"");
                Step::Applied(entry, outcome)
            }
        }
    }
}

impl Projection for Deposits {
    type View = ();

    fn pending(&self, account: &Account) -> bool {
        account.state.is_pending(account.version)
    }
}

/// Tells a story on a runtime of its own.
pub(crate) fn tell<T>(story: impl Future<Output = T>) -> T {
    Runtime::new().expect("starts").block_on(story)
}

/// Options with which nothing runs into a time-out, however busy the machine.
pub(crate) fn patient() -> Options {
    let minutes = |minutes: u64| Duration::from_secs(minutes * 60);
    Options::new()
        .connect_timeout(minutes(2))
        .lock_timeout(minutes(2))
        .statement_timeout(minutes(3))
        .answer_timeout(minutes(4))
}

/// A database of one's own.
pub(crate) struct Bank {
    url: String,
}

impl Bank {
    pub(crate) fn new(server: &Server) -> Self {
        let url = server.database().expect("creates one");
        Self { url }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The URL with these settings for each session.
    pub(crate) fn url_with(&self, settings: &str) -> String {
        let settings = settings.replace(' ', "%20").replace('=', "%3D");
        format!("{}?options={settings}", self.url)
    }

    pub(crate) async fn open(&self) -> Accounts {
        self.open_with(&patient()).await
    }

    pub(crate) async fn open_with(&self, options: &Options) -> Accounts {
        options.connect(&self.url).await.expect("opens")
    }

    /// Another session, as another program would have.
    pub(crate) async fn session(&self) -> Client {
        session(&self.url).await
    }

    /// Does something as another program.
    pub(crate) async fn run(&self, sql: &str) {
        self.session().await.batch_execute(sql).await.expect(sql);
    }

    /// Every key and id in the database.
    pub(crate) async fn ids(&self) -> BTreeSet<(String, String)> {
        let session = self.session().await;
        let rows = session.query("SELECT key, id FROM ferry_entry", &[]).await;
        let ids = rows.expect("reads").into_iter();
        ids.map(|row| (row.get(0), row.get(1))).collect()
    }

    /// Waits until a session waits for a lock.
    pub(crate) async fn until_one_waits(&self) {
        self.until_wait(1).await;
    }

    /// Waits until so many sessions wait for locks.
    pub(crate) async fn until_wait(&self, sessions: i64) {
        let session = self.session().await;
        let waiting = "SELECT count(*) FROM pg_stat_activity
            WHERE wait_event_type = 'Lock' AND datname = current_database()";
        eventually("sessions wait for locks", async || {
            let row = session.query_one(waiting, &[]).await.expect("reads");
            row.get::<_, i64>(0) == sessions
        })
        .await;
    }
}

pub(crate) async fn session(url: &str) -> Client {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await.expect("connects");
    tokio::spawn(async move { connection.await.ok() });
    client
}

/// Waits for what has to come; the test hangs no longer than this where it does not.
pub(crate) async fn eventually(what: &str, mut is_so: impl AsyncFnMut() -> bool) {
    const TRIES_MAX: u32 = 6_000;
    for _ in 0..TRIES_MAX {
        if is_so().await {
            return;
        }
        sleep(Duration::from_millis(10)).await;
    }
    panic!("never: {what}");
}

pub(crate) fn content(id: &str) -> Fingerprint {
    Fingerprint::of(id.as_bytes())
}

/// The state that depositing 1 for each id leads to, and its entries.
pub(crate) fn fold(
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

pub(crate) async fn read(store: &Accounts, account: &str, ids: &[&str]) -> Option<Account> {
    try_read(store, account, ids).await.expect("reads")
}

pub(crate) async fn try_read(
    store: &Accounts,
    account: &str,
    ids: &[&str],
) -> Result<Option<Account>, Fault<PostgresError>> {
    let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    store.read(&account.to_owned(), &ids).await
}

/// Deposits on what was read, whatever has happened since.
pub(crate) async fn deposit_on(
    store: &Accounts,
    account: &str,
    seen: Option<&Account>,
    ids: &[&str],
) -> Committed {
    let empty = Stored::default();
    let (state, entries) = fold(seen.map_or(&empty, |record| &record.state), ids);
    let commit = Commit {
        expected: seen.map(|record| &record.version),
        state: &state,
        entries: &entries,
    };
    store.commit(&account.to_owned(), commit).await
}

/// As [`deposit_on`], beside the story.
pub(crate) fn deposit_beside(
    store: &Accounts,
    account: &str,
    seen: Option<&Account>,
    ids: &[&str],
) -> JoinHandle<Committed> {
    let (store, account, seen) = (store.clone(), account.to_owned(), seen.cloned());
    let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    tokio::spawn(async move {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        deposit_on(&store, &account, seen.as_ref(), &ids).await
    })
}

pub(crate) type Projected = Result<(), CommitError<PostgresError>>;

/// Brings the view up to what was read, whatever has happened since.
pub(crate) async fn project_on(store: &Accounts, account: &str, seen: &Account) -> Projected {
    match store.project(&account.to_owned(), seen).await? {
        Coverage::Whole => Ok(()),
        Coverage::Part { .. } => panic!("it lands whole or not at all"),
    }
}

/// As [`project_on`], beside the story.
pub(crate) fn project_beside(
    store: &Accounts,
    account: &str,
    seen: &Account,
) -> JoinHandle<Projected> {
    let (store, account, seen) = (store.clone(), account.to_owned(), seen.clone());
    tokio::spawn(async move { project_on(&store, &account, &seen).await })
}

/// Reads and projects.
pub(crate) async fn project(store: &Accounts, account: &str) -> Projected {
    let seen = read(store, account, &[]).await.expect("is there");
    project_on(store, account, &seen).await
}

/// Reads and deposits.
pub(crate) async fn deposit(store: &Accounts, account: &str, ids: &[&str]) -> Committed {
    let seen = read(store, account, ids).await;
    deposit_on(store, account, seen.as_ref(), ids).await
}

/// Every record and every view, by key.
pub(crate) async fn all(
    store: &Accounts,
) -> (Vec<(String, Account)>, Vec<(String, Shown<Statement>)>) {
    let audit = store.audit().await.expect("opens");
    let (mut records, mut views) = (Vec::new(), Vec::new());
    let visited = audit.for_each_record(|key, record| records.push((key.to_owned(), record)));
    visited.await.expect("reads");
    let visited = audit.for_each_view(|key, shown| views.push((key.to_owned(), shown)));
    visited.await.expect("reads");
    (records, views)
}

pub(crate) async fn balance(store: &Accounts, account: &str) -> Option<i64> {
    read(store, account, &[])
        .await
        .and_then(|record| record.state.body)
}

/// What a failure has to look like.
macro_rules! assert_refused {
    ($result:expr) => {
        let result = $result;
        assert!(
            matches!(result, Err(ferry_core::CommitError::Refused)),
            "{result:?}"
        );
    };
}

macro_rules! assert_not_landed {
    ($result:expr, $class:pat, $error:pat $(if $guard:expr)?) => {
        let result = $result;
        assert!(
            matches!(
                &result,
                Err(ferry_core::CommitError::NotLanded(ferry_core::Fault {
                    class: $class,
                    error: $error
                })) $(if $guard)?
            ),
            "{result:?}"
        );
    };
}

macro_rules! assert_in_doubt {
    ($result:expr, $error:pat $(if $guard:expr)?) => {
        let result = $result;
        assert!(
            matches!(&result, Err(ferry_core::CommitError::InDoubt($error)) $(if $guard)?),
            "{result:?}"
        );
    };
}

pub(crate) use {assert_in_doubt, assert_not_landed, assert_refused};
