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
    world::{ROOMY, ShownLists, World},
};

/// Sweeps two keys, over and over.
fn sweeper(lists: &ShownLists) -> Sweeper {
    let schedule = Schedule {
        every: Duration::from_secs(1),
        concurrency: 1,
        ..Schedule::default()
    };
    let query = || ready(Ok::<_, Infallible>([0, 1]));
    lists.sweeper(schedule, query).expect("a sound schedule")
}

fn world_in_debt() -> World {
    let world = World::new(ROOMY);
    for key in [0, 1] {
        world.table.owe(key, key);
    }
    world
}

#[test]
fn it_is_closed_in_a_turn() {
    explore(|| {
        let world = world_in_debt();
        let lists = world.shown_lists();
        let sweeper = sweeper(&lists);
        let resumes = {
            let lists = lists.clone();
            thread::spawn(move || block_on(lists.resume(&0)).expect("nothing keeps it from it"))
        };
        block_on(sweeper.close());
        resumes.join().expect("no panic");
        world.close(lists);
    });
}

/// It alone kept the handle alive.
#[test]
fn it_is_dropped_in_a_turn() {
    explore(|| {
        let world = world_in_debt();
        let lists = world.shown_lists();
        let sweeper = sweeper(&lists);
        let drops = thread::spawn(move || drop(sweeper));
        drop(lists);
        drops.join().expect("no panic");
        world.end();
    });
}

#[test]
fn the_handle_is_closed_in_a_turn() {
    explore(|| {
        let world = world_in_debt();
        let lists = world.shown_lists();
        let sweeper = sweeper(&lists);
        block_on(lists.close());
        // It ends by itself.
        world.tasks.join();
        assert!(!sweeper.health().is_running);
        drop(sweeper);
        world.close(lists);
    });
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
