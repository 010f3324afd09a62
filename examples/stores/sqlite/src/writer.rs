//! The one thread that writes: it commits what has queued up, many keys in one transaction.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use crossbeam_channel::Receiver;
use ferry_core::{CommitError, Fault};
use rusqlite::{
    Connection, OptionalExtension, Savepoint, Transaction, TransactionBehavior, ffi, params,
};

use crate::{
    SqliteError, Version,
    connection::File,
    error::{extended_code, fault, named, primary_code},
    queue::{Commit, Queued, Taken},
    reader::version,
    sql,
    store::Tally,
};

/// Commits until every handle is gone and the queue is empty.
///
/// While one group waits for the disk the next one gathers, so its size follows the load by itself.
pub(crate) fn run(file: &File, conn: Connection, queue: &Receiver<Queued>, tally: &Tally) {
    let mut conn = Some(conn);
    while let Ok(first) = queue.recv() {
        let queued = [first].into_iter().chain(queue.try_iter());
        let group: Vec<Taken> = queued
            .take(file.options.group_max)
            .filter_map(Queued::take)
            .collect();
        conn = match conn.map_or_else(|| file.writer(), Ok) {
            Ok(conn) => commit(&conn, file.options.busy_timeout, group, tally).then_some(conn),
            Err(error) => {
                not_landed(group, error);
                None
            }
        };
    }
}

/// Commits a group and answers each of its callers; says whether the connection is still good.
fn commit(conn: &Connection, patience: Duration, group: Vec<Taken>, tally: &Tally) -> bool {
    match write(conn, patience, &group) {
        Ok(verdicts) => {
            tally.add(&verdicts);
            for (taken, verdict) in group.into_iter().zip(verdicts) {
                taken.answer(verdict.into());
            }
            true
        }
        Err(Trouble::Group(error)) => not_landed(group, error),
        // One of them may be the cause (a damaged page, a body that fills the disk), and it must not
        // stop the others.
        Err(Trouble::Member(error)) if group.len() == 1 => not_landed(group, error),
        Err(Trouble::Member(_)) => group.into_iter().fold(true, |good, taken| {
            commit(conn, patience, vec![taken], tally) && good
        }),
        Err(Trouble::Commit(error, verdicts)) => {
            let error = Arc::new(error);
            for (taken, verdict) in group.into_iter().zip(verdicts) {
                taken.answer(Err(after_failed_commit(verdict, &error)));
            }
            false
        }
    }
}

/// Answers a group of which nothing was written; says whether the connection is still good.
fn not_landed(group: Vec<Taken>, error: rusqlite::Error) -> bool {
    let fault = fault(error);
    let good = !fault.error.spoils_connection();
    for taken in group {
        taken.answer(Err(fault.clone().into()));
    }
    good
}

/// What became of one commit of a group, provided that the group is committed.
pub(crate) enum Verdict {
    Landed(Version),
    Refused,
    Failed(SqliteError),
}

impl From<Verdict> for Result<Version, CommitError<SqliteError>> {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Landed(version) => Ok(version),
            Verdict::Refused => Err(CommitError::Refused),
            Verdict::Failed(error) => Err(Fault::permanent(error).into()),
        }
    }
}

/// What a commit's verdict is worth after `COMMIT` failed in a way that leaves it open whether the
/// log got there.
fn after_failed_commit(verdict: Verdict, error: &Arc<rusqlite::Error>) -> CommitError<SqliteError> {
    match verdict {
        Verdict::Landed(_) => CommitError::InDoubt(named(Arc::clone(error))),
        // Certainly not written; but what it was refused for may have been another commit of this
        // very group, which is open now. So it is no refusal to conclude anything from.
        Verdict::Refused => Fault::transient(named(Arc::clone(error))).into(),
        Verdict::Failed(error) => Fault::permanent(error).into(),
    }
}

/// Why a group was not committed.
enum Trouble {
    /// Nothing was written, and no member is to blame.
    Group(rusqlite::Error),
    /// Nothing was written, and the member that was being written may be to blame.
    Member(rusqlite::Error),
    /// `COMMIT` failed: the members that would have landed are in doubt.
    Commit(rusqlite::Error, Vec<Verdict>),
}

fn write(conn: &Connection, patience: Duration, group: &[Taken]) -> Result<Vec<Verdict>, Trouble> {
    // IMMEDIATE waits for its turn here; a deferred transaction would find out at its first write
    // that somebody else was faster, and could only start over. Rolls back when dropped.
    let mut transaction =
        Transaction::new_unchecked(conn, TransactionBehavior::Immediate).map_err(Trouble::Group)?;
    let mut verdicts = Vec::with_capacity(group.len());
    for taken in group {
        let savepoint = transaction.savepoint().map_err(Trouble::Member)?;
        verdicts.push(write_member(savepoint, &taken.commit).map_err(Trouble::Member)?);
    }
    if !verdicts
        .iter()
        .any(|verdict| matches!(verdict, Verdict::Landed(_)))
    {
        return Ok(verdicts);
    }
    match finish(conn, patience) {
        Ok(()) => Ok(verdicts),
        Err(error) if primary_code(&error) == ffi::SQLITE_BUSY && !conn.is_autocommit() => {
            transaction
                .rollback()
                .map_err(|error| Trouble::Commit(error, verdicts))?;
            Err(Trouble::Group(error))
        }
        Err(error) => Err(Trouble::Commit(error, verdicts)),
    }
}

