//! What is queued at once goes in one transaction, and each key in it stands or falls alone.

mod common;

use std::{fs, path::Path, pin::Pin, time::Duration};

use common::{
    Accounts, Committed, File, Projected, assert_refused, assert_shows, balance, deposit,
    deposit_later, pending, poll_once, project, project_later, queue_up, read, shown,
};
use ferry_core::{Class, CommitError};
use ferry_sqlite::{Options, SqliteError, Stats};
use pollster::block_on;
use rusqlite::Connection;

/// Another program's transaction: while it is open, commits queue up behind it.
fn locked(file: &File) -> Connection {
    let conn = file.connection();
    conn.execute_batch("BEGIN IMMEDIATE").expect("locks");
    conn
}

fn unlock(conn: Connection) {
    conn.execute_batch("ROLLBACK").expect("unlocks");
}

/// How many transactions the write-ahead log holds, read from its own bytes: a frame that ends one
/// says how large the file is after it.
fn transactions_in_log(path: &Path) -> usize {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let log = fs::read(log).expect("there is a log");
    let word = |at: usize| u32::from_be_bytes(log[at..at + 4].try_into().expect("4 bytes"));
    let frame_bytes = 24 + word(8) as usize;
    (32..log.len())
        .step_by(frame_bytes)
        .filter(|&frame| word(frame + 8) == word(16) && word(frame + 12) == word(20))
        .filter(|&frame| word(frame + 4) != 0)
        .count()
}

#[test]
fn many_keys_share_a_transaction() {
    const KEYS: usize = 100;
    let file = File::new();
    let store = file.open();
    let before = transactions_in_log(&file.path());
    let lock = locked(&file);
    let mut commits: Vec<_> = (0..KEYS)
        .map(|n| deposit_later(store.clone(), &n.to_string(), None, &["1"]))
        .collect();
    for commit in &mut commits {
        assert!(
            poll_once(commit).is_pending(),
            "nothing is answered before it is committed"
        );
    }
    unlock(lock);
    for commit in commits {
        block_on(commit).expect("lands");
    }
    // The first group is whatever the writer found when it came to the lock; the second is the rest.
    let transactions = transactions_in_log(&file.path()) - before;
    assert!(
        (1..=2).contains(&transactions),
        "{transactions} transactions"
    );
    let Stats {
        transactions: counted,
        commits,
        ..
    } = store.stats();
    assert_eq!((counted as usize, commits as usize), (transactions, KEYS));
    assert_eq!(file.ids().len(), KEYS);
}

#[test]
fn a_group_is_no_larger_than_allowed() {
    let file = File::new();
    let store = file.open_with(&Options::new().group_max(10));
    let before = transactions_in_log(&file.path());
    let lock = locked(&file);
    let mut commits: Vec<_> = (0..40)
        .map(|n| deposit_later(store.clone(), &n.to_string(), None, &["1"]))
        .collect();
    for commit in &mut commits {
        assert!(poll_once(commit).is_pending());
    }
    unlock(lock);
    for commit in commits {
        block_on(commit).expect("lands");
    }
    let transactions = transactions_in_log(&file.path()) - before;
    assert!(transactions >= 4, "{transactions} transactions");
}

type Landed = Result<(), CommitError<SqliteError>>;

/// A write that is to go into a group.
enum Member {
    Commit(Pin<Box<dyn Future<Output = Committed> + Send>>),
    Projection(Pin<Box<dyn Future<Output = Projected> + Send>>),
}

impl Member {
    fn queue_up(&mut self) {
        match self {
            Self::Commit(commit) => assert!(poll_once(commit).is_pending()),
            Self::Projection(projection) => queue_up(projection),
        }
    }

    fn finish(self) -> Landed {
        match self {
            Self::Commit(commit) => block_on(commit).map(drop),
            Self::Projection(projection) => block_on(projection).map(drop),
        }
    }
}

fn commit(store: &Accounts, account: &str, ids: &[&str]) -> Member {
    let seen = read(store, account, &[]);
    Member::Commit(deposit_later(store.clone(), account, seen.as_ref(), ids))
}

fn projection(store: &Accounts, account: &str) -> Member {
    let seen = read(store, account, &[]).expect("is there");
    Member::Projection(project_later(store.clone(), account, &seen))
}

/// Writes that are sure to be in one group: the writer is stuck at another one while they come.
fn in_one_group(file: &File, store: &Accounts, mut members: Vec<Member>) -> Vec<Landed> {
    let transactions = store.stats().transactions;
    let lock = locked(file);
    let mut first = deposit_later(store.clone(), "first", None, &["0"]);
    assert!(poll_once(&mut first).is_pending());
    for member in &mut members {
        member.queue_up();
    }
    unlock(lock);
    block_on(first).expect("lands");
    let results = members.into_iter().map(Member::finish).collect();
    assert!(
        store.stats().transactions - transactions <= 2,
        "were in one group"
    );
    results
}

