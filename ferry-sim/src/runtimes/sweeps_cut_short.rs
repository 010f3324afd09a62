//! Sweeps that do not get to their end, or are not driven by the runtime.

use std::{sync::Arc, thread, time::Duration};

use ferry_core::Retry;
use futures_lite::future::{block_on, poll_once, yield_now};
use tokio::sync::mpsc;

use super::sweeping::{TRANSIENT, counts, hourly, owing};
use super::{host::*, projecting::open_curator, writes::at_once};

pub fn a_handle_that_is_closed_cuts_a_sweep_short<H: Host>(host: H) {
    let gallery = owing(0..20);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        gallery.way.before_project.close();
        let sweep = curator.sweep(0..20).concurrency(3);
        let sweep = in_a_task(&host, async move { sweep.await });
        gallery.way.before_project.reached(3).await;
        let closing = curator.close();
        gallery.way.before_project.open();
        closing.await;
        let report = sweep.await;
        assert!(report.was_cut_short);
        assert_eq!(report.projected, 3);
        assert_eq!((report.nothing_pending, report.still_pending), (0, 0));
        assert_eq!(gallery.walls.pending().len(), 17);
        let report = curator.sweep(0..20).await;
        assert!(report.was_cut_short);
        assert_eq!(counts(&report)[1..], [0; 3]);
        let report = curator.sweep([]).await;
        assert!(!report.was_cut_short);
    });
}

pub fn what_pauses_is_not_tried_by_a_closed_handle<H: Host>(host: H) {
    let gallery = owing([7]);
    gallery.is_cursed(7, TRANSIENT);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        gallery.way.before_project.close();
        let sweep = curator.sweep([7]).retry(hourly(5));
        let sweep = in_a_task(&host, async move { sweep.await });
        gallery.way.before_project.reached(1).await;
        let closing = curator.close();
        gallery.way.before_project.open();
        closing.await;
        // The hour is not waited for.
        let report = sweep.await;
        assert!(report.was_cut_short);
        assert_eq!(counts(&report), [1, 0, 0, 0]);
        assert_eq!(gallery.calls(7), (1, 1));
    });
}

pub fn a_sweep_that_is_dropped_begins_nothing_more<H: Host>(host: H) {
    let gallery = owing(0..20);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        gallery.way.before_project.close();
        let mut sweep = Box::pin(curator.sweep(0..20).concurrency(3).into_future());
        assert!(poll_once(&mut sweep).await.is_none());
        gallery.way.before_project.reached(3).await;
        drop(sweep);
        gallery.way.before_project.open();
        curator.close().await;
        assert_eq!(gallery.walls.pending().len(), 17);
        assert_eq!(curator.stats().counters.resumes, 3);
    });
}

pub fn a_sweep_that_is_dropped_in_mid_pause_leaves_nothing<H: Host>(host: H) {
    let gallery = owing([7]);
    gallery.is_cursed(7, TRANSIENT);
    let curator = open_curator(&host, &gallery);
    let walls = Arc::downgrade(&gallery.walls);
    host.run(async {
        let (told, mut is_told) = mpsc::unbounded_channel();
        let sweep = curator.sweep([7]).retry(hourly(3));
        let sweep = sweep.on_progress(move |_| told.send(()).unwrap());
        let mut sweep = Box::pin(sweep.into_future());
        while is_told.try_recv().is_err() {
            assert!(poll_once(&mut sweep).await.is_none());
            yield_now().await;
        }
        assert!(poll_once(&mut sweep).await.is_none());
        drop(sweep);
        drop(curator);
        drop(gallery);
        while walls.strong_count() > 0 {
            yield_now().await;
        }
    });
}

pub fn a_sweep_may_be_awaited_outside_of_the_runtime<H: Host>(host: H) {
    let gallery = owing(0..20);
    gallery.projections_meet([TRANSIENT; 30]);
    let curator = open_curator(&host, &gallery);
    let retry = Retry {
        base: Duration::from_millis(2),
        cap: Duration::from_millis(2),
        ..at_once(100)
    };
    let (told, is_told) = tokio::sync::oneshot::channel();
    let outside = thread::spawn(move || {
        let report = block_on(curator.sweep(0..20).retry(retry).into_future());
        told.send(()).unwrap();
        report
    });
    host.run(is_told).unwrap();
    assert_eq!(counts(&outside.join().unwrap()), [20, 20, 0, 0]);
    gallery.walls.assert_all_is_shown();
}

pub fn a_runtime_that_goes_cuts_a_sweep_short<H: ShutsDown>(_: H) {
    for is_paused in [false, true] {
        let host = H::start();
        let gallery = owing(0..3);
        let curator = open_curator(&host, &gallery);
        let (told, mut is_told) = mpsc::unbounded_channel();
        if is_paused {
            (0..3).for_each(|room| gallery.is_cursed(room, TRANSIENT));
        } else {
            gallery.way.before_read.close();
        }
        let sweep = curator.sweep(0..3).concurrency(2).retry(hourly(3));
        let sweep = sweep.on_progress(move |_| told.send(()).unwrap());
        let outside = thread::spawn(move || block_on(sweep.into_future()));
        if is_paused {
            host.run(async {
                for _ in 0..3 {
                    is_told.recv().await.unwrap();
                }
            });
        } else {
            host.run(gallery.way.before_read.reached(2));
        }
        host.shut_down();
        let report = outside.join().unwrap();
        assert!(report.was_cut_short);
        assert_eq!((report.projected, report.nothing_pending), (0, 0));
    }
}
