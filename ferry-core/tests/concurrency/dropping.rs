//! A submission is dropped at any moment.

use std::time::Duration;

use shuttle::thread;

use super::{
    callers::{hear, hear_in_time, poll_here},
    explore::explore,
    runtime::FAR,
    world::{Bounds, ROOMY, World},
};

#[test]
fn one_is_dropped_while_it_is_dispatched_or_answered() {
    explore(|| {
        let world = World::new(ROOMY);
        let lists = world.lists();
        let leaves = {
            let (lists, append) = (lists.clone(), world.pen());
            thread::spawn(move || {
                drop(lists.submit(0, append(1)).expect("room"));
                let mut polled = lists.submit(0, append(2)).expect("room");
                drop(poll_here(&mut polled));
                drop(polled);
                // What was used for those is used again, and nobody's answer gets into it.
                hear(lists.submit(0, append(3)).expect("room"), 3);
            })
        };
        let stays = {
            let (lists, append) = (lists.clone(), world.pen());
            thread::spawn(move || {
                for id in [11, 12] {
                    hear(lists.submit(0, append(id)).expect("room"), id);
                }
            })
        };
        leaves.join().expect("no panic");
        stays.join().expect("no panic");
        world.close(lists);
    });
}

/// A place for an answer goes to another input once nobody holds it, and not before.
#[test]
fn an_answer_is_kept_until_its_caller_comes_for_it() {
    explore(|| {
        let world = World::new(ROOMY);
        let lists = world.lists();
        let kept = [1, 2].map(|id| lists.submit(0, world.append(id)).expect("room"));
        let others = {
            let (lists, append) = (lists.clone(), world.pen());
            thread::spawn(move || {
                for id in [11, 12, 13] {
                    hear(lists.submit(0, append(id)).expect("room"), id);
                }
            })
        };
        let [first, second] = kept;
        hear(first, 1);
        let third = lists.submit(0, world.append(3)).expect("room");
        others.join().expect("no panic");
        hear(second, 2);
        hear(third, 3);
        world.close(lists);
    });
}

#[test]
fn one_is_dropped_while_it_expires() {
    explore(|| {
        let world = World::new(ROOMY);
        // Nothing goes by itself: it expires, or the last one fills the batch and takes it along.
        let lists = world.lists_by(world.builder().linger(FAR).max_batch(3));
        let soon = Duration::from_millis(5);
        let leaves = {
            let (lists, append) = (lists.clone(), world.pen());
            thread::spawn(move || {
                let mut polled = lists.submit_within(0, append(1), soon).expect("room");
                drop(poll_here(&mut polled));
                drop(polled);
            })
        };
        let stays = {
            let (lists, append) = (lists.clone(), world.pen());
            thread::spawn(move || {
                let heard =
                    [2, 3].map(|id| (id, lists.submit_within(0, append(id), soon).expect("room")));
                heard.map(|(id, heard)| hear_in_time(heard, id))
            })
        };
        leaves.join().expect("no panic");
        let heard = stays.join().expect("no panic");
        for (id, place) in [2, 3].into_iter().zip(heard) {
            assert_eq!(place.is_some(), world.table.ids(0).contains(&id), "{id}");
        }
        world.close(lists);
    });
}

/// Each gives its place back once, whichever way it goes.
#[test]
fn one_is_withdrawn_from_behind_the_only_permit() {
    explore(|| {
        let world = World::new(Bounds {
            shards: 2,
            max_in_flight: 1,
            ..ROOMY
        });
        let lists = world.lists();
        let callers = [1, 2].map(|caller| {
            let (lists, append) = (lists.clone(), world.pen());
            thread::spawn(move || {
                let id = 10 * caller;
                let goes = lists.submit(caller, append(id)).expect("room");
                drop(lists.submit(caller, append(id + 1)).expect("room"));
                hear(goes, id);
            })
        });
        for caller in callers {
            caller.join().expect("no panic");
        }
        world.close(lists);
    });
}
