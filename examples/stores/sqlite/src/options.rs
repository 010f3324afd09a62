//! The store's few knobs.

use std::{path::Path, time::Duration};

use crate::{OpenError, SqliteStore, open};

/// How a store uses its file. [`SqliteStore::open`] takes the defaults.
///
/// ```
/// use std::time::Duration;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("accounts.db");
/// let store: ferry_sqlite::SqliteStore<i64, i64> = ferry_sqlite::Options::new()
///     .busy_timeout(Duration::from_secs(1))
///     .open(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) busy_timeout: Duration,
    pub(crate) readers: usize,
    pub(crate) group_max: usize,
    pub(crate) value_bytes_max: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            readers: 2,
            group_max: 256,
            value_bytes_max: VALUE_BYTES_MAX,
        }
    }
}

/// The longest value that SQLite is built for.
const VALUE_BYTES_MAX: u32 = 1_000_000_000;

impl Options {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How long a write waits for another connection's lock before it fails as transient.
    ///
    /// Default 5 s. Longer: a program that holds a transaction open stalls every write
    /// for that long before anyone hears of it. Shorter: more retries where many processes write.
    #[must_use]
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout;
        self
    }

    /// Threads that read, each on a connection of its own.
    ///
    /// Default 2, from 1 to 64. A read is short and rarely waits for the disk; more threads help where
    /// the file is much larger than the memory for caching it.
    #[must_use]
    pub fn readers(mut self, threads: usize) -> Self {
        self.readers = threads;
        self
    }

    /// The most writes, commits and projections, that go in one transaction, that is with one sync of the
    /// disk.
    ///
    /// Default 256, from 1 to 65 536. Larger: the first write of a full group waits longer for its
    /// answer. Smaller: more syncs when many keys are written at once; 1 turns group commit off.
    #[must_use]
    pub fn group_max(mut self, writes: usize) -> Self {
        self.group_max = writes;
        self
    }

    /// The longest row that a write may write, in bytes; a longer one fails its own key, for good.
    ///
    /// Default and most 1 000 000 000, which is what SQLite can hold; at least 1000. Smaller: a record
    /// that grows without end is noticed before it makes every commit slow. Does not apply to reads.
    #[must_use]
    pub fn value_bytes_max(mut self, bytes: u32) -> Self {
        self.value_bytes_max = bytes;
        self
    }

    /// Opens the file, or creates it, and starts the store's threads.
    ///
    /// Blocks for as long as the file is locked, up to the busy timeout. A file of an earlier layout is
    /// brought up to date, which reads it through once.
    ///
    /// # Errors
    ///
    /// See [`OpenError`]. A file that is refused has not been changed.
    pub fn open<B, O, V>(&self, path: impl AsRef<Path>) -> Result<SqliteStore<B, O, V>, OpenError> {
        self.check()?;
        open::open(path.as_ref(), self).and_then(SqliteStore::start)
    }

    fn check(&self) -> Result<(), OpenError> {
        let in_bounds = [
            ("readers", "from 1 to 64", (1..=64).contains(&self.readers)),
            (
                "group_max",
                "from 1 to 65536",
                (1..=65_536).contains(&self.group_max),
            ),
            (
                "value_bytes_max",
                "from 1000 to 1000000000",
                (1000..=VALUE_BYTES_MAX).contains(&self.value_bytes_max),
            ),
        ];
        match in_bounds.into_iter().find(|(_, _, ok)| !ok) {
            Some((option, bounds, _)) => Err(OpenError::OutOfBounds { option, bounds }),
            None => Ok(()),
        }
    }
}
