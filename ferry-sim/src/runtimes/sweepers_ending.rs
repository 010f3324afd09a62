//! How a sweeper ends: dropped, closed, with its handle, or with its runtime.

use std::{
    future::{pending, ready},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use ferry_core::drive::{Runtime, Sweeper};
use futures_lite::future::{block_on, poll_once, yield_now};

use super::sweepers::{busily, once, sweep_walls, until};
use super::{
    bank::deposit,
    bomb::Bomb,
    gallery::Gallery,
    gate::Gate,
    host::*,
    mishap::Trouble,
    projecting::{Curator, open_curator},
};

/// A sweeper on which something is held up, and what ends it.
fn held_up<H: Host>(ends: impl Fn(&Curator, Sweeper, &Gallery)) {
    // In mid-turn, in mid-pause, and by a query that hangs.
    for stage in 0..3 {
        let host = H::start();
        let gallery = Gallery::new();
        gallery.walls.owe(7, deposit(1, 1));
        let curator = open_curator(&host, &gallery);
        host.run(async {
            let (asked, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Gate::closed()));
            if stage == 0 {
                gallery.way.before_project.close();
            }
            if stage != 2 {
                gate.open();
            }
            let (walls, count, at_gate) = (gallery.walls.clone(), asked.clone(), gate.clone());
            let query = move || {
                count.fetch_add(1, SeqCst);
                let (walls, gate) = (walls.clone(), at_gate.clone());
                async move {
                    gate.pass().await;
                    Ok::<_, Trouble>(walls.pending())
                }
            };
            let sweeper = curator.sweeper(once(), query).unwrap();
            match stage {
                0 => gallery.way.before_project.reached(1).await,
                1 => until(&host, &sweeper, |health| health.turns == 1).await,
                _ => gate.reached(1).await,
            }
            assert!(sweeper.health().is_running);
            ends(&curator, sweeper, &gallery);
            // The task has gone, and the query with it.
            while Arc::strong_count(&asked) > 1 {
                yield_now().await;
            }
            assert_eq!(asked.load(SeqCst), 1);
            gallery.way.before_project.open();
            curator.close().await;
            let is_done = stage != 2;
            assert_eq!(gallery.walls.pending().is_empty(), is_done, "stage {stage}");
        });
    }
}

pub fn a_sweeper_that_is_dropped_stops_at_once<H: Host>(_: H) {
    held_up::<H>(|_, sweeper, _| drop(sweeper));
}

pub fn a_sweeper_that_is_closed_stops_at_once<H: Host>(_: H) {
    held_up::<H>(|_, sweeper, _| drop(sweeper.close()));
}

pub fn who_closes_a_sweeper_hears_of_its_end<H: Host>(host: H) {
    let gallery = Gallery::new();
    gallery.walls.owe(7, deposit(1, 1));
    let curator = open_curator(&host, &gallery);
    host.run(async {
        gallery.way.before_project.close();
        let sweeper = sweep_walls(&curator, once(), &gallery.walls);
        gallery.way.before_project.reached(1).await;
        assert_eq!(sweeper.health().pending, 1);
        let handles = Arc::strong_count(&gallery.walls);
        sweeper.close().await;
        // Its query is gone; what it began goes on.
        assert_eq!(Arc::strong_count(&gallery.walls), handles - 1);
        let mut closing = Box::pin(curator.close());
        assert!(poll_once(&mut closing).await.is_none());
        gallery.way.before_project.open();
        closing.await;
        gallery.walls.assert_all_is_shown();
    });
}

