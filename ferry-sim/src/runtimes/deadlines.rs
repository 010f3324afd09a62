//! Inputs that are of no use after a while, by the runtime's clock.

use std::{pin::pin, task::Context, time::Duration};

use ferry_core::{
    Cause, Class, Failure, Retry,
    drive::{Ferry, OwnCallOf, Runtime},
    per_key::Reason,
};
use futures_lite::future::{block_on, poll_once};
use tokio::sync::oneshot;

use super::{
    bank::{Bank, Deposits, deposit},
    courier::Courier,
    gate::Gate,
    host::*,
    mishap::Mishap,
    reaction::OnWake,
};

const SOON: Duration = Duration::from_millis(5);
const LATE: Duration = Duration::from_millis(50);

fn is_expired<T, E>(answer: Result<T, Failure<E>>) -> bool {
    matches!(answer, Err(Failure::NotCommitted(Cause::Expired)))
}

fn behind_a_batch<H: Host>(
    host: &H,
    room: usize,
) -> (
    Ferry<OwnCallOf<std::sync::Arc<Courier>>>,
    std::sync::Arc<Courier>,
) {
    let courier = Courier::new(Gate::closed());
    let builder = host.builder().max_queueing(room).max_queueing_per_key(2);
    (builder.batch_call(courier.clone()).unwrap(), courier)
}

pub fn a_waiting_input_expires_at_its_moment<H: Host>(host: H) {
    let (ferry, courier) = behind_a_batch(&host, 10);
    host.run(async {
        let first = ferry.submit(1, 0).unwrap();
        courier.gate.reached(1).await;
        let start = host.now();
        let waiting = ferry.submit_within(1, 1, SOON).unwrap();
        assert!(is_expired(waiting.await));
        assert_eq!(host.now(), start + SOON);
        courier.gate.open();
        first.await.unwrap();
        assert_nothing_is_left(&ferry);
        assert_eq!(ferry.stats().counters.expired, 1);
        assert_eq!(courier.batches_of(1), [[0]]);
    });
}

pub fn deadlines_in_any_order_and_shard_are_each_kept<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let builder = host.builder().max_in_flight(1).shards(8);
    let ferry = builder.batch_call(courier.clone()).unwrap();
    host.run(async {
        let first = ferry.submit(1000, 0).unwrap();
        courier.gate.reached(1).await;
        let start = host.now();
        let mut all: Vec<_> = (0..60)
            .map(|n| {
                let within = Duration::from_millis(1 + n * 37 % 60);
                (within, ferry.submit_within(n, n, within).unwrap())
            })
            .collect();
        all.sort_by_key(|(within, _)| *within);
        for (within, submission) in all {
            assert!(is_expired(submission.await));
            assert_eq!(host.now(), start + within);
        }
        courier.gate.open();
        first.await.unwrap();
        assert_nothing_is_left(&ferry);
    });
}

pub fn a_deadline_of_no_time_expires_at_once<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let ferry = host.builder().batch_call(courier.clone()).unwrap();
    host.run(async {
        let start = host.now();
        let submission = ferry.submit_within(1, 0, Duration::ZERO).unwrap();
        assert!(is_expired(poll_once(submission).await.unwrap()));
        assert_eq!(host.now(), start);
        ferry.close().await;
        assert_eq!(courier.batches(), []);
        assert_nothing_is_left(&ferry);
    });
}

pub fn a_deadline_before_the_end_of_the_linger_expires_the_input<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let ferry = host
        .builder()
        .linger(LATE)
        .batch_call(courier.clone())
        .unwrap();
    host.run(async {
        let start = host.now();
        let others = ferry.submit(1, 0).unwrap();
        assert!(is_expired(ferry.submit_within(1, 1, SOON).unwrap().await));
        assert_eq!(host.now(), start + SOON);
        others.await.unwrap();
        assert_eq!(host.now(), start + LATE);
        assert_eq!(courier.batches_of(1), [[0]]);
    });
}

pub fn a_batch_under_way_is_not_cut_off_by_a_deadline<H: Host>(host: H) {
    let (ferry, courier) = behind_a_batch(&host, 10);
    host.run(async {
        let in_flight = ferry.submit_within(1, 0, SOON).unwrap();
        courier.gate.reached(1).await;
        host.runtime().sleep(LATE).await;
        courier.gate.open();
        assert_eq!(in_flight.await.unwrap(), 0);
    });
}

