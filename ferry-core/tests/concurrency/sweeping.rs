//! A sweeper is told to stop, in whatever turn it is.

use std::{
    convert::Infallible,
    future::{IntoFuture, ready},
    time::Duration,
};

use ferry_core::drive::{Schedule, Sweeper};
use shuttle::{future::block_on, thread};

use super::{
    callers::poll_here,
    explore::explore,
    runtime::FAR,
    world::{ROOMY, ShownLists, World},
};

/// Turn follows turn.
const OFTEN: Duration = Duration::from_secs(1);

/// After the first turn, there is a pause that does not end by itself.
const ONCE: Duration = FAR.saturating_mul(2);

/// Sweeps two keys, over and over.
fn sweeper(lists: &ShownLists, every: Duration) -> Sweeper {
    let schedule = Schedule {
        every,
        pause_max: every,
        concurrency: 1,
    };
    let query = || ready(Ok::<_, Infallible>([0, 1]));
    lists.sweeper(schedule, query).expect("a sound schedule")
}

/// Has the first turn over before the story goes on, where no other is to come.
fn let_it_get_to_its_pause(sweeper: &Sweeper, every: Duration) {
    while every == ONCE && sweeper.health().turns == 0 {
        thread::yield_now();
    }
}

fn world_in_debt() -> World {
    let world = World::new(ROOMY);
    for key in [0, 1] {
        world.table.owe(key, key);
    }
    world
}

fn closed(every: Duration) {
    let world = world_in_debt();
    let lists = world.shown_lists();
    let sweeper = sweeper(&lists, every);
    let_it_get_to_its_pause(&sweeper, every);
    let resumes = {
        let lists = lists.clone();
        thread::spawn(move || block_on(lists.resume(&0)).expect("nothing keeps it from it"))
    };
    block_on(sweeper.close());
    resumes.join().expect("no panic");
    world.close(lists);
}

#[test]
fn it_is_closed_in_a_turn() {
    explore(|| closed(OFTEN));
}

#[test]
fn it_is_closed_in_a_pause() {
    explore(|| closed(ONCE));
}

/// It alone kept the handle alive.
fn dropped(every: Duration) {
    let world = world_in_debt();
    let lists = world.shown_lists();
    let sweeper = sweeper(&lists, every);
    let_it_get_to_its_pause(&sweeper, every);
    let drops = thread::spawn(move || drop(sweeper));
    drop(lists);
    drops.join().expect("no panic");
    world.end();
}

#[test]
fn it_is_dropped_in_a_turn() {
    explore(|| dropped(OFTEN));
}

#[test]
fn it_is_dropped_in_a_pause() {
    explore(|| dropped(ONCE));
}

/// The sweeper ends by itself.
fn cut_short(every: Duration) {
    let world = world_in_debt();
    let lists = world.shown_lists();
    let sweeper = sweeper(&lists, every);
    let_it_get_to_its_pause(&sweeper, every);
    block_on(lists.close());
    world.tasks.join();
    assert!(!sweeper.health().is_running);
    drop(sweeper);
    world.close(lists);
}

#[test]
fn the_handle_is_closed_in_a_turn() {
    explore(|| cut_short(OFTEN));
}

#[test]
fn the_handle_is_closed_in_a_pause() {
    explore(|| cut_short(ONCE));
}

#[test]
fn a_sweep_is_dropped_while_it_resumes() {
    explore(|| {
        let world = world_in_debt();
        let lists = world.shown_lists();
        let sweeps = {
            let lists = lists.clone();
            thread::spawn(move || block_on(async { lists.sweep([0, 1]).concurrency(2).await }))
        };
        let leaves = {
            let lists = lists.clone();
            thread::spawn(move || {
                let mut sweeping = Box::pin(lists.sweep([1, 0]).into_future());
                drop(poll_here(&mut sweeping));
            })
        };
        let report = sweeps.join().expect("no panic");
        assert_eq!((report.taken, report.still_pending), (2, 0));
        leaves.join().expect("no panic");
        world.close(lists);
    });
}
