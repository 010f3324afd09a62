//! How the store fails while it runs, and what each failure means for a retry.

use std::{error::Error, fmt, sync::Arc};

use ferry_core::{Class, Fault};
use rusqlite::ffi;

use crate::Version;

/// Why a read, a commit or a projection did not come through, named by who can do something about it.
///
/// Cheap to clone: the failure of one transaction is the failure of every write in it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum SqliteError {
    /// Another connection kept the file locked for longer than the busy timeout. Passes by itself;
    /// where it does not, find the program that holds a transaction open.
    Busy(Arc<rusqlite::Error>),
    /// The disk, or the file's largest size, is used up. Make room; retries then go through.
    Full(Arc<rusqlite::Error>),
    /// The disk failed to read, write or sync. Look at the system's log.
    Io(Arc<rusqlite::Error>),
    /// The file may not be written or opened any more: its permissions, or its folder's, were changed,
    /// or it was moved.
    Inaccessible(Arc<rusqlite::Error>),
    /// The file is damaged. Stop writing and restore it from a backup.
    Damaged(Arc<rusqlite::Error>),
    /// A row of this key is longer than [`Options::value_bytes_max`](crate::Options::value_bytes_max).
    TooLarge {
        /// The key that the write was for.
        key: String,
    },
    /// One commit brings the same id twice: the step did not look it up, or did not use
    /// [`Stored::apply`](crate::Stored::apply).
    RepeatedId {
        /// The key that the commit was for.
        key: String,
        /// The id that came twice.
        id: String,
    },
    /// The body, an outcome or the view has no JSON form, e.g. a map whose keys are not strings.
    Unencodable {
        /// The key that the write was for.
        key: String,
        /// Which of them.
        part: Part,
        /// What serde made of it.
        source: Arc<serde_json::Error>,
    },
    /// What is stored for this key is not what this program stores: another version of its types, or
    /// a hand-made change.
    Undecodable {
        /// The key that was read.
        key: String,
        /// Which part of it.
        part: Part,
        /// What is wrong with it.
        source: Arc<dyn Error + Send + Sync>,
    },
    /// The view is not the one that the record's marker speaks of: another program wrote or deleted it.
    /// Set the record's marker back to 0 and its stamp to zeros, and the next projection makes the view
    /// anew from the entries.
    OtherView {
        /// The key that was to be projected.
        key: String,
        /// The version that the view has reached, as the record says.
        marker: Version,
        /// The version that the view shows; `None` where there is no view.
        shows: Option<Version>,
    },
    /// The store's thread is gone after a panic. Open the store again.
    Stopped,
    /// Anything else that SQLite reports.
    Other(Arc<rusqlite::Error>),
}

/// A part of what is stored for a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Part {
    /// The key itself.
    Key,
    /// The record's version.
    Version,
    /// The record's marker.
    Marker,
    /// The record's body.
    Body,
    /// An entry: its id, place, fingerprint or body.
    Entry,
    /// An entry's outcome.
    Outcome,
    /// The view: its version, what it includes, or the picture itself.
    View,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key => "key",
            Self::Version => "version",
            Self::Marker => "marker",
            Self::Body => "body",
            Self::Entry => "entry",
            Self::Outcome => "outcome",
            Self::View => "view",
        })
    }
}

impl fmt::Display for SqliteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Busy(cause) => write!(f, "another connection keeps the file locked: {cause}"),
            Self::Full(cause) => write!(f, "there is no room left for the file: {cause}"),
            Self::Io(cause) => write!(f, "the disk failed: {cause}"),
            Self::Inaccessible(cause) => {
                write!(f, "the file can no longer be opened or written: {cause}")
            }
            Self::Damaged(cause) => write!(f, "the file is damaged: {cause}"),
            Self::TooLarge { key } => write!(f, "a row of key {key:?} is too large"),
            Self::RepeatedId { key, id } => {
                write!(f, "one commit on key {key:?} brings the id {id:?} twice")
            }
            Self::Unencodable { key, part, source } => {
                write!(f, "the {part} of key {key:?} has no JSON form: {source}")
            }
            Self::Undecodable { key, part, source } => {
                write!(
                    f,
                    "the stored {part} of key {key:?} cannot be read: {source}"
                )
            }
            Self::OtherView {
                key,
                marker,
                shows: Some(shows),
            } => write!(
                f,
                "the view of key {key:?} is of commit {}, and the record's marker is of commit {}: \
                 set the marker back to have the view made anew",
                shows.number, marker.number
            ),
            Self::OtherView {
                key, shows: None, ..
            } => write!(
                f,
                "the view of key {key:?} is gone: set the record's marker back to have it made anew"
            ),
            Self::Stopped => f.write_str("the store's thread is gone after a panic"),
            Self::Other(cause) => write!(f, "SQLite: {cause}"),
        }
    }
}

// The message holds the cause already, so the chain goes on behind it.
impl Error for SqliteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Busy(cause)
            | Self::Full(cause)
            | Self::Io(cause)
            | Self::Inaccessible(cause)
            | Self::Damaged(cause)
            | Self::Other(cause) => cause.source(),
            Self::Unencodable { source, .. } => source.source(),
            Self::Undecodable { source, .. } => source.source(),
            Self::TooLarge { .. }
            | Self::RepeatedId { .. }
            | Self::OtherView { .. }
            | Self::Stopped => None,
        }
    }
}

impl SqliteError {
    /// Whether the connection that met it had better be replaced.
    pub(crate) fn spoils_connection(&self) -> bool {
        matches!(
            self,
            Self::Io(_) | Self::Inaccessible(_) | Self::Damaged(_) | Self::Other(_)
        )
    }
}

