//! From the columns of a row to what it holds, not yet decoded.

use std::sync::Arc;

use rusqlite::Row;

use crate::{
    Fingerprint, Part, SqliteError, Version,
    error::{reading, undecodable},
    queue::{EntryRow, ReadResult, RecordRow, ViewRow},
};

/// The key, in the first column of every row.
pub(crate) fn key(row: &Row<'_>) -> Result<String, SqliteError> {
    let unreadable = |lossy: &str, error| undecodable(lossy, Part::Key, error);
    let key = bytes(row, 0).map_err(|error| unreadable("", Arc::new(error)))?;
    String::from_utf8(key).map_err(|error| {
        let lossy = String::from_utf8_lossy(error.as_bytes()).into_owned();
        unreadable(&lossy, Arc::new(error))
    })
}

/// A record's version and marker.
pub(crate) fn versions(row: &Row<'_>, key: &str) -> ReadResult<(Version, Version)> {
    let version = version(row, 1, 2).map_err(|error| reading(error, key, Part::Version))?;
    let marker = self::version(row, 3, 4).map_err(|error| reading(error, key, Part::Marker))?;
    Ok((version, marker))
}

pub(crate) fn record(row: &Row<'_>, key: &str) -> ReadResult<RecordRow> {
    let (version, marker) = versions(row, key)?;
    let body = row
        .get_ref(5)
        .and_then(|column| Ok(column.as_bytes_or_null()?.map(<[u8]>::to_vec)))
        .map_err(|error: rusqlite::Error| reading(error, key, Part::Body))?;
    Ok(RecordRow {
        version,
        marker,
        body,
    })
}

pub(crate) fn entry(row: &Row<'_>, key: &str) -> ReadResult<EntryRow> {
    let columns = || {
        Ok(EntryRow {
            seq: count(row, 1)?,
            id: row.get(2)?,
            fingerprint: Fingerprint::from(row.get::<_, [u8; 16]>(3)?),
            outcome: bytes(row, 4)?,
            body: bytes(row, 5)?,
        })
    };
    columns().map_err(|error| reading(error, key, Part::Entry))
}

pub(crate) fn view(row: &Row<'_>, key: &str) -> ReadResult<ViewRow> {
    let columns = || {
        Ok(ViewRow {
            version: version(row, 1, 2)?,
            entries: count(row, 3)?,
            body: bytes(row, 4)?,
        })
    };
    columns().map_err(|error| reading(error, key, Part::View))
}

/// The version in these two columns.
pub(crate) fn version(row: &Row<'_>, number: usize, stamp: usize) -> rusqlite::Result<Version> {
    Ok(Version {
        number: count(row, number)?,
        stamp: row.get(stamp)?,
    })
}

/// The bytes of a column of text, whatever they are: what is no UTF-8 fails where it is decoded.
pub(crate) fn bytes(row: &Row<'_>, column: usize) -> rusqlite::Result<Vec<u8>> {
    Ok(row.get_ref(column)?.as_bytes()?.to_vec())
}

fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let stored: i64 = row.get(column)?;
    u64::try_from(stored).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(column, stored))
}