pub fn an_expired_input_makes_room<H: Host>(host: H) {
    let (ferry, courier) = behind_a_batch(&host, 2);
    host.run(async {
        let first = ferry.submit(1, 0).unwrap();
        courier.gate.reached(1).await;
        let expiring = ferry.submit_within(1, 1, SOON).unwrap();
        assert_eq!(ferry.submit(2, 2).unwrap_err().reason, Reason::QueueFull);
        let mut waiting = pin!(ferry.submit_when_free(1, 2));
        assert!(poll_once(&mut waiting).await.is_none());
        let start = host.now();
        let accepted = waiting.await.unwrap();
        assert_eq!(host.now(), start + SOON);
        assert!(is_expired(expiring.await));
        courier.gate.open();
        first.await.unwrap();
        accepted.await.unwrap();
        assert_nothing_is_left(&ferry);
    });
}

pub fn an_expired_input_makes_room_at_its_key<H: Host>(host: H) {
    let (ferry, courier) = behind_a_batch(&host, 10);
    host.run(async {
        let first = ferry.submit(1, 0).unwrap();
        courier.gate.reached(1).await;
        let expiring = ferry.submit_within(1, 1, SOON).unwrap();
        let mut waiting = pin!(ferry.submit_when_free(1, 2));
        assert!(poll_once(&mut waiting).await.is_none());
        let start = host.now();
        let accepted = waiting.await.unwrap();
        assert_eq!(host.now(), start + SOON);
        assert!(is_expired(expiring.await));
        courier.gate.open();
        first.await.unwrap();
        accepted.await.unwrap();
        assert_nothing_is_left(&ferry);
    });
}

pub fn one_that_expires_between_two_tries_is_told_and_the_others_go_on<H: Host>(host: H) {
    let bank = Bank::new();
    let linger = Duration::from_millis(1);
    // Without jitter, so that the moment is known.
    let retry = Retry {
        base: Duration::ZERO,
        ..Retry::default()
    };
    let builder = host.builder().linger(linger).retry(retry);
    let ferry = builder.fold_write(Deposits::new(), bank.clone()).unwrap();
    // The store asks for a long pause; one of the callers does not have the time.
    bank.commits_meet([Mishap::Fails(Class::Throttled(Some(LATE)))]);
    host.run(async {
        let start = host.now();
        let patient = ferry.submit(7, deposit(1, 10)).unwrap();
        let hurried = ferry.submit_within(7, deposit(2, 100), SOON).unwrap();
        assert!(is_expired(hurried.await));
        assert_eq!(host.now(), start + SOON);
        assert_eq!(patient.await.unwrap(), 10);
        assert_eq!(host.now(), start + linger + LATE);
        assert_eq!(bank.books.ids(), [1]);
        assert_nothing_is_left(&ferry);
        assert_eq!(ferry.stats().counters.writes.expired, 1);
    });
}

pub fn one_that_expires_when_its_commit_is_in_doubt_is_told_so<H: Host>(host: H) {
    let bank = Bank::new();
    let builder = host.builder().retry(Retry {
        base: LATE,
        factor: 1,
        cap: LATE,
        ..Retry::default()
    });
    let ferry = builder.fold_write(Deposits::new(), bank.clone()).unwrap();
    bank.commits_meet([Mishap::RequestLost; 9]);
    host.run(async {
        let start = host.now();
        let answer = ferry.submit_within(7, deposit(1, 10), SOON).unwrap().await;
        assert!(
            matches!(answer, Err(Failure::InDoubt(Cause::Expired))),
            "{answer:?}"
        );
        assert_eq!(host.now(), start + SOON);
        assert_nothing_is_left(&ferry);
    });
}

pub fn the_end_waits_until_the_last_expired_caller_is_told<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let ferry = host.builder().linger(LATE).batch_call(courier).unwrap();
    host.run(async {
        let (told, is_told) = oneshot::channel();
        // The first one's waker closes, while the second is not told yet.
        let closing = OnWake::run({
            let ferry = ferry.clone();
            move || {
                let mut closing = Box::pin(ferry.close());
                let is_over = block_on(poll_once(&mut closing)).is_some();
                let _ = told.send((is_over, closing));
            }
        });
        let waker = closing.waker();
        let mut first = ferry.submit_within(1, 0, SOON).unwrap();
        let second = ferry.submit_within(1, 1, SOON).unwrap();
        let polled = pin!(&mut first).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        let (is_over, closing) = is_told.await.unwrap();
        assert!(!is_over);
        closing.await;
        assert!(is_expired(first.await));
        assert!(is_expired(second.await));
    });
}
