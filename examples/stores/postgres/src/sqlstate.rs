//! What the server's errors mean.

use std::{error::Error as _, sync::Arc, time::Duration};

use ferry_core::{Class, CommitError, Fault};
use tokio_postgres::{Error, error::Severity};

use crate::PostgresError;

type Row = (&'static str, fn(Arc<Error>) -> PostgresError, Class);

/// What each code of the server means: the beginning of the code, the error's name, and whether it helps
/// to try again. The first row that fits counts.
///
/// None of it says whether a commit landed: see [`Unanswered::of_write`].
const TABLE: &[Row] = {
    use Class::{Permanent, Transient};
    use PostgresError::*;
    const THROTTLED: Class = Class::Throttled(None);
    &[
        // The connection is gone, or its session is being ended.
        ("08", Lost, Transient),
        ("57P01", Lost, Transient),
        ("57P02", Lost, Transient),
        ("57P03", Unreachable, THROTTLED), // starting up, or shutting down
        ("57P04", Lost, Transient),
        ("57P05", Lost, Transient),
        // Others were in the way, and the transaction was undone. Not a refusal: what was in the way need
        // not have been a commit to this record.
        ("40", Conflict, Transient),
        ("55P03", Locked, Transient),
        ("57014", Slow, Transient),
        // A standby, as after a failover: the next connection may lead elsewhere.
        ("25006", ReadOnly, Transient),
        // The server has too much to do.
        ("53100", Full, THROTTLED),
        ("53", Crowded, THROTTLED),
        // Its files.
        ("58", Io, Transient),
        ("XX001", Damaged, Permanent),
        ("XX002", Damaged, Permanent),
        // What was sent.
        ("54", OverLimit, Permanent),
        // Who sent it, and to where.
        ("28", Denied, Permanent),
        ("3D000", Denied, Permanent),
        ("42501", Denied, Permanent),
        // The tables are not those that this program knows.
        ("3F000", OtherTables, Permanent),
        ("42P01", OtherTables, Permanent),
        ("42703", OtherTables, Permanent),
        ("42804", OtherTables, Permanent),
        ("", Other, Permanent),
    ]
};

/// What an error means where certainly nothing was written.
pub(crate) fn fault(error: Arc<Error>) -> Fault<PostgresError> {
    let Some(code) = error.code() else {
        // Without a word from the server.
        return Fault::transient(PostgresError::Unreachable(error));
    };
    let row = TABLE
        .iter()
        .find(|(begin, ..)| code.code().starts_with(begin));
    match row {
        Some(&(_, named, class)) => Fault {
            error: named(error),
            class,
        },
        None => Fault::permanent(PostgresError::Other(error)),
    }
}

/// What an error means that came before there was a connection.
pub(crate) fn no_connection(error: Arc<Error>) -> Fault<PostgresError> {
    // What neither the server nor the network says is about how we connect: the password, TLS, the URL.
    let is_ours = error.code().is_none()
        && (error.source()).is_some_and(|source| !source.is::<std::io::Error>());
    if is_ours {
        Fault::permanent(PostgresError::Misconfigured(error))
    } else {
        fault(error)
    }
}

/// A statement that was sent and not answered with success.
pub(crate) enum Unanswered {
    /// Nothing was heard in this time.
    TimedOut {
        /// How long.
        waited: Duration,
    },
    /// The server said no, or the connection was lost.
    Failed(Arc<Error>),
}

impl Unanswered {
    /// What it means for a statement that changes nothing.
    pub(crate) fn of_read(self) -> Fault<PostgresError> {
        match self {
            Self::TimedOut { waited } => Fault::transient(PostgresError::TimedOut { waited }),
            Self::Failed(error) if error.code().is_none() => {
                Fault::transient(PostgresError::Lost(error))
            }
            Self::Failed(error) => fault(error),
        }
    }

    /// What it means for a statement that writes, in a transaction of its own.
    ///
    /// An `ERROR` is the end of the transaction: it was undone. Whatever ends the session instead, in words
    /// or without, may have come after the transaction was committed.
    pub(crate) fn of_write(self) -> CommitError<PostgresError> {
        let is_undone = match &self {
            Self::TimedOut { .. } => false,
            Self::Failed(error) => error.as_db_error().is_some_and(|error| {
                let code = error.code().code();
                // A proxy between us and the server speaks of its own connection, or says that it does not
                // know.
                let is_unknown = code.starts_with("08") || code == "40003";
                error.parsed_severity() == Some(Severity::Error) && !is_unknown
            }),
        };
        let fault = self.of_read();
        if is_undone {
            CommitError::NotLanded(fault)
        } else {
            CommitError::InDoubt(fault.error)
        }
    }

    /// The unique constraint that the statement ran into.
    pub(crate) fn violated(&self) -> Option<&str> {
        match self {
            Self::TimedOut { .. } => None,
            Self::Failed(error) => {
                let error = error.as_db_error()?;
                (error.code().code() == "23505").then(|| error.constraint())?
            }
        }
    }

    /// Whether the connection, if there still is one, had better not be used again.
    pub(crate) fn spoils_connection(&self) -> bool {
        match self {
            Self::TimedOut { .. } => true,
            Self::Failed(error) => {
                let severity = error
                    .as_db_error()
                    .and_then(|error| error.parsed_severity());
                let is_read_only = error.code().is_some_and(|code| code.code() == "25006");
                severity != Some(Severity::Error) || is_read_only
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(code: &str) -> (&'static str, Class) {
        let row = TABLE.iter().find(|(begin, ..)| code.starts_with(begin));
        let (begin, _, class) = row.expect("the last fits all");
        (begin, *class)
    }

    #[test]
    fn the_last_row_fits_what_no_other_does_and_no_row_hides_another() {
        assert_eq!(row("99999"), ("", Class::Permanent));
        for (place, (begin, ..)) in TABLE.iter().enumerate() {
            let first = TABLE
                .iter()
                .position(|(other, ..)| begin.starts_with(other));
            assert_eq!(first, Some(place), "the row {begin:?} is never reached");
        }
    }

    #[test]
    fn every_code_has_its_class() {
        use Class::{Permanent, Throttled, Transient};
        let table = [
            ("08006", Transient),
            ("08P01", Transient),
            ("22003", Permanent), // numeric value out of range
            ("22021", Permanent), // not in the repertoire of the encoding
            ("23502", Permanent), // not null
            ("23503", Permanent), // foreign key
            ("25006", Transient), // read-only transaction
            ("28P01", Permanent), // password
            ("3D000", Permanent), // no such database
            ("40001", Transient), // serialization failure
            ("40P01", Transient), // deadlock
            ("42501", Permanent), // privilege
            ("42P01", Permanent), // no such table
            ("53100", Throttled(None)),
            ("53200", Throttled(None)),
            ("53300", Throttled(None)),
            ("53400", Throttled(None)),
            ("54000", Permanent),
            ("55P03", Transient),
            ("57014", Transient),
            ("57P01", Transient),
            ("57P02", Transient),
            ("57P03", Throttled(None)),
            ("58030", Transient),
            ("XX000", Permanent),
            ("XX001", Permanent),
        ];
        for (code, class) in table {
            assert_eq!(row(code).1, class, "code {code}");
        }
    }
}
