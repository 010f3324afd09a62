//! A store whose views are in another file: the second layout of the contract of a projected store, with no
//! more around it than it needs.
//!
//! No transaction can hold both files, so a projection makes two writes, and this order is what keeps them
//! in step:
//!
//! 1. The view takes each entry at that entry's own position, and not otherwise. One that comes late, or
//!    again, finds the view beyond it and changes nothing.
//! 2. Only when that is on the disk, the marker is moved, if the record is still the one that was projected.
//!
//! A process that dies between the two has changed a view and left the record pending; the next projection
//! offers the view the same entries again.

pub(crate) mod careless;
mod conformance;
pub(crate) mod files;
pub(crate) mod postings;

use std::{
    collections::HashMap,
    error::Error,
    fmt,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use ferry_core::{
    Class, Commit, CommitError, Coverage, Fault, ProjectResult, Record, RecordOf, Schema,
    drive::{BlockingProjectedStore, BlockingStore},
};
use rusqlite::{
    Connection, ErrorCode, OptionalExtension, Row, Transaction, TransactionBehavior, params,
};

use crate::node::way::{Planned, Stop, Way};

/// In one file: records and entries.
///
/// The marker is the version that the view has reached; an entry's is that of the commit which brought it.
/// Records are never deleted, so a number that counts does not come back.
const RECORDS: &str = "
    CREATE TABLE IF NOT EXISTS record (
        key     TEXT NOT NULL PRIMARY KEY,
        version INTEGER NOT NULL,
        marker  INTEGER NOT NULL DEFAULT 0,
        balance INTEGER NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS pending ON record (key) WHERE marker <> version;
    CREATE TABLE IF NOT EXISTS entry (
        key     TEXT NOT NULL,
        seq     INTEGER NOT NULL,
        version INTEGER NOT NULL,
        id      TEXT NOT NULL,
        amount  INTEGER NOT NULL,
        balance INTEGER NOT NULL,
        PRIMARY KEY (key, seq),
        UNIQUE (key, id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS brought ON entry (key, version);
";

/// In the other: views. The position is the `seq` of the last entry taken.
const VIEWS: &str = "
    CREATE TABLE IF NOT EXISTS statement (
        key      TEXT NOT NULL PRIMARY KEY,
        position INTEGER NOT NULL,
        count    INTEGER NOT NULL,
        balance  INTEGER NOT NULL
    ) STRICT;
";

const READ: &str = "SELECT version, marker, balance FROM record WHERE key = ?1";

const READ_ENTRY: &str = "SELECT amount, balance FROM entry WHERE key = ?1 AND id = ?2";

const INSERT: &str = "
    INSERT INTO record (key, version, balance) VALUES (?1, 1, ?2)
    ON CONFLICT (key) DO NOTHING RETURNING version";

/// Leaves the marker as it is stored: a projection may have moved it since the record was read.
const UPDATE: &str = "
    UPDATE record SET version = version + 1, balance = ?2
    WHERE key = ?1 AND version = ?3 RETURNING version";

const APPEND: &str = "
    INSERT INTO entry (key, seq, version, id, amount, balance)
    SELECT ?1, coalesce(max(seq), 0) + 1, ?2, ?3, ?4, ?5 FROM entry WHERE key = ?1";

const PENDING: &str = "SELECT key FROM record WHERE marker <> version ORDER BY key LIMIT ?1";

const DEBT: &str = "
    SELECT seq, id, amount FROM entry
    WHERE key = ?1 AND version > ?2 AND version <= ?3 ORDER BY seq";

const BEGIN_VIEW: &str = "
    INSERT INTO statement (key, position, count, balance) VALUES (?1, 0, 0, 0)
    ON CONFLICT (key) DO NOTHING";

/// At its own position: without the last condition, what comes again is counted again.
const TAKE: &str = "
    UPDATE statement SET position = ?2, count = count + 1, balance = balance + ?3
    WHERE key = ?1 AND position = ?2 - 1";

const POSITION: &str = "SELECT position FROM statement WHERE key = ?1";

/// By compare: the version keeps an old projection from clearing what a newer commit owes.
const MOVE_MARKER: &str = "
    UPDATE record SET marker = version WHERE key = ?1 AND version = ?2 AND marker = ?3";

/// A handle on the two files. A connection to each is enough for an example.
pub(crate) struct TwoFiles {
    records: Mutex<Connection>,
    views: Mutex<Connection>,
    /// Where a test stops projections.
    way: Arc<Way>,
}

/// What the fold sees of an account.
#[derive(Clone, Debug, Default)]
pub(crate) struct Account {
    pub(crate) balance: i64,
    /// Of the ids that the read was asked about: amount, and the balance that it led to.
    pub(crate) applied: HashMap<String, (i64, i64)>,
    pub(crate) marker: i64,
}

/// What one posting adds to its account.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: String,
    pub(crate) amount: i64,
    pub(crate) balance: i64,
}

/// An entry that the view may lack.
struct Owed {
    seq: i64,
    id: String,
    amount: i64,
}

#[derive(Debug)]
pub(crate) enum Trouble {
    Sqlite(rusqlite::Error),
    /// The view lacks entries that the marker says it has: it was taken back to an earlier day. Set the
    /// markers back to 0, and all entries are offered to it again.
    TakenBack {
        position: i64,
    },
    Planned(Planned),
}

impl Schema for TwoFiles {
    type Key = String;
    type Id = String;
    type State = Account;
    type Version = i64;
    type Entry = Entry;
    type Error = Trouble;
}

impl TwoFiles {
    pub(crate) fn open(records: &Path, views: &Path, way: Arc<Way>) -> rusqlite::Result<Self> {
        let open = |path, layout| -> rusqlite::Result<_> {
            let conn = Connection::open(path)?;
            conn.busy_timeout(Duration::from_secs(30))?;
            // With this, what `COMMIT` returned for is on the disk.
            conn.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
            conn.execute_batch(layout)?;
            Ok(Mutex::new(conn))
        };
        Ok(Self {
            records: open(records, RECORDS)?,
            views: open(views, VIEWS)?,
            way,
        })
    }

    /// The keys whose views are behind: what a sweep is to be given.
    pub(crate) fn pending(&self, limit: u32) -> Result<Vec<String>, Fault<Trouble>> {
        read(&self.records, |records| {
            let mut pending = records.prepare_cached(PENDING)?;
            pending.query_map([limit], |row| row.get(0))?.collect()
        })
    }
}

impl BlockingStore for TwoFiles {
    fn read(&self, key: &String, ids: &[String]) -> Result<Option<RecordOf<Self>>, Fault<Trouble>> {
        // Record and ids of one moment: an id may not be known whose debt is not.
        read(&self.records, |records| {
            let Some(mut record) = records.query_row(READ, [key], record).optional()? else {
                return Ok(None);
            };
            let mut find = records.prepare_cached(READ_ENTRY)?;
            for id in ids {
                let applied = find.query_row([key, id], |row| Ok((row.get(0)?, row.get(1)?)));
                if let Some(applied) = applied.optional()? {
                    record.state.applied.insert(id.clone(), applied);
                }
            }
            Ok(Some(record))
        })
    }

    fn commit(&self, key: &String, commit: Commit<'_, Self>) -> Result<i64, CommitError<Trouble>> {
        write(&self.records, |records| {
            let balance = commit.state.balance;
            let version = |row: &Row<'_>| row.get(0);
            let landed = match commit.expected {
                None => records.query_row(INSERT, params![key, balance], version),
                Some(expected) => {
                    records.query_row(UPDATE, params![key, balance, expected], version)
                }
            };
            let Some(version) = landed.optional()? else {
                return Ok(None);
            };
            let mut append = records.prepare_cached(APPEND)?;
            for entry in commit.entries {
                append.execute(params![key, version, entry.id, entry.amount, entry.balance])?;
            }
            Ok(Some(version))
        })
    }
}

impl BlockingProjectedStore for TwoFiles {
    /// The ids of the entries that the view includes, of those that were owed.
    type View = Vec<String>;

    fn project(
        &self,
        key: &String,
        record: &RecordOf<Self>,
    ) -> ProjectResult<Vec<String>, Trouble> {
        let owed = self.owed(key, record)?;
        self.stop(key, Stop::Before)?;
        if let Some(part) = self.take(TAKE, key, &owed)? {
            return Ok(part);
        }
        self.stop(key, Stop::Between)?;
        self.move_marker(MOVE_MARKER, key, record)?;
        Ok(Coverage::Whole)
    }
}

impl TwoFiles {
    /// The entries that lead from the record's marker to its version.
    fn owed(&self, key: &str, record: &RecordOf<Self>) -> Result<Vec<Owed>, Fault<Trouble>> {
        read(&self.records, |records| {
            let mut debt = records.prepare_cached(DEBT)?;
            let owed = debt.query_map(params![key, record.state.marker, record.version], |row| {
                Ok(Owed {
                    seq: row.get(0)?,
                    id: row.get(1)?,
                    amount: row.get(2)?,
                })
            });
            owed?.collect()
        })
    }

    /// Has the view take these, up to the first that it will not have; `None`: it has all of them.
    fn take(
        &self,
        take: &str,
        key: &str,
        owed: &[Owed],
    ) -> Result<Option<Coverage<Vec<String>, Trouble>>, CommitError<Trouble>> {
        let (position, objection) = write(&self.views, |views| {
            views.execute(BEGIN_VIEW, [key])?;
            let mut take = views.prepare_cached(take)?;
            let mut objection = None;
            for entry in owed {
                match take.execute(params![key, entry.seq, entry.amount]) {
                    Ok(_) => {}
                    Err(error) if is_objection(&error) => {
                        objection = Some(error);
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
            let position = views.query_row(POSITION, [key], |row| row.get(0))?;
            Ok(Some((position, objection)))
        })?;
        if owed.last().is_none_or(|last| last.seq <= position) {
            return Ok(None);
        }
        let taken = owed.iter().filter(|entry| entry.seq <= position);
        Ok(Some(Coverage::Part {
            view: taken.map(|entry| entry.id.clone()).collect(),
            fault: objection.map_or(Fault::permanent(Trouble::TakenBack { position }), fault),
        }))
    }

    /// The view is written by now, so whatever fails here has not written nothing.
    fn move_marker(
        &self,
        move_marker: &str,
        key: &str,
        record: &RecordOf<Self>,
    ) -> Result<(), CommitError<Trouble>> {
        let moved = write(&self.records, |records| {
            let fence = params![key, record.version, record.state.marker];
            let moved = records.execute(move_marker, fence)?;
            Ok((moved > 0).then_some(()))
        });
        moved.map_err(|error| match error {
            CommitError::NotLanded(fault) => CommitError::InDoubt(fault.error),
            CommitError::Refused | CommitError::InDoubt(_) => error,
        })
    }

    fn stop(&self, key: &str, stop: Stop) -> Result<(), CommitError<Trouble>> {
        let passed = self.way.pass_blocking(key, stop);
        passed.map_err(|error| error.map(Trouble::Planned))
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<Record<Account, i64>> {
    Ok(Record {
        version: row.get(0)?,
        state: Account {
            marker: row.get(1)?,
            balance: row.get(2)?,
            applied: HashMap::new(),
        },
    })
}

/// All that is read is of one moment.
fn read<T>(
    file: &Mutex<Connection>,
    what: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> Result<T, Fault<Trouble>> {
    let mut conn = file.lock().unwrap_or_else(PoisonError::into_inner);
    let transaction = conn.transaction().map_err(fault)?;
    what(&transaction).map_err(fault)
}

/// All or nothing; `None` where the condition does not hold.
fn write<T>(
    file: &Mutex<Connection>,
    what: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<Option<T>>,
) -> Result<T, CommitError<Trouble>> {
    let mut conn = file.lock().unwrap_or_else(PoisonError::into_inner);
    let transaction = conn.transaction_with_behavior(TransactionBehavior::Immediate);
    let transaction = transaction.map_err(fault)?;
    let written = what(&transaction).map_err(fault)?;
    let written = written.ok_or(CommitError::Refused)?;
    // Once it is asked for, nobody can tell for certain that it did not happen.
    let committed = transaction.commit();
    committed.map_err(|error| CommitError::InDoubt(Trouble::Sqlite(error)))?;
    Ok(written)
}

fn fault(error: rusqlite::Error) -> Fault<Trouble> {
    let class = match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Class::Transient,
        Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => Class::Transient,
        Some(ErrorCode::DiskFull | ErrorCode::OutOfMemory) => Class::Throttled(None),
        _ => Class::Permanent,
    };
    Fault {
        error: Trouble::Sqlite(error),
        class,
    }
}

/// A rule of the view's own stands against the entry.
fn is_objection(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation)
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(error) => error.fmt(f),
            Self::TakenBack { position } => {
                write!(f, "the view ends at entry {position}, before the marker")
            }
            Self::Planned(error) => error.fmt(f),
        }
    }
}

impl Error for Trouble {}
