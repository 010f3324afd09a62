//! A projection lands on exactly the record that it was given, or not at all; no commit undoes it.

mod common;

use common::{
    File, assert_refused, assert_shows, content, deposit, deposit_on, pending, project, project_on,
    project_slowly, read, shown,
};
use ferry_core::{Commit, CommitError, Coverage, drive::Store};
use ferry_sqlite::{SqliteError, SqliteStore, Stats, Version};
use pollster::block_on;

/// A file with one account of two entries, of which the view includes the first.
fn half_shown(file: &File) -> (common::Accounts, Version, common::Account) {
    let store = file.open();
    let first = deposit(&store, "a", &["1"]).expect("lands");
    project(&store, "a");
    deposit(&store, "a", &["2"]).expect("lands");
    let seen = read(&store, "a", &[]).expect("is there");
    (store, first, seen)
}

#[test]
fn a_view_follows_its_record() {
    let file = File::new();
    let store = file.open();
    deposit(&store, "b", &["other"]).expect("lands");
    assert_eq!(shown(&store, "a"), None);
    let mut ids = Vec::new();
    for round in ["1 2 3", "4", "5 6"] {
        let news: Vec<&str> = round.split(' ').collect();
        let version = deposit(&store, "a", &news).expect("lands");
        let before = read(&store, "a", &[]).expect("is there");
        assert_eq!(before.version, version);
        assert!(before.state.is_pending(version));

        let coverage = project_on(&store, "a", &before).expect("lands");
        assert!(matches!(coverage, Coverage::Whole), "{coverage:?}");
        ids.extend(news);
        assert_shows(&store, "a", version, &ids);
        let after = read(&store, "a", &[]).expect("is there");
        assert_eq!((after.version, after.state.marker), (version, version));
        assert_eq!(after.state.body, before.state.body);
    }
    assert_eq!(shown(&store, "b"), None, "has not been projected");
}

#[test]
fn a_record_just_committed_is_projected_without_being_read() {
    let file = File::new();
    let store = file.open();
    let (state, entries) = common::fold(&ferry_sqlite::Stored::default(), &["1", "2"]);
    let commit = Commit {
        expected: None,
        state: &state,
        entries: &entries,
    };
    let version = block_on(store.commit(&"a".to_owned(), commit)).expect("lands");
    let committed = ferry_core::Record { state, version };
    project_on(&store, "a", &committed).expect("lands");
    assert_shows(&store, "a", version, &["1", "2"]);
}

#[test]
fn debts_of_several_commits_are_paid_at_once() {
    let file = File::new();
    let store = file.open();
    for id in ["3", "1", "2"] {
        deposit(&store, "a", &[id]).expect("lands");
    }
    let version = read(&store, "a", &[]).expect("is there").version;
    project(&store, "a");
    assert_shows(&store, "a", version, &["3", "1", "2"]);
}

#[test]
fn a_slow_projection_does_not_clear_what_a_newer_commit_owes() {
    let file = File::new();
    let (store, first, seen) = half_shown(&file);
    let slow = project_slowly(&store, "a", &seen);
    deposit(&store, "a", &["3"]).expect("lands");

    assert_refused(slow.finish());
    assert_shows(&store, "a", first, &["1"]);
    assert_eq!(pending(&store), ["a"]);
    project(&store, "a");
    let version = read(&store, "a", &[]).expect("is there").version;
    assert_shows(&store, "a", version, &["1", "2", "3"]);
}

#[test]
fn a_second_projection_of_one_record_is_refused() {
    let file = File::new();
    let (store, _, seen) = half_shown(&file);
    let slow = [(); 3].map(|()| project_slowly(&store, "a", &seen));
    project_on(&store, "a", &seen).expect("lands");
    let view = shown(&store, "a");

    for slow in slow {
        assert_refused(slow.finish());
    }
    assert_refused(project_on(&store, "a", &seen));
    assert_eq!(shown(&store, "a"), view);
    let Stats {
        projections,
        projections_refused,
        ..
    } = store.stats();
    assert_eq!((projections, projections_refused), (2, 4));
}

#[test]
fn an_older_projection_that_comes_last_is_refused() {
    let file = File::new();
    let (store, _, seen) = half_shown(&file);
    let slow = project_slowly(&store, "a", &seen);
    let version = deposit(&store, "a", &["3"]).expect("lands");
    project(&store, "a");

    assert_refused(slow.finish());
    assert_refused(project_on(&store, "a", &seen));
    assert_shows(&store, "a", version, &["1", "2", "3"]);
    assert!(pending(&store).is_empty());
}

