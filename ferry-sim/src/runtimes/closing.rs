//! Refusing new inputs, and hearing when the last answer was given.

use std::{pin::pin, sync::Arc, task::Context};

use ferry_core::per_key::Reason;
use futures_lite::future::{block_on, poll_once};
use tokio::sync::oneshot;

use super::{courier::Courier, gate::Gate, host::*, reaction::OnWake};

pub fn all_that_was_accepted_is_answered_when_close_completes<H: Host>(host: H) {
    for _ in 0..50 {
        let courier = Courier::new(Gate::opened());
        let builder = host.builder().max_batch(3).max_in_flight(4).shards(8);
        let ferry = builder.batch_call(courier).unwrap();
        host.run(async {
            let all: Vec<_> = (0..100)
                .map(|n| (n, ferry.submit(n % 17, n).unwrap()))
                .collect();
            ferry.close().await;
            assert_nothing_is_left(&ferry);
            for (n, submission) in all {
                assert_eq!(poll_once(submission).await.unwrap().unwrap(), n);
            }
        });
    }
}

pub fn what_comes_after_close_is_handed_back<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host
        .builder()
        .max_queueing(1)
        .batch_call(courier.clone())
        .unwrap();
    host.run(async {
        let before = ferry.submit(1, 0).unwrap();
        let closing = ferry.close();
        let rejected = ferry.submit(1, 1).unwrap_err();
        assert_eq!(
            (rejected.reason, rejected.key, rejected.input),
            (Reason::Closed, 1, 1)
        );
        let rejected = ferry.submit_when_free(2, 3).await.unwrap_err();
        assert_eq!(
            (rejected.reason, rejected.key, rejected.input),
            (Reason::Closed, 2, 3)
        );
        courier.gate.open();
        closing.await;
        before.await.unwrap();
        assert_eq!(ferry.submit(1, 4).unwrap_err().reason, Reason::Closed);
        assert_eq!(ferry.stats().counters.rejected, 3);
    });
}

pub fn closing_what_is_idle_completes_at_once<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let ferry = host.builder().batch_call(courier).unwrap();
    host.run(async {
        assert!(poll_once(ferry.close()).await.is_some());
        assert!(poll_once(ferry.close()).await.is_some());
    });
}

pub fn any_number_may_close_and_all_hear_of_the_end<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host.builder().batch_call(courier.clone()).unwrap();
    host.run(async {
        let all: Vec<_> = (0..20).map(|n| ferry.submit(n % 7, n).unwrap()).collect();
        courier.gate.reached(7).await;
        let mut closing: Vec<_> = (0..8)
            .map(|_| {
                let ferry = ferry.clone();
                in_a_task(&host, async move { ferry.close().await })
            })
            .collect();
        courier.gate.open();
        ferry.close().await;
        for one in &mut closing {
            one.await;
        }
        for submission in all {
            assert!(poll_once(submission).await.unwrap().is_ok());
        }
    });
}

pub fn close_does_not_complete_while_a_batch_is_in_flight<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let builder = host.builder().max_batch(1).max_in_flight(2).shards(4);
    let ferry = builder.batch_call(courier.clone()).unwrap();
    host.run(async {
        let all: Vec<_> = (0..10).map(|n| ferry.submit(n % 5, n).unwrap()).collect();
        let mut closing = pin!(ferry.close());
        for so_far in 1..=10 {
            courier.gate.reached(so_far).await;
            assert!(poll_once(&mut closing).await.is_none());
            courier.gate.let_through(1);
        }
        closing.await;
        for submission in all {
            assert!(poll_once(submission).await.unwrap().is_ok());
        }
    });
}

pub fn close_does_not_complete_before_the_last_of_a_batch_is_told<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host.builder().batch_call(courier.clone()).unwrap();
    host.run(async {
        let ahead = ferry.submit(1, 0).unwrap();
        courier.gate.reached(1).await;
        let mut first = ferry.submit(1, 1).unwrap();
        let second = ferry.submit(1, 2).unwrap();
        let closing = ferry.close();
        let (told, is_told) = oneshot::channel();
        // The waker of the first runs while the second is not told yet.
        let looking = OnWake::run({
            let ferry = ferry.clone();
            move || {
                told.send(block_on(poll_once(ferry.close())).is_some())
                    .unwrap()
            }
        });
        let waker = looking.waker();
        assert!(
            pin!(&mut first)
                .poll(&mut Context::from_waker(&waker))
                .is_pending()
        );
        courier.gate.open();
        assert!(!is_told.await.unwrap());
        closing.await;
        for submission in [ahead, first, second] {
            submission.await.unwrap();
        }
    });
}

pub fn polling_close_over_and_over_piles_nothing_up<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host.builder().batch_call(courier.clone()).unwrap();
    let counted = OnWake::nothing();
    let waker = counted.waker();
    let mut cx = Context::from_waker(&waker);
    host.run(async {
        let in_flight = ferry.submit(1, 0).unwrap();
        let mut closing = Box::pin(ferry.close());
        for _ in 0..1000 {
            assert!(closing.as_mut().poll(&mut cx).is_pending());
            assert!(pin!(ferry.close()).poll(&mut cx).is_pending());
        }
        // This one, the context's, and that of the future that still waits.
        assert_eq!(Arc::strong_count(&counted), 3);
        drop(closing);
        assert_eq!(Arc::strong_count(&counted), 2);
        courier.gate.open();
        in_flight.await.unwrap();
        ferry.close().await;
    });
}
