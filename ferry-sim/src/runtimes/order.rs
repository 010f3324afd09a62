//! Who is applied before whom, and who hears what.

use std::thread;

use futures_lite::future::poll_once;

use super::{courier::Courier, gate::Gate, host::*};

pub fn inputs_of_a_key_go_in_the_order_of_submission<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let ferry = host
        .builder()
        .max_batch(3)
        .batch_call(courier.clone())
        .unwrap();
    host.run(async {
        let submissions: Vec<_> = (0..100)
            .map(|input| ferry.submit(7, input).unwrap())
            .collect();
        for submission in submissions {
            submission.await.unwrap();
        }
        assert_eq!(courier.batches_of(7).concat(), (0..100).collect::<Vec<_>>());
        assert_nothing_is_left(&ferry);
    });
}

pub fn threads_that_submit_at_once_each_keep_their_own_order<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let ferry = host
        .builder()
        .max_batch(5)
        .batch_call(courier.clone())
        .unwrap();
    let (threads, inputs, keys) = (4, 250, 3);
    let submissions = thread::scope(|scope| {
        let submit_all = |thread| {
            let ferry = &ferry;
            let all = (0..inputs).map(move |n| thread * inputs + n);
            move || -> Vec<_> {
                all.map(|input| ferry.submit(input % keys, input).unwrap())
                    .collect()
            }
        };
        let submitting: Vec<_> = (0..threads)
            .map(|thread| scope.spawn(submit_all(thread)))
            .collect();
        submitting
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect::<Vec<_>>()
    });
    host.run(async {
        for submission in submissions {
            submission.await.unwrap();
        }
    });
    let mut carried = 0;
    for key in 0..keys {
        let order = courier.batches_of(key).concat();
        carried += order.len() as u64;
        for thread in 0..threads {
            let own = order.iter().filter(|&&input| input / inputs == thread);
            assert!(
                own.is_sorted(),
                "thread {thread}'s inputs of key {key} went as {order:?}"
            );
        }
    }
    assert_eq!(carried, threads * inputs);
    assert_nothing_is_left(&ferry);
}

pub fn each_caller_hears_its_own_answer<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let ferry = host.builder().max_batch(4).batch_call(courier).unwrap();
    host.run(async {
        let submit = |input| (input, ferry.submit(input % 11, input).unwrap());
        let submissions: Vec<_> = (0..500).map(submit).collect();
        for (input, submission) in submissions.into_iter().rev() {
            assert_eq!(submission.await.unwrap(), input);
        }
    });
}

pub fn an_answer_waits_for_a_caller_who_comes_later<H: Host>(host: H) {
    let courier = Courier::new(Gate::opened());
    let ferry = host.builder().batch_call(courier).unwrap();
    host.run(async {
        let early = ferry.submit(1, 10).unwrap();
        ferry.submit(1, 11).unwrap().await.unwrap();
        assert_eq!(early.await.unwrap(), 10);
    });
}

pub fn an_answer_finds_the_task_that_polled_last<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host.builder().batch_call(courier.clone()).unwrap();
    host.run(async {
        let mut moved = ferry.submit(1, 10).unwrap();
        // Here, then by a task's waker, then by another's.
        assert!(poll_once(&mut moved).await.is_none());
        let polled = async move { (poll_once(&mut moved).await.is_none(), moved) };
        let (was_pending, moved) = in_a_task(&host, polled).await;
        assert!(was_pending);
        let heard = in_a_task(&host, moved);
        courier.gate.open();
        assert_eq!(heard.await.unwrap(), 10);
    });
}

/// Answers come in places that are used again, also those of callers who went or never looked.
pub fn answers_are_not_mixed_up_whatever_their_callers_do<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host
        .builder()
        .shards(1)
        .batch_call(courier.clone())
        .unwrap();
    host.run(async {
        let mut late = Vec::new();
        for round in 0..50 {
            courier.gate.close();
            let batches = courier.gate.arrived();
            let ahead = ferry.submit(1, round).unwrap();
            courier.gate.reached(batches + 1).await;
            let mut all: Vec<_> = (0..8)
                .map(|n| ferry.submit(1, round * 10 + n).unwrap())
                .collect();
            // Withdrawn, polled and withdrawn, kept for later, gone with the batch in flight.
            drop(all.pop());
            assert!(poll_once(all.last_mut().unwrap()).await.is_none());
            drop(all.pop());
            late.push((round * 10, all.remove(0)));
            let gone = all.pop();
            courier.gate.let_through(1);
            assert_eq!(ahead.await.unwrap(), round);
            courier.gate.reached(batches + 2).await;
            drop(gone);
            courier.gate.open();
            for (n, submission) in (1..).zip(all) {
                assert_eq!(submission.await.unwrap(), round * 10 + n);
            }
        }
        for (input, submission) in late {
            assert_eq!(submission.await.unwrap(), input);
        }
        assert_nothing_is_left(&ferry);
    });
}
