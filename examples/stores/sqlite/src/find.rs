//! What the readers look up in a snapshot of the file.

use ferry_core::Fault;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::{
    Fingerprint, Part, SqliteError, Version,
    error::{fault, reading},
    queue::{Debt, EntryRow, Found, Lookup, Owing, Page, ReadResult, ViewRow},
    rows::{self, bytes},
    sql,
};

/// A record, and what is stored of some ids.
pub(crate) fn record(snapshot: &Connection, lookup: &Lookup) -> ReadResult<Found> {
    let key = &lookup.key;
    let record = one(snapshot, sql::READ_RECORD, key, rows::record)?;
    let mut known = Vec::new();
    for id in &lookup.ids {
        let stored = snapshot
            .prepare_cached(sql::READ_ENTRY)
            .map_err(fault)?
            .query_row([key, id], |row| {
                Ok((
                    Fingerprint::from(row.get::<_, [u8; 16]>(0)?),
                    bytes(row, 1)?,
                ))
            })
            .optional()
            .map_err(|error| reading(error, key, Part::Entry))?;
        known.extend(stored.map(|(fingerprint, outcome)| (id.clone(), fingerprint, outcome)));
    }
    Ok(Found { record, known })
}

/// What the view of a record lacks; `None` if the record is not as it was read.
pub(crate) fn debt(snapshot: &Connection, owing: &Owing) -> ReadResult<Option<Debt>> {
    let Owing { key, .. } = owing;
    let stored = one(snapshot, sql::READ_MARKER, key, rows::versions)?
        .unwrap_or((Version::ABSENT, Version::ABSENT));
    if stored != (owing.version, owing.marker) {
        return Ok(None);
    }
    let view = fitting_view(snapshot, owing)?;
    let included = view.as_ref().map_or(0, |view| view.entries);
    let entries = entries_after(snapshot, key, included)?;
    Ok(Some(Debt { view, entries }))
}

/// The view that the marker speaks of. Whatever is there without a marker is not looked at: the record
/// was created again, or the view is to be made anew.
fn fitting_view(snapshot: &Connection, owing: &Owing) -> ReadResult<Option<ViewRow>> {
    let Owing { key, marker, .. } = owing;
    if *marker == Version::ABSENT {
        return Ok(None);
    }
    match view(snapshot, key)? {
        Some(view) if view.version == *marker => Ok(Some(view)),
        other => Err(Fault::permanent(SqliteError::OtherView {
            key: key.clone(),
            marker: *marker,
            shows: other.map(|view| view.version),
        })),
    }
}

fn entries_after(snapshot: &Connection, key: &str, place: u64) -> ReadResult<Vec<EntryRow>> {
    // No entry in the file is in a place that large.
    let Ok(place) = i64::try_from(place) else {
        return Ok(Vec::new());
    };
    let mut statement = snapshot.prepare_cached(sql::ENTRIES_AFTER).map_err(fault)?;
    let mut rows = statement.query(params![key, place]).map_err(fault)?;
    let mut entries = Vec::new();
    while let Some(row) = rows.next().map_err(fault)? {
        entries.push(rows::entry(row, key)?);
    }
    Ok(entries)
}

/// The key's view as it is stored, whatever the marker says.
pub(crate) fn view(snapshot: &Connection, key: &str) -> ReadResult<Option<ViewRow>> {
    one(snapshot, sql::READ_VIEW, key, rows::view)
}

/// The keys of pending records, in order.
pub(crate) fn pending(snapshot: &Connection, page: &Page) -> ReadResult<Vec<String>> {
    let limit = i64::try_from(page.limit).unwrap_or(i64::MAX);
    let mut statement = snapshot.prepare_cached(sql::PENDING).map_err(fault)?;
    let mut rows = statement.query(params![page.from, limit]).map_err(fault)?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next().map_err(fault)? {
        keys.push(rows::key(row).map_err(Fault::permanent)?);
    }
    Ok(keys)
}

fn one<T>(
    snapshot: &Connection,
    sql: &str,
    key: &str,
    read: impl FnOnce(&Row<'_>, &str) -> ReadResult<T>,
) -> ReadResult<Option<T>> {
    snapshot
        .prepare_cached(sql)
        .map_err(fault)?
        .query_row([key], |row| Ok(read(row, key)))
        .optional()
        .map_err(fault)?
        .transpose()
}

#[cfg(test)]
mod tests {
    use rusqlite::params;

    use crate::{Options, sql};

    #[test]
    fn pending_keys_are_found_by_their_index_however_many_records_there_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let opened = crate::open::open(&folder.path().join("a.db"), &Options::new());
        let conn = opened.expect("opens").writer;
        let plan = || -> Vec<String> {
            let plan = format!("EXPLAIN QUERY PLAN {}", sql::PENDING);
            let mut statement = conn.prepare(&plan).expect("prepares");
            let rows = statement.query_map(params!["", 10], |row| row.get("detail"));
            rows.and_then(Iterator::collect).expect("explains")
        };
        let partial: bool = conn
            .query_row(
                "SELECT partial FROM pragma_index_list('ferry_record') WHERE name = 'ferry_pending'",
                [],
                |row| row.get(0),
            )
            .expect("is there");
        assert!(partial, "holds pending keys alone");
        let by_index = "SEARCH ferry_record USING INDEX ferry_pending (key>?)";
        assert_eq!(plan(), [by_index]);

        // The planner goes by what it knows of the tables, if anybody has them analysed.
        for pending in ["key % 100 = 0", "1"] {
            let stamp = format!("iif({pending}, x'01', x'00')");
            conn.execute_batch(&format!(
                "DELETE FROM ferry_record;
                 WITH RECURSIVE n(key) AS (SELECT 1 UNION ALL SELECT key + 1 FROM n LIMIT 2000)
                 INSERT INTO ferry_record (key, version, stamp, marker, marker_stamp)
                 SELECT key, 1, {stamp}, 1, x'00' FROM n;
                 ANALYZE;"
            ))
            .expect("fills it");
            assert_eq!(plan(), [by_index], "where {pending}");
        }
    }
}
