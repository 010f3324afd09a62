//! Every statement, in one place.
//!
//! `@` stands for the schema, quoted, and its dot.

/// The layout below. Tables with another number are refused.
pub(crate) const LAYOUT: i32 = 1;

/// The tables of the layout, and the one that says which layout it is.
pub(crate) const TABLES: [&str; 4] = ["ferry_entry", "ferry_layout", "ferry_record", "ferry_view"];

/// Keeps those who open an empty schema at once apart ("Fery" in ASCII, and the schema).
pub(crate) const LOCK_LAYOUT: &str = "SELECT pg_advisory_xact_lock(1181053561, hashtext($1))";

pub(crate) const SCHEMA: &str = "SELECT coalesce($1, current_schema()::text)";

pub(crate) const TABLES_THERE: &str = r#"
    SELECT c.relname::text COLLATE "C" FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = ANY ($2) ORDER BY 1"#;

pub(crate) const HAS_SCHEMA: &str =
    "SELECT EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1)";

pub(crate) const CREATE_SCHEMA: &str = "CREATE SCHEMA @";

/// Keys and ids are compared byte by byte, whatever the database's language, and their indexes outlive a
/// change of the system's collations.
///
/// An entry outlives its record on purpose: a retry that comes after a delete still finds its id. A view
/// does not.
const CREATE: &str = r#"
    CREATE TABLE @ferry_record (
        key          text COLLATE "C" PRIMARY KEY,
        version      bigint NOT NULL,
        stamp        uuid NOT NULL,
        marker       bigint NOT NULL DEFAULT 0,
        marker_stamp uuid NOT NULL DEFAULT '00000000-0000-0000-0000-000000000000',
        body         json
    );
    CREATE INDEX ferry_pending ON @ferry_record (key)
        WHERE marker <> version OR marker_stamp <> stamp;
    CREATE TABLE @ferry_entry (
        key         text COLLATE "C" NOT NULL,
        seq         bigint NOT NULL,
        id          text COLLATE "C" NOT NULL,
        fingerprint bytea NOT NULL,
        outcome     json NOT NULL,
        body        bytea NOT NULL,
        CONSTRAINT ferry_entry_seq PRIMARY KEY (key, seq),
        CONSTRAINT ferry_entry_id UNIQUE (key, id)
    );
    CREATE TABLE @ferry_view (
        key     text COLLATE "C" PRIMARY KEY REFERENCES @ferry_record ON DELETE CASCADE,
        version bigint NOT NULL,
        stamp   uuid NOT NULL,
        entries bigint NOT NULL,
        body    json NOT NULL
    );
    CREATE TABLE @ferry_layout (layout integer NOT NULL);
    INSERT INTO @ferry_layout VALUES (1)"#;

const READ_LAYOUT: &str = "SELECT layout FROM @ferry_layout";

/// The record, and then what is stored of the ids: one statement, so that both are of one moment.
///
/// The ids are looked up one by one. Asked for as `id = ANY ($2)`, a planner that knows too little of the
/// table reads all entries of the key instead.
const READ: &str = "
    SELECT version, stamp, marker, marker_stamp, body::text,
           NULL::text AS id, NULL::bytea AS fingerprint, NULL::text AS outcome
    FROM @ferry_record WHERE key = $1
    UNION ALL
    SELECT NULL, NULL, NULL, NULL, NULL, stored.id, stored.fingerprint, stored.outcome::text
    FROM unnest($2) AS asked (id) CROSS JOIN LATERAL (
        SELECT entry.id, entry.fingerprint, entry.outcome FROM @ferry_entry AS entry
        WHERE entry.key = $1 AND entry.id = asked.id LIMIT 1
    ) AS stored";

/// The commit of a key without a record. Never an upsert: that would bring back a deleted record under a
/// version that was read before.
const CREATE_RECORD: &str = "
    WITH landed AS (
        INSERT INTO @ferry_record (key, version, stamp, body)
        VALUES ($1, 1, gen_random_uuid(), $2::json)
        ON CONFLICT (key) DO NOTHING
        RETURNING version, stamp
    ),";

/// The commit of a key with a record. No row comes back when the fence does not hold. An update that had
/// to wait for another looks at its condition again; a condition in a sub-select would stay as it was at
/// the statement's beginning, so there is none.
///
/// The marker stays as it is stored: a projection may have moved it since the record was read.
const UPDATE_RECORD: &str = "
    WITH landed AS (
        UPDATE @ferry_record
        SET version = version + 1, stamp = gen_random_uuid(), body = $2::json
        WHERE key = $1 AND version = $7 AND stamp = $8
        RETURNING version, stamp
    ),";

