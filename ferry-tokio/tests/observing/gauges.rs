//! Gauges say what `stats` says, and whatever raises one lowers it again.

use std::time::Duration;

use ferry_tokio::{Stats, Tokio};

use super::{
    purses::{CURSED, Goes, Key, Purses, Shelf, put},
    recording::Recorded,
    stories::{Handles, builder},
};

/// Of a handle that was given no name.
fn gauges(recorded: &Recorded) -> [f64; 3] {
    gauges_of(recorded, "ferry")
}

fn gauges_of(recorded: &Recorded, handle: &str) -> [f64; 3] {
    let names = ["ferry_waiting", "ferry_queueing", "ferry_batches_in_flight"];
    names.map(|name| recorded.sum(handle, name))
}

fn of(stats: &Stats) -> [f64; 3] {
    [stats.waiting, stats.queueing, stats.batches_in_flight].map(|amount| amount as f64)
}

const ZERO: [f64; 3] = [0.0; 3];

#[tokio::test(start_paused = true)]
async fn after_everything_they_are_zero() {
    let (recorded, handles) = Recorded::of(Handles::new);
    handles.go_through_everything().await;
    for handle in ["writing", "projecting", "calling"] {
        assert_eq!(gauges_of(&recorded, handle), ZERO, "{handle}");
    }
}

#[tokio::test(start_paused = true)]
async fn at_any_moment_they_are_what_stats_says() {
    let shelf = Shelf::default();
    let (recorded, ferry) = Recorded::of(|| {
        let few = builder()
            .max_in_flight(1)
            .max_queueing(10)
            .max_queueing_per_key(4);
        few.fold_write(Purses, shelf.clone()).unwrap()
    });
    let check = |expected: [f64; 3]| {
        assert_eq!(of(&ferry.stats()), expected);
        assert_eq!(gauges(&recorded), expected);
    };
    let submit = |key, id| ferry.submit(Key::new(key), put(id)).unwrap();
    shelf.commits([Goes::Slow]);
    let first = submit(1, 1);
    check([0.0, 1.0, 1.0]);
    let (second, third, fourth) = (submit(1, 2), submit(2, 3), submit(2, 4));
    check([3.0, 4.0, 1.0]);
    let place = ferry.reserve().await.unwrap();
    check([3.0, 5.0, 1.0]);
    let fifth = place.submit(Key::new(3), put(5)).unwrap();
    check([4.0, 5.0, 1.0]);
    drop(fourth);
    check([3.0, 4.0, 1.0]);
    drop(ferry.try_reserve().unwrap());
    check([3.0, 4.0, 1.0]);
    let within = Duration::from_secs(1);
    let short = ferry.submit_within(Key::new(3), put(6), within).unwrap();
    check([4.0, 5.0, 1.0]);
    short.await.unwrap_err();
    check([3.0, 4.0, 1.0]);
    for submission in [first, second, third, fifth] {
        submission.await.unwrap();
    }
    check(ZERO);
}

#[tokio::test(start_paused = true)]
async fn who_waits_for_room_is_counted_once_he_has_it() {
    let shelf = Shelf::default();
    let (recorded, ferry) = Recorded::of(|| {
        let few = builder().max_queueing(1);
        few.fold_write(Purses, shelf.clone()).unwrap()
    });
    shelf.commits([Goes::Slow]);
    let first = ferry.submit(Key::new(1), put(1)).unwrap();
    let second = tokio::spawn(ferry.submit_when_free(Key::new(1), put(2)));
    let third = tokio::spawn(ferry.reserve());
    tokio::task::yield_now().await;
    assert_eq!(gauges(&recorded), [0.0, 1.0, 1.0]);
    first.await.unwrap();
    second.await.unwrap().unwrap().await.unwrap();
    let place = third.await.unwrap().unwrap();
    assert_eq!(gauges(&recorded), [0.0, 1.0, 0.0]);
    drop(place);
    assert_eq!(gauges(&recorded), ZERO);
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_a_panic_took_along_is_counted_no_more() {
    let make = || builder().fold_write(Purses, Shelf::default()).unwrap();
    let (recorded, ferry) = Recorded::of(make);
    let submit = |id| ferry.submit(Key::new(1), put(id)).unwrap();
    let (first, twin, lost) = (submit(1), submit(CURSED), submit(CURSED));
    first.await.unwrap();
    twin.await.unwrap_err();
    lost.await.unwrap_err();
    assert_eq!(gauges(&recorded), ZERO);
}

/// What waits, what a task has not begun to carry, what is on its way, and places that were set aside.
#[test]
fn with_the_runtime_all_of_it_goes() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let shelf = Shelf::default();
    let (recorded, ferry) = Recorded::of(|| {
        let on = ferry_tokio::Builder::on(Tokio::on(runtime.handle().clone()));
        on.fold_write(Purses, shelf.clone()).unwrap()
    });
    let submit = |key, id| ferry.submit(Key::new(key), put(id)).unwrap();
    shelf.commits([Goes::Hangs, Goes::Hangs]);
    let mut kept = vec![submit(1, 1), submit(1, 2), submit(2, 3), submit(2, 4)];
    let place = runtime.block_on(async {
        tokio::task::yield_now().await;
        ferry.reserve().await.unwrap()
    });
    // Nothing runs any more.
    kept.extend([submit(3, 5), submit(3, 6)]);
    assert_eq!(gauges(&recorded), [3.0, 7.0, 3.0]);
    drop(runtime);
    for submission in kept {
        futures_lite::future::block_on(submission).unwrap_err();
    }
    assert_eq!(gauges(&recorded), [0.0, 1.0, 0.0]);
    // What the runtime dropped in flight stays in the statistics, as they say.
    let stats = ferry.stats();
    assert_eq!(
        (stats.waiting, stats.queueing, stats.batches_in_flight),
        (0, 4, 3)
    );
    drop(place);
    assert_eq!(gauges(&recorded), ZERO);
    drop(ferry.submit(Key::new(9), put(1)).unwrap_err());
    assert_eq!(gauges(&recorded), ZERO);
}
