//! The runtime is shut down, and drops its tasks wherever they are.

use std::convert::Infallible;

use ferry_core::{Cause, Failure, drive::ResumeError, per_key::Reason};
use shuttle::{future::block_on, thread};

use super::{
    callers::has_heard,
    explore::explore,
    store::Appended,
    world::{Bounds, ROOMY, World},
};

/// It was appended, or abandoned.
fn is_told(heard: Result<Appended, Failure<Infallible>>, id: u64) {
    match heard {
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
                    Ok(appending) => is_told(block_on(appending), id),
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
        is_told(block_on(appending), 1);
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
fn a_place_is_of_use_to_nobody_or_its_input_is_told() {
    explore(|| {
        let world = World::new(Bounds {
            max_queueing: 1,
            ..ROOMY
        });
        let lists = world.lists();
        let callers = [1, 2].map(|id| {
            let (lists, append) = (lists.clone(), world.append(id));
            thread::spawn(move || match block_on(lists.reserve()) {
                Ok(place) => match place.submit(0, append) {
                    Ok(appending) => is_told(block_on(appending), id),
                    Err(refused) => assert_eq!(refused.reason, Reason::Closed),
                },
                Err(reason) => assert_eq!(reason, Reason::Closed),
            })
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

#[test]
fn what_still_waits_is_told_before_the_end() {
    explore(|| {
        let world = World::new(Bounds {
            max_in_flight: 1,
            ..ROOMY
        });
        let lists = world.lists();
        let both = [1, 2].map(|id| (id, lists.submit(id, world.append(id)).expect("room")));
        let shuts_down = {
            let tasks = world.tasks.clone();
            thread::spawn(move || tasks.shut_down())
        };
        block_on(lists.close());
        for (id, appending) in both {
            is_told(has_heard(appending), id);
        }
        shuts_down.join().expect("no panic");
        drop(lists);
        world.end();
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

#[test]
fn a_resume_is_told_before_the_end() {
    explore(|| {
        let world = World::new(ROOMY);
        world.table.owe(0, 1);
        let lists = world.shown_lists();
        let resuming = Box::pin(lists.resume(&0));
        let shuts_down = {
            let tasks = world.tasks.clone();
            thread::spawn(move || tasks.shut_down())
        };
        block_on(lists.close());
        let heard = has_heard(resuming).map(drop);
        if let Err(error) = heard {
            assert!(
                matches!(error, ResumeError::StillPending(Cause::Abandoned)),
                "{error:?}"
            );
        }
        shuts_down.join().expect("no panic");
        drop(lists);
        world.end();
    });
}
