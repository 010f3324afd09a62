//! A store whose calls block their thread.

use ferry_core::{Cause, Class, Failure, drive::Ferry, fold_write::FoldWrite};

use super::{
    bank::{Bank, BlockingBank, Deposits, deposit},
    host::*,
    mishap::Mishap,
    writes::at_once,
};

fn open_teller<H: Host>(host: &H, bank: &Bank) -> Ferry<FoldWrite<Deposits<BlockingBank>>> {
    let builder = host.builder().retry(at_once(4));
    let bank = BlockingBank(bank.clone());
    builder.fold_write_blocking(Deposits::new(), bank).unwrap()
}

pub fn a_call_that_blocks_holds_nobody_else_up<H: Host>(host: H) {
    let bank = Bank::new();
    let teller = open_teller(&host, &bank);
    host.run(async {
        bank.way.before_commit.close();
        let all: Vec<_> = (0..4)
            .map(|account| teller.submit(account, deposit(account, 10)).unwrap())
            .collect();
        // All four block at once, and this goes on meanwhile.
        bank.way.before_commit.reached(4).await;
        assert_eq!(teller.stats().batches_in_flight, 4);
        let behind = teller.submit(0, deposit(9, 1)).unwrap();
        bank.way.before_commit.open();
        for submission in all {
            assert_eq!(submission.await.unwrap(), 10);
        }
        assert_eq!(behind.await.unwrap(), 11);
        assert_nothing_is_left(&teller);
    });
}

pub fn trouble_of_a_store_that_blocks_is_ridden_out<H: Host>(host: H) {
    let bank = Bank::new();
    let teller = open_teller(&host, &bank);
    bank.reads_meet([Mishap::Fails(Class::Transient)]);
    bank.commits_meet([Mishap::AnswerLost]);
    host.run(async {
        assert_eq!(teller.submit(7, deposit(1, 10)).unwrap().await.unwrap(), 10);
        assert_eq!(bank.books.ids(), [1]);
    });
}

pub fn a_panic_of_a_store_that_blocks_fails_its_batch_alone<H: Host>(host: H) {
    let bank = Bank::new();
    let teller = open_teller(&host, &bank);
    host.run(async {
        bank.reads_meet([Mishap::PanicsInTheFuture]);
        let failure = teller.submit(7, deposit(1, 10)).unwrap().await.unwrap_err();
        assert!(
            matches!(failure, Failure::NotCommitted(Cause::Panicked(_))),
            "{failure:?}"
        );

        bank.commits_meet([Mishap::PanicsInTheFuture]);
        let failure = teller.submit(7, deposit(2, 10)).unwrap().await.unwrap_err();
        assert!(
            matches!(failure, Failure::InDoubt(Cause::Panicked(_))),
            "{failure:?}"
        );

        // The read after it finds what landed.
        bank.commits_meet([Mishap::PanicsAfterLanding]);
        assert_eq!(teller.submit(7, deposit(2, 10)).unwrap().await.unwrap(), 10);
        assert_eq!(bank.books.ids(), [2]);
        assert_nothing_is_left(&teller);
    });
}