/// `COMMIT`. A busy one leaves the transaction as it is, so it is the `COMMIT` that is tried again.
fn finish(conn: &Connection, patience: Duration) -> rusqlite::Result<()> {
    const PAUSE: Duration = Duration::from_millis(1);
    let begin = Instant::now();
    loop {
        match conn.prepare_cached("COMMIT")?.execute([]) {
            Err(error)
                if primary_code(&error) == ffi::SQLITE_BUSY
                    && !conn.is_autocommit()
                    && begin.elapsed() < patience =>
            {
                thread::sleep(PAUSE);
            }
            result => return result.map(drop),
        }
    }
}

/// Writes one commit in a savepoint of its own, and undoes it there unless it lands.
fn write_member(savepoint: Savepoint<'_>, commit: &Commit) -> rusqlite::Result<Verdict> {
    match write_rows(&savepoint, commit) {
        Ok(Some(version)) => {
            savepoint.commit()?;
            Ok(Verdict::Landed(version))
        }
        Ok(None) => {
            savepoint.finish()?;
            Ok(Verdict::Refused)
        }
        Err(error) => {
            // Some errors take the whole transaction with them, the members before this one too.
            if savepoint.is_autocommit() {
                return Err(error);
            }
            savepoint.finish()?;
            blame(error, commit)
        }
    }
}

/// What an error means for the commit that met it, where it is this commit's own.
fn blame(error: rusqlite::Error, commit: &Commit) -> rusqlite::Result<Verdict> {
    match extended_code(&error) {
        // The only unique key beside the primary ones is that of an entry's id. A read will find it.
        ffi::SQLITE_CONSTRAINT_UNIQUE => Ok(match repeated_id(commit) {
            Some(id) => Verdict::Failed(SqliteError::RepeatedId {
                key: commit.key.clone(),
                id,
            }),
            None => Verdict::Refused,
        }),
        code => match code & 0xff {
            ffi::SQLITE_TOOBIG => Ok(Verdict::Failed(SqliteError::TooLarge {
                key: commit.key.clone(),
            })),
            ffi::SQLITE_OK
            | ffi::SQLITE_CONSTRAINT
            | ffi::SQLITE_MISMATCH
            | ffi::SQLITE_MISUSE
            | ffi::SQLITE_RANGE => Ok(Verdict::Failed(SqliteError::Other(Arc::new(error)))),
            _ => Err(error),
        },
    }
}

fn repeated_id(commit: &Commit) -> Option<String> {
    let mut ids: Vec<&str> = commit
        .entries
        .iter()
        .map(|entry| entry.id.as_str())
        .collect();
    ids.sort_unstable();
    ids.windows(2)
        .find(|pair| pair[0] == pair[1])
        .map(|pair| pair[0].to_owned())
}

/// The fenced write itself; `None` when the fence does not hold.
fn write_rows(conn: &Connection, commit: &Commit) -> rusqlite::Result<Option<Version>> {
    let Some(version) = write_record(conn, commit)? else {
        return Ok(None);
    };
    let mut seq: i64 = conn
        .prepare_cached(sql::LAST_SEQ)?
        .query_row([&commit.key], |row| row.get(0))?;
    let mut insert = conn.prepare_cached(sql::INSERT_ENTRY)?;
    for entry in &commit.entries {
        seq += 1;
        insert.execute(params![
            commit.key,
            seq,
            entry.id,
            entry.fingerprint.as_bytes(),
            entry.outcome,
            entry.body,
        ])?;
    }
    Ok(Some(version))
}

/// Writes the record if it is as expected. `RETURNING` does its work only when the row is fetched, as
/// `query_row` does; a count of changed rows would still be 0 here.
fn write_record(conn: &Connection, commit: &Commit) -> rusqlite::Result<Option<Version>> {
    let returned = |row: &rusqlite::Row<'_>| version(row, 0, 1);
    match commit.expected {
        None => conn
            .prepare_cached(sql::INSERT_RECORD)?
            .query_row(params![commit.key, commit.body], returned),
        Some(expected) => {
            // No version in the file is that large, so none is equal.
            let Ok(number) = i64::try_from(expected.number) else {
                return Ok(None);
            };
            conn.prepare_cached(sql::UPDATE_RECORD)?.query_row(
                params![commit.key, commit.body, number, expected.stamp],
                returned,
            )
        }
    }
    .optional()
}
