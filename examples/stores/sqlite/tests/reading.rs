//! What readers are shown, which keys are pending, and both as an audit sees them.

mod common;

use std::collections::BTreeMap;

use common::{File, deposit, pending, project, read, shown};
use ferry_sqlite::Version;
use pollster::block_on;

/// Accounts of one entry each, of which these have been projected.
fn some_projected(file: &File, accounts: &[&str], projected: &[&str]) -> common::Accounts {
    let store = file.open();
    for account in accounts {
        deposit(&store, account, &["1"]).expect("lands");
    }
    for account in projected {
        project(&store, account);
    }
    store
}

#[test]
fn the_keys_of_pending_records_are_found_in_order() {
    let file = File::new();
    let store = some_projected(&file, &["c", "", "b", "a", "a\0", "d"], &["b", "d"]);
    assert_eq!(pending(&store), ["", "a", "a\0", "c"]);
    deposit(&store, "b", &["2"]).expect("lands");
    assert_eq!(pending(&store), ["", "a", "a\0", "b", "c"]);

    let first = |limit| block_on(store.pending(limit)).expect("reads");
    assert!(first(0).is_empty());
    assert_eq!(first(2), ["", "a"]);
    assert_eq!(first(5), pending(&store));
    let after = |key, limit| block_on(store.pending_after(key, limit)).expect("reads");
    assert_eq!(after("", 2), ["a", "a\0"]);
    assert_eq!(after("a", 2), ["a\0", "b"]);
    assert_eq!(after("a\0", 9), ["b", "c"]);
    assert_eq!(after("bb", 9), ["c"]);
    assert!(after("c", 9).is_empty());
}

#[test]
fn a_key_that_cannot_be_read_is_no_pending_key() {
    let file = File::new();
    let store = some_projected(&file, &["a"], &[]);
    file.connection()
        .execute("UPDATE ferry_record SET key = CAST(x'ff' AS TEXT)", [])
        .expect("spoils it");
    let fault = block_on(store.pending(9)).expect_err("cannot be read");
    assert_eq!(fault.class, ferry_core::Class::Permanent);
    assert!(fault.error.to_string().contains("stored key"), "{fault}");
}

#[test]
fn a_view_is_of_its_own_key() {
    let file = File::new();
    let store = some_projected(&file, &["a", "b"], &["a", "b"]);
    deposit(&store, "b", &["2"]).expect("lands");
    let a = shown(&store, "a").expect("has a view");
    let b = shown(&store, "b").expect("has a view");
    assert_eq!(a.version, read(&store, "a", &[]).expect("is there").version);
    assert_eq!(
        b.version,
        read(&store, "b", &[]).expect("is there").state.marker
    );
    assert_eq!(shown(&store, "c"), None);
}

#[test]
fn an_audit_can_hold_records_against_their_views() {
    let file = File::new();
    let store = some_projected(&file, &["new", "late", "even"], &["late", "even"]);
    deposit(&store, "late", &["2"]).expect("lands");
    let audit = store.audit().expect("opens");
    // Comes too late for this audit.
    project(&store, "new");

    let mut views = BTreeMap::new();
    audit
        .for_each_view(|account, shown| {
            views.insert(account.to_owned(), shown);
        })
        .expect("reads");
    let mut told = Vec::new();
    audit
        .for_each_record(|account, record| {
            let shows = views.get(account).map(|shown| shown.version);
            assert_eq!(record.state.marker, shows.unwrap_or(Version::ABSENT));
            told.push((account.to_owned(), record.state.is_pending(record.version)));
        })
        .expect("reads");
    let expected = [("even", false), ("late", true), ("new", true)];
    assert_eq!(told, expected.map(|(account, is)| (account.to_owned(), is)));
    assert_eq!(views.len(), 2);
    assert_eq!(views["late"].view.ids, ["1"]);
}

#[test]
fn an_audit_tells_which_view_cannot_be_decoded() {
    let file = File::new();
    let store = some_projected(&file, &["a", "b"], &["a", "b"]);
    file.connection()
        .execute("UPDATE ferry_view SET entries = -1 WHERE key = 'b'", [])
        .expect("spoils it");
    let error = store
        .audit()
        .expect("opens")
        .for_each_view(|_, _| {})
        .expect_err("cannot be read");
    assert!(
        matches!(&error, ferry_sqlite::SqliteError::Undecodable { key, part: ferry_sqlite::Part::View, .. }
            if key == "b"),
        "{error:?}"
    );
}
