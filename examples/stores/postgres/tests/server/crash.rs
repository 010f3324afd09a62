//! A server that is killed under load and started again: what was answered is there, once.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use ferry_core::{CommitError, Fold, Step, StepOf, fold_write::FoldWrite};
use ferry_postgres::{Check, Fingerprint, Options, PostgresStore, Stored};
use ferry_test_servers::postgres::{Installed, Server, Setup};
use ferry_tokio::Builder;
use tokio::{
    task::{JoinHandle, block_in_place},
    time::sleep,
};

use crate::bank::{Accounts, Bank, deposit_on, eventually, tell, try_read};

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

/// One account's deposits, each answered with the balance that it led to.
struct Deposits;

type Ledger = PostgresStore<i64, i64>;

impl Fold for Deposits {
    type Schema = Ledger;
    type Input = String;
    type Outcome = Result<i64, &'static str>;

    fn id(&self, id: &String) -> String {
        id.clone()
    }

    fn empty(&self, _account: &String) -> Stored<i64, i64> {
        Stored::default()
    }

    fn step(&self, account: &mut Stored<i64, i64>, id: &String) -> StepOf<Self> {
        let fingerprint = Fingerprint::of(id.as_bytes());
        match account.known.check(id, fingerprint) {
            Check::Same(balance) => Step::Already(Ok(*balance)),
            Check::Mismatch => Step::Mismatch(Err("the id of another")),
            Check::New => {
                let balance = account.body.unwrap_or(0) + 1;
                account.body = Some(balance);
                let entry = account.apply(id, fingerprint, balance, *b"");
                Step::Applied(entry, Ok(balance))
            }
        }
    }
}

type Heard = Arc<Mutex<BTreeMap<(String, String), i64>>>;

/// Sends each of its inputs, same id and content, until there is an outcome.
fn client(
    ferry: ferry_tokio::Ferry<FoldWrite<Deposits>>,
    name: usize,
    heard: Heard,
    answered: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
) -> JoinHandle<()> {
    let account = ACCOUNTS[name % ACCOUNTS.len()];
    tokio::spawn(async move {
        for n in 0.. {
            if stop.load(Ordering::SeqCst) {
                break;
            }
            let id = format!("{name}-{n}");
            let balance = loop {
                match ferry.submit(account.to_owned(), id.clone()) {
                    Ok(submission) => match submission.await {
                        Ok(outcome) => break outcome.expect("is no mismatch"),
                        Err(_failure) => sleep(Duration::from_millis(20)).await,
                    },
                    Err(rejected) => panic!("{:?}", rejected.reason),
                }
            };
            let first = (heard.lock().expect("is sound")).insert((account.to_owned(), id), balance);
            assert_eq!(first, None);
            answered.fetch_add(1, Ordering::SeqCst);
        }
    })
}

pub(crate) fn what_ferry_answered_is_there_once(installed: &Installed) {
    let mut server = installed.start(&Setup::durable()).expect("starts");
    tell(async {
        let bank = Bank::new(&server);
        let store: Ledger = options().connect(bank.url()).await.expect("opens");
        let ferry = Builder::new()
            .fold_write(Deposits, store.clone())
            .expect("within bounds");
        let (heard, answered, stop) = <(Heard, Arc<AtomicUsize>, Arc<AtomicBool>)>::default();
        let clients: Vec<_> = (0..24)
            .map(|name| {
                let (heard, answered) = (Arc::clone(&heard), Arc::clone(&answered));
                client(ferry.clone(), name, heard, answered, Arc::clone(&stop))
            })
            .collect();
        kill_under(&mut server, &answered, |kills| kills == KILLS).await;
        stop.store(true, Ordering::SeqCst);
        for client in clients {
            client.await.expect("ends");
        }
        ferry.close().await;

        let heard = heard.lock().expect("is sound").clone();
        assert!(heard.len() >= KILLS * BETWEEN_KILLS);
        let audit = store.audit().await.expect("opens");
        let mut stored = BTreeMap::new();
        let mut entries = BTreeMap::<String, i64>::new();
        let visited = audit.for_each_entry(|key, place, entry| {
            *entries.entry(key.to_owned()).or_default() += 1;
            assert_eq!(entry.outcome, place as i64, "each adds one");
            let twice = stored.insert((key.to_owned(), entry.id), entry.outcome);
            assert_eq!(twice, None);
        });
        visited.await.expect("reads");
        // The clients sent everything until it was answered, so there is nothing else either.
        assert_eq!(stored, heard);
        for (key, record) in audit.records().await.expect("reads") {
            assert_eq!(record.state.body, entries.get(&key).copied(), "{key}");
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
