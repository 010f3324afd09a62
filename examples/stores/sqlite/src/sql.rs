//! Every statement, in one place.

/// Marks a file as one of ours ("Fery" in ASCII). Give your copy a number of its own.
pub(crate) const APPLICATION_ID: i32 = 0x4665_7279;

/// The layout below. A file with another number is refused.
pub(crate) const SCHEMA_VERSION: i32 = 1;

/// `STRICT`, so that what comes out of a column is of the type that went in.
///
/// An entry outlives its record on purpose: a retry that comes after a delete still finds its id.
pub(crate) const CREATE: &str = "
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

/// The commit of a key without a record. Never an upsert: that would bring back a deleted record
/// under a version that was read before.
pub(crate) const INSERT_RECORD: &str = "
    INSERT INTO ferry_record (key, version, stamp, body) VALUES (?1, 1, randomblob(16), ?2)
    ON CONFLICT (key) DO NOTHING
    RETURNING version, stamp";

/// The commit of a key with a record. No row comes back when the fence does not hold.
pub(crate) const UPDATE_RECORD: &str = "
    UPDATE ferry_record SET version = version + 1, stamp = randomblob(16), body = ?2
    WHERE key = ?1 AND version = ?3 AND stamp = ?4
    RETURNING version, stamp";

pub(crate) const LAST_SEQ: &str = "SELECT coalesce(max(seq), 0) FROM ferry_entry WHERE key = ?1";

pub(crate) const INSERT_ENTRY: &str = "
    INSERT INTO ferry_entry (key, seq, id, fingerprint, outcome, body)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6)";

pub(crate) const READ_RECORD: &str = "SELECT version, stamp, body FROM ferry_record WHERE key = ?1";

pub(crate) const READ_ENTRY: &str =
    "SELECT fingerprint, outcome FROM ferry_entry WHERE key = ?1 AND id = ?2";

pub(crate) const ALL_RECORDS: &str =
    "SELECT key, version, stamp, body FROM ferry_record ORDER BY key";

pub(crate) const ALL_ENTRIES: &str =
    "SELECT key, seq, id, fingerprint, outcome, body FROM ferry_entry ORDER BY key, seq";
