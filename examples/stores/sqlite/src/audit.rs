//! Reading the whole file, apart from the store's own threads.

use std::{fmt, marker::PhantomData, sync::Arc};

use ferry_core::{Fault, RecordOf};
use rusqlite::{Connection, Row};
use serde::de::DeserializeOwned;

use crate::{
    Entry, Known, Shown, SqliteError, SqliteStore, codec, connection::File, error::named, rows,
    sql, store::Types,
};

/// The whole file at one moment: everything read through it is of the same commit.
///
/// For an audit, an export, a report. Its methods block. While it lives, the file's log cannot be
/// folded back into the file and grows, so keep it no longer than needed.
pub struct Audit<B, O, V = ()> {
    conn: Connection,
    types: Types<B, O, V>,
}

impl<B, O, V> Audit<B, O, V> {
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

    /// Calls `visit` with each key and its record, by key. No ids were asked about, so none are known.
    ///
    /// # Errors
    ///
    /// As a read; [`SqliteError::Undecodable`] names the key. What came before has been visited.
    pub fn for_each_record(
        &self,
        mut visit: impl FnMut(&str, RecordOf<SqliteStore<B, O, V>>),
    ) -> Result<(), SqliteError>
    where
        B: DeserializeOwned,
    {
        self.each(sql::ALL_RECORDS, |key, row| {
            visit(
                key,
                codec::stored(key, rows::record(row, key)?, Known::default())?,
            );
            Ok(())
        })
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
            let row = rows::entry(row, key)?;
            let place = row.seq;
            visit(key, place, codec::entry(key, row)?);
            Ok(())
        })
    }

    /// Calls `visit` with each key and its view, by key. A view shows all of the key's record if it has that
    /// record's version.
    ///
    /// # Errors
    ///
    /// As a read; [`SqliteError::Undecodable`] names the key. What came before has been visited.
    pub fn for_each_view(&self, mut visit: impl FnMut(&str, Shown<V>)) -> Result<(), SqliteError>
    where
        V: DeserializeOwned,
    {
        self.each(sql::ALL_VIEWS, |key, row| {
            visit(key, codec::shown(key, rows::view(row, key)?)?);
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
            visit(&rows::key(row)?, row).map_err(|fault| fault.error)?;
        }
        Ok(())
    }
}

impl<B, O, V> fmt::Debug for Audit<B, O, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit")
            .field("path", &self.conn.path())
            .finish_non_exhaustive()
    }
}
