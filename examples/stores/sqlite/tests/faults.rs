//! What goes wrong is told for what it is, to those it concerns.

mod common;

use std::{collections::HashMap, fmt::Debug, fs, time::Duration};

use common::{
    Accounts, File, assert_shows, balance, deposit, deposit_later, deposit_on, pending, poll_once,
    project, project_on, read, shown, try_read,
};
use ferry_core::{
    Class, Commit, CommitError, Fault,
    drive::{ProjectedStore, Store},
};
use ferry_sqlite::{Entry, Options, Part, SqliteError, SqliteStore, Stored, View};
use pollster::block_on;
use serde::{Deserialize, Serialize};

fn hurried() -> Options {
    Options::new().busy_timeout(Duration::from_millis(20))
}

fn not_landed<T: Debug>(result: Result<T, CommitError<SqliteError>>) -> Fault<SqliteError> {
    match result {
        Err(CommitError::NotLanded(fault)) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_locked_by_another_program_is_a_passing_fault_and_nothing_is_lost() {
    let file = File::new();
    let store = file.open_with(&hurried());
    let other = file.connection();
    other.execute_batch("BEGIN IMMEDIATE").expect("locks");
    let fault = not_landed(deposit(&store, "a", &["1"]));
    assert_eq!(fault.class, Class::Transient);
    assert!(matches!(fault.error, SqliteError::Busy(_)), "{fault:?}");
    assert_eq!(
        read(&store, "a", &["1"]),
        None,
        "reads go on, and see nothing of it"
    );

    other.execute_batch("COMMIT").expect("unlocks");
    deposit(&store, "a", &["1"]).expect("lands when tried again");
    assert_eq!(balance(&store, "a"), Some(1));
    assert_eq!(file.ids().len(), 1);
}

#[test]
fn a_projection_on_a_locked_file_is_a_passing_fault_too() {
    let file = File::new();
    let store = file.open_with(&hurried());
    deposit(&store, "a", &["1"]).expect("lands");
    let seen = read(&store, "a", &[]).expect("is there");
    let other = file.connection();
    other.execute_batch("BEGIN IMMEDIATE").expect("locks");
    let fault = not_landed(project_on(&store, "a", &seen));
    assert_eq!(fault.class, Class::Transient);
    assert!(matches!(fault.error, SqliteError::Busy(_)), "{fault:?}");
    assert_eq!(shown(&store, "a"), None);
    assert_eq!(pending(&store), ["a"]);

    other.execute_batch("COMMIT").expect("unlocks");
    project_on(&store, "a", &seen).expect("lands when tried again");
    assert_shows(&store, "a", seen.version, &["1"]);
}

#[test]
fn a_commit_waits_for_a_lock_that_is_given_back_in_time() {
    let file = File::new();
    let store = file.open();
    let other = file.connection();
    other.execute_batch("BEGIN IMMEDIATE").expect("locks");
    let mut commit = deposit_later(store.clone(), "a", None, &["1"]);
    assert!(poll_once(&mut commit).is_pending());
    other.execute_batch("COMMIT").expect("unlocks");
    block_on(commit).expect("lands");
}

#[test]
fn what_cannot_be_decoded_is_told_by_key_and_harms_no_other() {
    let file = File::new();
    let store = file.open();
    for account in [
        "body",
        "outcome",
        "number",
        "stamp",
        "fingerprint",
        "utf8",
        "marker",
        "marker stamp",
        "fine",
    ] {
        deposit(&store, account, &["1"]).expect("lands");
    }
    file.connection()
        .execute_batch(
            "UPDATE ferry_record SET body = '{\"x\":1}' WHERE key = 'body';
             UPDATE ferry_record SET body = CAST(x'ff' AS TEXT) WHERE key = 'utf8';
             UPDATE ferry_record SET version = -1 WHERE key = 'number';
             UPDATE ferry_record SET stamp = x'00' WHERE key = 'stamp';
             UPDATE ferry_record SET marker = -1 WHERE key = 'marker';
             UPDATE ferry_record SET marker_stamp = x'00' WHERE key = 'marker stamp';
             UPDATE ferry_entry SET outcome = '1' WHERE key = 'outcome';
             UPDATE ferry_entry SET fingerprint = x'00' WHERE key = 'fingerprint';",
        )
        .expect("spoils them");
    for (account, spoilt) in [
        ("body", Part::Body),
        ("utf8", Part::Body),
        ("number", Part::Version),
        ("stamp", Part::Version),
        ("marker", Part::Marker),
        ("marker stamp", Part::Marker),
        ("outcome", Part::Outcome),
        ("fingerprint", Part::Entry),
    ] {
        let fault = try_read(&store, account, &["1"]).expect_err("cannot be read");
        assert_eq!(fault.class, Class::Permanent);
        assert!(fault.error.to_string().contains(account), "{fault}");
        assert!(
            matches!(&fault.error, SqliteError::Undecodable { key, part, .. }
                if key == account && *part == spoilt),
            "{fault:?}"
        );
    }
    deposit(&store, "fine", &["2"]).expect("lands");
    assert_eq!(balance(&store, "fine"), Some(2));

    let error = store
        .audit()
        .expect("opens")
        .for_each_record(|_, _| {})
        .expect_err("cannot be read");
    assert!(
        matches!(&error, SqliteError::Undecodable { key, .. } if key == "body"),
        "{error:?}"
    );
}

#[test]
fn what_has_no_json_form_is_told_before_anything_is_written() {
    let file = File::new();
    let store: SqliteStore<HashMap<(u8, u8), u8>, u8> =
        SqliteStore::open(file.path()).expect("opens");
    let mut state = Stored {
        body: Some(HashMap::from([((1, 1), 1)])),
        ..Stored::default()
    };
    let entry = state.apply("1", common::content("1"), 0, *b"");
    let commit = Commit {
        expected: None,
        state: &state,
        entries: &[entry],
    };
    let fault = not_landed(block_on(store.commit(&"a".to_owned(), commit)));
    assert_eq!(fault.class, Class::Permanent);
    assert!(
        matches!(&fault.error, SqliteError::Unencodable { key, part: Part::Body, .. } if key == "a"),
        "{fault:?}"
    );
    assert_eq!(file.ids().len(), 0);
}

/// A view that cannot be stored.
#[derive(Default, Serialize, Deserialize)]
struct ByPair(HashMap<(u8, u8), u8>);

impl View<i64, String> for ByPair {
    fn advance(&mut self, _body: Option<&i64>, _entries: &[Entry<String>]) {
        self.0.insert((1, 1), 1);
    }
}

#[test]
fn a_view_that_has_no_json_form_is_told_before_anything_is_written() {
    let file = File::new();
    deposit(&file.open(), "a", &["1"]).expect("lands");
    let store: SqliteStore<i64, String, ByPair> = SqliteStore::open(file.path()).expect("opens");
    let key = "a".to_owned();
    let seen = block_on(store.read(&key, &[]))
        .expect("reads")
        .expect("is there");
    let fault = not_landed(block_on(store.project(&key, &seen)));
    assert_eq!(fault.class, Class::Permanent);
    assert!(
        matches!(&fault.error, SqliteError::Unencodable { key, part: Part::View, .. } if key == "a"),
        "{fault:?}"
    );
    assert_eq!(pending(&file.open()), ["a"]);
}

#[test]
fn a_record_whose_entries_cannot_be_decoded_stays_pending_and_harms_no_other() {
    let file = File::new();
    let store = file.open();
    for account in ["outcome", "place", "fine"] {
        deposit(&store, account, &["1"]).expect("lands");
    }
    file.connection()
        .execute_batch(
            "UPDATE ferry_entry SET outcome = '1' WHERE key = 'outcome';
             UPDATE ferry_entry SET fingerprint = x'00' WHERE key = 'place';",
        )
        .expect("spoils them");
    for (account, spoilt) in [("outcome", Part::Outcome), ("place", Part::Entry)] {
        let seen = read(&store, account, &[]).expect("is there");
        let fault = not_landed(project_on(&store, account, &seen));
        assert_eq!(fault.class, Class::Permanent);
        assert!(
            matches!(&fault.error, SqliteError::Undecodable { key, part, .. }
                if key == account && *part == spoilt),
            "{fault:?}"
        );
    }
    project(&store, "fine");
    assert_eq!(pending(&store), ["outcome", "place"]);
}

#[test]
fn a_record_that_has_grown_too_large_can_still_be_read() {
    let file = File::new();
    let store = file.open();
    let long = "x".repeat(5_000);
    deposit(&store, "a", &[&long]).expect("lands");
    store.close();
    let store = file.open_with(&Options::new().value_bytes_max(2_000));
    let seen = read(&store, "a", &[&long]).expect("is there");
    assert_eq!(seen.state.body, Some(1));
    let fault = not_landed(deposit_on(&store, "a", Some(&seen), &[&format!("{long}y")]));
    assert_eq!(fault.class, Class::Permanent);
    assert!(
        matches!(&fault.error, SqliteError::TooLarge { key } if key == "a"),
        "{fault:?}"
    );
    deposit_on(&store, "a", Some(&seen), &["2"]).expect("what is small enough lands");
}

#[test]
fn a_version_that_cannot_be_counted_on_is_this_keys_fault() {
    let file = File::new();
    let store = file.open();
    deposit(&store, "a", &["1"]).expect("lands");
    deposit(&store, "b", &["1"]).expect("lands");
    file.connection()
        .execute(
            "UPDATE ferry_record SET version = ?1 WHERE key = 'a'",
            [i64::MAX],
        )
        .expect("updates");
    let fault = not_landed(deposit(&store, "a", &["2"]));
    assert_eq!(fault.class, Class::Permanent);
    deposit(&store, "b", &["2"]).expect("lands");
    assert_eq!(balance(&store, "a"), Some(1));
}

#[test]
fn a_table_that_is_gone_is_told_and_not_retried() {
    let file = File::new();
    let store = file.open();
    deposit(&store, "a", &["1"]).expect("lands");
    let seen = read(&store, "a", &[]);
    file.connection()
        .execute_batch("DROP TABLE ferry_entry")
        .expect("drops");
    let fault = not_landed(deposit_on(&store, "a", seen.as_ref(), &["2"]));
    assert_eq!(fault.class, Class::Permanent);
    let fault = try_read(&store, "a", &["1"]).expect_err("fails");
    assert_eq!(fault.class, Class::Permanent);
    assert!(fault.error.to_string().contains("ferry_entry"), "{fault}");
    assert_eq!(
        balance(&store, "a"),
        Some(1),
        "what needs no entries goes on"
    );
}

#[test]
fn a_damaged_page_is_told_and_other_keys_go_on() {
    let file = File::new();
    let store = file.open();
    let filler = "f".repeat(2_000);
    for account in 0..40 {
        deposit(&store, &format!("{account:02}"), &[&filler]).expect("lands");
    }
    store.close();
    spoil_last_page_of(&file, "ferry_entry");

    let store: Accounts = file.open();
    let mut damaged = 0;
    let mut fine = 0;
    for account in 0..40 {
        match deposit(&store, &format!("{account:02}"), &["2"]) {
            Ok(_) => fine += 1,
            Err(CommitError::NotLanded(fault)) => {
                assert_eq!(fault.class, Class::Permanent);
                assert!(matches!(fault.error, SqliteError::Damaged(_)), "{fault:?}");
                damaged += 1;
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    assert!(damaged > 0 && fine > 0, "{damaged} damaged, {fine} fine");
}

/// Overwrites the table's last leaf page, as a failing disk might.
fn spoil_last_page_of(file: &File, table: &str) {
    let conn = file.connection();
    let page: u32 = conn
        .query_row(
            "SELECT max(pageno) FROM dbstat WHERE name = ?1 AND pagetype = 'leaf'",
            [table],
            |row| row.get(0),
        )
        .expect("finds a page");
    let bytes: u32 = conn
        .pragma_query_value(None, "page_size", |row| row.get(0))
        .expect("reads");
    drop(conn);
    let mut content = fs::read(file.path()).expect("reads");
    content[((page - 1) * bytes) as usize..(page * bytes) as usize].fill(0xA5);
    fs::write(file.path(), content).expect("writes");
}
