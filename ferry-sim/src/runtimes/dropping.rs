//! Callers who stop waiting, at whatever moment: nobody else notices, and nothing is left behind.

use futures_lite::future::poll_once;

use super::{
    bank::{Bank, Deposits, deposit},
    courier::Courier,
    gate::Gate,
    host::*,
};

/// How often a future is polled before it is dropped.
const POLLS: std::ops::Range<usize> = 0..4;

async fn poll_and_drop(polls: usize, future: impl Future) {
    let mut future = std::pin::pin!(future);
    for _ in 0..polls {
        if poll_once(&mut future).await.is_some() {
            return;
        }
    }
}

/// How far the batch has come when the caller goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Waiting,
    Reading,
    Committing,
    Landed,
    Answered,
}

const STAGES: [Stage; 5] = [
    Stage::Waiting,
    Stage::Reading,
    Stage::Committing,
    Stage::Landed,
    Stage::Answered,
];

pub fn a_caller_may_go_at_any_stage<H: Host>(host: H) {
    for stage in STAGES {
        for polls in POLLS {
            let bank = Bank::new();
            let ferry = host
                .builder()
                .fold_write(Deposits::new(), bank.clone())
                .unwrap();
            let way = &bank.way;
            host.run(async {
                ferry.submit(7, deposit(1, 1)).unwrap().await.unwrap();
                way.before_read.close();
                let going = match stage {
                    Stage::Waiting => {
                        let ahead = ferry.submit(7, deposit(2, 1)).unwrap();
                        way.before_read.reached(2).await;
                        let going = ferry.submit(7, deposit(3, 1)).unwrap();
                        drop(ahead);
                        going
                    }
                    Stage::Reading | Stage::Committing | Stage::Landed | Stage::Answered => {
                        let going = ferry.submit(7, deposit(3, 1)).unwrap();
                        way.before_read.reached(2).await;
                        going
                    }
                };
                let other = ferry.submit(7, deposit(4, 1)).unwrap();
                if !matches!(stage, Stage::Waiting | Stage::Reading) {
                    way.before_commit.close();
                    way.before_read.open();
                    way.before_commit.reached(2).await;
                }
                if matches!(stage, Stage::Landed | Stage::Answered) {
                    way.after_commit.close();
                    way.before_commit.open();
                    way.after_commit.reached(2).await;
                }
                let mut other = Some(other);
                if stage == Stage::Answered {
                    way.after_commit.open();
                    other.take().unwrap().await.unwrap();
                }
                poll_and_drop(polls, going).await;
                way.before_read.open();
                way.before_commit.open();
                way.after_commit.open();
                if let Some(other) = other {
                    other.await.unwrap();
                }
                assert_nothing_is_left(&ferry);
                let expected = match stage {
                    Stage::Waiting => [1, 2, 4],
                    Stage::Reading | Stage::Committing | Stage::Landed | Stage::Answered => {
                        [1, 3, 4]
                    }
                };
                assert_eq!(bank.books.ids(), expected, "{stage:?}, after {polls} polls");
            });
        }
    }
}

pub fn one_of_a_batch_may_go_before_it_sets_off<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let ferry = host.builder().batch_call(courier.clone()).unwrap();
    host.run(async {
        let ahead = ferry.submit(1, 0).unwrap();
        courier.gate.reached(1).await;
        let mut waiting: Vec<_> = (1..6)
            .map(|input| ferry.submit(1, input).unwrap())
            .collect();
        // The last, the first, and one in the middle.
        drop(waiting.pop());
        drop(waiting.remove(0));
        drop(waiting.remove(1));
        courier.gate.open();
        ahead.await.unwrap();
        for submission in waiting {
            submission.await.unwrap();
        }
        assert_eq!(courier.batches_of(1), [vec![0], vec![2, 4]]);
        assert_eq!(ferry.stats().counters.withdrawn, 3);
        assert_nothing_is_left(&ferry);
    });
}

pub fn all_of_a_key_may_go<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let builder = host.builder().max_in_flight(1).shards(4);
    let ferry = builder.batch_call(courier.clone()).unwrap();
    host.run(async {
        let ahead = ferry.submit(0, 0).unwrap();
        courier.gate.reached(1).await;
        // They wait for a permit in every shard, and are gone when it comes.
        let going: Vec<_> = (1..40).map(|key| ferry.submit(key, key).unwrap()).collect();
        let staying = ferry.submit(40, 40).unwrap();
        drop(going);
        assert_eq!(ferry.stats().keys, 2);
        courier.gate.open();
        ahead.await.unwrap();
        staying.await.unwrap();
        assert_eq!(courier.batches().len(), 2);
        assert_nothing_is_left(&ferry);
        ferry.close().await;
    });
}

pub fn the_end_comes_also_when_the_last_inputs_are_withdrawn<H: Host>(host: H) {
    let courier = Courier::new(Gate::closed());
    let builder = host.builder().max_in_flight(1).shards(8);
    let ferry = builder.batch_call(courier.clone()).unwrap();
    host.run(async {
        let ahead = ferry.submit(0, 0).unwrap();
        courier.gate.reached(1).await;
        let going: Vec<_> = (1..40).map(|key| ferry.submit(key, key).unwrap()).collect();
        let closing = ferry.close();
        drop(going);
        courier.gate.open();
        ahead.await.unwrap();
        closing.await;
        assert_eq!(courier.batches().len(), 1);
        assert_nothing_is_left(&ferry);
    });
}

