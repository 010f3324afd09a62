//! The runtime goes before the handle: whoever waits is told, from wherever it polls.

use std::time::Duration;

use ferry_core::{
    Cause, Failure,
    drive::{Ferry, OwnCallOf, Submission},
    per_key::Reason,
};
use futures_lite::future::{block_on, poll_once};

use super::{
    bank::{Bank, BlockingBank, Deposits, deposit},
    courier::Courier,
    gate::Gate,
    host::*,
};

type CourierFerry = Ferry<OwnCallOf<std::sync::Arc<Courier>>>;

#[track_caller]
fn assert_never_began<T: std::fmt::Debug, E: std::fmt::Debug>(submission: Submission<T, E>) {
    let answer = block_on(submission);
    assert!(
        matches!(answer, Err(Failure::NotCommitted(Cause::Abandoned))),
        "{answer:?}"
    );
}

#[track_caller]
fn assert_was_under_way<T: std::fmt::Debug, E: std::fmt::Debug>(submission: Submission<T, E>) {
    let answer = block_on(submission);
    assert!(
        matches!(answer, Err(Failure::InDoubt(Cause::Abandoned))),
        "{answer:?}"
    );
}

#[track_caller]
fn assert_is_over(ferry: &CourierFerry) {
    block_on(ferry.close());
    assert_eq!(ferry.submit(1, 1).unwrap_err().reason, Reason::Closed);
    assert_eq!(
        block_on(ferry.submit_when_free(1, 1)).unwrap_err().reason,
        Reason::Closed
    );
    assert_eq!(
        (ferry.stats().waiting, ferry.stats().oldest_wait),
        (0, Duration::ZERO)
    );
}

pub fn what_waits_behind_a_batch_was_not_committed_what_is_in_it_may_be<H: ShutsDown>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host
        .builder()
        .max_queueing(4)
        .batch_call(courier.clone())
        .unwrap();
    let in_flight = ferry.submit(1, 0).unwrap();
    host.run(courier.gate.reached(1));
    let waiting = [1, 2, 3].map(|input| ferry.submit(1, input).unwrap());
    let mut for_room = Box::pin(ferry.submit_when_free(1, 4));
    assert!(block_on(poll_once(&mut for_room)).is_none());
    host.shut_down();
    waiting.into_iter().for_each(assert_never_began);
    assert_was_under_way(in_flight);
    assert_eq!(block_on(for_room).unwrap_err().reason, Reason::Closed);
    assert_is_over(&ferry);
}

pub fn what_lingers_was_not_committed<H: ShutsDown>(host: H) {
    let courier = Courier::new(Gate::opened());
    let builder = host.builder().linger(Duration::from_secs(3600)).shards(4);
    let ferry = builder.batch_call(courier.clone()).unwrap();
    let all: Vec<_> = (0..20).map(|n| ferry.submit(n % 7, n).unwrap()).collect();
    host.run(async {});
    host.shut_down();
    all.into_iter().for_each(assert_never_began);
    assert_eq!(courier.batches(), []);
    assert_is_over(&ferry);
}

pub fn what_waits_for_its_turn_was_not_committed<H: ShutsDown>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host
        .builder()
        .max_in_flight(1)
        .shards(8)
        .batch_call(courier.clone())
        .unwrap();
    let in_flight = ferry.submit(0, 0).unwrap();
    host.run(courier.gate.reached(1));
    let all: Vec<_> = (1..50).map(|n| ferry.submit(n, n).unwrap()).collect();
    host.shut_down();
    all.into_iter().for_each(assert_never_began);
    assert_was_under_way(in_flight);
    assert_is_over(&ferry);
}

pub fn a_hundred_thousand_keys_that_wait_are_all_told<H: ShutsDown>(host: H) {
    let courier = Courier::new(Gate::closed());
    let keys = 100_000;
    let builder = host
        .builder()
        .max_in_flight(1)
        .max_queueing(keys as usize + 1);
    let ferry = builder.batch_call(courier.clone()).unwrap();
    let in_flight = ferry.submit(keys, 0).unwrap();
    host.run(courier.gate.reached(1));
    let all: Vec<_> = (0..keys)
        .map(|key| ferry.submit(key, key).unwrap())
        .collect();
    host.shut_down();
    all.into_iter().for_each(assert_never_began);
    assert_was_under_way(in_flight);
    assert_is_over(&ferry);
}

pub fn what_is_submitted_to_a_runtime_that_is_gone_was_not_committed<H: ShutsDown>(_: H) {
    for linger in [Duration::ZERO, Duration::from_secs(1)] {
        let host = H::start();
        let courier = Courier::new(Gate::opened());
        let ferry = host
            .builder()
            .linger(linger)
            .batch_call(courier.clone())
            .unwrap();
        host.shut_down();
        assert_never_began(ferry.submit(1, 0).unwrap());
        assert_eq!(courier.batches(), []);
        assert_is_over(&ferry);
    }
}

pub fn a_parked_task_that_is_gone_carries_nothing<H: ShutsDown>(host: H) {
    let courier = Courier::new(Gate::opened());
    let ferry = host.builder().batch_call(courier.clone()).unwrap();
    host.run(async { ferry.submit(1, 0).unwrap().await.unwrap() });
    host.shut_down();
    // The task that was parked has told that it is gone.
    assert_is_over(&ferry);
}

pub fn those_who_close_hear_of_the_end<H: ShutsDown>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host.builder().batch_call(courier.clone()).unwrap();
    let in_flight = ferry.submit(1, 0).unwrap();
    host.run(courier.gate.reached(1));
    let mut closing = Box::pin(ferry.close());
    assert!(block_on(poll_once(&mut closing)).is_none());
    host.shut_down();
    block_on(closing);
    assert_was_under_way(in_flight);
}

pub fn a_fold_write_cut_off_at_any_stage_is_in_doubt<H: ShutsDown>(_: H) {
    for stage in 0..3 {
        let host = H::start();
        let bank = Bank::new();
        let ferry = host
            .builder()
            .fold_write(Deposits::new(), bank.clone())
            .unwrap();
        let way = &bank.way;
        let gate = [&way.before_read, &way.before_commit, &way.after_commit][stage];
        gate.close();
        let in_flight = ferry.submit(7, deposit(1, 10)).unwrap();
        host.run(gate.reached(1));
        let waiting = ferry.submit(7, deposit(2, 10)).unwrap();
        host.shut_down();
        assert_was_under_way(in_flight);
        assert_never_began(waiting);
        block_on(ferry.close());
    }
}

pub fn a_blocking_write_that_is_cut_off_is_in_doubt<H: ShutsDown>(host: H) {
    let bank = Bank::new();
    let blocking = BlockingBank(bank.clone());
    let ferry = host
        .builder()
        .fold_write_blocking(Deposits::new(), blocking)
        .unwrap();
    bank.way.before_commit.close();
    let in_flight = ferry.submit(7, deposit(1, 10)).unwrap();
    host.run(bank.way.before_commit.reached(1));
    let waiting = ferry.submit(7, deposit(2, 10)).unwrap();
    // A runtime may wait for the thread that is blocked.
    let opening = std::thread::spawn(move || {
        assert_never_began(waiting);
        bank.way.before_commit.open();
    });
    host.shut_down();
    opening.join().unwrap();
    assert_was_under_way(in_flight);
    block_on(ferry.close());
}
