//! User code that panics costs its own inputs, and nobody waits in vain.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use ferry_core::{
    Cause, Failure,
    drive::{BatchCall, Ferry},
    fold_write::FoldWrite,
    per_key::Reason,
};

use super::{
    bank::{BOTTOMLESS, Bank, Deposits, NAMELESS, POISON, deposit},
    host::*,
    mishap::Mishap,
    writes::at_once,
};

/// What a batch call does with an input.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Doing {
    Well,
    PanicInTheCall,
    PanicInTheFuture,
    OneOutcomeTooFew,
    OneTooMany,
    WeighAndPanic,
}

struct Moody;

impl BatchCall for Moody {
    type Key = u64;
    type Input = Doing;
    type Outcome = ();

    fn weight(&self, doing: &Doing) -> usize {
        assert_ne!(*doing, Doing::WeighAndPanic, "weighing panics");
        1
    }

    fn call(
        &self,
        _key: &u64,
        inputs: &mut Vec<Doing>,
        outcomes: &mut Vec<()>,
    ) -> impl Future<Output = ()> + Send {
        assert!(!inputs.contains(&Doing::PanicInTheCall), "the call panics");
        async move {
            // What is left here by a panic must not reach the next batch.
            outcomes.extend(inputs.iter().map(|_| ()));
            assert!(
                !inputs.contains(&Doing::PanicInTheFuture),
                "the future panics"
            );
            if inputs.contains(&Doing::OneOutcomeTooFew) {
                outcomes.pop();
            }
            if inputs.contains(&Doing::OneTooMany) {
                outcomes.push(());
            }
        }
    }
}

pub fn a_batch_call_that_panics_or_miscounts_fails_its_batch_alone<H: Host>(host: H) {
    let ferry = host.builder().max_in_flight(1).batch_call(Moody).unwrap();
    let moods = [
        Doing::PanicInTheCall,
        Doing::PanicInTheFuture,
        Doing::OneOutcomeTooFew,
        Doing::OneTooMany,
    ];
    host.run(async {
        for mood in moods {
            let bad = ferry.submit(1, mood).unwrap();
            let elsewhere = ferry.submit(2, Doing::Well).unwrap();
            let failure = bad.await.unwrap_err();
            let Failure::InDoubt(cause) = failure else {
                panic!("{mood:?}: {failure:?}")
            };
            let is_as_expected = match mood {
                Doing::OneOutcomeTooFew => matches!(
                    cause,
                    Cause::Miscounted {
                        inputs: 1,
                        outcomes: 0
                    }
                ),
                Doing::OneTooMany => matches!(
                    cause,
                    Cause::Miscounted {
                        inputs: 1,
                        outcomes: 2
                    }
                ),
                Doing::Well
                | Doing::PanicInTheCall
                | Doing::PanicInTheFuture
                | Doing::WeighAndPanic => {
                    matches!(&cause, Cause::Panicked(message) if message.ends_with("panics"))
                }
            };
            assert!(is_as_expected, "{mood:?}: {cause:?}");
            elsewhere.await.unwrap();
            ferry.submit(1, Doing::Well).unwrap().await.unwrap();
            assert_nothing_is_left(&ferry);
        }
        assert_eq!(ferry.stats().counters.writes.failed, 4);
    });
}

pub fn a_panic_while_weighing_is_the_callers_own<H: Host>(host: H) {
    let ferry = host.builder().max_queueing(1).batch_call(Moody).unwrap();
    host.run(async {
        let submit = || drop(ferry.submit(1, Doing::WeighAndPanic));
        assert!(catch_unwind(AssertUnwindSafe(submit)).is_err());
        ferry.submit(1, Doing::Well).unwrap().await.unwrap();
        let when_free = ferry.submit_when_free(1, Doing::WeighAndPanic);
        let polled = catch_unwind(AssertUnwindSafe(|| {
            futures_lite::future::block_on(when_free)
        }));
        assert!(polled.is_err());
        ferry.submit(1, Doing::Well).unwrap().await.unwrap();
        assert_nothing_is_left(&ferry);
    });
}

fn open_teller<H: Host>(host: &H, bank: &Bank) -> Ferry<FoldWrite<Deposits<Bank>>> {
    let builder = host.builder().retry(at_once(4));
    builder.fold_write(Deposits::new(), bank.clone()).unwrap()
}

