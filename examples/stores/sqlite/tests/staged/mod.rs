//! The SQLite store with a way for its projections, a fold on it, and the file as a stranger reads it.

use std::{collections::BTreeMap, error::Error, fmt, sync::Arc};

use ferry_core::{
    Cause, Commit, CommitError, Durability, Failure, Fault, Fold, ProjectResult, Projection,
    RecordOf, Schema, Step, StepOf,
    drive::{ProjectedStore, Store},
};
use ferry_sqlite::{Check, Entry, Fingerprint, SqliteError, Stored, Version};
use ferry_tokio::{Answer, Submission};
use rusqlite::Connection;

use crate::{
    common::{Account, Accounts, File, Statement, pending},
    node::{
        Node, wait,
        way::{Planned, Stop, Way},
    },
};

/// The store, and the way to it.
pub(crate) struct Staged {
    store: Accounts,
    way: Arc<Way>,
}

#[derive(Debug)]
pub(crate) enum Trouble {
    Store(SqliteError),
    Planned(Planned),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::Planned(error) => error.fmt(f),
        }
    }
}

impl Error for Trouble {}

impl Schema for Staged {
    type Key = String;
    type Id = String;
    type State = Stored<i64, String>;
    type Version = Version;
    type Entry = Entry<String>;
    type Error = Trouble;
}

impl Store for Staged {
    async fn read(&self, key: &String, ids: &[String]) -> Result<Option<Account>, Fault<Trouble>> {
        let read = self.store.read(key, ids).await;
        read.map_err(|fault| fault.map(Trouble::Store))
    }

    async fn commit(
        &self,
        key: &String,
        commit: Commit<'_, Self>,
    ) -> Result<Version, CommitError<Trouble>> {
        let commit = Commit {
            expected: commit.expected,
            state: commit.state,
            entries: commit.entries,
        };
        let committed = self.store.commit(key, commit).await;
        committed.map_err(|error| error.map(Trouble::Store))
    }
}

impl ProjectedStore for Staged {
    type View = ();

    async fn project(&self, key: &String, record: &Account) -> ProjectResult<(), Trouble> {
        let pass = |stop| self.way.pass(key, stop);
        let planned = |error: CommitError<_>| error.map(Trouble::Planned);
        pass(Stop::Before).await.map_err(planned)?;
        let projected = self.store.project(key, record).await;
        pass(Stop::After).await.map_err(planned)?;
        projected
            .map(|coverage| coverage.map_err(Trouble::Store))
            .map_err(|error| error.map(Trouble::Store))
    }
}

/// Money that goes into an account, or out of it.
pub(crate) struct Posting {
    id: String,
    amount: i64,
}

/// Nobody takes out what is not there.
pub(crate) struct Postings;

impl Fold for Postings {
    type Schema = Staged;
    type Input = Posting;
    type Outcome = String;

    fn id(&self, posting: &Posting) -> String {
        posting.id.clone()
    }

    fn empty(&self, _: &String) -> Stored<i64, String> {
        Stored::default()
    }

    fn step(&self, account: &mut Stored<i64, String>, posting: &Posting) -> StepOf<Self> {
        let content = posting.amount.to_string();
        let fingerprint = Fingerprint::of(content.as_bytes());
        match account.known.check(&posting.id, fingerprint) {
            Check::Same(outcome) => return Step::Already(outcome.clone()),
            Check::Mismatch => return Step::Mismatch(MISMATCH.to_owned()),
            Check::New => {}
        }
        let balance = account.body.unwrap_or(0) + posting.amount;
        if balance < 0 {
            return Step::Refused(NOT_COVERED.to_owned());
        }
        account.body = Some(balance);
        let outcome = format!("balance {balance}");
        let entry = account.apply(&posting.id, fingerprint, outcome.clone(), content);
        Step::Applied(entry, outcome)
    }
}

pub(crate) const NOT_COVERED: &str = "not covered";
pub(crate) const MISMATCH: &str = "another posting has this id";

impl Projection for Postings {
    type View = ();

    fn pending(&self, account: &RecordOf<Staged>) -> bool {
        account.state.is_pending(account.version)
    }
}

/// One of the processes that serve the accounts of a file.
pub(crate) struct Branch {
    pub(crate) node: Node<Postings>,
    pub(crate) way: Arc<Way>,
    pub(crate) store: Accounts,
}

pub(crate) type Sent = Submission<Answer<String, Trouble>, Trouble>;

impl Branch {
    pub(crate) fn open(file: &File) -> Self {
        Self::that_tries(file, 4)
    }

    pub(crate) fn that_tries(file: &File, attempts: u32) -> Self {
        let (store, way) = (file.open(), Arc::<Way>::default());
        let staged = Staged {
            store: store.clone(),
            way: Arc::clone(&way),
        };
        let node = Node::start(attempts, |builder| {
            builder.projected_write(Postings, staged)
        });
        Self { node, way, store }
    }

    /// Posts 1.
    pub(crate) fn post(&self, account: &str, id: &str) -> Sent {
        self.post_amount(account, id, 1)
    }

    pub(crate) fn post_amount(&self, account: &str, id: &str, amount: i64) -> Sent {
        let id = id.to_owned();
        let sent = self.node.submit(account.to_owned(), Posting { id, amount });
        sent.expect("there is room")
    }

