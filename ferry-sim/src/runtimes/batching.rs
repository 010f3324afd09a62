//! What goes together, and when.

use futures_lite::future::poll_once;

use super::{courier::Courier, gate::Gate, host::*};

pub fn what_arrives_while_a_batch_is_in_flight_goes_together_as_the_next<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host.builder().batch_call(courier.clone()).unwrap();
    host.run(async {
        let first = ferry.submit(7, 0).unwrap();
        courier.gate.reached(1).await;
        let others = [1, 2, 3].map(|input| ferry.submit(7, input).unwrap());
        assert_eq!(ferry.stats().batches_in_flight, 1);
        courier.gate.open();
        first.await.unwrap();
        for other in others {
            other.await.unwrap();
        }
        assert_eq!(courier.batches_of(7), [vec![0], vec![1, 2, 3]]);
    });
}

pub fn a_batch_holds_as_many_inputs_as_it_may_and_no_more<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host
        .builder()
        .max_batch(3)
        .batch_call(courier.clone())
        .unwrap();
    host.run(async {
        let first = ferry.submit(7, 0).unwrap();
        courier.gate.reached(1).await;
        let others: Vec<_> = (1..8)
            .map(|input| ferry.submit(7, input).unwrap())
            .collect();
        courier.gate.open();
        first.await.unwrap();
        for other in others {
            other.await.unwrap();
        }
        assert_eq!(
            courier.batches_of(7),
            [vec![0], vec![1, 2, 3], vec![4, 5, 6], vec![7]]
        );
        assert_eq!(ferry.stats().counters.largest_batch, 3);
    });
}

pub fn keys_do_not_wait_for_each_other<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host.builder().batch_call(courier.clone()).unwrap();
    host.run(async {
        let all: Vec<_> = (0..20).map(|key| ferry.submit(key, key).unwrap()).collect();
        courier.gate.reached(20).await;
        assert_eq!(courier.most_in_flight(), 20);
        courier.gate.open();
        for (key, submission) in (0..).zip(all) {
            assert_eq!(submission.await.unwrap(), key);
        }
        assert_nothing_is_left(&ferry);
    });
}

pub fn thousands_of_keys_are_each_answered<H: Host>(host: H) {
    const KEYS: u64 = 20_000;
    let courier = Courier::new(Gate::closed());
    let ferry = host.builder().batch_call(courier.clone()).unwrap();
    host.run(async {
        let submissions: Vec<_> = (0..2 * KEYS)
            .map(|input| ferry.submit(input % KEYS, input).unwrap())
            .collect();
        assert_eq!(ferry.stats().keys, KEYS as usize);
        courier.gate.open();
        for (input, submission) in (0..).zip(submissions) {
            assert_eq!(submission.await, Ok(input));
        }
        assert_nothing_is_left(&ferry);
    });
}

pub fn a_batch_is_carried_whether_or_not_its_callers_poll<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let ferry = host.builder().batch_call(courier.clone()).unwrap();
    host.run(async {
        let unpolled = ferry.submit(1, 10).unwrap();
        ferry.close().await;
        assert_eq!(courier.batches_of(1), [vec![10]]);
        assert_eq!(poll_once(unpolled).await.unwrap().unwrap(), 10);
    });
}

pub fn a_clone_is_the_same_handle<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host.builder().batch_call(courier.clone()).unwrap();
    host.run(async {
        let clone = ferry.clone();
        let first = ferry.submit(1, 1).unwrap();
        courier.gate.reached(1).await;
        let second = clone.submit(1, 2).unwrap();
        drop(clone);
        courier.gate.open();
        first.await.unwrap();
        second.await.unwrap();
        assert_eq!(courier.batches_of(1), [[1], [2]]);
    });
}