#[test]
fn a_key_that_fails_leaves_its_neighbours_alone() {
    let file = File::new();
    let store = file.open_with(&Options::new().value_bytes_max(2_000));
    for account in ["stale", "id taken"] {
        deposit(&store, account, &["1"]).expect("lands");
    }
    let stale = read(&store, "stale", &[]);
    deposit(&store, "stale", &["2"]).expect("lands");
    let taken = read(&store, "id taken", &[]);

    let long = "x".repeat(3_000);
    let later = |account, seen, ids: &[&str]| {
        Member::Commit(deposit_later(store.clone(), account, seen, ids))
    };
    let results = in_one_group(
        &file,
        &store,
        vec![
            later("a", None, &["1"]),
            later("stale", stale.as_ref(), &["3"]),
            later("b", None, &["1"]),
            later("id taken", taken.as_ref(), &["2", "1"]),
            later("c", None, &["1"]),
            later("too large", None, &["1", &long]),
            later("d", None, &["1"]),
            later("id twice", None, &["1", "1"]),
            later("e", None, &["1"]),
        ],
    );
    for n in [0, 2, 4, 6, 8] {
        assert!(results[n].is_ok(), "{n}: {:?}", results[n]);
    }
    assert!(
        matches!(results[1], Err(CommitError::Refused)),
        "{:?}",
        results[1]
    );
    assert!(
        matches!(results[3], Err(CommitError::Refused)),
        "{:?}",
        results[3]
    );
    for (n, account) in [(5, "too large"), (7, "id twice")] {
        let Err(CommitError::NotLanded(fault)) = &results[n] else {
            panic!("{n}: {:?}", results[n]);
        };
        assert_eq!(fault.class, Class::Permanent);
        assert!(fault.error.to_string().contains(account), "{fault}");
        assert_eq!(read(&store, account, &[]), None, "undone whole");
    }
    assert!(matches!(&results[5], Err(CommitError::NotLanded(fault))
            if matches!(fault.error, SqliteError::TooLarge { .. })));
    for account in ["a", "b", "c", "d", "e", "id taken"] {
        assert_eq!(balance(&store, account), Some(1), "{account}");
    }
    assert_eq!(balance(&store, "stale"), Some(2));
}

#[test]
fn of_two_commits_on_one_version_in_a_group_one_lands() {
    let file = File::new();
    let store = file.open();
    deposit(&store, "a", &["1"]).expect("lands");
    let seen = read(&store, "a", &[]);
    let later = |id| Member::Commit(deposit_later(store.clone(), "a", seen.as_ref(), &[id]));
    let results = in_one_group(&file, &store, vec![later("2"), later("3")]);
    assert!(results[0].is_ok(), "{:?}", results[0]);
    assert!(
        matches!(results[1], Err(CommitError::Refused)),
        "{:?}",
        results[1]
    );
    assert_eq!(balance(&store, "a"), Some(2));
}

#[test]
fn commits_and_projections_share_a_transaction() {
    let file = File::new();
    let store = file.open();
    for account in ["projected", "both", "overtaken", "twice"] {
        deposit(&store, account, &["1"]).expect("lands");
    }
    let before = store.stats();
    let writes = vec![
        commit(&store, "new", &["1"]),
        projection(&store, "projected"),
        projection(&store, "both"),
        commit(&store, "both", &["2"]),
        commit(&store, "overtaken", &["2"]),
        projection(&store, "overtaken"),
        projection(&store, "twice"),
        projection(&store, "twice"),
    ];
    let mut results = in_one_group(&file, &store, writes);
    assert_refused(results.remove(7));
    assert_refused(results.remove(5));
    for result in results {
        result.expect("lands");
    }
    let after = store.stats();
    // One more commit is the one behind which the group has gathered.
    assert_eq!(after.commits - before.commits, 3 + 1);
    assert_eq!(after.projections - before.projections, 3);
    assert_eq!(after.projections_refused - before.projections_refused, 2);
    assert_eq!(after.refused, before.refused);
    assert_eq!(pending(&store), ["both", "first", "new", "overtaken"]);
    assert_eq!(shown(&store, "overtaken"), None);
    for account in ["projected", "both", "twice"] {
        let marker = read(&store, account, &[]).expect("is there").state.marker;
        assert_shows(&store, account, marker, &["1"]);
    }
}

