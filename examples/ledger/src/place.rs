//! Where a ledger is kept: what the command line says of it.

use std::{fmt, path::PathBuf, str::FromStr};

/// Where a ledger is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a SQLite file.
    File(PathBuf),
    /// In a PostgreSQL database.
    Postgres {
        /// Which.
        url: Url,
        /// The schema that its tables are in, if not the database's own first.
        schema: Option<String>,
    },
}

/// The address of a database. It may hold a password, which is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Url(String);

impl Url {
    /// The address, with whatever it holds.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Url {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            Ok(Self(text.to_owned()))
        } else {
            Err("it begins with postgres://; for a SQLite file, use --file".to_owned())
        }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((scheme, rest)) = self.0.split_once("://") else {
            return f.write_str("postgres://");
        };
        let rest = rest.split(['?', '#']).next().unwrap_or_default();
        let host = rest.rsplit_once('@').map_or(rest, |(_who, host)| host);
        write!(f, "{scheme}://{host}")
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Postgres { url, .. } => url.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_shown() {
        for url in [
            "postgres://me:secret@localhost:5432/ledger",
            "postgresql://localhost/ledger?password=secret",
            "postgres://me:secret@with@it@localhost/ledger#secret",
        ] {
            let url: Url = url.parse().unwrap();
            for shown in [url.to_string(), format!("{url:?}")] {
                assert!(!shown.contains("secret"), "{shown}");
                assert!(shown.contains("localhost"), "{shown}");
            }
            assert!(url.as_str().contains("secret"));
        }
    }

    #[test]
    fn another_kind_of_store_is_refused() {
        let error = "mysql://localhost".parse::<Url>().unwrap_err();
        assert!(error.contains("postgres://"), "{error}");
    }
}