    pub(crate) fn pending(&self) -> Vec<String> {
        pending(&self.store)
    }

    /// The ids that the account's view shows.
    pub(crate) fn shown(&self, account: &str) -> Vec<String> {
        let shown = crate::common::shown(&self.store, account);
        shown.map_or(Vec::new(), |shown| shown.view.ids)
    }

    /// Dies in the middle of what it does.
    pub(crate) fn dies(self) {
        drop(self.node);
    }

    #[track_caller]
    pub(crate) fn closes(self) {
        self.node.stop();
    }
}

/// What was posted, and the account's view shows it.
#[track_caller]
pub(crate) fn projected(sent: Sent) -> String {
    let answer = wait(sent).expect("is durable");
    assert!(answer.durability.is_projected(), "{answer:?}");
    answer.outcome
}

/// What was posted, though its projection met with what the test ordered.
#[track_caller]
pub(crate) fn committed(sent: Sent) -> String {
    let answer = wait(sent).expect("is durable");
    let Durability::Committed(Cause::Store(error)) = &answer.durability else {
        panic!("{answer:?}");
    };
    assert!(matches!(**error, Trouble::Planned(_)), "{error:?}");
    answer.outcome
}

/// What is heard of a process that died.
#[track_caller]
pub(crate) fn assert_left_in_doubt(sent: Sent) {
    let failure = wait(sent).expect_err("nobody is left to answer");
    assert!(
        matches!(failure, Failure::InDoubt(Cause::Abandoned)),
        "{failure:?}"
    );
}

/// The ids of the entries of each account.
pub(crate) type Books = BTreeMap<String, Vec<String>>;

/// Accounts with their ids, which spaces separate.
pub(crate) fn books<const N: usize>(accounts: [(&str, &str); N]) -> Books {
    let ids = |ids: &str| ids.split(' ').map(str::to_owned).collect();
    let accounts = accounts.into_iter();
    accounts
        .map(|(account, list)| (account.to_owned(), ids(list)))
        .collect()
}

/// What the file holds, of which every view shows exactly what its account's entries say, each of them
/// once; and nobody owes anything.
#[track_caller]
pub(crate) fn all_is_shown(file: &File) -> Books {
    let books = entries(&file.connection());
    assert_eq!(pending(&file.open()), [""; 0]);
    for (account, entries) in &books {
        let Row {
            version,
            marker,
            balance,
            shows,
            included,
            statement,
        } = row(&file.connection(), account);
        let sum: i64 = entries.iter().map(|(_, amount)| amount).sum();
        assert_eq!(balance, sum, "the record of {account}");
        assert_eq!(marker, version, "the marker of {account}");
        assert_eq!(shows, version, "the view of {account}");
        assert_eq!(included, entries.len() as i64, "the view of {account}");
        let ids: Vec<_> = entries.iter().map(|(id, _)| id).collect();
        let shown: Vec<_> = statement.ids.iter().collect();
        assert_eq!(shown, ids, "the view of {account}");
        assert_eq!(statement.balance, Some(sum), "the view of {account}");
    }
    let ids = |entries: Vec<(String, i64)>| entries.into_iter().map(|(id, _)| id).collect();
    let books = books.into_iter();
    books
        .map(|(account, entries)| (account, ids(entries)))
        .collect()
}

/// An account's entries, as ids and amounts, in order.
type Entries = Vec<(String, i64)>;

fn entries(conn: &Connection) -> BTreeMap<String, Entries> {
    let sql =
        "SELECT key, id, CAST(CAST(body AS TEXT) AS INTEGER) FROM ferry_entry ORDER BY key, seq";
    let mut statement = conn.prepare(sql).expect("prepares");
    let mut rows = statement.query([]).expect("queries");
    let mut books = BTreeMap::<String, Entries>::new();
    while let Some(row) = rows.next().expect("reads") {
        let account = row.get(0).expect("is text");
        let entry = (row.get(1).expect("is text"), row.get(2).expect("is one"));
        books.entry(account).or_default().push(entry);
    }
    books
}

/// A record and its view, as they are stored.
struct Row {
    version: (i64, Vec<u8>),
    marker: (i64, Vec<u8>),
    balance: i64,
    shows: (i64, Vec<u8>),
    included: i64,
    statement: Statement,
}

fn row(conn: &Connection, account: &str) -> Row {
    let sql = "
        SELECT r.version, r.stamp, r.marker, r.marker_stamp, r.body, v.version, v.stamp, v.entries, v.body
        FROM ferry_record r JOIN ferry_view v USING (key) WHERE key = ?1";
    let row = conn.query_row(sql, [account], |row| {
        let (balance, statement): (String, String) = (row.get(4)?, row.get(8)?);
        Ok(Row {
            version: (row.get(0)?, row.get(1)?),
            marker: (row.get(2)?, row.get(3)?),
            balance: balance.parse().expect("is a number"),
            shows: (row.get(5)?, row.get(6)?),
            included: row.get(7)?,
            statement: serde_json::from_str(&statement).expect("is one"),
        })
    });
    row.expect("has a record, and a view")
}
