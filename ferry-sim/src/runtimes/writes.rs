//! Fenced writes to a store in memory: what the callers hear, and what its log says.

use std::time::Duration;

use ferry_core::{
    Cause, Class, Failure, Retry,
    drive::{Ferry, Submission},
    fold_write::FoldWrite,
};

use super::{
    bank::{BEYOND, Bank, Deposit, Deposits, INDIGESTIBLE, deposit},
    host::*,
    mishap::{Mishap, Trouble},
};

type Teller = Ferry<FoldWrite<Deposits<Bank>>>;

/// Tries again without a pause, unless the store asks for one.
pub fn at_once(attempts: u32) -> Retry {
    let (base, cap) = (Duration::ZERO, Duration::ZERO);
    Retry {
        base,
        cap,
        attempts,
        ..Retry::default()
    }
}

fn open_teller<H: Host>(host: &H, bank: &Bank) -> Teller {
    let builder = host.builder().retry(at_once(4));
    builder.fold_write(Deposits::new(), bank.clone()).unwrap()
}

/// Has these go in one batch, behind one of nothing.
async fn together<const N: usize>(
    teller: &Teller,
    bank: &Bank,
    account: u64,
    deposits: [Deposit; N],
) -> [Submission<i64, Trouble>; N] {
    bank.way.before_read.close();
    let reads = bank.way.before_read.arrived();
    let first = teller.submit(account, deposit(1000, 0)).unwrap();
    bank.way.before_read.reached(reads + 1).await;
    let batch = deposits.map(|deposit| teller.submit(account, deposit).unwrap());
    bank.way.before_read.let_through(1);
    first.await.unwrap();
    batch
}

pub fn each_caller_hears_the_balance_after_its_own<H: Host>(host: H) {
    let bank = Bank::new();
    let teller = open_teller(&host, &bank);
    host.run(async {
        let deposits: Vec<_> = (1..=50)
            .map(|id| teller.submit(7, deposit(id, 10)).unwrap())
            .collect();
        for (balance, submission) in (1..).zip(deposits) {
            assert_eq!(submission.await.unwrap(), balance * 10);
        }
        assert_eq!(bank.books.ids(), (1..=50).collect::<Vec<_>>());
        assert_nothing_is_left(&teller);
        let writes = teller.stats().counters.writes;
        assert_eq!((writes.applied, writes.failed), (50, 0));
    });
}

pub fn a_batch_of_many_makes_one_commit<H: Host>(host: H) {
    let bank = Bank::new();
    let teller = open_teller(&host, &bank);
    host.run(async {
        let batch = together(&teller, &bank, 7, [1, 2, 3, 4, 5].map(|id| deposit(id, 1))).await;
        bank.way.before_read.open();
        for submission in batch {
            submission.await.unwrap();
        }
        assert_eq!(teller.stats().counters.writes.commits, 2);
    });
}

pub fn a_retry_of_an_id_hears_the_first_outcome<H: Host>(host: H) {
    let bank = Bank::new();
    let teller = open_teller(&host, &bank);
    host.run(async {
        assert_eq!(teller.submit(7, deposit(1, 10)).unwrap().await.unwrap(), 10);
        assert_eq!(teller.submit(7, deposit(2, 5)).unwrap().await.unwrap(), 15);
        assert_eq!(teller.submit(7, deposit(1, 10)).unwrap().await.unwrap(), 10);
        let twins = [3, 3, 3].map(|id| teller.submit(7, deposit(id, 1)).unwrap());
        for twin in twins {
            assert_eq!(twin.await.unwrap(), 16);
        }
        assert_eq!(bank.books.ids(), [1, 2, 3]);
        assert_eq!(teller.stats().counters.writes.duplicates, 3);
    });
}

pub fn an_answer_that_rests_on_what_is_stored_does_not_wait_for_the_commit<H: Host>(host: H) {
    let bank = Bank::new();
    let teller = open_teller(&host, &bank);
    host.run(async {
        teller.submit(7, deposit(1, 10)).unwrap().await.unwrap();
        let batch = together(
            &teller,
            &bank,
            7,
            [deposit(1, 10), deposit(2, -50), deposit(3, 5)],
        )
        .await;
        let [stored, beyond, new] = batch;
        let commits = bank.way.before_commit.arrived();
        bank.way.before_commit.close();
        bank.way.before_read.open();
        bank.way.before_commit.reached(commits + 1).await;
        assert_eq!((stored.await.unwrap(), beyond.await.unwrap()), (10, BEYOND));
        assert_eq!(bank.books.balance(7), 10);
        bank.way.before_commit.open();
        assert_eq!(new.await.unwrap(), 15);
    });
}

