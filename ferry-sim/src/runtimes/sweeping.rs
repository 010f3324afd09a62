//! Resuming many keys: how many at a time, how often each, and what is reported.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use ferry_core::{Cause, Class, Retry, drive::SweepReport, projected_write::resume::Resumed};
use futures_lite::{future::yield_now, stream};
use tokio::sync::mpsc;

use super::{
    bank::deposit,
    gallery::Gallery,
    host::*,
    mishap::{Mishap, Trouble},
    projecting::open_curator,
    writes::at_once,
};

pub const TRANSIENT: Mishap = Mishap::Fails(Class::Transient);
pub const HOUR: Duration = Duration::from_secs(3600);

/// Owes something in each of these rooms.
pub fn owing(rooms: impl IntoIterator<Item = u64>) -> Gallery {
    let gallery = Gallery::new();
    for room in rooms {
        gallery.walls.owe(room, deposit(room, 1));
    }
    gallery
}

/// Taken, projected, nothing pending, still pending.
pub fn counts(report: &SweepReport<u64, Trouble>) -> [u64; 4] {
    [
        report.taken,
        report.projected,
        report.nothing_pending,
        report.still_pending,
    ]
}

/// Up to an hour before each further try.
pub fn hourly(attempts: u32) -> Retry {
    Retry {
        base: HOUR,
        factor: 1,
        cap: HOUR,
        ..at_once(attempts)
    }
}

pub fn a_sweep_pays_what_its_keys_owe_and_counts_them<H: Host>(host: H) {
    let gallery = owing(0..30);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let nothing = curator.sweep([]).await;
        assert_eq!((counts(&nothing), nothing.was_cut_short), ([0; 4], false));
        // A third of these owes nothing.
        let report = curator.sweep(0..45).await;
        assert_eq!(
            (counts(&report), report.was_cut_short),
            ([45, 30, 15, 0], false)
        );
        gallery.walls.assert_all_is_shown();
        let again = curator.sweep(0..45).await;
        assert_eq!(counts(&again), [45, 0, 45, 0]);
        assert_eq!(curator.stats().counters.resumes, 90);
    });
}

pub fn nothing_is_swept_before_it_is_awaited<H: Host>(host: H) {
    let gallery = owing([7]);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let sweep = curator.sweep([7]).concurrency(3);
        yield_now().await;
        assert_eq!(gallery.calls(7), (0, 0));
        drop(sweep);
        drop(curator.sweep([7]).into_future());
        assert_eq!(curator.stats().counters.resumes, 0);
        curator.close().await;
    });
}

pub fn so_many_keys_at_a_time_and_no_more<H: Host>(host: H) {
    for (told, concurrency) in [(Some(0), 1), (Some(5), 5), (None, 8)] {
        let gallery = owing(0..40);
        let curator = open_curator(&host, &gallery);
        host.run(async {
            gallery.way.before_read.close();
            let mut sweep = curator.sweep(0..40);
            if let Some(keys) = told {
                sweep = sweep.concurrency(keys);
            }
            let sweep = in_a_task(&host, async move { sweep.await });
            for done in 0..=(40 - concurrency) {
                gallery.way.before_read.reached(done + concurrency).await;
                gallery.way.before_read.let_through(1);
            }
            gallery.way.before_read.open();
            assert_eq!(counts(&sweep.await), [40, 40, 0, 0]);
            assert_eq!(gallery.most_under_way(), concurrency);
        });
    }
}

pub fn a_stream_is_drawn_from_only_when_there_is_room<H: Host>(host: H) {
    let gallery = owing(0..10);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let drawn = Arc::new(Mutex::new(0));
        let keys = stream::iter(0..10).map_each({
            let drawn = drawn.clone();
            move |key| {
                *drawn.lock().unwrap() += 1;
                key
            }
        });
        gallery.way.before_project.close();
        let sweep = curator.sweep_stream(keys).concurrency(3);
        let sweep = in_a_task(&host, async move { sweep.await });
        gallery.way.before_project.reached(3).await;
        assert_eq!(*drawn.lock().unwrap(), 3);
        gallery.way.before_project.let_through(1);
        gallery.way.before_project.reached(4).await;
        assert_eq!(*drawn.lock().unwrap(), 4);
        gallery.way.before_project.open();
        assert_eq!(counts(&sweep.await), [10, 10, 0, 0]);
        assert_eq!(*drawn.lock().unwrap(), 10);
    });
}

/// `StreamExt::map`, whose name this need not import.
trait MapEach: futures_lite::Stream + Sized {
    fn map_each<T>(self, each: impl FnMut(Self::Item) -> T) -> impl futures_lite::Stream<Item = T> {
        futures_lite::StreamExt::map(self, each)
    }
}

impl<S: futures_lite::Stream> MapEach for S {}

