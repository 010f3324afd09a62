//! Who is applied before whom, and who hears what.

use std::thread;

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
