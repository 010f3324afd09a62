//! Every statement, in one place.

/// Marks a file as one of ours ("Fery" in ASCII). Give your copy a number of its own.
pub(crate) const APPLICATION_ID: i32 = 0x4665_7279;

/// The layout that all steps of [`LAYOUTS`] lead to. A file with a larger number is refused.
pub(crate) const SCHEMA_VERSION: i32 = LAYOUTS.len() as i32;

/// What each layout adds to the one before it. A new file gets all of them, so that it does not differ
/// from an old one that was brought up to date.
///
/// `STRICT`, so that what comes out of a column is of the type that went in.
pub(crate) const LAYOUTS: [&str; 2] = [RECORDS, VIEWS];

/// An entry outlives its record on purpose: a retry that comes after a delete still finds its id.
const RECORDS: &str = "
    CREATE TABLE ferry_record (
        key     TEXT NOT NULL PRIMARY KEY,
        version INTEGER NOT NULL,
        stamp   BLOB NOT NULL,
        body    TEXT
    ) STRICT;
    CREATE TABLE ferry_entry (
        key         TEXT NOT NULL,
        seq         INTEGER NOT NULL,
        id          TEXT NOT NULL,
        fingerprint BLOB NOT NULL,
        outcome     TEXT NOT NULL,
        body        BLOB NOT NULL,
        PRIMARY KEY (key, seq),
        UNIQUE (key, id)
    ) STRICT, WITHOUT ROWID;
";

/// A record without a view has the version of no record as its marker, so every old record is pending.
/// A view does not outlive its record, whichever program deletes that.
const VIEWS: &str = "
    ALTER TABLE ferry_record ADD COLUMN marker INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE ferry_record ADD COLUMN marker_stamp BLOB NOT NULL
        DEFAULT x'00000000000000000000000000000000';
    CREATE INDEX ferry_pending ON ferry_record (key)
        WHERE marker <> version OR marker_stamp <> stamp;
    CREATE TABLE ferry_view (
        key     TEXT NOT NULL PRIMARY KEY,
        version INTEGER NOT NULL,
        stamp   BLOB NOT NULL,
        entries INTEGER NOT NULL,
        body    TEXT NOT NULL
    ) STRICT;
    CREATE TRIGGER ferry_view_goes AFTER DELETE ON ferry_record
        BEGIN DELETE FROM ferry_view WHERE key = old.key; END;
";

/// The commit of a key without a record. Never an upsert: that would bring back a deleted record
/// under a version that was read before.
pub(crate) const INSERT_RECORD: &str = "
    INSERT INTO ferry_record (key, version, stamp, body) VALUES (?1, 1, randomblob(16), ?2)
    ON CONFLICT (key) DO NOTHING
    RETURNING version, stamp";

/// The commit of a key with a record. No row comes back when the fence does not hold. The marker stays
/// as it is stored: a projection may have moved it since the record was read.
pub(crate) const UPDATE_RECORD: &str = "
    UPDATE ferry_record SET version = version + 1, stamp = randomblob(16), body = ?2
    WHERE key = ?1 AND version = ?3 AND stamp = ?4
    RETURNING version, stamp";

/// Also beyond what the view includes, so that a place does not come back where entries were deleted.
pub(crate) const LAST_SEQ: &str = "
    SELECT max(coalesce((SELECT max(seq) FROM ferry_entry WHERE key = ?1), 0),
               coalesce((SELECT entries FROM ferry_view WHERE key = ?1), 0))";

pub(crate) const INSERT_ENTRY: &str = "
    INSERT INTO ferry_entry (key, seq, id, fingerprint, outcome, body)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

/// The projection's fence. The version keeps an old projection from clearing what a newer commit owes;
/// the marker refuses a second projection of one record.
pub(crate) const MOVE_MARKER: &str = "
    UPDATE ferry_record SET marker = version, marker_stamp = stamp
    WHERE key = ?1 AND version = ?2 AND stamp = ?3 AND marker = ?4 AND marker_stamp = ?5";

/// Only in one savepoint with [`MOVE_MARKER`], and after it.
pub(crate) const PUT_VIEW: &str = "
    INSERT INTO ferry_view (key, version, stamp, entries, body) VALUES (?1, ?2, ?3, ?4, ?5)
    ON CONFLICT (key) DO UPDATE SET version = excluded.version, stamp = excluded.stamp,
        entries = excluded.entries, body = excluded.body";

// Of one key or of all, a row has the same columns in the same places: `rows.rs` reads them.

pub(crate) const READ_RECORD: &str = "
    SELECT key, version, stamp, marker, marker_stamp, body FROM ferry_record WHERE key = ?1";

pub(crate) const ALL_RECORDS: &str = "
    SELECT key, version, stamp, marker, marker_stamp, body FROM ferry_record ORDER BY key";

pub(crate) const READ_MARKER: &str = "
    SELECT key, version, stamp, marker, marker_stamp FROM ferry_record WHERE key = ?1";

pub(crate) const ENTRIES_AFTER: &str = "
    SELECT key, seq, id, fingerprint, outcome, body FROM ferry_entry
    WHERE key = ?1 AND seq > ?2 ORDER BY seq";

pub(crate) const ALL_ENTRIES: &str = "
    SELECT key, seq, id, fingerprint, outcome, body FROM ferry_entry ORDER BY key, seq";

pub(crate) const READ_VIEW: &str = "
    SELECT key, version, stamp, entries, body FROM ferry_view WHERE key = ?1";

pub(crate) const ALL_VIEWS: &str = "
    SELECT key, version, stamp, entries, body FROM ferry_view ORDER BY key";

pub(crate) const READ_ENTRY: &str =
    "SELECT fingerprint, outcome FROM ferry_entry WHERE key = ?1 AND id = ?2";

/// The condition is that of the index, word for word, so that it is the index that is searched.
pub(crate) const PENDING: &str = "
    SELECT key FROM ferry_record
    WHERE (marker <> version OR marker_stamp <> stamp) AND key >= ?1
    ORDER BY key LIMIT ?2";
