//! Waiting for company, by the runtime's clock.

use std::time::Duration;

use ferry_core::drive::Runtime;

use super::{courier::Courier, gate::Gate, host::*};

const LINGER: Duration = Duration::from_millis(10);

pub fn a_lone_input_waits_for_company_exactly_so_long<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let ferry = host.builder().linger(LINGER).batch_call(courier).unwrap();
    host.run(async {
        let start = host.now();
        for round in 1..4 {
            ferry.submit(1, 0).unwrap().await.unwrap();
            assert_eq!(host.now(), start + LINGER * round);
        }
    });
}

pub fn the_wait_counts_from_the_oldest_input<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let ferry = host
        .builder()
        .linger(LINGER)
        .batch_call(courier.clone())
        .unwrap();
    host.run(async {
        let start = host.now();
        let first = ferry.submit(1, 0).unwrap();
        host.runtime().sleep(LINGER * 6 / 10).await;
        let second = ferry.submit(1, 1).unwrap();
        second.await.unwrap();
        first.await.unwrap();
        assert_eq!(host.now(), start + LINGER);
        assert_eq!(courier.batches_of(1), [[0, 1]]);
    });
}

pub fn once_the_oldest_has_gone_the_wait_counts_from_the_next<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let ferry = host
        .builder()
        .linger(LINGER)
        .batch_call(courier.clone())
        .unwrap();
    host.run(async {
        let start = host.now();
        let first = ferry.submit(1, 0).unwrap();
        host.runtime().sleep(LINGER / 2).await;
        let second = ferry.submit(1, 1).unwrap();
        drop(first);
        second.await.unwrap();
        assert_eq!(host.now(), start + LINGER / 2 + LINGER);
        assert_eq!(courier.batches_of(1), [[1]]);
    });
}

pub fn a_full_batch_does_not_wait<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let builder = host.builder().linger(LINGER).max_batch(2);
    let ferry = builder.batch_call(courier.clone()).unwrap();
    host.run(async {
        let start = host.now();
        let pair = [0, 1].map(|input| ferry.submit(1, input).unwrap());
        for submission in pair {
            submission.await.unwrap();
        }
        assert_eq!(host.now(), start);
        assert_eq!(courier.batches_of(1), [[0, 1]]);
    });
}

pub fn what_waited_long_enough_behind_a_batch_waits_no_more<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let builder = host.builder().linger(LINGER).max_batch(2);
    let ferry = builder.batch_call(courier.clone()).unwrap();
    host.run(async {
        let pair = [0, 1].map(|input| ferry.submit(1, input).unwrap());
        courier.gate.reached(1).await;
        let behind = ferry.submit(1, 2).unwrap();
        host.runtime().sleep(LINGER * 3).await;
        let start = host.now();
        courier.gate.open();
        for submission in pair.into_iter().chain([behind]) {
            submission.await.unwrap();
        }
        assert_eq!(host.now(), start);
    });
}

pub fn many_keys_each_wait_their_own_time<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let ferry = host
        .builder()
        .linger(LINGER)
        .shards(8)
        .batch_call(courier)
        .unwrap();
    host.run(async {
        let mut all = Vec::new();
        for key in 0..50 {
            all.push((host.now() + LINGER, ferry.submit(key, key).unwrap()));
            host.runtime().sleep(Duration::from_millis(key % 3)).await;
        }
        for (due, submission) in all {
            submission.await.unwrap();
            assert!(host.now() >= due);
        }
        // The last was submitted when it was, and no timer came later than it had to.
        assert_nothing_is_left(&ferry);
    });
}

pub fn closing_cuts_the_wait_short<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let ferry = host.builder().linger(LINGER).batch_call(courier).unwrap();
    host.run(async {
        let start = host.now();
        let waiting = ferry.submit(1, 0).unwrap();
        ferry.close().await;
        assert_eq!(host.now(), start);
        waiting.await.unwrap();
    });
}

pub fn an_input_still_waits_its_time_when_the_handle_is_gone<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host
        .builder()
        .linger(LINGER)
        .batch_call(courier.clone())
        .unwrap();
    host.run(async {
        let first = ferry.submit(1, 0).unwrap();
        courier.gate.reached(1).await;
        let behind = ferry.submit(1, 1).unwrap();
        let start = host.now();
        drop(ferry);
        // Time for whoever watches the clock to notice that nothing is due, and to go.
        host.runtime().sleep(LINGER / 2).await;
        courier.gate.open();
        first.await.unwrap();
        behind.await.unwrap();
        assert_eq!(host.now(), start + LINGER);
    });
}
