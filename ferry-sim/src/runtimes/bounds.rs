//! How much there may be at once: exactly so much, and what goes makes room.

use std::{
    pin::pin,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
    task::Context,
    thread,
};

use ferry_core::per_key::Reason;
use tokio::sync::oneshot;

use super::{courier::Courier, gate::Gate, host::*, reaction::OnWake};

pub fn threads_that_submit_at_once_never_exceed_max_queueing<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let builder = host.builder().max_queueing(64).shards(16);
    let ferry = builder.batch_call(courier.clone()).unwrap();
    for _ in 0..3 {
        courier.gate.close();
        let handed_back = AtomicUsize::new(0);
        let submit = |input| match ferry.submit(input, input) {
            Ok(submission) => Some(submission),
            Err(rejected) => {
                assert_eq!(rejected.reason, Reason::QueueFull);
                assert_eq!((rejected.key, rejected.input), (input, input));
                handed_back.fetch_add(1, SeqCst);
                None
            }
        };
        let accepted = thread::scope(|scope| {
            let threads = [0, 100, 200, 300].map(|from| {
                let submit = &submit;
                scope.spawn(move || (from..from + 100).filter_map(submit).collect::<Vec<_>>())
            });
            threads.map(|thread| thread.join().unwrap())
        });
        let accepted: Vec<_> = accepted.into_iter().flatten().collect();
        // Nothing was answered meanwhile, so exactly as many as there is room for got in.
        assert_eq!((accepted.len(), handed_back.into_inner()), (64, 400 - 64));
        assert_eq!(ferry.stats().queueing, 64);
        courier.gate.open();
        host.run(async {
            for submission in accepted {
                submission.await.unwrap();
            }
        });
        assert_nothing_is_left(&ferry);
    }
}

pub fn who_hears_an_answer_finds_its_place_free<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let builder = host.builder().max_queueing(1).max_in_flight(1);
    let ferry = builder.batch_call(courier).unwrap();
    host.run(async {
        for input in 0..500 {
            assert_eq!(
                ferry.submit(input % 3, input).unwrap().await.unwrap(),
                input
            );
        }
    });
}

pub fn a_waker_finds_the_place_of_its_input_free<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let builder = host.builder().max_queueing(1).max_queueing_per_key(1);
    let ferry = builder.batch_call(courier.clone()).unwrap();
    host.run(async {
        let mut first = ferry.submit(1, 0).unwrap();
        let (next, is_next) = oneshot::channel();
        let submitting = OnWake::run({
            let ferry = ferry.clone();
            move || next.send(ferry.submit(1, 1)).unwrap()
        });
        let waker = submitting.waker();
        let polled = pin!(&mut first).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        courier.gate.open();
        let second = is_next.await.unwrap().unwrap();
        assert_eq!((first.await.unwrap(), second.await.unwrap()), (0, 1));
        assert_nothing_is_left(&ferry);
    });
}

pub fn a_withdrawn_input_makes_room_at_once<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let builder = host.builder().max_queueing(3).max_queueing_per_key(2);
    let ferry = builder.batch_call(courier.clone()).unwrap();
    host.run(async {
        let at_one = ferry.submit(1, 0).unwrap();
        let at_two = ferry.submit(2, 0).unwrap();
        courier.gate.reached(2).await;
        for input in 1..100 {
            let waiting = ferry.submit(1, input).unwrap();
            assert_eq!(
                ferry.submit(2, input).unwrap_err().reason,
                Reason::QueueFull
            );
            drop(waiting);
        }
        courier.gate.open();
        at_one.await.unwrap();
        at_two.await.unwrap();
        assert_nothing_is_left(&ferry);
        assert_eq!(courier.batches_of(1), [[0]]);
    });
}

pub fn a_withdrawn_input_makes_room_at_its_key<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host
        .builder()
        .max_queueing_per_key(2)
        .batch_call(courier.clone())
        .unwrap();
    host.run(async {
        let in_flight = ferry.submit(1, 0).unwrap();
        courier.gate.reached(1).await;
        for input in 1..100 {
            let waiting = ferry.submit(1, input).unwrap();
            assert_eq!(ferry.submit(1, input).unwrap_err().reason, Reason::KeyFull);
            drop(waiting);
        }
        courier.gate.open();
        in_flight.await.unwrap();
        assert_nothing_is_left(&ferry);
    });
}

pub fn a_key_takes_no_more_than_its_share<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let builder = host.builder().max_queueing(10).max_queueing_per_key(3);
    let ferry = builder.batch_call(courier.clone()).unwrap();
    host.run(async {
        let first = ferry.submit(1, 0).unwrap();
        courier.gate.reached(1).await;
        let waiting = [1, 2].map(|input| ferry.submit(1, input).unwrap());
        let rejected = ferry.submit(1, 3).unwrap_err();
        assert_eq!(
            (rejected.reason, rejected.key, rejected.input),
            (Reason::KeyFull, 1, 3)
        );
        let elsewhere = ferry.submit(2, 4).unwrap();
        courier.gate.open();
        first.await.unwrap();
        elsewhere.await.unwrap();
        for submission in waiting {
            submission.await.unwrap();
        }
        ferry.submit(1, 5).unwrap().await.unwrap();
        // The rejected one has not kept a place in the process either.
        assert_nothing_is_left(&ferry);
    });
}

pub fn no_more_batches_than_allowed_are_in_flight_in_all_shards_together<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let builder = host.builder().max_in_flight(3).shards(16);
    let ferry = builder.batch_call(courier.clone()).unwrap();
    host.run(async {
        let all: Vec<_> = (0..300).map(|n| ferry.submit(n % 50, n).unwrap()).collect();
        courier.gate.reached(3).await;
        assert_eq!(ferry.stats().batches_in_flight, 3);
        for so_far in 3..50 {
            courier.gate.let_through(1);
            courier.gate.reached(so_far + 1).await;
        }
        courier.gate.open();
        for submission in all {
            submission.await.unwrap();
        }
        assert_eq!(courier.most_in_flight(), 3);
        assert_nothing_is_left(&ferry);
    });
}
