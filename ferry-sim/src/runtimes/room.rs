//! Waiting for room, in the order of arrival.

use std::pin::pin;

use ferry_core::{
    drive::{Ferry, OwnCallOf},
    per_key::Reason,
};
use futures_lite::future::poll_once;

use super::{courier::Courier, gate::Gate, host::*};

type CourierFerry = Ferry<OwnCallOf<std::sync::Arc<Courier>>>;

/// A handle with room for so many, one of each key, and as many batches in flight as there is room.
pub fn tight<H: Host>(
    host: &H,
    room: usize,
    at_a_key: usize,
) -> (CourierFerry, std::sync::Arc<Courier>) {
    let courier = Courier::new(Gate::closed());
    let builder = host
        .builder()
        .max_queueing(room)
        .max_queueing_per_key(at_a_key);
    (builder.batch_call(courier.clone()).unwrap(), courier)
}

pub fn where_there_is_room_nobody_waits<H: Host>(host: H) {
    let (ferry, courier) = tight(&host, 1, 1);
    courier.gate.open();
    host.run(async {
        for input in 0..100 {
            let submission = poll_once(ferry.submit_when_free(1, input)).await;
            submission.unwrap().unwrap().await.unwrap();
        }
    });
}

pub fn room_goes_to_who_waits_longest<H: Host>(host: H) {
    let (ferry, courier) = tight(&host, 1, 1);
    host.run(async {
        let mut before = ferry.submit(0, 0).unwrap();
        let mut waiting: Vec<_> = (1..5)
            .map(|key| Box::pin(ferry.submit_when_free(key, key)))
            .collect();
        for one in &mut waiting {
            assert!(poll_once(one).await.is_none());
        }
        while !waiting.is_empty() {
            courier.gate.let_through(1);
            before.await.unwrap();
            // The last comes first, and finds that it is not its turn.
            for later in waiting[1..].iter_mut().rev() {
                assert!(poll_once(later).await.is_none());
            }
            before = waiting.remove(0).await.unwrap();
        }
        courier.gate.open();
        before.await.unwrap();
        assert_nothing_is_left(&ferry);
    });
}

pub fn nobody_submits_past_those_who_wait_for_room<H: Host>(host: H) {
    let (ferry, courier) = tight(&host, 1, 1);
    host.run(async {
        let first = ferry.submit(0, 0).unwrap();
        let mut waiting = pin!(ferry.submit_when_free(1, 1));
        assert!(poll_once(&mut waiting).await.is_none());
        courier.gate.let_through(1);
        first.await.unwrap();
        // There is a place, but it is not theirs.
        assert_eq!(ferry.submit(2, 2).unwrap_err().reason, Reason::QueueFull);
        assert!(poll_once(ferry.submit_when_free(3, 3)).await.is_none());
        courier.gate.open();
        waiting.await.unwrap().await.unwrap();
        ferry.submit(2, 2).unwrap().await.unwrap();
        assert_nothing_is_left(&ferry);
    });
}

pub fn nobody_submits_past_those_who_wait_for_room_at_a_key<H: Host>(host: H) {
    let (ferry, courier) = tight(&host, 10, 1);
    host.run(async {
        let first = ferry.submit(1, 0).unwrap();
        let mut waiting = pin!(ferry.submit_when_free(1, 1));
        assert!(poll_once(&mut waiting).await.is_none());
        courier.gate.let_through(1);
        first.await.unwrap();
        assert_eq!(ferry.submit(1, 2).unwrap_err().reason, Reason::KeyFull);
        assert!(poll_once(ferry.submit_when_free(1, 3)).await.is_none());
        let elsewhere = ferry.submit(2, 4).unwrap();
        courier.gate.open();
        waiting.await.unwrap().await.unwrap();
        elsewhere.await.unwrap();
        ferry.submit(1, 2).unwrap().await.unwrap();
        assert_eq!(courier.batches_of(1), [[0], [1], [2]]);
        assert_nothing_is_left(&ferry);
    });
}

pub fn room_at_a_key_goes_to_who_waits_longest<H: Host>(host: H) {
    let (ferry, courier) = tight(&host, 10, 1);
    host.run(async {
        let mut before = ferry.submit(1, 0).unwrap();
        let mut waiting: Vec<_> = (1..5)
            .map(|input| Box::pin(ferry.submit_when_free(1, input)))
            .collect();
        for one in &mut waiting {
            assert!(poll_once(one).await.is_none());
        }
        while !waiting.is_empty() {
            courier.gate.let_through(1);
            before.await.unwrap();
            for later in waiting[1..].iter_mut().rev() {
                assert!(poll_once(later).await.is_none());
            }
            before = waiting.remove(0).await.unwrap();
        }
        courier.gate.open();
        before.await.unwrap();
        assert_eq!(courier.batches_of(1), [[0], [1], [2], [3], [4]]);
        assert_nothing_is_left(&ferry);
    });
}

pub fn several_places_at_a_key_go_to_several_who_wait<H: Host>(host: H) {
    let (ferry, courier) = tight(&host, 10, 3);
    host.run(async {
        let first = ferry.submit(1, 0).unwrap();
        courier.gate.reached(1).await;
        let others = [1, 2].map(|input| ferry.submit(1, input).unwrap());
        let mut waiting: Vec<_> = (3..7)
            .map(|input| Box::pin(ferry.submit_when_free(1, input)))
            .collect();
        for one in &mut waiting {
            assert!(poll_once(one).await.is_none());
        }
        courier.gate.open();
        first.await.unwrap();
        for other in others {
            other.await.unwrap();
        }
        for one in waiting {
            one.await.unwrap().await.unwrap();
        }
        assert_nothing_is_left(&ferry);
    });
}

