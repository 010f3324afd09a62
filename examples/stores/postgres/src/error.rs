//! How the store fails while it runs.

use std::{error::Error, fmt, sync::Arc, time::Duration};

use deadpool_postgres::PoolError;

use crate::Version;

/// Why a read, a commit or a projection did not come through, named by who can do something about it.
///
/// Cheap to clone.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum PostgresError {
    /// No connection could be opened: the server is down, starting up, or somewhere else.
    Unreachable(Arc<tokio_postgres::Error>),
    /// No connection can be had the way it is set up: a password is missing, or the server asks for TLS. Put
    /// right the URL, or the server's rules for it.
    Misconfigured(Arc<tokio_postgres::Error>),
    /// None of the store's connections was free in time, or a new one was not open in time. Where it goes on,
    /// allow fewer batches in flight, or more [`connections`](crate::Options::connections).
    NoConnection(Arc<PoolError>),
    /// The connection was lost before the answer came, or the server ended the session.
    Lost(Arc<tokio_postgres::Error>),
    /// The server said nothing for as long as an answer is waited for.
    TimedOut {
        /// How long that was.
        waited: Duration,
    },
    /// The server has all the connections or the memory that it is allowed.
    Crowded(Arc<tokio_postgres::Error>),
    /// Another session holds the record's lock for longer than the lock time-out. Where it does not pass,
    /// find the transaction that is held open.
    Locked(Arc<tokio_postgres::Error>),
    /// The statement took longer than the statement time-out, or an administrator cancelled it.
    Slow(Arc<tokio_postgres::Error>),
    /// The statement and another session's were in each other's way, and the server chose this one to fail.
    Conflict(Arc<tokio_postgres::Error>),
    /// The server takes no writes: it is a standby, or was made read-only. Connect to the primary; with
    /// `target_session_attrs=read-write` in the URL the next connection is one to it.
    ReadOnly(Arc<tokio_postgres::Error>),
    /// The server's disk is full. Make room; retries then go through.
    Full(Arc<tokio_postgres::Error>),
    /// The server cannot read or write its files. Look at its log.
    Io(Arc<tokio_postgres::Error>),
    /// The server's files are damaged. Stop writing and restore them from a backup.
    Damaged(Arc<tokio_postgres::Error>),
    /// The server does not let this user in, or not at these tables.
    Denied(Arc<tokio_postgres::Error>),
    /// The tables are gone, or are no longer those that the store found when it was opened.
    OtherTables(Arc<tokio_postgres::Error>),
    /// Something is larger than the server takes, as it says: most likely a key and an id that are together
    /// too long for an index.
    OverLimit(Arc<tokio_postgres::Error>),
    /// A commit is larger than 256 MiB.
    TooLarge {
        /// The key that the commit was for.
        key: String,
        /// How large it is.
        bytes: usize,
    },
    /// A key or an id has a zero byte in it, which the server's text cannot hold.
    ZeroByte {
        /// The key.
        key: String,
        /// Which of the two.
        part: Part,
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
    /// Anything else that the server reports.
    Other(Arc<tokio_postgres::Error>),
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
    /// An entry's id.
    Id,
    /// An entry: its place, fingerprint or body.
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
            Self::Id => "id",
            Self::Entry => "entry",
            Self::Outcome => "outcome",
            Self::View => "view",
        })
    }
}

