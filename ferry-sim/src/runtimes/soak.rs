//! Thousands of operations by chance, and an account of every one of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use ferry_core::{
    Failure,
    drive::{Ferry, Runtime},
    fold_write::FoldWrite,
    per_key::{Reason, Rejected},
};
use futures_lite::future::{poll_once, yield_now};

use super::{
    bank::{Bank, Deposit, Deposits, INDIGESTIBLE, POISON, deposit},
    host::*,
    mishap::Trouble,
    writes::at_once,
};

const TASKS: u64 = 4;
const OPERATIONS: u64 = 300;

/// What the callers of one task saw.
#[derive(Default)]
struct Account {
    accepted: u64,
    rejected: u64,
    withdrawn_or_not_heard: u64,
    heard: Vec<(u64, Heard)>,
    /// How often each id was accepted.
    sent: BTreeMap<u64, u32>,
}

#[derive(Debug, PartialEq)]
enum Heard {
    Applied,
    NotCommitted,
    InDoubt,
}

type Teller = Ferry<FoldWrite<Deposits<Bank>>>;

/// One task's doings.
struct Customer<R> {
    teller: Teller,
    runtime: R,
    rng: fastrand::Rng,
    number: u64,
    account: Account,
}

impl<R: Runtime> Customer<R> {
    async fn carry_on(mut self) -> Account {
        for n in 0..OPERATIONS {
            let id = match self.rng.u8(..10) {
                // Again, or what another task sends.
                0 => self.rng.u64(..TASKS * OPERATIONS),
                _ => self.number * OPERATIONS + n,
            };
            let cents = match self.rng.u8(..100) {
                0 => POISON,
                1 => INDIGESTIBLE,
                // The same content for the same id.
                _ => 1 + id as i64 % 5,
            };
            self.submit(id % 6, deposit(id, cents)).await;
            if self.rng.u8(..) < 40 {
                yield_now().await;
            }
            // The last one closes up a little early.
            if self.number == TASKS - 1 && n == OPERATIONS * 9 / 10 {
                drop(self.teller.close());
            }
        }
        self.account
    }

    async fn submit(&mut self, key: u64, deposit: Deposit) {
        let within = Duration::from_micros(self.rng.u64(..3000));
        let accepted = match self.rng.u8(..4) {
            0 => self.teller.submit_within(key, deposit, within),
            1 => {
                let mut free = std::pin::pin!(self.teller.submit_when_free(key, deposit));
                let polls = self.rng.u8(..8);
                match poll_some(polls, free.as_mut()).await {
                    Some(accepted) => accepted,
                    None if polls < 4 => return,
                    None => free.await,
                }
            }
            _ => self.teller.submit(key, deposit),
        };
        let mut submission = match accepted {
            Ok(submission) => submission,
            Err(Rejected {
                reason,
                key: same,
                input,
            }) => {
                self.account.rejected += 1;
                assert_eq!((same, input), (key, deposit));
                assert_ne!(reason, Reason::TooHeavy);
                return yield_now().await;
            }
        };
        self.account.accepted += 1;
        *self.account.sent.entry(deposit.id).or_default() += 1;
        let polls = self.rng.u8(..8);
        let answer = match poll_some(polls, &mut submission).await {
            Some(answer) => answer,
            None if polls < 3 => {
                self.account.withdrawn_or_not_heard += 1;
                return;
            }
            None if polls == 3 => {
                self.runtime
                    .sleep(Duration::from_micros(self.rng.u64(..500)))
                    .await;
                submission.await
            }
            None => submission.await,
        };
        self.hear(deposit.id, answer);
    }

    fn hear(&mut self, id: u64, answer: Result<i64, Failure<Trouble>>) {
        let heard = match answer {
            Ok(_) => Heard::Applied,
            Err(Failure::NotCommitted(_)) => Heard::NotCommitted,
            Err(Failure::InDoubt(_)) => Heard::InDoubt,
        };
        self.account.heard.push((id, heard));
    }
}

async fn poll_some<F: Future + Unpin>(polls: u8, mut future: F) -> Option<F::Output> {
    for _ in 0..polls {
        if let Some(output) = poll_once(&mut future).await {
            return Some(output);
        }
        yield_now().await;
    }
    None
}

pub fn every_operation_is_accounted_for<H: Host>(host: H) {
    for seed in 1..=4 {
        let soaked = catch_unwind(AssertUnwindSafe(|| soak(&host, seed)));
        assert!(soaked.is_ok(), "the seed was {seed}");
    }
}

fn soak<H: Host>(host: &H, seed: u64) {
    let bank = Bank::new();
    bank.runs_out_of_luck(seed);
    let builder = host
        .builder()
        .seed(seed)
        .retry(at_once(3))
        .shards(1 << (seed % 4));
    let builder = builder
        .max_queueing(12)
        .max_queueing_per_key(5)
        .max_in_flight(3)
        .max_batch(4);
    let builder = builder.linger(Duration::from_millis(seed % 2));
    let teller = builder.fold_write(Deposits::new(), bank.clone()).unwrap();
    let accounts = host.run(async {
        let mut tasks: Vec<_> = (0..TASKS)
            .map(|number| {
                let customer = Customer {
                    teller: teller.clone(),
                    runtime: host.runtime(),
                    rng: fastrand::Rng::with_seed(seed * TASKS + number),
                    number,
                    account: Account::default(),
                };
                in_a_task(host, customer.carry_on())
            })
            .collect();
        let mut accounts = Vec::new();
        for task in &mut tasks {
            accounts.push(task.await);
        }
        teller.close().await;
        accounts
    });
    assert_nothing_is_left(&teller);
    audit(&teller, &bank, accounts);
}

fn audit(teller: &Teller, bank: &Bank, accounts: Vec<Account>) {
    let stats = teller.stats();
    let (counters, writes) = (stats.counters, stats.counters.writes);
    let sum = |of: fn(&Account) -> u64| accounts.iter().map(of).sum::<u64>();
    assert_eq!(counters.accepted, sum(|a| a.accepted), "{stats:?}");
    assert_eq!(counters.rejected, sum(|a| a.rejected), "{stats:?}");
    assert_eq!(
        counters.accepted,
        sum(|a| a.heard.len() as u64 + a.withdrawn_or_not_heard),
    );
    assert_eq!(
        counters.accepted,
        counters.batched + counters.withdrawn + counters.expired,
        "{stats:?}"
    );
    let answered = [
        writes.applied,
        writes.duplicates,
        writes.declined,
        writes.mismatches,
        writes.expired,
        writes.failed,
    ];
    assert_eq!(counters.batched, answered.iter().sum::<u64>(), "{stats:?}");

    let landed: BTreeSet<_> = bank.books.ids().into_iter().collect();
    let mut sent = BTreeMap::<_, u32>::new();
    for (&id, times) in accounts.iter().flat_map(|account| &account.sent) {
        *sent.entry(id).or_default() += times;
    }
    for (id, heard) in accounts.iter().flat_map(|account| &account.heard) {
        match heard {
            Heard::Applied => assert!(landed.contains(id), "{id} was lost"),
            // Another submission of the same id may have brought it there.
            Heard::NotCommitted if sent[id] == 1 => {
                assert!(!landed.contains(id), "{id} was committed after all");
            }
            Heard::NotCommitted | Heard::InDoubt => {}
        }
    }
    assert!(landed.iter().all(|id| sent.contains_key(id)));
}