pub fn nothing_is_answered_before_it_has_landed<H: Host>(host: H) {
    let bank = Bank::new();
    let teller = open_teller(&host, &bank);
    host.run(async {
        bank.way.before_commit.close();
        let mut submission = teller.submit(7, deposit(1, 10)).unwrap();
        bank.way.before_commit.reached(1).await;
        assert!(
            futures_lite::future::poll_once(&mut submission)
                .await
                .is_none()
        );
        bank.way.after_commit.close();
        bank.way.before_commit.open();
        bank.way.after_commit.reached(1).await;
        assert!(
            futures_lite::future::poll_once(&mut submission)
                .await
                .is_none()
        );
        bank.way.after_commit.open();
        assert_eq!(submission.await.unwrap(), 10);
    });
}

pub fn trouble_that_passes_is_not_heard_of<H: Host>(host: H) {
    let troubles = [
        Mishap::Refused,
        Mishap::Fails(Class::Transient),
        Mishap::Fails(Class::Throttled(None)),
        Mishap::AnswerLost,
        Mishap::RequestLost,
    ];
    for first in troubles {
        for second in troubles {
            let bank = Bank::new();
            let teller = open_teller(&host, &bank);
            bank.reads_meet([Mishap::Fails(Class::Transient)]);
            bank.commits_meet([first, second]);
            host.run(async {
                let pair = [1, 2].map(|id| teller.submit(7, deposit(id, 10)).unwrap());
                let balances = pair.map(|submission| async { submission.await.unwrap() });
                let [one, two] = balances;
                assert_eq!(
                    (one.await, two.await),
                    (10, 20),
                    "{first:?}, then {second:?}"
                );
                assert_eq!(bank.books.ids(), [1, 2]);
                assert_nothing_is_left(&teller);
            });
        }
    }
}

pub fn trouble_that_does_not_pass_fails_with_what_is_known<H: Host>(host: H) {
    let told = |mishap, times| {
        let bank = Bank::new();
        let teller = open_teller(&host, &bank);
        bank.commits_meet(std::iter::repeat_n(mishap, times));
        let answer = host.run(async { teller.submit(7, deposit(1, 10)).unwrap().await });
        assert_nothing_is_left(&teller);
        assert_eq!(bank.books.balance(7), 0);
        // The key goes on.
        assert_eq!(
            host.run(teller.submit(7, deposit(2, 1)).unwrap()).unwrap(),
            1
        );
        answer.unwrap_err()
    };
    let failure = told(Mishap::Fails(Class::Transient), 4);
    assert!(
        matches!(failure, Failure::NotCommitted(Cause::Store(_))),
        "{failure:?}"
    );
    let failure = told(Mishap::Fails(Class::Permanent), 1);
    assert!(
        matches!(failure, Failure::NotCommitted(Cause::Store(_))),
        "{failure:?}"
    );
    let failure = told(Mishap::RequestLost, 4);
    assert!(
        matches!(failure, Failure::InDoubt(Cause::Store(_))),
        "{failure:?}"
    );
}

pub fn what_the_store_never_takes_fails_alone<H: Host>(host: H) {
    let bank = Bank::new();
    let teller = open_teller(&host, &bank);
    host.run(async {
        let amounts = [1, 2, INDIGESTIBLE, 4, 5, 6, 7];
        let deposits = std::array::from_fn::<_, 7, _>(|n| deposit(n as u64 + 1, amounts[n]));
        let batch = together(&teller, &bank, 7, deposits).await;
        bank.way.before_read.open();
        let mut balances = Vec::new();
        for submission in batch {
            balances.push(submission.await);
        }
        let bad = balances.remove(2).unwrap_err();
        assert!(
            matches!(bad, Failure::NotCommitted(Cause::Store(_))),
            "{bad:?}"
        );
        let balances: Vec<_> = balances.into_iter().map(Result::unwrap).collect();
        assert_eq!(balances, [1, 3, 7, 12, 18, 25]);
        assert_eq!(bank.books.ids(), [1000, 1, 2, 4, 5, 6, 7]);
        assert!(teller.stats().counters.writes.splits > 0);
        assert_nothing_is_left(&teller);
    });
}
