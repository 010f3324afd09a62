//! Why a store was not opened.

use std::{error::Error, fmt};

use crate::{PostgresError, error::tell};

/// Why a store was not opened, and what to do about it. What the database holds has not been changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// An option is outside of its bounds.
    OutOfBounds {
        /// The option's name.
        option: &'static str,
        /// What it may be.
        bounds: &'static str,
    },
    /// The URL cannot be read as one.
    Url(tokio_postgres::Error),
    /// The pool of connections cannot be made.
    Pool(deadpool_postgres::BuildError),
    /// No schema was named, and there is none of those on the connection's `search_path`. Name one.
    NoSchema,
    /// The schema has tables with names of the store's that are not the store's, or not all of them. Name
    /// another schema.
    OtherProgram {
        /// The schema.
        schema: String,
        /// The tables.
        tables: Vec<String>,
    },
    /// The store's tables are not there, and were not to be created.
    NoTables {
        /// The schema.
        schema: String,
    },
    /// The tables have a layout that this version does not know, most likely of a later one.
    OtherLayout {
        /// The schema.
        schema: String,
        /// The layout of the tables.
        found: i32,
        /// The layout that this version reads and writes.
        known: i32,
    },
    /// The server, as for a call.
    Server(PostgresError),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfBounds { option, bounds } => {
                write!(f, "the option {option} is out of bounds: it may be {bounds}")
            }
            Self::Url(error) => {
                f.write_str("the URL cannot be used")?;
                tell(f, error)
            }
            Self::Pool(error) => write!(f, "no pool of connections can be made: {error}"),
            Self::NoSchema => f.write_str(
                "there is no schema to put tables in: name one, and it is created if it is not there",
            ),
            Self::OtherProgram { schema, tables } => write!(
                f,
                "the schema {schema:?} has tables of another program, or some of the store's are gone \
                 ({}): name another schema",
                tables.join(", ")
            ),
            Self::NoTables { schema } => write!(
                f,
                "the schema {schema:?} has none of the store's tables: name the database and the schema that \
                 has them"
            ),
            Self::OtherLayout { schema, found, known } => write!(
                f,
                "the schema {schema:?} has tables of layout {found}, and this program knows layout {known}: \
                 use the version that wrote them, or name another schema"
            ),
            Self::Server(error) => error.fmt(f),
        }
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        if let Self::Server(error) = self {
            return error.source();
        }
        None
    }
}