pub fn a_panic_of_a_step_or_an_id_fails_that_input_alone<H: Host>(host: H) {
    let bank = Bank::new();
    let teller = open_teller(&host, &bank);
    host.run(async {
        bank.way.before_read.close();
        let first = teller.submit(7, deposit(0, 1)).unwrap();
        bank.way.before_read.reached(1).await;
        let poison = teller.submit(7, deposit(1, POISON)).unwrap();
        let good = teller.submit(7, deposit(2, 1)).unwrap();
        let nameless = teller.submit(7, deposit(NAMELESS, 1)).unwrap();
        let best = teller.submit(7, deposit(3, 1)).unwrap();
        bank.way.before_read.open();
        for bad in [poison, nameless] {
            let failure = bad.await.unwrap_err();
            assert!(
                matches!(failure, Failure::NotCommitted(Cause::Panicked(_))),
                "{failure:?}"
            );
        }
        assert_eq!(
            (
                first.await.unwrap(),
                good.await.unwrap(),
                best.await.unwrap()
            ),
            (1, 2, 3)
        );
        assert_eq!(bank.books.ids(), [0, 2, 3]);
        assert_nothing_is_left(&teller);
    });
}

pub fn a_panic_of_the_empty_state_fails_that_key_alone<H: Host>(host: H) {
    let bank = Bank::new();
    let teller = open_teller(&host, &bank);
    host.run(async {
        let failure = teller
            .submit(BOTTOMLESS, deposit(1, 1))
            .unwrap()
            .await
            .unwrap_err();
        assert!(
            matches!(failure, Failure::NotCommitted(Cause::Panicked(_))),
            "{failure:?}"
        );
        assert_eq!(teller.submit(7, deposit(2, 1)).unwrap().await.unwrap(), 1);
        assert_nothing_is_left(&teller);
    });
}

pub fn a_store_that_panics_fails_its_batch_with_what_is_known<H: Host>(host: H) {
    let bank = Bank::new();
    let teller = open_teller(&host, &bank);
    let fail = |id| {
        host.run(teller.submit(7, deposit(id, 1)).unwrap())
            .unwrap_err()
    };
    for mishap in [Mishap::PanicsInTheCall, Mishap::PanicsInTheFuture] {
        bank.reads_meet([mishap]);
        let failure = fail(1);
        assert!(
            matches!(failure, Failure::NotCommitted(Cause::Panicked(_))),
            "{failure:?}"
        );
    }
    for mishap in [Mishap::PanicsInTheCall, Mishap::PanicsInTheFuture] {
        bank.commits_meet([mishap]);
        let failure = fail(2);
        assert!(
            matches!(failure, Failure::InDoubt(Cause::Panicked(_))),
            "{failure:?}"
        );
    }
    // The read after it finds what landed.
    bank.commits_meet([Mishap::PanicsAfterLanding]);
    host.run(async {
        assert_eq!(teller.submit(7, deposit(2, 1)).unwrap().await.unwrap(), 1);
    });
    assert_eq!(bank.books.ids(), [2]);
    assert_nothing_is_left(&teller);
}

pub fn too_heavy_is_said_also_where_others_wait<H: Host>(host: H) {
    struct Weighed;
    impl BatchCall for Weighed {
        type Key = ();
        type Input = usize;
        type Outcome = usize;

        fn weight(&self, input: &usize) -> usize {
            *input
        }

        async fn call(&self, (): &(), inputs: &mut Vec<usize>, outcomes: &mut Vec<usize>) {
            outcomes.append(inputs);
        }
    }
    let builder = host.builder().max_weight(10).max_queueing_per_key(1);
    let ferry = builder
        .linger(std::time::Duration::MAX)
        .batch_call(Arc::new(Weighed))
        .unwrap();
    host.run(async {
        let ahead = ferry.submit((), 1).unwrap();
        let mut waiting = Box::pin(ferry.submit_when_free((), 2));
        assert!(
            futures_lite::future::poll_once(&mut waiting)
                .await
                .is_none()
        );
        assert_eq!(ferry.submit((), 11).unwrap_err().reason, Reason::TooHeavy);
        assert_eq!(
            ferry.submit_when_free((), 11).await.unwrap_err().reason,
            Reason::TooHeavy
        );
        drop(ahead);
        let accepted = waiting.await.unwrap();
        ferry.close().await;
        accepted.await.unwrap();
    });
}
