//! A commit lands on exactly the record that was read, or not at all.

mod common;

use std::sync::Barrier;

use common::{File, assert_refused, balance, deposit, deposit_on, read};
use ferry_core::CommitError;
use ferry_sqlite::Version;

#[test]
fn of_many_who_create_a_record_one_does() {
    const WRITERS: usize = 8;
    let file = File::new();
    let start = Barrier::new(WRITERS);
    // Each is another process, as far as the file can tell.
    let stores: Vec<_> = (0..WRITERS).map(|_| file.open()).collect();
    let landed = std::thread::scope(|scope| {
        let writers: Vec<_> = stores
            .iter()
            .enumerate()
            .map(|(writer, store)| {
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    deposit_on(store, "a", None, &[&format!("by {writer}")])
                })
            })
            .collect();
        let results = writers
            .into_iter()
            .map(|writer| writer.join().expect("ends"));
        results.filter(Result::is_ok).count()
    });
    assert_eq!(landed, 1);
    assert_eq!(file.ids().len(), 1);
    assert_eq!(balance(&file.open(), "a"), Some(1));
}

#[test]
fn writers_that_read_again_after_a_refusal_lose_nothing() {
    const WRITERS: usize = 4;
    const EACH: usize = 25;
    let file = File::new();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let file = &file;
            scope.spawn(move || {
                let store = file.open();
                for input in 0..EACH {
                    let id = format!("{writer}-{input}");
                    while let Err(error) = deposit(&store, "a", &[&id]) {
                        assert!(matches!(error, CommitError::Refused), "{error:?}");
                    }
                }
            });
        }
    });
    assert_eq!(file.ids().len(), WRITERS * EACH);
    assert_eq!(balance(&file.open(), "a"), Some((WRITERS * EACH) as i64));
}

#[test]
fn a_stale_version_is_refused_and_changes_nothing() {
    let file = File::new();
    let store = file.open();
    let first = deposit(&store, "a", &["1"]).expect("lands");
    assert_eq!(first.number, 1);
    let stale = read(&store, "a", &[]);
    deposit(&store, "a", &["2"]).expect("lands");

    assert_refused(deposit_on(&store, "a", stale.as_ref(), &["3"]));
    assert_refused(deposit_on(&store, "a", None, &["3"]));
    assert_eq!(balance(&store, "a"), Some(2));
    assert_eq!(file.ids().len(), 2);
    assert_eq!(store.stats().refused, 2);
}

#[test]
fn an_equal_number_with_another_stamp_is_refused() {
    let file = File::new();
    let store = file.open();
    deposit(&store, "a", &["1"]).expect("lands");
    let mut seen = read(&store, "a", &[]).expect("is there");
    seen.version.stamp[7] ^= 1;
    assert_refused(deposit_on(&store, "a", Some(&seen), &["2"]));
    assert_eq!(balance(&store, "a"), Some(1));
}

#[test]
fn an_equal_stamp_with_another_number_is_refused() {
    let file = File::new();
    let store = file.open();
    deposit(&store, "a", &["1"]).expect("lands");
    let mut seen = read(&store, "a", &[]).expect("is there");
    seen.version.number += 1;
    assert_refused(deposit_on(&store, "a", Some(&seen), &["2"]));
    assert_eq!(balance(&store, "a"), Some(1));
}

#[test]
fn a_number_beyond_what_the_file_can_hold_is_refused() {
    let file = File::new();
    let store = file.open();
    deposit(&store, "a", &["1"]).expect("lands");
    let mut seen = read(&store, "a", &[]).expect("is there");
    seen.version.number += 1 << 63;
    assert_refused(deposit_on(&store, "a", Some(&seen), &["2"]));
}

#[test]
fn numbers_stay_exact_beyond_two_to_the_53() {
    let file = File::new();
    let store = file.open();
    deposit(&store, "a", &["1"]).expect("lands");
    let large = (1_i64 << 53) + 1;
    file.connection()
        .execute("UPDATE ferry_record SET version = ?1", [large])
        .expect("updates");
    let version = deposit(&store, "a", &["2"]).expect("lands");
    assert_eq!(version.number, large as u64 + 1);
    assert_eq!(read(&store, "a", &[]).expect("is there").version, version);
}

#[test]
fn a_record_deleted_since_it_was_read_does_not_come_back() {
    let file = File::new();
    let store = file.open();
    deposit(&store, "a", &["1"]).expect("lands");
    let seen = read(&store, "a", &[]);
    file.connection()
        .execute("DELETE FROM ferry_record", [])
        .expect("deletes");

    assert_refused(deposit_on(&store, "a", seen.as_ref(), &["2"]));
    assert_eq!(read(&store, "a", &[]), None);
    assert_eq!(file.ids().len(), 1);
}

#[test]
fn a_version_does_not_come_back_with_a_record_created_again() {
    let file = File::new();
    let store = file.open();
    let first = deposit(&store, "a", &["1"]).expect("lands");
    let seen = read(&store, "a", &[]);
    file.connection()
        .execute_batch("DELETE FROM ferry_record; DELETE FROM ferry_entry;")
        .expect("deletes");
    let again = deposit(&store, "a", &["1"]).expect("lands");

    assert_eq!(first.number, again.number);
    assert_ne!(first.stamp, again.stamp);
    assert_refused(deposit_on(&store, "a", seen.as_ref(), &["2"]));
    assert_eq!(balance(&store, "a"), Some(1));
}

#[test]
fn a_body_that_a_fold_removes_keeps_its_version_counting() {
    use ferry_core::{Commit, drive::Store};

    let file = File::new();
    let store = file.open();
    deposit(&store, "a", &["1"]).expect("lands");
    let mut seen = read(&store, "a", &["close"]).expect("is there");
    let opened = seen.clone();
    seen.state.body = None;
    let entry = seen
        .state
        .apply("close", common::content("close"), "closed".into(), *b"");
    let commit = Commit {
        expected: Some(&seen.version),
        state: &seen.state,
        entries: &[entry],
    };
    let closed = pollster::block_on(store.commit(&"a".to_owned(), commit)).expect("lands");
    assert_eq!(closed.number, 2);
    let found = read(&store, "a", &[]).expect("still has a version");
    assert_eq!((found.state.body, found.version), (None, closed));

    assert_refused(deposit_on(&store, "a", None, &["2"]));
    assert_refused(deposit_on(&store, "a", Some(&opened), &["2"]));
    let reopened = deposit(&store, "a", &["2"]).expect("lands");
    assert_eq!(reopened.number, 3);
}

#[test]
fn versions_differ_between_keys_and_commits() {
    let file = File::new();
    let store = file.open();
    let mut seen: Vec<Version> = Vec::new();
    for round in 0..5 {
        for account in ["a", "b"] {
            let version = deposit(&store, account, &[&round.to_string()]).expect("lands");
            assert_eq!(version.number, round + 1);
            assert!(seen.iter().all(|other| other.stamp != version.stamp));
            assert_ne!(version.stamp, [0; 16]);
            seen.push(version);
        }
    }
}
