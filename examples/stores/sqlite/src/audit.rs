//! Reading the whole file, apart from the store's own threads.

use std::{fmt, marker::PhantomData, sync::Arc};

use ferry_core::Fault;
use rusqlite::{Connection, Row};
use serde::de::DeserializeOwned;

use crate::{
    Entry, Fingerprint, Part, SqliteError, Version,
    connection::File,
    error::{named, reading, undecodable},
    reader::{bytes, optional_bytes, version},
    sql,
    store::parse,
};

/// The whole file at one moment: everything read through it is of the same commit.
///
/// For an audit, an export, a report. Its methods block. While it lives, the file's log cannot be
/// folded back into the file and grows, so keep it no longer than needed.
pub struct Audit<B, O> {
    conn: Connection,
    types: PhantomData<fn() -> (B, O)>,
}

impl<B, O> Audit<B, O> {
    pub(crate) fn begin(file: &File) -> Result<Self, SqliteError> {
        let begin = || {
            let conn = file.reader()?;
            // A transaction sees the file as of its first read, so it reads at once.
            conn.execute_batch("BEGIN; SELECT count(*) FROM sqlite_schema;")?;
            Ok(conn)
        };
        let conn = begin().map_err(|error: rusqlite::Error| named(Arc::new(error)))?;
        Ok(Self {
            conn,
            types: PhantomData,
        })
    }

    /// Every record, by key: its version, and its body if it has one.
    ///
    /// # Errors
    ///
    /// As a read; [`SqliteError::Undecodable`] names the key.
    pub fn records(&self) -> Result<Vec<(String, Version, Option<B>)>, SqliteError>
    where
        B: DeserializeOwned,
    {
        let mut records = Vec::new();
        self.each(sql::ALL_RECORDS, |key, row| {
            let version = version(row, 1, 2).map_err(|error| reading(error, key, Part::Version))?;
            let body = optional_bytes(row, 3).map_err(|error| reading(error, key, Part::Body))?;
            let body = body.map(|json| parse(key, Part::Body, &json)).transpose()?;
            records.push((key.to_owned(), version, body));
            Ok(())
        })?;
        Ok(records)
    }

    /// Calls `visit` with the key, the place among the key's entries (from 1, in the order in which they
    /// were applied) and the entry: by key, then by place.
    ///
    /// # Errors
    ///
    /// As a read; [`SqliteError::Undecodable`] names the key. What came before has been visited.
    pub fn for_each_entry(
        &self,
        mut visit: impl FnMut(&str, u64, Entry<O>),
    ) -> Result<(), SqliteError>
    where
        O: DeserializeOwned,
    {
        self.each(sql::ALL_ENTRIES, |key, row| {
            let columns = || {
                let seq: i64 = row.get(1)?;
                let seq = u64::try_from(seq)
                    .map_err(|_| rusqlite::Error::IntegralValueOutOfRange(1, seq))?;
                let fingerprint = Fingerprint::from(row.get::<_, [u8; 16]>(3)?);
                Ok((
                    seq,
                    row.get(2)?,
                    fingerprint,
                    bytes(row, 4)?,
                    bytes(row, 5)?,
                ))
            };
            let (seq, id, fingerprint, outcome, body) =
                columns().map_err(|error| reading(error, key, Part::Entry))?;
            let outcome = parse(key, Part::Outcome, &outcome)?;
            visit(
                key,
                seq,
                Entry {
                    id,
                    fingerprint,
                    outcome,
                    body,
                },
            );
            Ok(())
        })
    }

    fn each(
        &self,
        sql: &str,
        mut visit: impl FnMut(&str, &Row<'_>) -> Result<(), Fault<SqliteError>>,
    ) -> Result<(), SqliteError> {
        let failed = |error: rusqlite::Error| named(Arc::new(error));
        let mut statement = self.conn.prepare_cached(sql).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            let key = bytes(row, 0).map_err(failed)?;
            let key = str::from_utf8(&key).map_err(|error| {
                undecodable(&String::from_utf8_lossy(&key), Part::Key, Arc::new(error))
            })?;
            visit(key, row).map_err(|fault| fault.error)?;
        }
        Ok(())
    }
}

impl<B, O> fmt::Debug for Audit<B, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit")
            .field("path", &self.conn.path())
            .finish_non_exhaustive()
    }
}
