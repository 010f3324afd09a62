//! The handle, and what it is to Ferry.

use std::{fmt, marker::PhantomData, sync::Arc};

use ferry_core::{Commit, CommitError, Fault, Record, RecordOf, Schema, drive::Store};
use serde::{Serialize, de::DeserializeOwned};
use tokio_postgres::types::Type;

use crate::{
    Audit, Entry, OpenError, Options, Part, PostgresError, Stats, Stored, Version,
    codec::{self, Entries, check_size, check_text},
    pool::{Param, Pool},
    sql::Statements,
    sqlstate::Unanswered,
    tally::Tally,
};

/// A store in a PostgreSQL database: a record per key with a body `B`, an entry per applied input with the
/// outcome `O` that its caller was told, and, where it has views, the key's [`View`](crate::View) `V`.
///
/// A handle is cheap to clone; all clones share the connections. These are closed when the last is
/// dropped.
///
/// Its calls need a Tokio runtime, and end: after waiting for a connection, opening one, and waiting for
/// the answer, each bounded by an option.
///
/// # Cancel safety
///
/// The future of a read can be dropped at any time. That of a commit as well, but then it is open whether
/// the commit landed, and it may still land for as long as the statement time-out. That of a
/// projection likewise: the view is then written, or the record stays pending. A connection whose call
/// was dropped is closed.
pub struct PostgresStore<B, O, V = ()> {
    shared: Arc<Shared>,
    types: Types<B, O, V>,
}

pub(crate) type Types<B, O, V> = PhantomData<fn() -> (B, O, V)>;

/// A record as a read gives it, whatever the view's type.
pub(crate) type StoredRecord<B, O> = Record<Stored<B, O>, Version>;

struct Shared {
    pool: Pool,
    statements: Statements,
    tally: Tally,
}

impl<B, O, V> PostgresStore<B, O, V> {
    /// Connects with the default [`Options`], and creates the tables if the schema has none.
    ///
    /// # Errors
    ///
    /// See [`OpenError`]. A schema that is refused has not been changed.
    ///
    /// # Panics
    ///
    /// Outside of a Tokio runtime.
    ///
    /// # Cancel safety
    ///
    /// The tables are there, or they are not.
    pub async fn connect(url: &str) -> Result<Self, OpenError> {
        Options::new().connect(url).await
    }

    pub(crate) fn new(pool: Pool, statements: Statements) -> Self {
        Self {
            shared: Arc::new(Shared {
                pool,
                statements,
                tally: Tally::default(),
            }),
            types: PhantomData,
        }
    }

    /// The schema that the tables are in.
    #[must_use]
    pub fn schema(&self) -> &str {
        &self.shared.statements.schema
    }

    /// What the store has done since it was opened.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared.tally.stats()
    }

    /// Everything that is stored, as it is now, on a connection that is kept for it.
    ///
    /// # Errors
    ///
    /// As a read.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost.
    pub async fn audit(&self) -> Result<Audit<B, O, V>, PostgresError> {
        Audit::begin(self.clone()).await
    }

    pub(crate) fn pool(&self) -> &Pool {
        &self.shared.pool
    }

    pub(crate) fn statements(&self) -> &Statements {
        &self.shared.statements
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.shared.tally
    }
}

impl<B, O, V> Clone for PostgresStore<B, O, V> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            types: PhantomData,
        }
    }
}

impl<B, O, V> fmt::Debug for PostgresStore<B, O, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore")
            .field("schema", &self.schema())
            .field("pool", &self.shared.pool)
            .finish_non_exhaustive()
    }
}

impl<B, O, V> Schema for PostgresStore<B, O, V> {
    type Key = String;
    type Id = String;
    type State = Stored<B, O>;
    type Version = Version;
    type Entry = Entry<O>;
    type Error = PostgresError;
}