/// Each column of the fence by itself: something changes it, and nothing else, between the read and the
/// write.
#[test]
fn every_column_of_version_and_marker_is_compared() {
    for change in [
        "version = version + 1",
        "stamp = randomblob(16)",
        "marker = marker + 1",
        "marker_stamp = randomblob(16)",
    ] {
        let file = File::new();
        let (store, first, seen) = half_shown(&file);
        let slow = project_slowly(&store, "a", &seen);
        file.connection()
            .execute(&format!("UPDATE ferry_record SET {change}"), [])
            .expect("updates");
        let result = slow.finish();
        assert!(
            matches!(result, Err(CommitError::Refused)),
            "{change}: {result:?}"
        );
        assert_refused(project_on(&store, "a", &seen));
        assert_shows(&store, "a", first, &["1"]);
        assert_eq!(pending(&store), ["a"]);
    }
}

#[test]
fn a_commit_leaves_the_marker_as_it_is_stored_not_as_it_was_read() {
    let file = File::new();
    let store = file.open();
    let first = deposit(&store, "a", &["1"]).expect("lands");
    let seen = read(&store, "a", &[]).expect("is there");
    assert_eq!(seen.state.marker, Version::ABSENT);
    project_on(&store, "a", &seen).expect("lands");

    let second =
        deposit_on(&store, "a", Some(&seen), &["2"]).expect("a projection keeps no commit");
    let now = read(&store, "a", &[]).expect("is there");
    assert_eq!((now.version, now.state.marker), (second, first));
    // As the committer knows it, with the marker that it has read.
    let committed = common::Account {
        version: second,
        state: ferry_sqlite::Stored {
            marker: seen.state.marker,
            ..now.state
        },
    };
    assert_refused(project_on(&store, "a", &committed));
    project(&store, "a");
    assert_shows(&store, "a", second, &["1", "2"]);
}

#[test]
fn nothing_new_is_nothing_to_write() {
    let file = File::new();
    let (store, _, seen) = half_shown(&file);
    project_on(&store, "a", &seen).expect("lands");
    let (view, stats) = (shown(&store, "a"), store.stats());
    let whole = read(&store, "a", &[]).expect("is there");
    let coverage = project_on(&store, "a", &whole).expect("is so already");
    assert!(matches!(coverage, Coverage::Whole), "{coverage:?}");
    assert_eq!((shown(&store, "a"), store.stats()), (view, stats));
}

#[test]
fn a_version_that_brought_no_entry_is_shown_with_its_body() {
    let file = File::new();
    let (store, _, seen) = half_shown(&file);
    project_on(&store, "a", &seen).expect("lands");
    file.connection()
        .execute(
            "UPDATE ferry_record SET version = version + 1, stamp = randomblob(16), body = '40'",
            [],
        )
        .expect("another program's commit");
    let version = read(&store, "a", &[]).expect("is there").version;
    project(&store, "a");
    let shown = shown(&store, "a").expect("has a view");
    assert_eq!((shown.version, shown.entries), (version, 2));
    assert_eq!(shown.view.balance, Some(40));
    assert_eq!(shown.view.ids, ["1", "2"]);
}

#[test]
fn a_body_that_a_fold_removes_is_gone_from_the_view() {
    let file = File::new();
    let (store, _, mut seen) = half_shown(&file);
    project_on(&store, "a", &seen).expect("lands");
    seen.state.body = None;
    let entry = seen
        .state
        .apply("close", content("close"), "closed".into(), *b"");
    let commit = Commit {
        expected: Some(&seen.version),
        state: &seen.state,
        entries: &[entry],
    };
    let version = block_on(store.commit(&"a".to_owned(), commit)).expect("lands");
    project(&store, "a");
    let shown = shown(&store, "a").expect("has a view");
    assert_eq!((shown.version, shown.entries), (version, 3));
    assert_eq!(shown.view.balance, None);
    assert_eq!(shown.view.ids, ["1", "2", "close"]);
}

#[test]
fn a_record_deleted_since_it_was_read_does_not_come_back_nor_does_its_view() {
    let file = File::new();
    let (store, _, seen) = half_shown(&file);
    let slow = project_slowly(&store, "a", &seen);
    file.connection()
        .execute("DELETE FROM ferry_record", [])
        .expect("deletes");

    assert_refused(slow.finish());
    assert_refused(project_on(&store, "a", &seen));
    assert_eq!(read(&store, "a", &[]), None);
    assert_eq!(shown(&store, "a"), None);
    assert!(pending(&store).is_empty());
    // Nobody's debt, though a read has something to tell.
    let gone = read(&store, "a", &["1"]).expect("the entries are there");
    project_on(&store, "a", &gone).expect("nothing to do");
    assert_eq!(shown(&store, "a"), None);
}

