//! Pauses between tries, by the runtime's clock.

use std::time::Duration;

use ferry_core::{Cause, Class, Failure, Retry};

use super::{
    bank::{Bank, Deposits, deposit},
    host::*,
    mishap::{Mishap, Trouble},
    writes::at_once,
};

const PAUSE: Duration = Duration::from_millis(80);

const THROTTLED: Mishap = Mishap::Fails(Class::Throttled(Some(PAUSE)));

pub fn a_try_is_made_again_when_the_store_asks_for_it<H: Host>(host: H) {
    let bank = Bank::new();
    let builder = host.builder().retry(at_once(10));
    let ferry = builder.fold_write(Deposits::new(), bank.clone()).unwrap();
    bank.reads_meet([THROTTLED; 2]);
    bank.commits_meet([THROTTLED; 3]);
    host.run(async {
        let start = host.now();
        assert_eq!(ferry.submit(7, deposit(1, 10)).unwrap().await.unwrap(), 10);
        assert_eq!(host.now(), start + PAUSE * 5);
        let writes = ferry.stats().counters.writes;
        assert_eq!((writes.reads, writes.commits, writes.retries), (6, 4, 5));
    });
}

pub fn pauses_stay_below_their_ceiling_and_are_repeatable<H: Host>(host: H) {
    let elapsed = |seed| {
        let bank = Bank::new();
        let retry = Retry {
            base: PAUSE,
            factor: 2,
            cap: PAUSE * 4,
            ..Retry::default()
        };
        let builder = host.builder().retry(retry).seed(seed);
        let ferry = builder.fold_write(Deposits::new(), bank.clone()).unwrap();
        bank.commits_meet([Mishap::Refused; 4]);
        host.run(async {
            let start = host.now();
            assert_eq!(ferry.submit(7, deposit(1, 10)).unwrap().await.unwrap(), 10);
            host.now() - start
        })
    };
    let (one, again, other) = (elapsed(1), elapsed(1), elapsed(2));
    assert_eq!(one, again);
    assert_ne!(one, other);
    // 1 + 2 + 4 + 4; each sleep may be rounded up to the clock's next millisecond.
    assert!(one <= PAUSE * 11 + Duration::from_millis(4), "{one:?}");
}

pub fn other_keys_do_not_wait_while_one_pauses<H: Host>(host: H) {
    let bank = Bank::new();
    let builder = host.builder().retry(at_once(10));
    let ferry = builder.fold_write(Deposits::new(), bank.clone()).unwrap();
    bank.commits_meet([THROTTLED]);
    host.run(async {
        let start = host.now();
        bank.way.before_commit.close();
        let pausing = ferry.submit(7, deposit(1, 10)).unwrap();
        bank.way.before_commit.reached(1).await;
        bank.way.before_commit.open();
        assert_eq!(ferry.submit(8, deposit(2, 20)).unwrap().await.unwrap(), 20);
        assert_eq!(host.now(), start);
        assert_eq!(pausing.await.unwrap(), 10);
        assert_eq!(host.now(), start + PAUSE);
    });
}

pub fn no_try_begins_after_the_total_time<H: Host>(host: H) {
    let bank = Bank::new();
    let retry = Retry {
        total: PAUSE * 3,
        ..at_once(100)
    };
    let builder = host.builder().retry(retry);
    let ferry = builder.fold_write(Deposits::new(), bank.clone()).unwrap();
    bank.commits_meet([THROTTLED; 100]);
    host.run(async {
        let start = host.now();
        let answer = ferry.submit(7, deposit(1, 10)).unwrap().await;
        let Err(Failure::NotCommitted(Cause::Store(error))) = answer else {
            panic!("{answer:?}")
        };
        assert_eq!(*error, Trouble("too much"));
        assert_eq!(host.now(), start + PAUSE * 3);
        assert_eq!(ferry.stats().counters.writes.commits, 4);
        assert_nothing_is_left(&ferry);
    });
}
