//! The store's few knobs.

use std::time::Duration;

use tokio_postgres::Config;

use crate::{OpenError, PostgresStore, layout, pool::Pool};

/// How a store uses its server. [`PostgresStore::connect`] takes the defaults.
///
/// ```no_run
/// use std::time::Duration;
///
/// # async fn connect() -> Result<(), ferry_postgres::OpenError> {
/// let store: ferry_postgres::PostgresStore<i64, i64> = ferry_postgres::Options::new()
///     .schema("accounts")
///     .connections(16)
///     .lock_timeout(Duration::from_millis(500))
///     .connect("postgres://app@db.example/bank")
///     .await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) schema: Option<String>,
    pub(crate) create: bool,
    pub(crate) connections: usize,
    pub(crate) wait_timeout: Duration,
    pub(crate) connect_timeout: Duration,
    pub(crate) lock_timeout: Duration,
    pub(crate) statement_timeout: Duration,
    pub(crate) answer_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            schema: None,
            create: true,
            connections: 8,
            wait_timeout: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(5),
            lock_timeout: Duration::from_secs(2),
            statement_timeout: Duration::from_secs(5),
            answer_timeout: Duration::from_secs(15),
        }
    }
}

/// What the server takes for a time-out, in milliseconds.
const TIMEOUT_MILLIS_MAX: u128 = 1_000_000_000;

impl Options {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The schema that the tables are in, created if it is not there. Several stores with different types
    /// find room in one database, each in a schema of its own.
    ///
    /// Default: the first of the connection's `search_path` that there is, usually `public`.
    #[must_use]
    pub fn schema(mut self, name: impl Into<String>) -> Self {
        self.schema = Some(name.into());
        self
    }

    /// Whether tables that are not there are created; otherwise they are told as missing.
    ///
    /// Default true. Without it, a program that only looks leaves a database by a mistyped name as it is.
    #[must_use]
    pub fn create(mut self, create: bool) -> Self {
        self.create = create;
        self
    }

    /// The most connections that are open at once. They are opened as they are needed, and opened again
    /// where they were lost.
    ///
    /// Default 8, from 1 to 1000. A call has a connection to itself, since one that waits for a lock would
    /// hold up all behind it. More: more commits share a sync of the server's disk, until its cores or its
    /// `max_connections` are used up. Fewer: calls wait for each other. Set Ferry's `max_in_flight` to about
    /// the same number, or calls queue here where it would be better to batch them.
    #[must_use]
    pub fn connections(mut self, most: usize) -> Self {
        self.connections = most;
        self
    }

    /// How long a call waits for one of the connections to be free before it fails as throttled.
    ///
    /// Default 30 s. Shorter: tells earlier that there is more in flight than the connections can carry.
    #[must_use]
    pub fn wait_timeout(mut self, timeout: Duration) -> Self {
        self.wait_timeout = timeout;
        self
    }

    /// How long a connection may take to open, password and all, before the call that wants it fails as
    /// transient.
    ///
    /// Default 5 s.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// How long the server lets a statement wait for a lock, e.g. for a transaction that another program
    /// holds open on the record.
    ///
    /// Default 2 s. The call then fails as transient; it has written nothing. Shorter: more retries. Longer:
    /// more connections are taken up by waiting.
    #[must_use]
    pub fn lock_timeout(mut self, timeout: Duration) -> Self {
        self.lock_timeout = timeout;
        self
    }

    /// How long the server lets a statement take, waiting included. Longer than the lock time-out.
    ///
    /// Default 5 s. The call then fails as transient; it has written nothing.
    #[must_use]
    pub fn statement_timeout(mut self, timeout: Duration) -> Self {
        self.statement_timeout = timeout;
        self
    }

    /// How long an answer is waited for before the connection is given up. Longer than the statement
    /// time-out, so that it is the server that ends what is slow and says so.
    ///
    /// Default 15 s. What runs into this met a network or a server that is gone without a word, and a commit
    /// among it is in doubt.
    #[must_use]
    pub fn answer_timeout(mut self, timeout: Duration) -> Self {
        self.answer_timeout = timeout;
        self
    }

    /// Connects, and creates the tables if the schema has none.
    ///
    /// The URL, or list of `key=value`, is that of
    /// [`tokio_postgres::Config`](https://docs.rs/tokio-postgres/latest/tokio_postgres/config/struct.Config.html).
    /// Settings in its `options` win over those of this store.
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
    pub async fn connect<B, O, V>(&self, url: &str) -> Result<PostgresStore<B, O, V>, OpenError> {
        self.check()?;
        let config: Config = url.parse().map_err(OpenError::Url)?;
        let pool = Pool::new(self, config)?;
        let statements = layout::prepare(&pool, self.schema.as_deref(), self.create).await?;
        Ok(PostgresStore::new(pool, statements))
    }

    fn check(&self) -> Result<(), OpenError> {
        let is_timeout =
            |timeout: Duration| (1..=TIMEOUT_MILLIS_MAX).contains(&timeout.as_millis());
        let millis = "from 1 ms to 1000000 s";
        let name_len = self.schema.as_ref().map_or(1, String::len);
        let has_nul = self.schema.as_ref().is_some_and(|name| name.contains('\0'));
        let in_bounds = [
            (
                "schema",
                "from 1 to 63 bytes, none of them zero",
                (1..=63).contains(&name_len) && !has_nul,
            ),
            (
                "connections",
                "from 1 to 1000",
                (1..=1000).contains(&self.connections),
            ),
            ("wait_timeout", millis, is_timeout(self.wait_timeout)),
            ("connect_timeout", millis, is_timeout(self.connect_timeout)),
            ("lock_timeout", millis, is_timeout(self.lock_timeout)),
            (
                "statement_timeout",
                millis,
                is_timeout(self.statement_timeout),
            ),
            ("answer_timeout", millis, is_timeout(self.answer_timeout)),
            (
                "statement_timeout",
                "longer than lock_timeout",
                self.statement_timeout > self.lock_timeout,
            ),
            (
                "answer_timeout",
                "longer than statement_timeout",
                self.answer_timeout > self.statement_timeout,
            ),
        ];
        match in_bounds.into_iter().find(|(_, _, ok)| !ok) {
            Some((option, bounds, _)) => Err(OpenError::OutOfBounds { option, bounds }),
            None => Ok(()),
        }
    }
}