#[test]
fn a_view_that_is_too_large_or_a_commit_leaves_its_neighbours_alone() {
    let file = File::new();
    let store = file.open_with(&Options::new().value_bytes_max(2_000));
    for account in ["a", "large", "z"] {
        deposit(&store, account, &["1"]).expect("lands");
    }
    // Two entries of which each fits into a row, and both do not.
    deposit(&store, "large", &[&"x".repeat(1_200)]).expect("lands");
    deposit(&store, "large", &[&"y".repeat(1_200)]).expect("lands");
    let writes = vec![
        projection(&store, "a"),
        projection(&store, "large"),
        commit(&store, "too long", &[&"x".repeat(3_000)]),
        projection(&store, "z"),
        commit(&store, "new", &["1"]),
    ];
    let results = in_one_group(&file, &store, writes);
    for n in [0, 3, 4] {
        assert!(results[n].is_ok(), "{n}: {:?}", results[n]);
    }
    for (n, account) in [(1, "large"), (2, "too long")] {
        assert!(
            matches!(&results[n], Err(CommitError::NotLanded(fault))
                if fault.class == Class::Permanent
                    && matches!(&fault.error, SqliteError::TooLarge { key } if key == account)),
            "{:?}",
            results[n]
        );
    }
    assert_eq!(shown(&store, "large"), None);
    assert_eq!(
        pending(&store),
        ["first", "large", "new"],
        "its marker has not moved"
    );
    deposit(&store, "large", &["4"]).expect("commits go on");
}

#[test]
fn an_answered_commit_is_what_others_see() {
    let file = File::new();
    let store = file.open();
    let other = file.open();
    for n in 0..20 {
        let version = deposit(&store, "a", &[&n.to_string()]).expect("lands");
        assert_eq!(read(&other, "a", &[]).expect("is there").version, version);
        assert_eq!(file.ids().len(), n + 1);
    }
}

#[test]
fn a_commit_outlives_the_caller_who_dropped_it() {
    let file = File::new();
    let store = file.open();
    let lock = locked(&file);
    for n in 0..10 {
        let mut commit = deposit_later(store.clone(), &n.to_string(), None, &["1"]);
        assert!(poll_once(&mut commit).is_pending());
    }
    unlock(lock);
    store.close();
    assert_eq!(file.ids().len(), 10);
}

#[test]
fn a_projection_whose_caller_dropped_it_is_made_whole_or_not_at_all() {
    let file = File::new();
    let store = file.open();
    for account in ["asked", "queued"] {
        deposit(&store, account, &["1"]).expect("lands");
    }
    let lock = locked(&file);
    let seen = |account| read(&store, account, &[]).expect("is there");
    let mut asked = project_later(store.clone(), "asked", &seen("asked"));
    assert!(poll_once(&mut asked).is_pending());
    drop(asked);
    let mut queued = projection(&store, "queued");
    queued.queue_up();
    drop(queued);
    unlock(lock);
    // The writer comes to this one after that one.
    deposit(&store, "last", &["1"]).expect("lands");
    let late = pending(&store);
    assert!(!late.contains(&"queued".to_owned()), "{late:?}");
    project(&store, "asked");
    for account in ["asked", "queued"] {
        let version = read(&store, account, &[]).expect("is there").version;
        assert_shows(&store, account, version, &["1"]);
    }
}

#[test]
fn a_dropped_store_finishes_what_is_queued() {
    let file = File::new();
    let store = file.open();
    let lock = locked(&file);
    let mut commits: Vec<_> = (0..10)
        .map(|n| deposit_later(store.clone(), &n.to_string(), None, &["1"]))
        .collect();
    for commit in &mut commits {
        assert!(poll_once(commit).is_pending());
    }
    // The futures hold the other handles.
    drop((store, commits));
    unlock(lock);
    let all_there = (0..60_000).any(|_| {
        std::thread::sleep(Duration::from_millis(1));
        file.ids().len() == 10
    });
    assert!(all_there);
}

#[test]
fn closing_the_last_handle_leaves_one_file_without_a_log() {
    let file = File::new();
    let store = file.open();
    let clone = store.clone();
    deposit(&store, "a", &["1"]).expect("lands");
    clone.close();
    deposit(&store, "a", &["2"]).expect("the other handle still works");
    store.close();
    let left: Vec<_> = fs::read_dir(file.folder())
        .expect("lists")
        .map(|entry| entry.expect("lists").file_name())
        .collect();
    assert_eq!(left, ["accounts.db"]);
    assert_eq!(balance(&file.open(), "a"), Some(2));
}

#[test]
fn a_future_that_was_never_polled_writes_nothing() {
    let file = File::new();
    let store = file.open();
    drop(deposit_later(store.clone(), "a", None, &["1"]));
    block_on(deposit_later(store.clone(), "b", None, &["1"])).expect("lands");
    store.close();
    assert_eq!(file.ids().len(), 1);
}
