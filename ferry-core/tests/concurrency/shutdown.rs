//! The runtime is shut down, and drops its tasks wherever they are.

use ferry_core::{Cause, Failure, per_key::Reason};
use shuttle::{future::block_on, thread};

use super::{
    callers::Appending,
    explore::explore,
    world::{Bounds, ROOMY, World},
};

/// It was appended, or abandoned.
fn hear_of_it(appending: Appending, id: u64) {
    match block_on(appending) {
        Ok(appended) => assert_eq!(appended.id, id, "the answer of another"),
        Err(Failure::NotCommitted(Cause::Abandoned) | Failure::InDoubt(Cause::Abandoned)) => {}
        Err(other) => panic!("{other:?}"),
    }
}

fn shut_down_upon_callers(keys: [u64; 2], bounds: Bounds) {
    let world = World::new(bounds);
    let lists = world.lists();
    let callers = [(1, keys[0]), (2, keys[1])].map(|(caller, key)| {
        let (lists, append) = (lists.clone(), world.pen());
        thread::spawn(move || {
            for id in [10 * caller, 10 * caller + 1] {
                match block_on(lists.submit_when_free(key, append(id))) {
                    Ok(appending) => hear_of_it(appending, id),
                    Err(refused) => assert_eq!(refused.reason, Reason::Closed),
                }
            }
        })
    });
    world.tasks.shut_down();
    for caller in callers {
        caller.join().expect("no panic");
    }
    // There may have been no task to drop; the next one is.
    if let Ok(appending) = lists.submit(0, world.append(1)) {
        hear_of_it(appending, 1);
    }
    block_on(lists.close());
    drop(lists);
    world.end();
}

#[test]
fn whoever_queues_hears_of_it() {
    explore(|| {
        shut_down_upon_callers(
            [0, 1],
            Bounds {
                max_in_flight: 1,
                ..ROOMY
            },
        );
    });
}

#[test]
fn whoever_waits_for_room_hears_of_it() {
    explore(|| {
        shut_down_upon_callers(
            [0, 1],
            Bounds {
                max_queueing: 1,
                ..ROOMY
            },
        );
    });
}

#[test]
fn whoever_waits_for_room_at_a_key_hears_of_it() {
    explore(|| {
        shut_down_upon_callers(
            [0, 0],
            Bounds {
                max_queueing_per_key: 1,
                ..ROOMY
            },
        );
    });
}

#[test]
fn whoever_resumes_hears_of_it() {
    explore(|| {
        let world = World::new(ROOMY);
        world.table.owe(0, 1);
        let lists = world.shown_lists();
        let callers = [1, 2].map(|_| {
            let lists = lists.clone();
            thread::spawn(move || drop(block_on(lists.resume(&0))))
        });
        world.tasks.shut_down();
        for caller in callers {
            caller.join().expect("no panic");
        }
        block_on(lists.close());
        drop(lists);
        world.end();
    });
}