/// The entries of a commit that has landed; of one that has not there is no row to join with.
///
/// What was there before is looked up as of the statement's beginning. That is late enough: whoever adds to
/// it changes the version, which the update then does not find. A place does not come back where the view
/// has it and its entry was deleted.
const ADD_ENTRIES: &str = "
    added AS (
        INSERT INTO @ferry_entry (key, seq, id, fingerprint, outcome, body)
        SELECT $1, last.seq + new.place, new.id, new.fingerprint, new.outcome::json, new.body
        FROM landed,
            (SELECT greatest(
                (SELECT max(seq) FROM @ferry_entry WHERE key = $1),
                (SELECT entries FROM @ferry_view WHERE key = $1),
                0) AS seq) AS last,
            unnest($3::text[], $4::bytea[], $5::text[], $6::bytea[])
                WITH ORDINALITY AS new (id, fingerprint, outcome, body, place)
    )
    SELECT version, stamp FROM landed";

/// What the view lacks of a record: first the view, then the entries that it does not include. No row
/// where the record is not as it was read. One moment for all of it; whether that moment lasts is for
/// [`PROJECT`] to say.
///
/// A view is not looked at without a marker: the record was created again, or the view is to be made anew.
const READ_DEBT: &str = "
    WITH record AS (
        SELECT FROM @ferry_record
        WHERE key = $1 AND version = $2 AND stamp = $3 AND marker = $4 AND marker_stamp = $5
    ), view AS (
        SELECT version, stamp, entries, body FROM @ferry_view WHERE key = $1 AND $4 > 0
    )
    SELECT coalesce(view.entries, 0) AS seq, view.version, view.stamp,
           NULL::text AS id, NULL::bytea AS fingerprint, view.body::text AS json, NULL::bytea AS body
    FROM record LEFT JOIN view ON true
    UNION ALL
    SELECT entry.seq, NULL, NULL, entry.id, entry.fingerprint, entry.outcome::text, entry.body
    FROM record, @ferry_entry AS entry
    WHERE entry.key = $1 AND entry.seq > coalesce((SELECT entries FROM view), 0)
    ORDER BY seq";

/// The projection. It locks the record, so it waits for a commit that is under way and then looks at the
/// fence again: the version keeps it from clearing what a newer commit owes, the marker refuses a second
/// projection of one record. Reading the record without a lock would see it as it was before the commit.
const PROJECT: &str = "
    WITH moved AS (
        UPDATE @ferry_record SET marker = version, marker_stamp = stamp
        WHERE key = $1 AND version = $2 AND stamp = $3 AND marker = $4 AND marker_stamp = $5
        RETURNING key, version, stamp
    )
    INSERT INTO @ferry_view (key, version, stamp, entries, body)
    SELECT key, version, stamp, $6, $7::json FROM moved
    ON CONFLICT (key) DO UPDATE SET version = excluded.version, stamp = excluded.stamp,
        entries = excluded.entries, body = excluded.body
    RETURNING version";

const READ_VIEW: &str = "
    SELECT key, version, stamp, entries, body::text FROM @ferry_view WHERE key = $1";

/// The condition is that of the index, so that it is the index that is searched.
const PENDING: &str = "
    SELECT key FROM @ferry_record
    WHERE (marker <> version OR marker_stamp <> stamp) AND ($1::text IS NULL OR key > $1)
    ORDER BY key LIMIT $2";

const ALL_RECORDS: &str = "
    SELECT version, stamp, marker, marker_stamp, body::text, key FROM @ferry_record ORDER BY key";

const ALL_ENTRIES: &str = "
    SELECT key, seq, id, fingerprint, outcome::text, body FROM @ferry_entry ORDER BY key, seq";

const ALL_VIEWS: &str = "
    SELECT key, version, stamp, entries, body::text FROM @ferry_view ORDER BY key";

/// The statements for the tables of one schema.
#[derive(Debug)]
pub(crate) struct Statements {
    pub(crate) schema: String,
    pub(crate) create: String,
    pub(crate) read_layout: String,
    pub(crate) read: String,
    pub(crate) commit_new: String,
    pub(crate) commit: String,
    pub(crate) read_debt: String,
    pub(crate) project: String,
    pub(crate) read_view: String,
    pub(crate) pending: String,
    pub(crate) all_records: String,
    pub(crate) all_entries: String,
    pub(crate) all_views: String,
}

impl Statements {
    pub(crate) fn of(schema: String) -> Self {
        let prefix = format!("{}.", quoted(&schema));
        let of = |sql: &str| sql.replace('@', &prefix);
        Self {
            create: of(CREATE),
            read_layout: of(READ_LAYOUT),
            read: of(READ),
            commit_new: of(CREATE_RECORD) + &of(ADD_ENTRIES),
            commit: of(UPDATE_RECORD) + &of(ADD_ENTRIES),
            read_debt: of(READ_DEBT),
            project: of(PROJECT),
            read_view: of(READ_VIEW),
            pending: of(PENDING),
            all_records: of(ALL_RECORDS),
            all_entries: of(ALL_ENTRIES),
            all_views: of(ALL_VIEWS),
            schema,
        }
    }
}

/// As a name in a statement, whatever is in it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