pub fn a_stream_may_take_its_time<H: Host>(host: H) {
    let gallery = owing(0..20);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let keys = stream::poll_fn(move |cx| receiver.poll_recv(cx));
        let sweep = curator.sweep_stream(keys).concurrency(2);
        let sweep = in_a_task(&host, async move { sweep.await });
        for room in 0..20 {
            // Nothing is under way: only the stream can wake it.
            sender.send(room).unwrap();
            while gallery.walls.shown(room).is_empty() {
                yield_now().await;
            }
        }
        // A key that fails while the stream has nothing to say is tried again all the same.
        gallery.projections_meet([TRANSIENT]);
        gallery.walls.owe(30, deposit(1, 1));
        sender.send(30).unwrap();
        while gallery.walls.shown(30).is_empty() {
            yield_now().await;
        }
        drop(sender);
        assert_eq!(counts(&sweep.await), [21, 21, 0, 0]);
    });
}

pub fn keys_that_fail_are_reported_and_hold_up_no_others<H: Host>(host: H) {
    let gallery = owing(0..60);
    for room in 0..20 {
        gallery.is_cursed(room, TRANSIENT);
    }
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let report = curator.sweep(0..60).concurrency(4).retry(at_once(3)).await;
        assert_eq!(
            (counts(&report), report.was_cut_short),
            ([60, 40, 0, 20], false)
        );
        assert_eq!(gallery.walls.pending(), (0..20).collect::<Vec<_>>());
        assert_eq!(report.examples.len(), 16);
        for (room, cause) in report.examples {
            assert!(room < 20);
            assert_eq!(cause, Cause::Store(Trouble("hiccup").into()));
        }
        for room in 0..60 {
            let tries = if room < 20 { 3 } else { 1 };
            assert_eq!(gallery.calls(room), (tries, tries), "room {room}");
        }
        // By default as often as the write.
        let report = curator.sweep([3]).await;
        assert_eq!(counts(&report), [1, 0, 0, 1]);
        assert_eq!(gallery.calls(3), (7, 7));
        // Trouble that passes is not reported.
        gallery.is_well_again();
        gallery.projections_meet([TRANSIENT; 2]);
        let report = curator.sweep([3]).retry(at_once(3)).await;
        assert_eq!(counts(&report), [1, 1, 0, 0]);
        assert!(report.examples.is_empty());
    });
}

pub fn what_fails_for_good_is_tried_once<H: Host>(host: H) {
    let gallery = owing([1, 2]);
    gallery.is_cursed(1, Mishap::Fails(Class::Permanent));
    gallery.is_cursed(2, TRANSIENT);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let report = curator.sweep([1, 2]).retry(at_once(5)).await;
        assert_eq!(counts(&report), [2, 0, 0, 2]);
        assert_eq!([1, 2].map(|room| gallery.calls(room)), [(1, 1), (5, 5)]);
    });
}

pub fn progress_tells_of_every_try<H: Host>(host: H) {
    let gallery = owing([1, 2, 3]);
    gallery.is_cursed(2, TRANSIENT);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let told = Arc::new(Mutex::new(Vec::new()));
        let tell = told.clone();
        let sweep = curator.sweep([1, 2, 3, 4]).concurrency(1).retry(at_once(3));
        let report = sweep
            .on_progress(move |progress| {
                tell.lock().unwrap().push((
                    *progress.key,
                    progress.result.clone().ok(),
                    progress.is_tried_again,
                    counts(progress.so_far),
                ));
            })
            .await;
        assert_eq!(counts(&report), [4, 2, 1, 1]);
        let mut told = told.lock().unwrap().clone();
        let so_far: Vec<_> = told.iter().map(|(.., counts)| *counts).collect();
        assert!(so_far.is_sorted_by(|one, next| one.iter().zip(next).all(|(a, b)| a <= b)));
        assert_eq!(so_far[5], [4, 2, 1, 1]);
        told.sort_unstable_by_key(|&(key, _, is_tried_again, _)| (key, !is_tried_again));
        let told: Vec<_> = told
            .into_iter()
            .map(|(key, did, again, _)| (key, did, again))
            .collect();
        assert_eq!(
            told,
            [
                (1, Some(Resumed::Projected), false),
                (2, None, true),
                (2, None, true),
                (2, None, false),
                (3, Some(Resumed::Projected), false),
                (4, Some(Resumed::NothingPending), false),
            ]
        );
    });
}

pub fn a_key_may_come_many_times<H: Host>(host: H) {
    let gallery = owing([7]);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let report = curator.sweep([7; 100]).concurrency(10).await;
        assert_eq!((report.taken, report.still_pending), (100, 0));
        assert_eq!(report.projected + report.nothing_pending, 100);
        assert!(report.projected >= 1);
        assert_eq!(gallery.calls(7).1, 1);
        gallery.walls.assert_all_is_shown();
    });
}

pub fn thousands_of_keys_are_swept<H: Host>(host: H) {
    let gallery = owing(0..5000);
    for room in 0..100 {
        gallery.is_cursed(room * 50, TRANSIENT);
    }
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let sweep = curator.sweep(0..5000).concurrency(64).retry(at_once(2));
        assert_eq!(counts(&sweep.await), [5000, 4900, 0, 100]);
        assert!(gallery.most_under_way() <= 64);
        gallery.is_well_again();
        let report = curator.sweep(gallery.walls.pending()).await;
        assert_eq!(counts(&report), [100, 100, 0, 0]);
        gallery.walls.assert_all_is_shown();
        curator.close().await;
    });
}
