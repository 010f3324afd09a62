//! A server that is killed under load and started again: what was answered is there, once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use ferry_postgres::Options;
use ferry_test_servers::postgres::{Installed, Server, Setup};
use ferry_tokio::{Builder, CommitError, Ferry, ProjectedWrite};
use tokio::{task::block_in_place, time::sleep};

use crate::bank::{Accounts, Bank, Deposits, all, deposit_on, eventually, tell, try_read};

const ACCOUNTS: [&str; 4] = ["a", "b", "c", "d"];
const KILLS: usize = 4;
const KILLS_MAX: usize = 40;
const BETWEEN_KILLS: usize = 300;

/// Impatient, so that what a dead server leaves behind is soon over.
fn options() -> Options {
    Options::new()
        .connections(6)
        .connect_timeout(Duration::from_secs(1))
        .lock_timeout(Duration::from_millis(500))
        .statement_timeout(Duration::from_secs(1))
        .answer_timeout(Duration::from_secs(2))
}

/// Kills the server and starts it again, each time after some more of the load has been answered, until
/// that is enough.
async fn kill_under(
    server: &mut Server,
    answered: &AtomicUsize,
    is_enough: impl Fn(usize) -> bool,
) {
    for kills in 0.. {
        let before = answered.load(Ordering::SeqCst);
        eventually("there is progress", async || {
            answered.load(Ordering::SeqCst) >= before + BETWEEN_KILLS
        })
        .await;
        if is_enough(kills) {
            break;
        }
        assert!(kills < KILLS_MAX, "never enough");
        block_in_place(|| server.kill()).expect("dies");
        block_in_place(|| server.start_again()).expect("recovers");
    }
}

/// Account and id, and what was answered.
type Heard = Arc<Mutex<BTreeMap<(String, String), String>>>;

/// Sends each of its inputs, same id and content, until there is an outcome.
async fn client(
    ferry: Ferry<ProjectedWrite<Deposits>>,
    name: usize,
    heard: Heard,
    answered: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
) {
    let account = ACCOUNTS[name % ACCOUNTS.len()].to_owned();
    for n in 0.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let id = format!("{name}-{n}");
        let outcome = loop {
            let submission = ferry.submit(account.clone(), id.clone());
            match submission.expect("there is room").await {
                Ok(answer) => break answer.outcome,
                Err(_failure) => sleep(Duration::from_millis(20)).await,
            }
        };
        let mut heard = heard.lock().expect("is sound");
        let first = heard.insert((account.clone(), id), outcome);
        assert_eq!(first, None);
        answered.fetch_add(1, Ordering::SeqCst);
    }
}

pub(crate) fn what_ferry_answered_is_there_once(installed: &Installed) {
    let mut server = installed.start(&Setup::durable()).expect("starts");
    tell(async {
        let bank = Bank::new(&server);
        let store = bank.open_with(&options()).await;
        let ferry = Builder::new().projected_write(Deposits, store.clone());
        let ferry = ferry.expect("within bounds");
        let (heard, answered, stop) = <(Heard, Arc<AtomicUsize>, Arc<AtomicBool>)>::default();
        let clients: Vec<_> = (0..24)
            .map(|name| {
                let (heard, answered) = (Arc::clone(&heard), Arc::clone(&answered));
                let client = client(ferry.clone(), name, heard, answered, Arc::clone(&stop));
                tokio::spawn(client)
            })
            .collect();
        kill_under(&mut server, &answered, |kills| kills == KILLS).await;
        stop.store(true, Ordering::SeqCst);
        for client in clients {
            client.await.expect("ends");
        }
        let late = store.pending(usize::MAX).await.expect("reads");
        let report = ferry.sweep(late).await;
        assert_eq!(report.still_pending, 0);
        ferry.close().await;

        let heard = heard.lock().expect("is sound").clone();
        assert!(heard.len() >= KILLS * BETWEEN_KILLS);
        let mut stored = BTreeMap::new();
        let mut ids = BTreeMap::<String, Vec<String>>::new();
        let audit = store.audit().await.expect("opens");
        let visited = audit.for_each_entry(|key, place, entry| {
            ids.entry(key.to_owned())
                .or_default()
                .push(entry.id.clone());
            assert_eq!(entry.outcome, format!("balance {place}"), "each adds one");
            let twice = stored.insert((key.to_owned(), entry.id), entry.outcome);
            assert_eq!(twice, None);
        });
        visited.await.expect("reads");
        // The clients sent everything until it was answered, so there is nothing else either.
        assert_eq!(stored, heard);
        let (records, views) = all(&store).await;
        assert_eq!(
            (records.len(), views.len()),
            (ACCOUNTS.len(), ACCOUNTS.len())
        );
        for ((key, record), (_, shown)) in records.iter().zip(&views) {
            assert_eq!(record.state.body, Some(ids[key].len() as i64), "{key}");
            assert_eq!(shown.view.ids, ids[key], "each once, in order");
            assert_eq!(shown.version, record.version);
        }
    });
}