#[test]
fn a_record_created_again_does_not_take_the_view_of_the_one_before() {
    for (deleted, ids) in [
        ("DELETE FROM ferry_record", &["1", "2", "3"][..]),
        ("DELETE FROM ferry_record; DELETE FROM ferry_entry", &["3"]),
    ] {
        let file = File::new();
        let (store, _, seen) = half_shown(&file);
        let slow = project_slowly(&store, "a", &seen);
        file.connection().execute_batch(deleted).expect("deletes");
        let version = deposit(&store, "a", &["3"]).expect("lands");
        assert_eq!(version.number, 1);

        assert_refused(slow.finish());
        project(&store, "a");
        let shown = shown(&store, "a").expect("has a view");
        assert_eq!(
            (shown.version, shown.view.ids),
            (version, ids.iter().map(|id| (*id).to_owned()).collect())
        );
        assert_eq!(shown.view.balance, Some(1));
    }
}

#[test]
fn entries_that_were_deleted_stay_in_the_view_and_their_places_do_not_come_back() {
    let file = File::new();
    let (store, _, seen) = half_shown(&file);
    project_on(&store, "a", &seen).expect("lands");
    file.connection()
        .execute("DELETE FROM ferry_entry", [])
        .expect("deletes");
    let version = deposit(&store, "a", &["3"]).expect("lands");
    project(&store, "a");
    assert_shows(&store, "a", version, &["1", "2", "3"]);
}

#[test]
fn a_number_beyond_what_the_file_can_hold_is_refused() {
    let file = File::new();
    let (store, _, seen) = half_shown(&file);
    for (version, marker) in [(1 << 63, 0), (0, 1 << 63)] {
        let mut seen = seen.clone();
        seen.version.number += version;
        seen.state.marker.number += marker;
        assert_refused(project_on(&store, "a", &seen));
    }
}

#[test]
fn a_store_without_a_view_moves_its_marker() {
    use ferry_core::drive::ProjectedStore;

    let file = File::new();
    let version = deposit(&file.open(), "a", &["1"]).expect("lands");
    let store: SqliteStore<i64, String> = SqliteStore::open(file.path()).expect("opens");
    let key = "a".to_owned();
    let seen = block_on(store.read(&key, &[]))
        .expect("reads")
        .expect("is there");
    block_on(store.project(&key, &seen)).expect("lands");
    let shown = block_on(store.view(&key))
        .expect("reads")
        .expect("is there");
    assert_eq!((shown.version, shown.entries, shown.view), (version, 1, ()));
}

#[test]
fn a_view_that_is_not_the_one_of_the_marker_is_told_and_made_anew_on_request() {
    for spoil in [
        "UPDATE ferry_view SET stamp = randomblob(16)",
        "UPDATE ferry_view SET version = version + 1",
        "DELETE FROM ferry_view",
    ] {
        let file = File::new();
        let (store, _, seen) = half_shown(&file);
        file.connection().execute_batch(spoil).expect("spoils it");
        let before = shown(&store, "a");
        let Err(CommitError::NotLanded(fault)) = project_on(&store, "a", &seen) else {
            panic!("{spoil}");
        };
        assert_eq!(fault.class, ferry_core::Class::Permanent);
        let SqliteError::OtherView { key, marker, shows } = &fault.error else {
            panic!("{fault:?}");
        };
        assert_eq!((key.as_str(), *marker), ("a", seen.state.marker));
        assert_eq!(*shows, before.as_ref().map(|shown| shown.version));
        assert!(fault.error.to_string().contains("set the"), "{fault}");
        assert_eq!(shown(&store, "a"), before, "is left as it is");

        make_anew(&file);
        project(&store, "a");
        assert_shows(&store, "a", seen.version, &["1", "2"]);
    }
}

#[test]
fn a_view_that_cannot_be_decoded_is_told_and_made_anew_on_request() {
    let file = File::new();
    let (store, _, seen) = half_shown(&file);
    file.connection()
        .execute("UPDATE ferry_view SET body = '{\"total\":1}'", [])
        .expect("spoils it");
    let Err(CommitError::NotLanded(projected)) = project_on(&store, "a", &seen) else {
        panic!("lands");
    };
    let viewed = block_on(store.view("a")).expect_err("cannot be read");
    for fault in [projected, viewed] {
        assert_eq!(fault.class, ferry_core::Class::Permanent);
        assert!(
            matches!(&fault.error, SqliteError::Undecodable { key, part: ferry_sqlite::Part::View, .. }
                if key == "a"),
            "{fault:?}"
        );
    }
    deposit(&store, "a", &["3"]).expect("commits go on");

    make_anew(&file);
    let version = read(&store, "a", &[]).expect("is there").version;
    project(&store, "a");
    assert_shows(&store, "a", version, &["1", "2", "3"]);
}

/// As the README says.
fn make_anew(file: &File) {
    file.connection()
        .execute(
            "UPDATE ferry_record SET marker = 0, marker_stamp = zeroblob(16)",
            [],
        )
        .expect("updates");
}