impl<B, O, V> Store for PostgresStore<B, O, V>
where
    B: Serialize + DeserializeOwned + Send + Sync + 'static,
    O: Serialize + DeserializeOwned + Send + Sync + 'static,
    V: 'static,
{
    async fn read(
        &self,
        key: &String,
        ids: &[String],
    ) -> Result<Option<RecordOf<Self>>, Fault<PostgresError>> {
        check_text(key, Part::Key, key).map_err(Fault::permanent)?;
        for id in ids {
            check_text(key, Part::Id, id).map_err(Fault::permanent)?;
        }
        let params: [Param<'_>; 2] = [(key, Type::TEXT), (&ids, Type::TEXT_ARRAY)];
        let rows = self.pool().read(&self.statements().read, &params).await?;
        codec::record(key, &rows)
    }

    async fn commit(
        &self,
        key: &String,
        commit: Commit<'_, Self>,
    ) -> Result<Version, CommitError<PostgresError>> {
        let result = self.write(key, commit).await;
        self.tally().committed(&result);
        result
    }
}

impl<B: Serialize, O: Serialize, V> PostgresStore<B, O, V> {
    async fn write(
        &self,
        key: &str,
        commit: Commit<'_, Self>,
    ) -> Result<Version, CommitError<PostgresError>> {
        let (body, entries) = encode(key, commit).map_err(Fault::permanent)?;
        let expected = commit
            .expected
            .filter(|version| **version != Version::ABSENT);
        let expected = match expected.map(|version| codec::columns(*version)) {
            // No version in the table is that large, so none is equal.
            Some(None) => return Err(CommitError::Refused),
            Some(Some(columns)) => Some(columns),
            None => None,
        };
        let mut params: Vec<Param<'_>> = vec![
            (&key, Type::TEXT),
            (&body, Type::TEXT),
            (&entries.ids, Type::TEXT_ARRAY),
            (&entries.fingerprints, Type::BYTEA_ARRAY),
            (&entries.outcomes, Type::TEXT_ARRAY),
            (&entries.bodies, Type::BYTEA_ARRAY),
        ];
        let sql = match &expected {
            None => &self.statements().commit_new,
            Some((number, stamp)) => {
                params.extend([(number as _, Type::INT8), (stamp as _, Type::UUID)]);
                &self.statements().commit
            }
        };
        let lent = self.pool().lend().await?;
        match lent.ask(sql, &params).await {
            Ok(rows) => match rows.first() {
                Some(row) => committed(key, row),
                None => Err(CommitError::Refused),
            },
            Err(unanswered) => Err(blame(unanswered, key, &entries)),
        }
    }
}

fn encode<'a, B: Serialize, O: Serialize, V>(
    key: &str,
    commit: Commit<'a, PostgresStore<B, O, V>>,
) -> Result<(Option<String>, Entries<'a>), PostgresError> {
    check_text(key, Part::Key, key)?;
    let body = commit.state.body.as_ref();
    let body = body
        .map(|body| codec::format(key, Part::Body, body))
        .transpose()?;
    let entries = Entries::of(key, commit.entries)?;
    check_size(key, body.as_ref().map_or(0, String::len) + entries.bytes())?;
    Ok((body, entries))
}

/// The version that a commit has landed as; in doubt if that cannot be read.
fn committed(key: &str, row: &tokio_postgres::Row) -> Result<Version, CommitError<PostgresError>> {
    codec::version(key, Part::Version, row, 0).map_err(|fault| CommitError::InDoubt(fault.error))
}

/// What went wrong with a commit. An id that is stored already undoes all of it; the read was not asked
/// about the id, or the batch has it twice.
fn blame(unanswered: Unanswered, key: &str, entries: &Entries<'_>) -> CommitError<PostgresError> {
    match unanswered.violated() {
        Some("ferry_entry_id") => match entries.repeated_id() {
            Some(id) => Fault::permanent(PostgresError::RepeatedId {
                key: key.to_owned(),
                id,
            })
            .into(),
            None => CommitError::Refused,
        },
        // Somebody has added entries and left the version as it was; there is another place by now.
        Some("ferry_entry_seq") => CommitError::Refused,
        _ => unanswered.of_write(),
    }
}
