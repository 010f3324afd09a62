//! A connection to the file, set up so that a commit that returned is on the disk.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags, limits::Limit};

use crate::Options;

/// Which file, and how to use it.
#[derive(Clone, Debug)]
pub(crate) struct File {
    /// Absolute: it is opened again after errors, and SQLite gives names like `:memory:` or `file:…`
    /// a meaning of its own.
    pub(crate) path: PathBuf,
    pub(crate) options: Options,
}

impl File {
    /// A connection that may write.
    pub(crate) fn writer(&self) -> rusqlite::Result<Connection> {
        let conn = connect(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE, &self.options)?;
        let bytes = i32::try_from(self.options.value_bytes_max).unwrap_or(i32::MAX);
        conn.set_limit(Limit::SQLITE_LIMIT_LENGTH, bytes)?;
        Ok(conn)
    }

    /// A connection that only reads. It opens the file for writing all the same: the first to come
    /// after a crash has to put the log in order.
    pub(crate) fn reader(&self) -> rusqlite::Result<Connection> {
        let conn = connect(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE, &self.options)?;
        conn.pragma_update(None, "query_only", true)?;
        Ok(conn)
    }
}

/// Opens a connection with everything that SQLite keeps per connection rather than in the file.
pub(crate) fn connect(
    path: &Path,
    flags: OpenFlags,
    options: &Options,
) -> rusqlite::Result<Connection> {
    let conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_timeout(options.busy_timeout)?;
    // With a write-ahead log, only FULL syncs it at every commit; builds differ in their default.
    conn.pragma_update(None, "synchronous", "FULL")?;
    // On macOS a plain sync leaves the data in the drive's cache. Without effect elsewhere.
    conn.pragma_update(None, "fullfsync", true)?;
    Ok(conn)
}