/// Where one who waits for room has got to.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Line {
    /// In the line for room in the process.
    Room,
    /// There is a place for it, which it has not heard of.
    Place,
    /// In the line of its key.
    Key,
    /// There is room at its key, which it has not heard of.
    Called,
    /// Accepted.
    Accepted,
}

pub fn one_who_waits_for_room_may_go_at_any_moment<H: Host>(host: H) {
    for line in [
        Line::Room,
        Line::Place,
        Line::Key,
        Line::Called,
        Line::Accepted,
    ] {
        for polls in POLLS {
            let courier = Courier::new(Gate::closed());
            let (room, at_a_key) = match line {
                Line::Room | Line::Place => (1, 1),
                Line::Key | Line::Called | Line::Accepted => (2, 1),
            };
            let builder = host
                .builder()
                .max_queueing(room)
                .max_queueing_per_key(at_a_key);
            let ferry = builder.batch_call(courier.clone()).unwrap();
            host.run(async {
                let ahead = ferry.submit(1, 0).unwrap();
                courier.gate.reached(1).await;
                let mut going = Box::pin(ferry.submit_when_free(1, 1));
                for _ in 0..polls {
                    assert!(poll_once(&mut going).await.is_none());
                }
                let mut staying = Box::pin(ferry.submit_when_free(1, 2));
                assert!(poll_once(&mut staying).await.is_none());
                if matches!(line, Line::Room | Line::Key) {
                    drop(going);
                    courier.gate.open();
                    ahead.await.unwrap();
                } else {
                    courier.gate.let_through(1);
                    ahead.await.unwrap();
                    if line == Line::Accepted && polls > 0 {
                        let accepted = going.as_mut().await.unwrap();
                        poll_and_drop(polls, accepted).await;
                    }
                    drop(going);
                    courier.gate.open();
                }
                staying.await.unwrap().await.unwrap();
                assert_nothing_is_left(&ferry);
                ferry.close().await;
            });
        }
    }
}

/// How far one who sets a place aside has got.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Aside {
    /// In the line.
    Line,
    /// There is a place for it, which it has not heard of.
    Place,
    /// It has the place.
    Held,
    /// An input was submitted on it.
    Used,
}

pub fn one_who_sets_a_place_aside_may_go_at_any_moment<H: Host>(host: H) {
    for aside in [Aside::Line, Aside::Place, Aside::Held, Aside::Used] {
        for polls in POLLS {
            let courier = Courier::new(Gate::closed());
            let builder = host.builder().max_queueing(1);
            let ferry = builder.batch_call(courier.clone()).unwrap();
            host.run(async {
                let ahead = ferry.submit(1, 0).unwrap();
                courier.gate.reached(1).await;
                let mut going = Box::pin(ferry.reserve());
                for _ in 0..polls {
                    assert!(poll_once(&mut going).await.is_none());
                }
                let mut staying = Box::pin(ferry.reserve());
                assert!(poll_once(&mut staying).await.is_none());
                // One that was never polled stands in no line, and the other is first.
                let has_its_turn = polls > 0 && aside != Aside::Line;
                if !has_its_turn {
                    drop(going);
                    courier.gate.open();
                    ahead.await.unwrap();
                } else {
                    courier.gate.let_through(1);
                    ahead.await.unwrap();
                    assert!(poll_once(&mut staying).await.is_none());
                    if matches!(aside, Aside::Held | Aside::Used) {
                        let place = going.as_mut().await.unwrap();
                        if aside == Aside::Used {
                            poll_and_drop(polls, place.submit(1, 1).unwrap()).await;
                        }
                    }
                    drop(going);
                    courier.gate.open();
                }
                let place = staying.await.unwrap();
                assert_eq!(ferry.stats().queueing, 1);
                place.submit(1, 2).unwrap().await.unwrap();
                assert_nothing_is_left(&ferry);
                ferry.close().await;
            });
        }
    }
}

pub fn one_who_waits_for_the_end_may_go<H: Host>(host: H) {
    for polls in POLLS {
        let courier = Courier::new(Gate::closed());
        let ferry = host.builder().batch_call(courier.clone()).unwrap();
        host.run(async {
            let in_flight = ferry.submit(1, 0).unwrap();
            let waiting = ferry.submit(1, 1).unwrap();
            courier.gate.reached(1).await;
            let mut staying = Box::pin(ferry.close());
            assert!(poll_once(&mut staying).await.is_none());
            poll_and_drop(polls, ferry.close()).await;
            assert!(ferry.submit(1, 2).is_err());
            courier.gate.open();
            staying.await;
            for submission in [in_flight, waiting] {
                assert!(poll_once(submission).await.unwrap().is_ok());
            }
            assert_nothing_is_left(&ferry);
        });
    }
}
