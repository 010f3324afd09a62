//! The stores that a ledger can be kept in, as one.

use std::{fmt, fs};

use anyhow::{Context, Result, bail};
#[cfg(feature = "postgres")]
use ferry_postgres::{PostgresError, PostgresStore};
use ferry_sqlite::{SqliteError, SqliteStore};
use ferry_stored::{Entry, Shown, Stored, Version};
use ferry_tokio::{
    Commit, CommitError, Coverage, Fault, ProjectResult, ProjectedStore, RecordOf, Schema,
};

use crate::{
    between::Between,
    file,
    fold::{Account, Receipt},
    place::Place,
    statement::Statement,
};

/// A ledger in one SQLite file.
pub type InFile = SqliteStore<Account, Receipt, Statement>;

/// A ledger in a schema of a PostgreSQL database.
#[cfg(feature = "postgres")]
pub type InDatabase = PostgresStore<Account, Receipt, Statement>;

/// A ledger: a record and a statement per account, an entry per applied posting. Cheap to clone; all clones
/// are one.
#[derive(Clone, Debug)]
pub struct Store {
    kind: Kind,
    between: Between,
}

/// The store itself.
#[derive(Clone, Debug)]
pub enum Kind {
    /// One SQLite file.
    File(InFile),
    /// A PostgreSQL database.
    #[cfg(feature = "postgres")]
    Database(InDatabase),
}

/// What to do where there is no ledger.
#[derive(Clone, Copy, PartialEq, Eq)]
enum IfMissing {
    Make,
    Tell,
}

/// How the store fails.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The SQLite file.
    File(SqliteError),
    /// The PostgreSQL database.
    #[cfg(feature = "postgres")]
    Database(PostgresError),
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(error) => error.fmt(f),
            #[cfg(feature = "postgres")]
            Self::Database(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StoreError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // The message has told the error itself.
            Self::File(error) => error.source(),
            #[cfg(feature = "postgres")]
            Self::Database(error) => error.source(),
        }
    }
}

impl Store {
    /// Opens the ledger, or makes it where there is none.
    ///
    /// A file blocks while it opens, up to 5 s where it is locked.
    ///
    /// # Errors
    ///
    /// Says what is the matter with the place, and what to do about it.
    pub async fn open(place: &Place) -> Result<Self> {
        Self::open_or(place, IfMissing::Make).await
    }

    /// Opens the ledger if there is one.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); and where there is none.
    pub async fn open_existing(place: &Place) -> Result<Self> {
        Self::open_or(place, IfMissing::Tell).await
    }

    async fn open_or(place: &Place, if_missing: IfMissing) -> Result<Self> {
        let kind = match place {
            Place::File(path) => {
                let is_there = fs::metadata(path).is_ok_and(|file| file.len() > 0);
                if if_missing == IfMissing::Tell && !is_there {
                    bail!("there is no ledger at {place}: name its file with --file");
                }
                Kind::File(InFile::open(path)?)
            }
            #[cfg(feature = "postgres")]
            Place::Postgres { url, schema } => {
                Kind::Database(database(url, schema, if_missing).await?)
            }
            #[cfg(not(feature = "postgres"))]
            Place::Postgres { .. } => bail!(
                "this program was built without PostgreSQL: build it with --features postgres"
            ),
        };
        Ok(Self {
            kind,
            between: Between::default(),
        })
    }

    /// Sees that it can be written at this moment. A file blocks, up to 5 s where it is locked.
    ///
    /// # Errors
    ///
    /// Says what is the matter with it, and what to do about it.
    pub fn check(&self) -> Result<()> {
        match &self.kind {
            Kind::File(store) => file::check(store),
            // It has answered, or it would not be open.
            #[cfg(feature = "postgres")]
            Kind::Database(_) => Ok(()),
        }
    }

    /// The store itself.
    #[must_use]
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// The moment between its commits and their projections.
    #[must_use]
    pub fn between(&self) -> &Between {
        &self.between
    }

    /// How often the disk was synced for it, if it can tell.
    #[must_use]
    pub fn syncs(&self) -> Option<u64> {
        match &self.kind {
            Kind::File(store) => Some(store.stats().transactions),
            #[cfg(feature = "postgres")]
            Kind::Database(_) => None,
        }
    }

    /// An account's statement, as its readers see it; `None` while there is none.
    ///
    /// # Errors
    ///
    /// As a read.
    pub async fn statement(
        &self,
        account: &str,
    ) -> Result<Option<Shown<Statement>>, Fault<StoreError>> {
        match &self.kind {
            Kind::File(store) => store.view(account).await.map_err(in_file),
            #[cfg(feature = "postgres")]
            Kind::Database(store) => store.view(account).await.map_err(in_database),
        }
    }

