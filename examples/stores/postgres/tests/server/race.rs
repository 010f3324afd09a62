//! Committers and projectors of several processes on the same keys.

use ferry_core::CommitError;
use ferry_test_servers::postgres::Server;
use futures_util::future::join_all;
use tokio::sync::watch;

use crate::bank::{Accounts, Bank, all, deposit, project_on, read, tell};

const ACCOUNTS: [&str; 3] = ["a", "b", "c"];
const COMMITTERS: usize = 4;
const EACH: usize = 40;

/// Deposits in all accounts, and reads again when it is refused.
async fn commit(store: Accounts, name: String) {
    for n in 0..EACH {
        for account in ACCOUNTS {
            let id = format!("{name}-{n}");
            while let Err(error) = deposit(&store, account, &[&id]).await {
                assert!(matches!(error, CommitError::Refused), "{error:?}");
            }
        }
    }
}

/// Projects what is pending until it is told to stop; says how often that landed.
async fn project(store: Accounts, stop: watch::Receiver<bool>) -> u64 {
    while !*stop.borrow() {
        for account in store.pending(10).await.expect("reads") {
            let record = read(&store, &account, &[]).await.expect("is there");
            match project_on(&store, &account, &record).await {
                Ok(_) | Err(CommitError::Refused) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
    }
    store.stats().projections
}

pub(crate) fn each_entry_is_in_the_view_once(server: &Server) {
    tell(async {
        let bank = Bank::new(server);
        let stores = [bank.open().await, bank.open().await];
        let (stop, stopped) = watch::channel(false);
        let projectors: Vec<_> = (stores.iter().chain(&stores))
            .map(|store| tokio::spawn(project(store.clone(), stopped.clone())))
            .collect();
        let committers = (0..COMMITTERS).map(|n| {
            let store = stores[n % stores.len()].clone();
            tokio::spawn(commit(store, n.to_string()))
        });
        for committer in join_all(committers).await {
            committer.expect("ends");
        }
        stop.send(true).expect("is heard");
        for projector in join_all(projectors).await {
            projector.expect("ends");
        }
        let landed: u64 = stores.iter().map(|store| store.stats().projections).sum();
        assert!(landed > 3, "they were at it meanwhile");
        for account in stores[0].pending(10).await.expect("reads") {
            let record = read(&stores[0], &account, &[]).await.expect("is there");
            project_on(&stores[0], &account, &record)
                .await
                .expect("lands alone");
        }

        let audit = stores[1].audit().await.expect("opens");
        let mut applied = [(); 3].map(|()| Vec::new());
        let visited = audit.for_each_entry(|key, _, entry| {
            let account = ACCOUNTS.iter().position(|account| *account == key);
            applied[account.expect("one of them")].push(entry.id);
        });
        visited.await.expect("reads");
        let (_, views) = all(&stores[1]).await;
        assert_eq!(views.len(), ACCOUNTS.len());
        for ((account, shown), applied) in views.iter().zip(&applied) {
            assert_eq!(shown.view.ids, *applied, "{account}");
            assert_eq!(shown.view.balance, (COMMITTERS * EACH) as i64);
            assert_eq!(shown.entries, (COMMITTERS * EACH) as u64);
        }
    });
}
