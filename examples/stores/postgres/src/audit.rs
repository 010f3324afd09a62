//! Reading everything, apart from the store's calls.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use deadpool_postgres::ClientWrapper;
use ferry_core::{Fault, RecordOf};
use serde::de::DeserializeOwned;
use tokio_postgres::Row;

use crate::{Entry, Known, Part, PostgresError, PostgresStore, Shown, codec, sqlstate::Unanswered};

/// How many rows are fetched at a time.
const ROWS: u32 = 1000;

/// The whole store at one moment: everything read through it is of the same commit.
///
/// For an audit, an export, a report. It takes as long as it takes: the store's time-outs are not for it.
/// While it lives the server keeps what has been replaced since, so keep it no longer than needed.
///
/// Its methods hold a thousand rows at a time. The first that fails on the server's account is the last that
/// succeeds: begin another.
///
/// # Cancel safety
///
/// The futures of its methods can be dropped at any time.
pub struct Audit<B, O, V = ()> {
    client: ClientWrapper,
    store: PostgresStore<B, O, V>,
    cursors: AtomicU32,
}

impl<B, O, V> Audit<B, O, V> {
    pub(crate) async fn begin(store: PostgresStore<B, O, V>) -> Result<Self, PostgresError> {
        let lent = store.pool().lend().await.map_err(|fault| fault.error)?;
        let client = lent.keep();
        // A transaction sees the tables as of its first read, so it reads at once.
        client
            .batch_execute(
                "SET lock_timeout = 0; SET statement_timeout = 0;
                 BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1;",
            )
            .await
            .map_err(failed)?;
        Ok(Self {
            client,
            store,
            cursors: AtomicU32::new(0),
        })
    }

    /// Calls `visit` with each key and its record, by key. No ids were asked about, so none are known.
    ///
    /// # Errors
    ///
    /// As a read; [`PostgresError::Undecodable`] names the key. What came before has been visited.
    pub async fn for_each_record(
        &self,
        mut visit: impl FnMut(&str, RecordOf<PostgresStore<B, O, V>>),
    ) -> Result<(), PostgresError>
    where
        B: DeserializeOwned,
    {
        let sql = &self.store.statements().all_records;
        self.each(sql, |row| {
            let key = codec::column("", Part::Key, row, 5)?;
            visit(key, codec::stored(key, row, Known::default())?);
            Ok(())
        })
        .await
    }

    /// Calls `visit` with the key, the place among the key's entries (from 1, in the order in which they
    /// were applied) and the entry: by key, then by place.
    ///
    /// # Errors
    ///
    /// As a read; [`PostgresError::Undecodable`] names the key. What came before has been visited.
    pub async fn for_each_entry(
        &self,
        mut visit: impl FnMut(&str, u64, Entry<O>),
    ) -> Result<(), PostgresError>
    where
        O: DeserializeOwned,
    {
        let sql = &self.store.statements().all_entries;
        self.each(sql, |row| {
            let key = codec::column("", Part::Key, row, 0)?;
            let place = codec::counted(key, Part::Entry, row, 1)?;
            visit(key, place, codec::entry(key, row, 2)?);
            Ok(())
        })
        .await
    }

    /// Calls `visit` with each key and its view, by key. A view shows all of the key's record if it has that
    /// record's version.
    ///
    /// # Errors
    ///
    /// As a read; [`PostgresError::Undecodable`] names the key. What came before has been visited.
    pub async fn for_each_view(
        &self,
        mut visit: impl FnMut(&str, Shown<V>),
    ) -> Result<(), PostgresError>
    where
        V: DeserializeOwned,
    {
        let sql = &self.store.statements().all_views;
        self.each(sql, |row| {
            let key = codec::column("", Part::Key, row, 0)?;
            visit(key, codec::shown(key, row)?);
            Ok(())
        })
        .await
    }

    async fn each(
        &self,
        sql: &str,
        mut visit: impl FnMut(&Row) -> Result<(), Fault<PostgresError>>,
    ) -> Result<(), PostgresError> {
        // A name for each, since one that was left in the middle is still open.
        let number = self.cursors.fetch_add(1, Ordering::Relaxed);
        let declare = format!("DECLARE ferry_{number} NO SCROLL CURSOR FOR {sql}");
        self.client.batch_execute(&declare).await.map_err(failed)?;
        let fetch = format!("FETCH {ROWS} FROM ferry_{number}");
        loop {
            let rows = self.client.query_typed(&fetch, &[]).await.map_err(failed)?;
            if rows.is_empty() {
                break;
            }
            for row in &rows {
                visit(row).map_err(|fault| fault.error)?;
            }
        }
        let close = format!("CLOSE ferry_{number}");
        self.client.batch_execute(&close).await.map_err(failed)
    }
}

fn failed(error: tokio_postgres::Error) -> PostgresError {
    Unanswered::Failed(Arc::new(error)).of_read().error
}

impl<B, O, V> fmt::Debug for Audit<B, O, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audit")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}