    /// The accounts that come after this one, in their order, and whose statements lack something; so many
    /// at most.
    ///
    /// # Errors
    ///
    /// As a read.
    pub async fn pending_after(
        &self,
        account: &str,
        limit: usize,
    ) -> Result<Vec<String>, Fault<StoreError>> {
        match &self.kind {
            Kind::File(store) => store.pending_after(account, limit).await.map_err(in_file),
            #[cfg(feature = "postgres")]
            Kind::Database(store) => {
                let pending = store.pending_after(account, limit).await;
                pending.map_err(in_database)
            }
        }
    }

    /// All accounts whose statements lack something.
    ///
    /// # Errors
    ///
    /// As a read.
    pub async fn pending(&self) -> Result<Vec<String>> {
        const PAGE: usize = 1000;
        let mut all = Vec::new();
        loop {
            let last = all.last().map_or("", String::as_str);
            let page = self.pending_after(last, PAGE).await;
            let page = page.context("cannot look for late statements")?;
            let is_last = page.len() < PAGE;
            all.extend(page);
            if is_last {
                return Ok(all);
            }
        }
    }

    /// Gives up this handle. If it was the last, blocks until what is queued has been written.
    pub fn close(self) {
        match self.kind {
            Kind::File(store) => store.close(),
            #[cfg(feature = "postgres")]
            Kind::Database(_) => {}
        }
    }
}

/// How many connections a node has: enough to share syncs, few enough for several nodes on one server.
#[cfg(feature = "postgres")]
const CONNECTIONS: usize = 8;

#[cfg(feature = "postgres")]
async fn database(
    url: &crate::place::Url,
    schema: &Option<String>,
    if_missing: IfMissing,
) -> Result<InDatabase> {
    let mut options = ferry_postgres::Options::new()
        .connections(CONNECTIONS)
        .create(if_missing == IfMissing::Make);
    if let Some(schema) = schema {
        options = options.schema(schema);
    }
    Ok(options.connect(url.as_str()).await?)
}

#[cfg(feature = "postgres")]
fn in_database(fault: Fault<PostgresError>) -> Fault<StoreError> {
    fault.map(StoreError::Database)
}

fn in_file(fault: Fault<SqliteError>) -> Fault<StoreError> {
    fault.map(StoreError::File)
}

impl Schema for Store {
    type Key = String;
    type Id = String;
    type State = Stored<Account, Receipt>;
    type Version = Version;
    type Entry = Entry<Receipt>;
    type Error = StoreError;
}

impl ferry_tokio::Store for Store {
    async fn read(
        &self,
        account: &String,
        ids: &[String],
    ) -> Result<Option<RecordOf<Self>>, Fault<StoreError>> {
        match &self.kind {
            Kind::File(store) => store.read(account, ids).await.map_err(in_file),
            #[cfg(feature = "postgres")]
            Kind::Database(store) => store.read(account, ids).await.map_err(in_database),
        }
    }

    async fn commit(
        &self,
        account: &String,
        commit: Commit<'_, Self>,
    ) -> Result<Version, CommitError<StoreError>> {
        let Commit {
            expected,
            state,
            entries,
        } = commit;
        match &self.kind {
            Kind::File(store) => {
                let commit = Commit {
                    expected,
                    state,
                    entries,
                };
                let committed = store.commit(account, commit).await;
                committed.map_err(|error| error.map(StoreError::File))
            }
            #[cfg(feature = "postgres")]
            Kind::Database(store) => {
                let commit = Commit {
                    expected,
                    state,
                    entries,
                };
                let committed = store.commit(account, commit).await;
                committed.map_err(|error| error.map(StoreError::Database))
            }
        }
    }
}

impl ProjectedStore for Store {
    type View = ();

    async fn project(
        &self,
        account: &String,
        record: &RecordOf<Self>,
    ) -> ProjectResult<(), StoreError> {
        self.between.pass().await;
        match &self.kind {
            Kind::File(store) => match store.project(account, record).await {
                Ok(coverage) => Ok(Coverage::map_err(coverage, StoreError::File)),
                Err(error) => Err(error.map(StoreError::File)),
            },
            #[cfg(feature = "postgres")]
            Kind::Database(store) => match store.project(account, record).await {
                Ok(coverage) => Ok(Coverage::map_err(coverage, StoreError::Database)),
                Err(error) => Err(error.map(StoreError::Database)),
            },
        }
    }
}