pub fn a_sweeper_ends_with_its_handle<H: Host>(host: H) {
    let gallery = Gallery::new();
    let curator = open_curator(&host, &gallery);
    host.run(async {
        // In mid-turn, with more to come.
        (0..20).for_each(|room| gallery.walls.owe(room, deposit(room, 1)));
        gallery.way.before_project.close();
        let in_mid_turn = sweep_walls(&curator, once(), &gallery.walls);
        gallery.way.before_project.reached(8).await;
        let in_a_pause = curator
            .sweeper(busily(), || ready(Ok::<_, Trouble>(Vec::new())))
            .unwrap();
        until(&host, &in_a_pause, |health| health.turns > 0).await;
        let closing = curator.close();
        gallery.way.before_project.open();
        closing.await;
        for sweeper in [in_mid_turn, in_a_pause] {
            until(&host, &sweeper, |health| !health.is_running).await;
            sweeper.close().await;
        }
        assert_eq!(gallery.walls.pending().len(), 12);
        // On a handle that is closed.
        let late = sweep_walls(&curator, once(), &gallery.walls);
        until(&host, &late, |health| !health.is_running).await;
        assert_eq!((late.health().turns, late.health().pending), (0, 12));
    });
}

pub fn a_sweeper_that_waits_ends_with_its_handle<H: Host>(host: H) {
    let curator = open_curator(&host, &Gallery::new());
    host.run(async {
        let nothing = || ready(Ok::<_, Trouble>(Vec::new()));
        let in_a_pause = curator.sweeper(once(), nothing).unwrap();
        until(&host, &in_a_pause, |health| health.turns == 1).await;
        let asking = curator.sweeper(once(), pending::<Result<Vec<u64>, Trouble>>);
        let asking = asking.unwrap();
        curator.close().await;
        for sweeper in [in_a_pause, asking] {
            until(&host, &sweeper, |health| !health.is_running).await;
        }
    });
}

pub fn a_query_that_panics_when_it_is_dropped_does_not_keep_its_sweeper<H: Host>(host: H) {
    let gallery = Gallery::new();
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = asked.clone();
        let query = move || {
            count.fetch_add(1, SeqCst);
            async {
                let _bomb = Bomb::armed();
                pending::<Result<Vec<u64>, Trouble>>().await
            }
        };
        let sweeper = curator.sweeper(busily(), query).unwrap();
        while asked.load(SeqCst) == 0 {
            yield_now().await;
        }
        sweeper.close().await;
        assert_eq!(asked.load(SeqCst), 1);
    });
}

pub fn a_sweeper_keeps_its_handle<H: Host>(host: H) {
    let gallery = Gallery::new();
    let walls = Arc::downgrade(&gallery.walls);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let weak = walls.clone();
        let query = move || {
            let pending = weak.upgrade().map(|walls| walls.pending());
            ready(pending.ok_or(Trouble("gone")))
        };
        let sweeper = curator.sweeper(busily(), query).unwrap();
        drop(curator);
        gallery.walls.owe(7, deposit(1, 1));
        while gallery.walls.shown(7) != [1] {
            host.runtime().sleep(Duration::from_millis(1)).await;
        }
        drop(gallery);
        assert!(sweeper.health().is_running);
        drop(sweeper);
        while walls.strong_count() > 0 {
            yield_now().await;
        }
    });
}

pub fn a_runtime_that_goes_takes_its_sweepers_along<H: ShutsDown>(_: H) {
    for is_in_mid_turn in [false, true] {
        let host = H::start();
        let gallery = Gallery::new();
        gallery.walls.owe(7, deposit(1, 1));
        let curator = open_curator(&host, &gallery);
        if is_in_mid_turn {
            gallery.way.before_project.close();
        }
        let sweeper = sweep_walls(&curator, once(), &gallery.walls);
        host.run(async {
            if is_in_mid_turn {
                gallery.way.before_project.reached(1).await;
            } else {
                until(&host, &sweeper, |health| health.turns == 1).await;
            }
        });
        host.shut_down();
        let health = sweeper.health();
        assert!(!health.is_running);
        assert_eq!(health.turns, u64::from(!is_in_mid_turn));
        block_on(sweeper.close());
        // And one that never had any.
        let sweeper = sweep_walls(&curator, once(), &gallery.walls);
        assert!(!sweeper.health().is_running);
        drop(sweeper);
    }
}
