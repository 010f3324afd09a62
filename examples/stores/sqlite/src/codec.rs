//! Between the user's types and what the file holds.
//!
//! All of it is called by the store's callers, so that code of the user's types never runs on the store's
//! threads.

use std::sync::Arc;

use ferry_core::{Fault, Record};
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Entry, Known, Part, Shown, SqliteError, Stored, Version,
    error::undecodable,
    queue::{Commit, EntryRow, Found, ReadResult, RecordRow, Row, ViewRow},
};

pub(crate) fn commit<B: Serialize, O: Serialize>(
    key: &str,
    expected: Option<&Version>,
    state: &Stored<B, O>,
    entries: &[Entry<O>],
) -> Result<Commit, SqliteError> {
    let entries = entries.iter().map(|entry| {
        Ok(Row {
            id: entry.id.clone(),
            fingerprint: entry.fingerprint,
            outcome: format(key, Part::Outcome, &entry.outcome)?,
            body: entry.body.clone(),
        })
    });
    let body = state.body.as_ref();
    Ok(Commit {
        key: key.to_owned(),
        expected: expected
            .copied()
            .filter(|version| *version != Version::ABSENT),
        body: body.map(|body| format(key, Part::Body, body)).transpose()?,
        entries: entries.collect::<Result<_, _>>()?,
    })
}

pub(crate) fn record<B: DeserializeOwned, O: DeserializeOwned>(
    key: &str,
    found: Found,
) -> ReadResult<Option<Record<Stored<B, O>, Version>>> {
    let row = match found.record {
        Some(row) => row,
        None if found.known.is_empty() => return Ok(None),
        // The record is gone, its entries are not: what they say of the ids still has to be heard.
        None => RecordRow {
            version: Version::ABSENT,
            marker: Version::ABSENT,
            body: None,
        },
    };
    let mut known = Known::default();
    for (id, fingerprint, outcome) in found.known {
        known.insert(id, fingerprint, parse(key, Part::Outcome, &outcome)?);
    }
    stored(key, row, known).map(Some)
}

pub(crate) fn stored<B: DeserializeOwned, O>(
    key: &str,
    row: RecordRow,
    known: Known<O>,
) -> ReadResult<Record<Stored<B, O>, Version>> {
    let body = row.body.map(|body| parse(key, Part::Body, &body));
    Ok(Record {
        state: Stored {
            body: body.transpose()?,
            known,
            marker: row.marker,
        },
        version: row.version,
    })
}

pub(crate) fn entry<O: DeserializeOwned>(key: &str, row: EntryRow) -> ReadResult<Entry<O>> {
    Ok(Entry {
        id: row.id,
        fingerprint: row.fingerprint,
        outcome: parse(key, Part::Outcome, &row.outcome)?,
        body: row.body,
    })
}

pub(crate) fn shown<V: DeserializeOwned>(key: &str, row: ViewRow) -> ReadResult<Shown<V>> {
    Ok(Shown {
        version: row.version,
        entries: row.entries,
        view: parse(key, Part::View, &row.body)?,
    })
}

pub(crate) fn format(key: &str, part: Part, value: &impl Serialize) -> Result<String, SqliteError> {
    serde_json::to_string(value).map_err(|source| SqliteError::Unencodable {
        key: key.to_owned(),
        part,
        source: Arc::new(source),
    })
}

fn parse<T: DeserializeOwned>(key: &str, part: Part, json: &[u8]) -> ReadResult<T> {
    serde_json::from_slice(json)
        .map_err(|error| Fault::permanent(undecodable(key, part, Arc::new(error))))
}