impl fmt::Display for PostgresError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Self::Unreachable(_) => "the server cannot be reached",
            Self::Misconfigured(_) => "the connection is not set up as the server asks",
            Self::NoConnection(error) => return write!(f, "no connection was to be had: {error}"),
            Self::Lost(_) => "the connection was lost",
            Self::TimedOut { waited } => {
                return write!(f, "the server has not answered for {waited:?}");
            }
            Self::Crowded(_) => "the server has too much to do",
            Self::Locked(_) => "another session holds the lock",
            Self::Slow(_) => "the statement was cancelled",
            Self::Conflict(_) => "another session was in the way",
            Self::ReadOnly(_) => "the server takes no writes",
            Self::Full(_) => "the server's disk is full",
            Self::Io(_) => "the server cannot use its files",
            Self::Damaged(_) => "the server's files are damaged",
            Self::Denied(_) => "the server does not allow it",
            Self::OtherTables(_) => "the tables have changed",
            Self::OverLimit(_) => "it is more than the server takes",
            Self::TooLarge { key, bytes } => {
                return write!(
                    f,
                    "a commit on key {key:?} has {bytes} bytes, which is too large"
                );
            }
            Self::ZeroByte { key, part } => {
                return write!(f, "the {part} has a zero byte in it (key {key:?})");
            }
            Self::RepeatedId { key, id } => {
                return write!(f, "one commit on key {key:?} brings the id {id:?} twice");
            }
            Self::Unencodable { key, part, source } => {
                return write!(f, "the {part} of key {key:?} has no JSON form: {source}");
            }
            Self::Undecodable { key, part, source } => {
                return write!(
                    f,
                    "the stored {part} of key {key:?} cannot be read: {source}"
                );
            }
            Self::OtherView { key, marker, shows } => return other_view(f, key, *marker, *shows),
            Self::Other(_) => "PostgreSQL",
        };
        f.write_str(what)?;
        self.told().map_or(Ok(()), |error| tell(f, error))
    }
}

fn other_view(
    f: &mut fmt::Formatter<'_>,
    key: &str,
    marker: Version,
    shows: Option<Version>,
) -> fmt::Result {
    match shows {
        Some(shows) => write!(
            f,
            "the view of key {key:?} is of commit {}, and the record's marker is of commit {}: \
             set the marker back to have the view made anew",
            shows.number, marker.number
        ),
        None => write!(
            f,
            "the view of key {key:?} is gone: set the record's marker back to have it made anew"
        ),
    }
}

/// The whole of it: the client's own message says no more than that there is an error.
pub(crate) fn tell(f: &mut fmt::Formatter<'_>, error: &tokio_postgres::Error) -> fmt::Result {
    if let Some(error) = error.as_db_error() {
        write!(f, ": {} ({})", error.message(), error.code().code())?;
        return error
            .detail()
            .map_or(Ok(()), |detail| write!(f, ": {detail}"));
    }
    write!(f, ": {error}")?;
    let mut cause = error.source();
    while let Some(error) = cause {
        write!(f, ": {error}")?;
        cause = error.source();
    }
    Ok(())
}

impl PostgresError {
    /// What the client or the server made of it.
    fn told(&self) -> Option<&tokio_postgres::Error> {
        match self {
            Self::Unreachable(error)
            | Self::Misconfigured(error)
            | Self::Lost(error)
            | Self::Crowded(error)
            | Self::Locked(error)
            | Self::Slow(error)
            | Self::Conflict(error)
            | Self::ReadOnly(error)
            | Self::Full(error)
            | Self::Io(error)
            | Self::Damaged(error)
            | Self::Denied(error)
            | Self::OtherTables(error)
            | Self::OverLimit(error)
            | Self::Other(error) => Some(error),
            Self::NoConnection(_)
            | Self::TimedOut { .. }
            | Self::TooLarge { .. }
            | Self::ZeroByte { .. }
            | Self::RepeatedId { .. }
            | Self::Unencodable { .. }
            | Self::Undecodable { .. }
            | Self::OtherView { .. } => None,
        }
    }

    /// The server's own code for it, where the server said something: five letters or digits.
    #[must_use]
    pub fn sqlstate(&self) -> Option<&str> {
        Some(self.told()?.code()?.code())
    }
}

// The messages hold the causes already, so the chain goes on behind them.
impl Error for PostgresError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        if let Self::Unencodable { source, .. } = self {
            return source.source();
        }
        if let Self::Undecodable { source, .. } = self {
            return source.source();
        }
        None
    }
}
