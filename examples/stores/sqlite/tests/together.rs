//! Many who commit and many who project, on two handles of one file: each entry is taken into the view once.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};

use common::{Accounts, File, deposit, pending, project_on, read, shown};
use ferry_core::{CommitError, Coverage};

const ACCOUNTS: [&str; 3] = ["a", "b", "c"];
const COMMITTERS: usize = 4;
const PROJECTORS: usize = 4;
const EACH: usize = 60;

#[test]
fn each_entry_is_taken_into_the_view_once_and_in_order() {
    let file = File::new();
    let stores = [file.open(), file.open()];
    let at_work = AtomicUsize::new(COMMITTERS);
    std::thread::scope(|scope| {
        for committer in 0..COMMITTERS {
            let (store, at_work) = (&stores[committer % 2], &at_work);
            scope.spawn(move || {
                commit_all(store, committer);
                at_work.fetch_sub(1, Ordering::SeqCst);
            });
        }
        for projector in 0..PROJECTORS {
            let (store, at_work) = (&stores[projector % 2], &at_work);
            scope.spawn(move || {
                // Asked first: what the last committer left is then seen in the round after.
                while at_work.load(Ordering::SeqCst) > 0 || !pending(store).is_empty() {
                    for account in pending(store) {
                        project_once(store, &account);
                    }
                }
            });
        }
    });
    check(&file, &stores[0]);
    let stats = stores.map(|store| store.stats());
    let refused: u64 = stats.iter().map(|stats| stats.projections_refused).sum();
    assert!(refused > 0, "they never met");
}

fn commit_all(store: &Accounts, committer: usize) {
    for n in 0..EACH {
        let account = ACCOUNTS[n % ACCOUNTS.len()];
        let id = format!("{committer}-{n}");
        while let Err(error) = deposit(store, account, &[&id]) {
            assert!(matches!(error, CommitError::Refused), "{error:?}");
        }
    }
}

fn project_once(store: &Accounts, account: &str) {
    let seen = read(store, account, &[]).expect("is there");
    match project_on(store, account, &seen) {
        Ok(Coverage::Whole) | Err(CommitError::Refused) => {}
        other => panic!("{other:?}"),
    }
}

/// Every view shows its record, with the account's entries in the order in which they were applied.
fn check(file: &File, store: &Accounts) {
    for account in ACCOUNTS {
        let conn = file.connection();
        let mut statement = conn
            .prepare("SELECT id FROM ferry_entry WHERE key = ?1 ORDER BY seq")
            .expect("prepares");
        let ids: Vec<String> = statement
            .query_map([account], |row| row.get(0))
            .and_then(Iterator::collect)
            .expect("reads");
        assert_eq!(ids.len(), COMMITTERS * EACH / ACCOUNTS.len());
        let record = read(store, account, &[]).expect("is there");
        let shown = shown(store, account).expect("has a view");
        assert_eq!(
            (shown.version, shown.entries),
            (record.version, ids.len() as u64)
        );
        assert_eq!(shown.view.balance, record.state.body);
        assert_eq!(shown.view.ids, ids);
    }
}
