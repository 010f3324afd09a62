//! The last handle is dropped while there is something to do.

use std::time::Duration;

use shuttle::thread;

use super::{
    callers::{hear, hear_in_time},
    explore::explore,
    runtime::FAR,
    world::{Bounds, ROOMY, World},
};

/// Answers come, and then every task ends, whether it was parked or carrying.
#[test]
fn what_was_accepted_is_carried_to_its_end() {
    explore(|| {
        let world = World::new(Bounds { shards: 2, ..ROOMY });
        let lists = world.lists();
        let callers = [0, 1].map(|key| {
            let (lists, append) = (lists.clone(), world.pen());
            thread::spawn(move || {
                let id = 10 * key;
                hear(lists.submit(key, append(id)).expect("room"), id);
                let last = lists.submit(key, append(id + 1)).expect("room");
                drop(lists);
                hear(last, id + 1);
            })
        });
        drop(lists);
        for caller in callers {
            caller.join().expect("no panic");
        }
        world.end();
    });
}

#[test]
fn nobody_waits_for_what_was_accepted() {
    explore(|| {
        let world = World::new(Bounds {
            max_in_flight: 1,
            ..ROOMY
        });
        let lists = world.lists();
        let goes = lists.submit(0, world.append(1)).expect("room");
        let waits = lists.submit(1, world.append(2)).expect("room");
        let leaves = thread::spawn(move || drop(goes));
        drop(lists);
        drop(waits);
        leaves.join().expect("no panic");
        world.end();
    });
}

/// An alarm is set for long after everything is over: who watches the clock does not wait for it.
#[test]
fn no_alarm_outlasts_what_it_was_set_for() {
    explore(|| {
        let world = World::new(ROOMY);
        let lists = world.lists_by(world.builder().linger(Duration::from_millis(5)));
        let carried = lists.submit_within(0, world.append(1), FAR).expect("room");
        let withdrawn = lists.submit_within(1, world.append(2), FAR).expect("room");
        let leaves = thread::spawn(move || drop(withdrawn));
        let hears = thread::spawn(move || hear_in_time(carried, 1));
        drop(lists);
        leaves.join().expect("no panic");
        assert!(hears.join().expect("no panic").is_some());
        world.end();
    });
}
