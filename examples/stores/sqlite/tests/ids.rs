//! An id is applied once for a key, for as long as its entry is kept.

mod common;

use common::{Accounts, File, balance, content, deposit, deposit_on, read};
use ferry_core::{Class, CommitError, drive::Store};
use ferry_sqlite::{Check, Fingerprint, SqliteError};

#[test]
fn a_read_tells_of_exactly_the_ids_it_was_asked_about() {
    let file = File::new();
    let store = file.open();
    deposit(&store, "a", &["1", "2"]).expect("lands");
    deposit(&store, "b", &["3"]).expect("lands");

    let known = read(&store, "a", &["1", "3", "4"])
        .expect("is there")
        .state
        .known;
    assert_eq!(
        known.check("1", content("1")),
        Check::Same(&"balance 1".to_owned())
    );
    assert_eq!(known.check("1", Fingerprint::of(b"other")), Check::Mismatch);
    assert_eq!(
        known.check("3", content("3")),
        Check::New,
        "applied to another key only"
    );
    assert_eq!(known.check("4", content("4")), Check::New);
    assert_eq!(
        known.check("2", content("2")),
        Check::New,
        "was not asked about"
    );
}

#[test]
fn an_id_that_is_stored_already_is_refused_until_it_is_read() {
    let file = File::new();
    let store = file.open();
    deposit(&store, "a", &["1"]).expect("lands");
    // Read without asking about the id, so that the fence holds and only the id stands in the way.
    let seen = read(&store, "a", &[]);
    let result = deposit_on(&store, "a", seen.as_ref(), &["2", "1"]);
    assert!(matches!(result, Err(CommitError::Refused)), "{result:?}");
    assert_eq!(balance(&store, "a"), Some(1));
    assert_eq!(file.ids().len(), 1, "the id before it was undone as well");
}

#[test]
fn an_id_twice_in_one_commit_is_the_folds_mistake_and_harms_nobody_else() {
    let file = File::new();
    let store = file.open();
    let result = deposit_on(&store, "a", None, &["1", "1"]);
    let Err(CommitError::NotLanded(fault)) = result else {
        panic!("{result:?}");
    };
    assert_eq!(fault.class, Class::Permanent);
    assert!(
        matches!(&fault.error, SqliteError::RepeatedId { key, id } if key == "a" && id == "1"),
        "{fault:?}"
    );
    assert_eq!(file.ids().len(), 0);
    deposit(&store, "a", &["1"]).expect("lands");
}

#[test]
fn ids_outlive_a_deleted_record() {
    let file = File::new();
    let store = file.open();
    deposit(&store, "a", &["1", "2"]).expect("lands");
    file.connection()
        .execute("DELETE FROM ferry_record", [])
        .expect("deletes");

    let retried = read(&store, "a", &["1", "3"]).expect("has something to tell");
    assert_eq!(retried.state.body, None);
    assert_eq!(
        retried.state.known.check("1", content("1")),
        Check::Same(&"balance 1".to_owned())
    );
    let version = deposit_on(&store, "a", Some(&retried), &["3"]).expect("creates it again");
    assert_eq!(version.number, 1);
    let result = deposit_on(&store, "a", Some(&retried), &["4"]);
    assert!(matches!(result, Err(CommitError::Refused)), "{result:?}");
}

#[test]
fn entries_are_numbered_as_they_were_applied() {
    let file = File::new();
    let store = file.open();
    deposit(&store, "b", &["z"]).expect("lands");
    deposit(&store, "a", &["3", "1"]).expect("lands");
    deposit(&store, "a", &["2"]).expect("lands");

    let mut entries = Vec::new();
    let audit = store.audit().expect("opens");
    audit
        .for_each_entry(|key, seq, entry| {
            assert_eq!(entry.fingerprint, content(&entry.id));
            assert_eq!(entry.body, b"+1");
            entries.push((key.to_owned(), seq, entry.id, entry.outcome));
        })
        .expect("reads");
    let expected = [
        ("a", 1, "3", "balance 1"),
        ("a", 2, "1", "balance 2"),
        ("a", 3, "2", "balance 3"),
        ("b", 1, "z", "balance 1"),
    ];
    let expected =
        expected.map(|(key, seq, id, outcome)| (key.into(), seq, id.into(), outcome.into()));
    assert_eq!(entries, expected);
}

#[test]
fn an_audit_stays_at_the_moment_it_began() {
    let file = File::new();
    let store = file.open();
    let version = deposit(&store, "a", &["1"]).expect("lands");
    let audit = store.audit().expect("opens");
    deposit(&store, "a", &["2"]).expect("lands");
    deposit(&store, "b", &["3"]).expect("lands");

    let mut records = Vec::new();
    audit
        .for_each_record(|account, record| {
            records.push((account.to_owned(), record.version, record.state.body));
        })
        .expect("reads");
    assert_eq!(records, [("a".to_owned(), version, Some(1))]);
    let mut entries = 0;
    audit.for_each_entry(|_, _, _| entries += 1).expect("reads");
    assert_eq!(entries, 1);
    assert_eq!(records_in(&store), 2);
}

fn records_in(store: &Accounts) -> usize {
    let mut records = 0;
    let audit = store.audit().expect("opens");
    audit.for_each_record(|_, _| records += 1).expect("reads");
    records
}

#[test]
fn keys_and_ids_are_compared_byte_by_byte() {
    let file = File::new();
    let store = file.open();
    let long = "k".repeat(1024);
    let longer = "k".repeat(1025);
    let names = [
        "", "a", "A", " a", "a ", "a\0", "a\0b", "\0", "%", "'\"", "ä", "a\u{308}", &long, &longer,
    ];
    for (n, account) in names.iter().enumerate() {
        for id in &names[..=n] {
            deposit(&store, account, &[id]).expect("lands");
        }
    }
    for (n, account) in names.iter().enumerate() {
        let record = read(&store, account, &names).expect("is there");
        assert_eq!(record.state.body, Some(n as i64 + 1), "{account:?}");
        for (m, id) in names.iter().enumerate() {
            let known = record.state.known.check(id, content(id)) != Check::New;
            assert_eq!(known, m <= n, "{account:?} {id:?}");
        }
    }
    assert_eq!(records_in(&store), names.len());
}

#[test]
fn a_large_batch_is_read_and_committed_whole() {
    let file = File::new();
    let store = file.open();
    let ids: Vec<String> = (0..2_000).map(|id| id.to_string()).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    deposit(&store, "a", &ids).expect("lands");
    let record = read(&store, "a", &ids).expect("is there");
    assert_eq!(record.state.body, Some(2_000));
    assert!(
        ids.iter()
            .all(|id| record.state.known.check(id, content(id)) != Check::New)
    );
}

#[test]
fn a_store_is_a_ferry_store() {
    fn ask<S: Store>(_: &S) {}
    ask(&File::new().open());
}