pub fn who_waits_for_a_full_key_takes_no_room_meanwhile<H: Host>(host: H) {
    let (ferry, courier) = tight(&host, 2, 1);
    host.run(async {
        let first = ferry.submit(1, 0).unwrap();
        let mut waiting = pin!(ferry.submit_when_free(1, 1));
        assert!(poll_once(&mut waiting).await.is_none());
        assert_eq!(ferry.stats().queueing, 1);
        let elsewhere = ferry.submit(2, 2).unwrap();
        courier.gate.open();
        first.await.unwrap();
        elsewhere.await.unwrap();
        waiting.await.unwrap().await.unwrap();
        assert_nothing_is_left(&ferry);
    });
}

pub fn a_withdrawn_input_makes_way_for_who_waits<H: Host>(host: H) {
    for (room, at_a_key) in [(2, 2), (10, 2)] {
        let (ferry, courier) = tight(&host, room, at_a_key);
        host.run(async {
            let first = ferry.submit(1, 0).unwrap();
            courier.gate.reached(1).await;
            let withdrawn = ferry.submit(1, 1).unwrap();
            let mut waiting = pin!(ferry.submit_when_free(1, 2));
            assert!(poll_once(&mut waiting).await.is_none());
            drop(withdrawn);
            let accepted = waiting.await.unwrap();
            courier.gate.open();
            first.await.unwrap();
            accepted.await.unwrap();
            assert_eq!(courier.batches_of(1), [[0], [2]]);
            assert_nothing_is_left(&ferry);
        });
    }
}

/// A waiter that was told of its place at the key, and then stands in the line for room.
pub fn who_leaves_on_the_way_from_the_key_to_the_room_passes_its_turn_on<H: Host>(host: H) {
    let (ferry, courier) = tight(&host, 2, 1);
    host.run(async {
        let first = ferry.submit(1, 0).unwrap();
        courier.gate.reached(1).await;
        let mut leaving = Box::pin(ferry.submit_when_free(1, 1));
        let mut staying = Box::pin(ferry.submit_when_free(1, 2));
        assert!(poll_once(&mut leaving).await.is_none());
        assert!(poll_once(&mut staying).await.is_none());
        let elsewhere = ferry.submit(2, 3).unwrap();
        courier.gate.reached(2).await;
        courier.gate.let_through(1);
        first.await.unwrap();
        let more = ferry.submit(3, 4).unwrap();
        // Room at the key, none in the process.
        assert!(poll_once(&mut leaving).await.is_none());
        drop(leaving);
        courier.gate.open();
        elsewhere.await.unwrap();
        more.await.unwrap();
        staying.await.unwrap().await.unwrap();
        ferry.submit(1, 5).unwrap().await.unwrap();
        assert_nothing_is_left(&ferry);
    });
}

pub fn who_leaves_the_line_lets_the_next_come_up<H: Host>(host: H) {
    // At a full process, then at a full key.
    for (room, at_a_key) in [(1, 1), (10, 1)] {
        // The one that leaves: not called yet; called, and not aware of it.
        for is_called in [false, true] {
            let (ferry, courier) = tight(&host, room, at_a_key);
            host.run(async {
                let first = ferry.submit(1, 0).unwrap();
                let mut leaving = Box::pin(ferry.submit_when_free(1, 1));
                let mut staying = Box::pin(ferry.submit_when_free(1, 2));
                assert!(poll_once(&mut leaving).await.is_none());
                assert!(poll_once(&mut staying).await.is_none());
                let mut leaving = Some(leaving);
                if !is_called {
                    leaving = None;
                }
                courier.gate.open();
                first.await.unwrap();
                drop(leaving);
                staying.await.unwrap().await.unwrap();
                assert_eq!(courier.batches_of(1), [[0], [2]]);
                assert_nothing_is_left(&ferry);
            });
        }
    }
}

pub fn closing_sends_away_all_who_wait_for_room<H: Host>(host: H) {
    for (room, at_a_key) in [(1, 1), (10, 1)] {
        let (ferry, courier) = tight(&host, room, at_a_key);
        host.run(async {
            let first = ferry.submit(1, 0).unwrap();
            let mut waiting: Vec<_> = (1..4)
                .map(|input| Box::pin(ferry.submit_when_free(1, input)))
                .collect();
            for one in &mut waiting {
                assert!(poll_once(one).await.is_none());
            }
            let closing = ferry.close();
            for (input, one) in (1..).zip(waiting) {
                let rejected = one.await.unwrap_err();
                assert_eq!(
                    (rejected.reason, rejected.key, rejected.input),
                    (Reason::Closed, 1, input)
                );
            }
            let late = ferry.submit_when_free(1, 9).await.unwrap_err();
            assert_eq!(late.reason, Reason::Closed);
            courier.gate.open();
            closing.await;
            first.await.unwrap();
            assert_nothing_is_left(&ferry);
        });
    }
}

pub fn many_tasks_wait_for_little_room_and_all_get_some<H: Host>(host: H) {
    let (ferry, courier) = tight(&host, 3, 1);
    courier.gate.open();
    host.run(async {
        let mut tasks: Vec<_> = (0..200)
            .map(|input| {
                let ferry = ferry.clone();
                in_a_task(&host, async move {
                    let submission = ferry.submit_when_free(input % 5, input).await.unwrap();
                    submission.await.unwrap()
                })
            })
            .collect();
        for (input, task) in (0..).zip(&mut tasks) {
            assert_eq!(task.await, input);
        }
        assert_nothing_is_left(&ferry);
    });
}
