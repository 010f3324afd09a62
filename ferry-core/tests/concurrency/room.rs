//! Some wait for room, others leave or close.

use ferry_core::per_key::Reason;
use shuttle::{future::block_on, thread};

use super::{
    callers::{hear, poll_here},
    explore::explore,
    world::{Bounds, Lists, ROOMY, World},
};

const ONE_AT_A_TIME: Bounds = Bounds {
    max_queueing: 1,
    ..ROOMY
};

const ONE_A_KEY: Bounds = Bounds {
    max_queueing: 8,
    max_queueing_per_key: 1,
    ..ROOMY
};

/// Waits for room for these, one after another, and for their answers.
fn append_all(world: &World, lists: &Lists, ids: [u64; 2]) -> thread::JoinHandle<()> {
    let (lists, append) = (lists.clone(), world.pen());
    thread::spawn(move || {
        for id in ids {
            let appending = block_on(lists.submit_when_free(0, append(id))).expect("not closed");
            hear(appending, id);
        }
    })
}

/// Asks for room, and goes before there is any, or with what it got.
fn change_ones_mind(world: &World, lists: &Lists, id: u64) -> thread::JoinHandle<()> {
    let (lists, append) = (lists.clone(), world.append(id));
    thread::spawn(move || {
        let mut waits = Box::pin(lists.submit_when_free(0, append));
        drop(poll_here(&mut waits));
    })
}

fn everyone_gets_in(bounds: Bounds) {
    let world = World::new(bounds);
    let lists = world.lists();
    let threads = [
        append_all(&world, &lists, [1, 2]),
        change_ones_mind(&world, &lists, 3),
        append_all(&world, &lists, [4, 5]),
    ];
    for thread in threads {
        thread.join().expect("no panic");
    }
    for id in [1, 2, 4, 5] {
        assert!(world.table.ids(0).contains(&id), "{id}");
    }
    world.close(lists);
}

#[test]
fn whoever_waits_for_room_gets_in_though_others_leave() {
    explore(|| everyone_gets_in(ONE_AT_A_TIME));
}

#[test]
fn whoever_waits_for_room_at_a_key_gets_in_though_others_leave() {
    explore(|| everyone_gets_in(ONE_A_KEY));
}

/// Room that is given back by a withdrawal goes to who waits for it, as from a batch.
#[test]
fn a_submission_that_is_dropped_makes_room() {
    explore(|| {
        let world = World::new(Bounds {
            max_in_flight: 1,
            max_queueing: 2,
            max_queueing_per_key: 1,
            ..ROOMY
        });
        let lists = world.lists();
        let first = lists.submit(1, world.append(1)).expect("room");
        let queued = lists.submit(0, world.append(2)).expect("room");
        let waits = append_all(&world, &lists, [3, 4]);
        drop(queued);
        hear(first, 1);
        waits.join().expect("no panic");
        world.close(lists);
    });
}

/// It is used, or goes on to the next.
#[test]
fn a_place_is_set_aside_while_others_wait_for_room() {
    explore(|| {
        let world = World::new(ONE_AT_A_TIME);
        let lists = world.lists();
        let sets_aside = {
            let (lists, append) = (lists.clone(), world.append(1));
            thread::spawn(move || {
                drop(block_on(lists.reserve()).expect("not closed"));
                let place = block_on(lists.reserve()).expect("not closed");
                hear(place.submit(0, append).expect("its place"), 1);
                drop(poll_here(&mut Box::pin(lists.reserve())));
            })
        };
        let others = append_all(&world, &lists, [2, 3]);
        sets_aside.join().expect("no panic");
        others.join().expect("no panic");
        world.close(lists);
    });
}

/// Its input is accepted and answered, or it is told of the end; and the end waits for what was accepted alone.
#[test]
fn it_is_closed_upon_one_who_has_a_place() {
    explore(|| {
        let world = World::new(ONE_AT_A_TIME);
        let lists = world.lists();
        let place = lists.try_reserve().expect("room");
        let uses = {
            let append = world.append(1);
            thread::spawn(move || match place.submit(0, append) {
                Ok(appending) => {
                    hear(appending, 1);
                }
                Err(refused) => assert_eq!(refused.reason, Reason::Closed),
            })
        };
        let waits = {
            let (lists, append) = (lists.clone(), world.append(2));
            thread::spawn(move || match block_on(lists.reserve()) {
                Ok(place) => match place.submit(0, append) {
                    Ok(appending) => {
                        hear(appending, 2);
                    }
                    Err(refused) => assert_eq!(refused.reason, Reason::Closed),
                },
                Err(reason) => assert_eq!(reason, Reason::Closed),
            })
        };
        block_on(lists.close());
        for thread in [uses, waits] {
            thread.join().expect("no panic");
        }
        world.close(lists);
    });
}

/// It goes with the place to one that waits, while the last handle goes, and is answered.
#[test]
fn a_place_outlives_the_last_handle() {
    explore(|| {
        let world = World::new(ONE_AT_A_TIME);
        let lists = world.lists();
        let place = lists.try_reserve().expect("room");
        let mut waits = Box::pin(lists.reserve());
        assert!(poll_here(&mut waits).is_pending());
        let uses = {
            let append = world.append(1);
            thread::spawn(move || hear(place.submit(0, append).expect("its place"), 1))
        };
        let has_waited = {
            let append = world.append(2);
            thread::spawn(move || {
                let place = block_on(waits).expect("not closed");
                hear(place.submit(0, append).expect("its place"), 2)
            })
        };
        drop(lists);
        let mut heard = [uses, has_waited].map(|thread| thread.join().expect("no panic"));
        heard.sort_unstable();
        assert_eq!(heard, [0, 1], "their places in the list");
        world.end();
    });
}

/// Whoever stands in a line when it closes, or comes to it just then, is told so or gets in.
fn closed_upon(bounds: Bounds) {
    let world = World::new(bounds);
    let lists = world.lists();
    let first = lists.submit(0, world.append(1)).expect("room");
    let waits = [2, 3].map(|id| {
        let (lists, append) = (lists.clone(), world.append(id));
        thread::spawn(move || match block_on(lists.submit_when_free(0, append)) {
            Ok(appending) => {
                hear(appending, id);
            }
            Err(refused) => assert_eq!(refused.reason, Reason::Closed),
        })
    });
    block_on(lists.close());
    hear(first, 1);
    for waits in waits {
        waits.join().expect("no panic");
    }
    world.close(lists);
}

/// They hear of it at once, and not when there is room: the batch that has it all takes long.
#[test]
fn those_who_wait_for_room_are_told_of_the_end_before_it_comes() {
    explore(|| {
        let world = World::new(ONE_AT_A_TIME);
        let lists = world.lists();
        world.table.hold_up();
        let first = lists.submit(0, world.append(1)).expect("room");
        let waits = [2, 3].map(|id| {
            let (lists, append) = (lists.clone(), world.append(id));
            thread::spawn(move || {
                let refused = block_on(lists.submit_when_free(0, append)).map(drop);
                assert_eq!(refused.expect_err("no room").reason, Reason::Closed);
            })
        });
        let closing = lists.close();
        for waits in waits {
            waits.join().expect("no panic");
        }
        world.table.let_go();
        block_on(closing);
        hear(first, 1);
        world.close(lists);
    });
}

#[test]
fn it_is_closed_upon_those_who_wait_for_room() {
    explore(|| closed_upon(ONE_AT_A_TIME));
}

#[test]
fn it_is_closed_upon_those_who_wait_for_room_at_a_key() {
    explore(|| closed_upon(ONE_A_KEY));
}
