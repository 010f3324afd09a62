//! A connection to the file, set up so that a commit that returned is on the disk.

use std::{
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

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
    let mut conn = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.busy_handler(Some(wait(options.busy_timeout)))?;
    // With a write-ahead log, only FULL syncs it at every commit; builds differ in their default.
    conn.pragma_update(None, "synchronous", "FULL")?;
    // On macOS a plain sync leaves the data in the drive's cache. Without effect elsewhere.
    conn.pragma_update(None, "fullfsync", true)?;
    Ok(conn)
}

/// Waits for a lock as `busy_timeout` does, but asks again every millisecond. SQLite's own pauses grow to
/// a tenth of a second, in which a writer that commits without end would always be back first.
fn wait(timeout: Duration) -> impl FnMut(i32) -> bool + Send + 'static {
    const PAUSE: Duration = Duration::from_millis(1);
    let mut begin = Instant::now();
    move |asked| {
        if asked == 0 {
            begin = Instant::now();
        }
        let go_on = begin.elapsed() < timeout;
        if go_on {
            thread::sleep(PAUSE);
        }
        go_on
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lock_is_waited_for_anew() {
        let timeout = Duration::from_millis(300);
        let mut go_on = wait(timeout);
        thread::sleep(timeout);
        assert!(
            go_on(0),
            "an old connection has its patience still before it"
        );
        thread::sleep(timeout);
        assert!(!go_on(1));
        assert!(go_on(0));
    }

    #[test]
    fn every_connection_syncs_each_commit() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = crate::open::open(&folder.path().join("a.db"), &Options::new()).expect("opens");
        let again = file.file.writer().expect("opens again, as after an error");
        for conn in file.readers.iter().chain([&file.writer, &again]) {
            let number = |pragma| -> i32 {
                conn.pragma_query_value(None, pragma, |row| row.get(0))
                    .expect("reads")
            };
            assert_eq!(number("synchronous"), 2);
            assert_eq!(number("fullfsync"), 1);
            let mode: String = conn
                .pragma_query_value(None, "journal_mode", |row| row.get(0))
                .expect("reads");
            assert_eq!(mode, "wal");
        }
    }
}
