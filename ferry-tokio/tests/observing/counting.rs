//! What is counted is what `stats` says.

use std::time::Duration;

use ferry_tokio::{Reason, Stats};

use super::{
    purses::{Goes, Key, Purses, Shelf, put},
    recording::Recorded,
    stories::{Handles, builder},
};

/// Every counter of a handle's, and what it has to be.
fn counters(stats: &Stats) -> Vec<(&'static str, u64)> {
    let counters = &stats.counters;
    let writes = &counters.writes;
    vec![
        ("ferry_accepted_total", counters.accepted),
        ("ferry_rejected_total", counters.rejected),
        ("ferry_withdrawn_total", counters.withdrawn),
        ("ferry_expired_total", counters.expired),
        ("ferry_batches_total", counters.batches),
        ("ferry_batched_total", counters.batched),
        ("ferry_resumes_total", counters.resumes),
        ("ferry_reads_total", writes.reads),
        ("ferry_commits_total", writes.commits),
        ("ferry_refused_total", writes.refused),
        ("ferry_in_doubt_total", writes.in_doubt),
        ("ferry_faults_total", writes.faults),
        ("ferry_retries_total", writes.retries),
        ("ferry_splits_total", writes.splits),
        ("ferry_projections_total", writes.projections),
        ("ferry_projections_failed_total", writes.projections_failed),
        ("ferry_applied_total", writes.applied),
        ("ferry_duplicates_total", writes.duplicates),
        ("ferry_declined_total", writes.declined),
        ("ferry_mismatches_total", writes.mismatches),
        ("ferry_too_old_total", writes.too_old),
        ("ferry_expired_in_flight_total", writes.expired),
        ("ferry_failed_total", writes.failed),
        ("ferry_late_total", writes.late),
    ]
}

#[tokio::test(start_paused = true)]
async fn counters_are_what_stats_says() {
    let (recorded, handles) = Recorded::of(Handles::new);
    handles.go_through_everything().await;
    let each = [
        ("writing", handles.writing.stats()),
        ("projecting", handles.projecting.stats()),
        ("calling", handles.calling.stats()),
    ];
    for (name, count) in counters(&Stats::default()) {
        let mut ever = count;
        for (handle, stats) in &each {
            let expected = counters(stats)
                .into_iter()
                .find(|(other, _)| *other == name);
            let (_, expected) = expected.unwrap();
            assert_eq!(
                recorded.sum(handle, name),
                expected as f64,
                "{name} of {handle}"
            );
            ever += expected;
        }
        assert_ne!(ever, 0, "{name}: nothing of it has happened");
    }
}

#[tokio::test(start_paused = true)]
async fn why_an_input_was_handed_back_is_told() {
    let (recorded, ferry) = Recorded::of(|| {
        let few = builder().max_queueing(2).max_queueing_per_key(1);
        few.fold_write(Purses, Shelf::default()).unwrap()
    });
    let submit = |key| ferry.submit(Key::new(key), put(1));
    let (_first, _second) = (submit(1).unwrap(), submit(2).unwrap());
    for _ in 0..3 {
        assert_eq!(submit(3).unwrap_err().reason, Reason::QueueFull);
    }
    let by_reason = |reason: &str| recorded.values("ferry_rejected_total", "reason", reason);
    let told = ["queue_full", "key_full", "too_heavy", "closed"].map(by_reason);
    assert_eq!(told, [[3.0], [0.0], [0.0], [0.0]]);
}

#[tokio::test(start_paused = true)]
async fn times_are_those_of_the_runtime() {
    let shelf = Shelf::default();
    let (recorded, ferry) = Recorded::of(|| {
        builder()
            .max_queueing(3)
            .fold_write(Purses, shelf.clone())
            .unwrap()
    });
    shelf.commits([Goes::Slow]);
    let submit = |id| ferry.submit(Key::new(1), put(id)).unwrap();
    let first = submit(1);
    tokio::time::sleep(Duration::from_secs(600)).await;
    let second = submit(2);
    tokio::time::sleep(Duration::from_secs(600)).await;
    let third = submit(3);
    first.await.unwrap();
    second.await.unwrap();
    third.await.unwrap();

    // To wait for room is not to wait for a batch.
    let places: Vec<_> = (0..3).map(|_| ferry.try_reserve().unwrap()).collect();
    let fourth = tokio::spawn(ferry.submit_when_free(Key::new(2), put(4)));
    tokio::time::sleep(Duration::from_secs(600)).await;
    drop(places);
    fourth.await.unwrap().unwrap().await.unwrap();

    let told = |name| {
        let values = recorded.values(name, "handle", "ferry").into_iter();
        values.map(f64::round).collect::<Vec<_>>()
    };
    assert_eq!(told("ferry_batch_inputs"), [1.0, 2.0, 1.0]);
    assert_eq!(told("ferry_batch_tries"), [1.0, 1.0, 1.0]);
    assert_eq!(told("ferry_round_trip_seconds"), [3600.0, 0.0, 0.0]);
    assert_eq!(told("ferry_oldest_wait_seconds"), [0.0, 3000.0, 0.0]);
}
