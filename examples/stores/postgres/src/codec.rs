//! Between the user's types and what the tables hold.

use std::{error::Error, sync::Arc};

use ferry_core::{Fault, Record};
use serde::{Serialize, de::DeserializeOwned};
use tokio_postgres::{Row, types::FromSql};
use uuid::Uuid;

use crate::{
    Entry, Fingerprint, Known, Part, PostgresError, Shown, Stored, Version, store::StoredRecord,
};

type ReadResult<T> = Result<T, Fault<PostgresError>>;

/// The most that a commit may hold: a fraction of what the server could take in one statement, which is
/// told in worse words.
const COMMIT_BYTES_MAX: usize = 256 << 20;

/// The entries of a commit, column by column.
#[derive(Default)]
pub(crate) struct Entries<'a> {
    pub(crate) ids: Vec<&'a str>,
    pub(crate) fingerprints: Vec<[u8; 16]>,
    pub(crate) outcomes: Vec<String>,
    pub(crate) bodies: Vec<&'a [u8]>,
}

impl<'a> Entries<'a> {
    pub(crate) fn of<O: Serialize>(
        key: &str,
        entries: &'a [Entry<O>],
    ) -> Result<Self, PostgresError> {
        let mut columns = Self::default();
        for entry in entries {
            check_text(key, Part::Id, &entry.id)?;
            columns.ids.push(&entry.id);
            columns.fingerprints.push(entry.fingerprint.to_bytes());
            columns
                .outcomes
                .push(format(key, Part::Outcome, &entry.outcome)?);
            columns.bodies.push(&entry.body);
        }
        Ok(columns)
    }

    pub(crate) fn bytes(&self) -> usize {
        let ids = self.ids.iter().map(|id| id.len());
        let outcomes = self.outcomes.iter().map(String::len);
        let bodies = self.bodies.iter().map(|body| body.len());
        ids.chain(outcomes).chain(bodies).sum()
    }

    /// An id that comes twice.
    pub(crate) fn repeated_id(&self) -> Option<String> {
        let mut ids = self.ids.clone();
        ids.sort_unstable();
        ids.windows(2)
            .find(|pair| pair[0] == pair[1])
            .map(|pair| pair[0].to_owned())
    }
}

/// That a commit of this size is worth sending.
pub(crate) fn check_size(key: &str, bytes: usize) -> Result<(), PostgresError> {
    if bytes <= COMMIT_BYTES_MAX {
        return Ok(());
    }
    Err(PostgresError::TooLarge {
        key: key.to_owned(),
        bytes,
    })
}

/// That the server's text can hold it.
pub(crate) fn check_text(key: &str, part: Part, text: &str) -> Result<(), PostgresError> {
    if !text.contains('\0') {
        return Ok(());
    }
    Err(PostgresError::ZeroByte {
        key: key.to_owned(),
        part,
    })
}

/// The number and the stamp, as columns; `None` for a number that no record has.
pub(crate) fn columns(version: Version) -> Option<(i64, Uuid)> {
    let number = i64::try_from(version.number).ok()?;
    Some((number, Uuid::from_bytes(version.stamp)))
}

/// What a read found: the record's row if there is one, and those of the ids.
pub(crate) fn record<B: DeserializeOwned, O: DeserializeOwned>(
    key: &str,
    rows: &[Row],
) -> ReadResult<Option<StoredRecord<B, O>>> {
    let mut known = Known::default();
    let mut found = None;
    for row in rows {
        match column::<Option<String>>(key, Part::Id, row, 5)? {
            None => found = Some(row),
            Some(id) => {
                let fingerprint = fingerprint(key, row, 6)?;
                let outcome: String = column(key, Part::Outcome, row, 7)?;
                known.insert(id, fingerprint, parse(key, Part::Outcome, &outcome)?);
            }
        }
    }
    match found {
        Some(row) => stored(key, row, known).map(Some),
        None if rows.is_empty() => Ok(None),
        // The record is gone, its entries are not: what they say of the ids still has to be heard.
        None => Ok(Some(Record {
            state: Stored {
                known,
                ..Stored::default()
            },
            version: Version::ABSENT,
        })),
    }
}

/// The record in the first five columns.
pub(crate) fn stored<B: DeserializeOwned, O>(
    key: &str,
    row: &Row,
    known: Known<O>,
) -> ReadResult<StoredRecord<B, O>> {
    let body: Option<String> = column(key, Part::Body, row, 4)?;
    let body = body.map(|body| parse(key, Part::Body, &body));
    Ok(Record {
        version: version(key, Part::Version, row, 0)?,
        state: Stored {
            body: body.transpose()?,
            known,
            marker: version(key, Part::Marker, row, 2)?,
        },
    })
}

/// The view in columns two to five, behind its key.
pub(crate) fn shown<V: DeserializeOwned>(key: &str, row: &Row) -> ReadResult<Shown<V>> {
    let view: String = column(key, Part::View, row, 4)?;
    Ok(Shown {
        version: version(key, Part::View, row, 1)?,
        entries: counted(key, Part::View, row, 3)?,
        view: parse(key, Part::View, &view)?,
    })
}

/// The entry in these four columns: id, fingerprint, outcome, body.
pub(crate) fn entry<O: DeserializeOwned>(key: &str, row: &Row, id: usize) -> ReadResult<Entry<O>> {
    let outcome: String = column(key, Part::Outcome, row, id + 2)?;
    Ok(Entry {
        id: column(key, Part::Id, row, id)?,
        fingerprint: fingerprint(key, row, id + 1)?,
        outcome: parse(key, Part::Outcome, &outcome)?,
        body: column(key, Part::Entry, row, id + 3)?,
    })
}

/// The number and the stamp in this column and the next.
pub(crate) fn version(key: &str, part: Part, row: &Row, number: usize) -> ReadResult<Version> {
    let stamp: Uuid = column(key, part, row, number + 1)?;
    Ok(Version {
        number: counted(key, part, row, number)?,
        stamp: stamp.into_bytes(),
    })
}

/// A number that counts from nothing.
pub(crate) fn counted(key: &str, part: Part, row: &Row, index: usize) -> ReadResult<u64> {
    let number: i64 = column(key, part, row, index)?;
    u64::try_from(number).map_err(|error| undecodable(key, part, error))
}

fn fingerprint(key: &str, row: &Row, index: usize) -> ReadResult<Fingerprint> {
    let bytes: &[u8] = column(key, Part::Entry, row, index)?;
    let bytes: [u8; 16] = bytes
        .try_into()
        .map_err(|error| undecodable(key, Part::Entry, error))?;
    Ok(Fingerprint::from(bytes))
}

pub(crate) fn column<'a, T: FromSql<'a>>(
    key: &str,
    part: Part,
    row: &'a Row,
    index: usize,
) -> ReadResult<T> {
    row.try_get(index)
        .map_err(|error| undecodable(key, part, error))
}

pub(crate) fn format(
    key: &str,
    part: Part,
    value: &impl Serialize,
) -> Result<String, PostgresError> {
    serde_json::to_string(value).map_err(|source| PostgresError::Unencodable {
        key: key.to_owned(),
        part,
        source: Arc::new(source),
    })
}

pub(crate) fn parse<T: DeserializeOwned>(key: &str, part: Part, json: &str) -> ReadResult<T> {
    serde_json::from_str(json).map_err(|error| undecodable(key, part, error))
}

fn undecodable(
    key: &str,
    part: Part,
    source: impl Error + Send + Sync + 'static,
) -> Fault<PostgresError> {
    Fault::permanent(PostgresError::Undecodable {
        key: key.to_owned(),
        part,
        source: Arc::new(source),
    })
}
