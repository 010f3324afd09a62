//! Reading everything, apart from the store's calls.

use std::{fmt, sync::Arc};

use deadpool_postgres::ClientWrapper;
use ferry_core::Fault;
use serde::de::DeserializeOwned;
use tokio_postgres::Row;

use crate::{
    Entry, Known, Part, PostgresError, PostgresStore, Shown, StoredRecord, codec, sql,
    sqlstate::Unanswered,
};

/// The whole store at one moment: everything read through it is of the same commit.
///
/// For an audit, an export, a report. It takes as long as it takes: the store's time-outs are not for it.
/// While it lives the server keeps what has been replaced since, so keep it no longer than needed.
///
/// # Cancel safety
///
/// The futures of its methods can be dropped at any time, and the audit with them.
pub struct Audit<B, O, V = ()> {
    client: ClientWrapper,
    store: PostgresStore<B, O, V>,
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
        Ok(Self { client, store })
    }

    /// Every record, by key: its version, its marker, and its body if it has one. No ids were asked about,
    /// so none are known.
    ///
    /// # Errors
    ///
    /// As a read; [`PostgresError::Undecodable`] names the key.
    pub async fn records(&self) -> Result<Vec<(String, StoredRecord<B, O>)>, PostgresError>
    where
        B: DeserializeOwned,
    {
        self.all(&self.store.statements().all_records, 5, |key, row| {
            codec::stored(key, row, Known::default())
        })
        .await
    }

    /// Every view, by key. It shows all of the key's record if it has that record's version.
    ///
    /// # Errors
    ///
    /// As a read; [`PostgresError::Undecodable`] names the key.
    pub async fn views(&self) -> Result<Vec<(String, Shown<V>)>, PostgresError>
    where
        V: DeserializeOwned,
    {
        self.all(&self.store.statements().all_views, 0, codec::shown)
            .await
    }

    /// Calls `visit` with the key, the place among the key's entries (from 1, in the order in which they
    /// were applied) and the entry: by key, then by place. Holds a thousand of them at a time.
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
        let declare = &self.store.statements().all_entries;
        self.client.batch_execute(declare).await.map_err(failed)?;
        loop {
            let rows = self.ask(sql::FETCH_ENTRIES).await?;
            if rows.is_empty() {
                break;
            }
            for row in &rows {
                let (key, place, entry) = entry(row).map_err(|fault| fault.error)?;
                visit(key, place, entry);
            }
        }
        let close = "CLOSE ferry_entries";
        self.client.batch_execute(close).await.map_err(failed)
    }

    async fn all<T>(
        &self,
        sql: &str,
        key: usize,
        decode: impl Fn(&str, &Row) -> Result<T, Fault<PostgresError>>,
    ) -> Result<Vec<(String, T)>, PostgresError> {
        let decode = |row: &Row| {
            let key: String = codec::column("", Part::Key, row, key)?;
            let value = decode(&key, row)?;
            Ok((key, value))
        };
        let rows = self.ask(sql).await?;
        let all = rows.iter().map(decode).collect::<Result<_, Fault<_>>>();
        all.map_err(|fault| fault.error)
    }

    async fn ask(&self, sql: &str) -> Result<Vec<Row>, PostgresError> {
        self.client.query_typed(sql, &[]).await.map_err(failed)
    }
}

fn entry<O: DeserializeOwned>(row: &Row) -> Result<(&str, u64, Entry<O>), Fault<PostgresError>> {
    let key: &str = codec::column("", Part::Key, row, 0)?;
    let place = codec::counted(key, Part::Entry, row, 1)?;
    Ok((key, place, codec::entry(key, row, 2)?))
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
