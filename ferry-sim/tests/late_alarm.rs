//! An alarm may be late, since a clock may jump. Whatever tells the time first, everyone who has waited too long hears at once.

use std::{future::pending, pin::pin, time::Duration};

use ferry_core::{
    Cause, Failure,
    drive::{Builder, Ferry, OwnCall},
    per_key::Reason,
};
use ferry_sim::executor::{Executor, Process};
use futures_lite::future::poll_once;

const A_SECOND: Duration = Duration::from_secs(1);

/// A handle with room for two inputs of a key, whose batches go on for ever.
fn stuck(process: &Process) -> Ferry<OwnCall<u8, u8, u8>> {
    Builder::on(process.clone())
        .shards(1)
        .max_queueing_per_key(2)
        .per_key(|_key: u8, _inputs: Vec<u8>| pending::<Vec<u8>>())
        .unwrap()
}

/// Key 1 is full, and the clock jumps over the deadline of one who waits at key 2: while nothing has told it so, something is done.
fn expires_as(something: impl AsyncFnOnce(&Ferry<OwnCall<u8, u8, u8>>)) {
    let executor = Executor::new(7);
    let process = executor.process();
    let ferry = stuck(&process);
    executor.block_on(async {
        let _full = [1, 1].map(|key| ferry.submit(key, 0).unwrap());
        let _in_flight = ferry.submit(2, 0).unwrap();
        let mut waiting = pin!(ferry.submit_within(2, 1, A_SECOND).unwrap());
        assert!(poll_once(&mut waiting).await.is_none());
        process.jump(2 * A_SECOND);
        assert!(poll_once(&mut waiting).await.is_none());
        something(&ferry).await;
        let heard = poll_once(&mut waiting).await;
        assert_eq!(heard, Some(Err(Failure::NotCommitted(Cause::Expired))));
        assert_eq!(ferry.stats().counters.expired, 1);
    });
}

#[test]
fn one_expires_as_another_is_accepted() {
    expires_as(async |ferry| drop(ferry.submit(3, 0).unwrap()));
}

#[test]
fn one_expires_as_another_is_rejected() {
    expires_as(async |ferry| {
        assert_eq!(ferry.submit(1, 0).unwrap_err().reason, Reason::KeyFull);
    });
}

#[test]
fn one_expires_as_another_joins_a_line() {
    expires_as(async |ferry| {
        assert!(poll_once(ferry.submit_when_free(1, 0)).await.is_none());
    });
}
