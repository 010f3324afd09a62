//! One write of a group, in a savepoint of its own.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, Savepoint, ffi, params};

use crate::{
    SqliteError, Version,
    error::extended_code,
    queue::{Commit, Projection, Write},
    rows::version,
    sql,
};

/// What became of a member, provided that its group is committed.
pub(crate) enum Verdict {
    Landed(Version),
    Refused,
    Failed(SqliteError),
}

/// Writes it, and undoes it in its savepoint unless it lands.
pub(crate) fn write(savepoint: Savepoint<'_>, write: &Write) -> rusqlite::Result<Verdict> {
    let landed = match write {
        Write::Commit(commit) => self::commit(&savepoint, commit),
        Write::Projection(projection) => project(&savepoint, projection),
    };
    match landed {
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
            blame(error, write)
        }
    }
}

/// What an error means for the member that met it, where it is this member's own.
fn blame(error: rusqlite::Error, write: &Write) -> rusqlite::Result<Verdict> {
    match extended_code(&error) {
        // The only unique key beside the primary ones is that of an entry's id. A read will find it.
        ffi::SQLITE_CONSTRAINT_UNIQUE => Ok(match repeated_id(write) {
            Some(id) => Verdict::Failed(SqliteError::RepeatedId {
                key: write.key().to_owned(),
                id,
            }),
            None => Verdict::Refused,
        }),
        code => match code & 0xff {
            ffi::SQLITE_TOOBIG => Ok(Verdict::Failed(SqliteError::TooLarge {
                key: write.key().to_owned(),
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

fn repeated_id(write: &Write) -> Option<String> {
    let Write::Commit(commit) = write else {
        return None;
    };
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

/// The commit itself; `None` when the fence does not hold.
fn commit(conn: &Connection, commit: &Commit) -> rusqlite::Result<Option<Version>> {
    let Some(version) = write_record(conn, commit)? else {
        return Ok(None);
    };
    let mut seq: i64 = conn
        .prepare_cached(sql::LAST_SEQ)?
        .query_row([&commit.key], |row| row.get(0))?;
    let mut insert = conn.prepare_cached(sql::INSERT_ENTRY)?;
    for entry in &commit.entries {
        seq = seq
            .checked_add(1)
            .ok_or(rusqlite::Error::IntegralValueOutOfRange(0, seq))?;
        insert.execute(params![
            commit.key,
            seq,
            entry.id,
            entry.fingerprint.to_bytes(),
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
            let Some(number) = in_file(expected.number) else {
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

/// The projection itself; `None` when the fence does not hold.
fn project(conn: &Connection, projection: &Projection) -> rusqlite::Result<Option<Version>> {
    let owing = &projection.owing;
    let (version, marker) = (owing.version, owing.marker);
    let numbers = (
        in_file(version.number),
        in_file(marker.number),
        in_file(projection.entries),
    );
    let (Some(number), Some(marker_number), Some(entries)) = numbers else {
        return Ok(None);
    };
    let moved = conn.prepare_cached(sql::MOVE_MARKER)?.execute(params![
        owing.key,
        number,
        version.stamp,
        marker_number,
        marker.stamp,
    ])?;
    if moved == 0 {
        return Ok(None);
    }
    conn.prepare_cached(sql::PUT_VIEW)?.execute(params![
        owing.key,
        number,
        version.stamp,
        entries,
        projection.body,
    ])?;
    Ok(Some(version))
}

/// The number as the file would hold it. No number in the file is larger, so that nothing equals one
/// that is.
fn in_file(number: u64) -> Option<i64> {
    i64::try_from(number).ok()
}
