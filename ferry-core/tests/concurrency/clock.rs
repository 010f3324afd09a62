//! One task watches the clock, for whatever is due first.

use std::time::Duration;

use shuttle::thread;

use super::{
    callers::hear_in_time,
    explore::explore,
    runtime::FAR,
    world::{Bounds, ROOMY, World},
};

const SOON: Duration = Duration::from_millis(5);

/// Who watches may just have lain down to sleep for a time that never comes.
fn not_slept_through(shards: usize) {
    let world = World::new(Bounds { shards, ..ROOMY });
    let lists = world.lists_by(world.builder().linger(FAR));
    let far = lists.submit_within(0, world.append(1), FAR).expect("room");
    let callers = [1, 2].map(|key| {
        let (lists, append) = (lists.clone(), world.append(10 * key));
        thread::spawn(move || {
            let soon = lists.submit_within(key, append, SOON).expect("room");
            assert_eq!(hear_in_time(soon, 10 * key), None, "it went");
        })
    });
    for caller in callers {
        caller.join().expect("no panic");
    }
    drop(far);
    world.close(lists);
}

#[test]
fn a_shard_s_alarm_that_is_due_sooner_is_not_slept_through() {
    explore(|| not_slept_through(1));
}

#[test]
fn another_shard_s_alarm_that_is_due_sooner_is_not_slept_through() {
    explore(|| not_slept_through(4));
}

/// A key that lingers goes when its time has come, though others set alarms meanwhile.
#[test]
fn what_lingers_goes_in_the_end() {
    explore(|| {
        let world = World::new(Bounds { shards: 2, ..ROOMY });
        let lists = world.lists_by(world.builder().linger(SOON));
        let callers = [0, 1].map(|key| {
            let (lists, append) = (lists.clone(), world.pen());
            thread::spawn(move || {
                for id in [10 * key, 10 * key + 1] {
                    let heard = lists.submit_within(key, append(id), FAR).expect("room");
                    assert!(hear_in_time(heard, id).is_some(), "it expired");
                }
            })
        });
        for caller in callers {
            caller.join().expect("no panic");
        }
        world.close(lists);
    });
}