/// What the store itself told, commit by commit.
#[derive(Default)]
struct Told {
    landed: BTreeSet<(String, String)>,
    not_landed: BTreeSet<(String, String)>,
    in_doubt: BTreeSet<(String, String)>,
}

/// Commits one id after the other, each once, whatever comes of it.
async fn try_once(
    store: Accounts,
    account: &'static str,
    told: Arc<Mutex<Told>>,
    answered: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
) {
    for n in 0.. {
        if stop.load(Ordering::SeqCst) {
            break;
        }
        let id = n.to_string();
        let Ok(seen) = try_read(&store, account, &[&id]).await else {
            sleep(Duration::from_millis(5)).await;
            continue;
        };
        let result = deposit_on(&store, account, seen.as_ref(), &[&id]).await;
        let mut told = told.lock().expect("is sound");
        let heard = match result {
            Ok(_) => &mut told.landed,
            // Alone on its account, it can only have been refused by one of its own that was in doubt.
            Err(CommitError::Refused | CommitError::NotLanded(_)) => &mut told.not_landed,
            Err(CommitError::InDoubt(_)) => &mut told.in_doubt,
        };
        heard.insert((account.to_owned(), id));
        answered.fetch_add(1, Ordering::SeqCst);
    }
}

pub(crate) fn what_the_store_said_of_a_commit_is_true(installed: &Installed) {
    let mut server = installed.start(&Setup::durable()).expect("starts");
    tell(async {
        let bank = Bank::new(&server);
        let store = bank.open_with(&options()).await;
        let (told, answered, stop) =
            <(Arc<Mutex<Told>>, Arc<AtomicUsize>, Arc<AtomicBool>)>::default();
        let committers: Vec<_> = (ACCOUNTS.iter())
            .map(|account| {
                let (told, answered) = (Arc::clone(&told), Arc::clone(&answered));
                let stop = Arc::clone(&stop);
                tokio::spawn(try_once(store.clone(), account, told, answered, stop))
            })
            .collect();
        // Until a commit was under way in one of them.
        let are_in_doubt = || !told.lock().expect("is sound").in_doubt.is_empty();
        let is_enough = |kills| kills >= KILLS && are_in_doubt();
        kill_under(&mut server, &answered, is_enough).await;
        stop.store(true, Ordering::SeqCst);
        for committer in committers {
            committer.await.expect("ends");
        }
        let stored = bank.ids().await;
        let told = told.lock().expect("is sound");
        let lost: Vec<_> = told.landed.difference(&stored).collect();
        assert!(lost.is_empty(), "lost: {lost:?}");
        let denied: Vec<_> = told.not_landed.intersection(&stored).collect();
        assert!(denied.is_empty(), "not landed, and yet there: {denied:?}");
        let known: BTreeSet<_> = told.landed.union(&told.in_doubt).cloned().collect();
        assert!(stored.is_subset(&known));
    });
}
