//! A thread that reads.

use std::sync::Arc;

use crossbeam_channel::Receiver;
use ferry_core::Fault;
use rusqlite::{Connection, OptionalExtension, Row};

use crate::{
    Fingerprint, Part, SqliteError, Version,
    connection::File,
    error::{fault, reading},
    queue::{Found, Read, ReadResult},
    sql,
};

/// The most reads that share a transaction, so that the other threads get their part.
const SHARED_MAX: usize = 32;

/// Serves reads until every handle is gone and the queue is empty.
pub(crate) fn run(file: &File, conn: Connection, queue: &Receiver<Read>) {
    let mut conn = Some(conn);
    while let Ok(first) = queue.recv() {
        let mut reads = vec![first];
        reads.extend(queue.try_iter().take(SHARED_MAX - 1));
        conn = match conn.map_or_else(|| file.reader(), Ok) {
            Ok(conn) => serve(&conn, reads).then_some(conn),
            Err(error) => fail(reads, error),
        };
    }
}

/// Answers some reads from one snapshot, and says whether the connection is still good.
///
/// The snapshot begins here, after all of the requests have come, so each of them sees every commit
/// that was answered before it was made.
fn serve(conn: &Connection, reads: Vec<Read>) -> bool {
    let snapshot = match conn.unchecked_transaction() {
        Ok(snapshot) => snapshot,
        Err(error) => return fail::<()>(reads, error).is_some(),
    };
    let mut good = true;
    for read in reads {
        let found = find(&snapshot, &read.key, read.ids);
        good &= !matches!(&found, Err(fault) if fault.error.spoils_connection());
        // A caller that no longer listens is no reason to stop.
        let _gone = read.answer.send(found);
    }
    good
}

/// Answers all of them with the error that kept them from being tried.
fn fail<T>(reads: Vec<Read>, error: rusqlite::Error) -> Option<T> {
    let error = Arc::new(error);
    for read in reads {
        let _gone = read.answer.send(Err(fault(Arc::clone(&error))));
    }
    None
}

fn find(snapshot: &Connection, key: &str, ids: Vec<String>) -> ReadResult {
    let record = snapshot
        .prepare_cached(sql::READ_RECORD)
        .map_err(fault)?
        .query_row([key], |row| Ok(record(row, key)))
        .optional()
        .map_err(fault)?
        .transpose()?;
    let mut known = Vec::new();
    for id in ids {
        let stored = snapshot
            .prepare_cached(sql::READ_ENTRY)
            .map_err(fault)?
            .query_row([key, &id], |row| {
                Ok((
                    Fingerprint::from(row.get::<_, [u8; 16]>(0)?),
                    bytes(row, 1)?,
                ))
            })
            .optional()
            .map_err(|error| reading(error, key, Part::Entry))?;
        known.extend(stored.map(|(fingerprint, outcome)| (id, fingerprint, outcome)));
    }
    Ok(Found { record, known })
}

type StoredRecord = (Version, Option<Vec<u8>>);

fn record(row: &Row<'_>, key: &str) -> Result<StoredRecord, Fault<SqliteError>> {
    let version = version(row, 0, 1).map_err(|error| reading(error, key, Part::Version))?;
    let body = optional_bytes(row, 2).map_err(|error| reading(error, key, Part::Body))?;
    Ok((version, body))
}

/// The version in these two columns.
pub(crate) fn version(row: &Row<'_>, number: usize, stamp: usize) -> rusqlite::Result<Version> {
    let counted: i64 = row.get(number)?;
    let number = u64::try_from(counted)
        .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(number, counted))?;
    Ok(Version {
        number,
        stamp: row.get(stamp)?,
    })
}

/// The bytes of a column of text, whatever they are: what is no UTF-8 fails where it is decoded.
pub(crate) fn bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<u8>> {
    Ok(row.get_ref(column)?.as_bytes()?.to_vec())
}

/// As [`bytes`], where the column may hold nothing.
pub(crate) fn optional_bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Vec<u8>>> {
    let bytes = row.get_ref(column)?.as_bytes_or_null()?;
    Ok(bytes.map(<[u8]>::to_vec))
}