/// The result code of SQLite, with its refinement in the upper bytes.
pub(crate) fn extended_code(error: &rusqlite::Error) -> i32 {
    if let rusqlite::Error::SqlInputError { error, .. } = error {
        return error.extended_code;
    }
    error.sqlite_extended_error_code().unwrap_or(ffi::SQLITE_OK)
}

/// The result code of SQLite without its refinement; `SQLITE_OK` for what is not SQLite's doing.
pub(crate) fn primary_code(error: &rusqlite::Error) -> i32 {
    extended_code(error) & 0xff
}

/// What an error means where nothing was written: in a read, or in a write before `COMMIT`.
pub(crate) fn fault(error: impl Into<Arc<rusqlite::Error>>) -> Fault<SqliteError> {
    let error = error.into();
    Fault {
        class: class(&error),
        error: named(error),
    }
}

/// What an error means on the way from a column to a value.
pub(crate) fn reading(error: rusqlite::Error, key: &str, part: Part) -> Fault<SqliteError> {
    if primary_code(&error) == ffi::SQLITE_OK {
        Fault::permanent(undecodable(key, part, Arc::new(error)))
    } else {
        fault(error)
    }
}

pub(crate) fn undecodable(
    key: &str,
    part: Part,
    source: Arc<dyn Error + Send + Sync>,
) -> SqliteError {
    SqliteError::Undecodable {
        key: key.to_owned(),
        part,
        source,
    }
}

fn class(error: &rusqlite::Error) -> Class {
    match primary_code(error) {
        // Locks, and the short moments in which another connection recovers or resets the log. Also
        // `SQLITE_BUSY_SNAPSHOT`: it says that the file changed, not that this record did, so it must
        // not pass for a refusal.
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED | ffi::SQLITE_PROTOCOL => Class::Transient,
        ffi::SQLITE_IOERR | ffi::SQLITE_CANTOPEN => Class::Transient,
        ffi::SQLITE_INTERRUPT | ffi::SQLITE_ABORT | ffi::SQLITE_SCHEMA => Class::Transient,
        ffi::SQLITE_READONLY => match extended_code(error) {
            ffi::SQLITE_READONLY_RECOVERY
            | ffi::SQLITE_READONLY_CANTLOCK
            | ffi::SQLITE_READONLY_CANTINIT => Class::Transient,
            _ => Class::Permanent,
        },
        ffi::SQLITE_FULL | ffi::SQLITE_NOMEM => Class::Throttled(None),
        _ => Class::Permanent,
    }
}

pub(crate) fn named(error: Arc<rusqlite::Error>) -> SqliteError {
    match primary_code(&error) {
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED | ffi::SQLITE_PROTOCOL => SqliteError::Busy(error),
        ffi::SQLITE_FULL => SqliteError::Full(error),
        ffi::SQLITE_IOERR => SqliteError::Io(error),
        ffi::SQLITE_READONLY | ffi::SQLITE_CANTOPEN | ffi::SQLITE_PERM | ffi::SQLITE_AUTH => {
            SqliteError::Inaccessible(error)
        }
        ffi::SQLITE_CORRUPT | ffi::SQLITE_NOTADB => SqliteError::Damaged(error),
        _ => SqliteError::Other(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
    }

    #[test]
    fn every_result_code_has_its_class() {
        use Class::{Permanent, Throttled, Transient};
        let table = [
            (ffi::SQLITE_BUSY, Transient),
            (ffi::SQLITE_BUSY_RECOVERY, Transient),
            (ffi::SQLITE_BUSY_SNAPSHOT, Transient),
            (ffi::SQLITE_LOCKED, Transient),
            (ffi::SQLITE_PROTOCOL, Transient),
            (ffi::SQLITE_FULL, Throttled(None)),
            (ffi::SQLITE_NOMEM, Throttled(None)),
            (ffi::SQLITE_IOERR_WRITE, Transient),
            (ffi::SQLITE_IOERR_FSYNC, Transient),
            (ffi::SQLITE_CANTOPEN, Transient),
            (ffi::SQLITE_READONLY, Permanent),
            (ffi::SQLITE_READONLY_DBMOVED, Permanent),
            (ffi::SQLITE_READONLY_DIRECTORY, Permanent),
            (ffi::SQLITE_READONLY_RECOVERY, Transient),
            (ffi::SQLITE_PERM, Permanent),
            (ffi::SQLITE_AUTH, Permanent),
            (ffi::SQLITE_CORRUPT, Permanent),
            (ffi::SQLITE_NOTADB, Permanent),
            (ffi::SQLITE_TOOBIG, Permanent),
            (ffi::SQLITE_CONSTRAINT, Permanent),
            (ffi::SQLITE_MISMATCH, Permanent),
            (ffi::SQLITE_MISUSE, Permanent),
            (ffi::SQLITE_RANGE, Permanent),
            (ffi::SQLITE_ERROR, Permanent),
            (ffi::SQLITE_INTERRUPT, Transient),
        ];
        for (code, class) in table {
            assert_eq!(fault(failure(code)).class, class, "result code {code}");
        }
    }

    #[test]
    fn a_message_tells_what_happened_and_why() {
        let damaged = named(Arc::new(failure(ffi::SQLITE_CORRUPT)));
        assert!(damaged.to_string().starts_with("the file is damaged: "));
        assert!(damaged.to_string().contains("malformed"), "{damaged}");
    }
}
