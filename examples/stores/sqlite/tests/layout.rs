//! A file of the first layout is brought up to date when it is opened, and loses nothing.

mod common;

use std::{fs, sync::Barrier, time::Duration};

use common::{Accounts, File, assert_shows, content, deposit, pending, project, read};
use ferry_sqlite::{Check, OpenError, Options, Version};
use rusqlite::{Connection, params};

/// What the first version of the store made of a new file.
const FIRST_LAYOUT: &str = "
    PRAGMA journal_mode = WAL;
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
    PRAGMA application_id = 0x46657279;
    PRAGMA user_version = 1;
";

/// How the first version of the store committed to a record.
const FIRST_COMMIT: &str = "
    UPDATE ferry_record SET version = version + 1, stamp = randomblob(16), body = ?2
    WHERE key = ?1 AND version = ?3
    RETURNING version, stamp";

const ACCOUNTS: [&str; 3] = ["a", "b", "c"];

/// A file as the first version of the store left it: each account has two entries. The connection is
/// that of a program that still uses it.
fn first_layout(file: &File) -> Connection {
    let conn = file.connection();
    conn.execute_batch(FIRST_LAYOUT).expect("creates");
    for account in ACCOUNTS {
        conn.execute(
            "INSERT INTO ferry_record (key, version, stamp, body) VALUES (?1, 2, randomblob(16), '2')",
            [account],
        )
        .expect("inserts");
        for (seq, id) in [(1, "1"), (2, "2")] {
            insert_entry(&conn, account, seq, id);
        }
    }
    conn
}

fn insert_entry(conn: &Connection, account: &str, seq: i64, id: &str) {
    conn.execute(
        "INSERT INTO ferry_entry (key, seq, id, fingerprint, outcome, body)
         VALUES (?1, ?2, ?3, ?4, ?5, x'2b31')",
        params![
            account,
            seq,
            id,
            content(id).to_bytes(),
            format!("\"balance {seq}\"")
        ],
    )
    .expect("inserts");
}

fn layout(conn: &Connection) -> i32 {
    conn.pragma_query_value(None, "user_version", |row| row.get(0))
        .expect("reads")
}

/// All that makes up a layout: each thing's name and definition.
fn schema(conn: &Connection) -> Vec<(String, Option<String>)> {
    let mut statement = conn
        .prepare("SELECT name, sql FROM sqlite_schema ORDER BY name")
        .expect("prepares");
    let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)));
    rows.and_then(Iterator::collect).expect("reads")
}

#[test]
fn what_was_stored_is_there_and_pending() {
    let file = File::new();
    drop(first_layout(&file));
    let store = file.open();
    assert_eq!(layout(&file.connection()), 2);
    for account in ACCOUNTS {
        let record = read(&store, account, &["1", "3"]).expect("is there");
        assert_eq!(record.version.number, 2);
        assert_eq!(record.state.body, Some(2));
        assert_eq!(record.state.marker, Version::ABSENT);
        assert!(record.state.is_pending(record.version));
        let known = &record.state.known;
        assert_eq!(
            known.check("1", content("1")),
            Check::Same(&"balance 1".to_owned())
        );
        assert_eq!(known.check("3", content("3")), Check::New);
    }
    assert_eq!(pending(&store), ACCOUNTS);

    let version = deposit(&store, "b", &["3"]).expect("lands");
    assert_eq!(version.number, 3);
    project(&store, "b");
    assert_shows(&store, "b", version, &["1", "2", "3"]);
    assert_eq!(pending(&store), ["a", "c"]);
}

#[test]
fn an_old_file_becomes_what_a_new_one_is() {
    let (old, new) = (File::new(), File::new());
    drop(first_layout(&old));
    drop((old.open(), new.open()));
    assert_eq!(schema(&old.connection()), schema(&new.connection()));
}

#[test]
fn it_is_done_once_by_all_who_open_the_file_at_the_same_moment() {
    const OPENERS: usize = 8;
    for _ in 0..5 {
        let file = File::new();
        drop(first_layout(&file));
        let start = Barrier::new(OPENERS);
        std::thread::scope(|scope| {
            for opener in 0..OPENERS {
                let (file, start) = (&file, &start);
                scope.spawn(move || {
                    start.wait();
                    deposit(&file.open(), &opener.to_string(), &["1"]).expect("lands");
                });
            }
        });
        assert_eq!(file.ids().len(), OPENERS + 2 * ACCOUNTS.len());
        assert_eq!(layout(&file.connection()), 2);
    }
}

#[test]
fn a_program_of_the_first_layout_that_has_the_file_open_goes_on() {
    let file = File::new();
    let old = first_layout(&file);
    let mut commit = old.prepare(FIRST_COMMIT).expect("prepares");
    let store = file.open();
    project(&store, "a");
    let marker = read(&store, "a", &[]).expect("is there").state.marker;

    let number: i64 = commit
        .query_row(params!["a", "3", 2], |row| row.get(0))
        .expect("lands");
    assert_eq!(number, 3);
    insert_entry(&old, "a", 3, "3");
    let record = read(&store, "a", &[]).expect("is there");
    assert_eq!(record.state.marker, marker);
    project(&store, "a");
    assert_shows(&store, "a", record.version, &["1", "2", "3"]);
}

fn open_hurriedly(file: &File) -> Result<Accounts, OpenError> {
    Options::new()
        .busy_timeout(Duration::from_millis(50))
        .open(file.path())
}

#[test]
fn a_file_that_is_locked_stays_as_it_is() {
    let file = File::new();
    let old = first_layout(&file);
    old.execute_batch("BEGIN IMMEDIATE").expect("locks");
    let before = schema(&file.connection());
    let error = open_hurriedly(&file).expect_err("is refused");
    assert!(matches!(error, OpenError::Locked { .. }), "{error:?}");
    assert_eq!(schema(&file.connection()), before);
    assert_eq!(layout(&file.connection()), 1);

    old.execute_batch("COMMIT").expect("unlocks");
    drop(open_hurriedly(&file).expect("opens once it is free"));
}

#[test]
fn what_cannot_be_done_whole_is_not_begun() {
    let file = File::new();
    let old = first_layout(&file);
    // Somebody's own table, in the way of the last things that are created.
    old.execute_batch("CREATE TABLE ferry_view (mine)")
        .expect("creates");
    drop(old);
    let before = schema(&file.connection());
    let error = open_hurriedly(&file).expect_err("is refused");
    assert!(error.to_string().contains("ferry_view"), "{error}");
    assert_eq!(schema(&file.connection()), before);
    assert_eq!(layout(&file.connection()), 1);
}

#[test]
fn the_layout_after_this_one_is_refused_unchanged() {
    let file = File::new();
    drop(file.open());
    file.connection()
        .pragma_update(None, "user_version", 3)
        .expect("updates");
    let before = fs::read(file.path()).expect("reads");
    let error = open_hurriedly(&file).expect_err("is refused");
    assert!(
        matches!(
            error,
            OpenError::OtherLayout {
                found: 3,
                known: 2,
                ..
            }
        ),
        "{error:?}"
    );
    assert!(fs::read(file.path()).expect("reads") == before);
}
