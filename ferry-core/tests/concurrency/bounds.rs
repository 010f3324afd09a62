//! Bounds are exact, whoever takes and gives back at the same time.

use ferry_core::per_key::Reason;
use shuttle::thread;

use super::{
    callers::{has_heard, hear, poll_here},
    explore::explore,
    runtime::FAR,
    world::{Bounds, ROOMY, World},
};

const TWO: Bounds = Bounds {
    shards: 2,
    max_queueing: 2,
    max_in_flight: 1,
    ..ROOMY
};

/// Three want two places. After it all there are two, no more and no fewer.
#[test]
fn withdrawals_give_back_what_they_had() {
    explore(|| {
        let world = World::new(TWO);
        // Nothing goes by itself, so that whoever is in waits until it is withdrawn.
        let lists = world.lists_by(world.builder().linger(FAR));
        let callers = [0, 1, 2].map(|key| {
            let (lists, append) = (lists.clone(), world.append(key));
            thread::spawn(move || match lists.submit(key, append) {
                Ok(mut waits) => {
                    assert!(lists.stats().queueing <= 2, "more than two");
                    assert!(poll_here(&mut waits).is_pending());
                    true
                }
                Err(refused) => {
                    assert_eq!(refused.reason, Reason::QueueFull);
                    false
                }
            })
        });
        let got_in = callers.map(|caller| caller.join().expect("no panic"));
        assert!(
            got_in.iter().filter(|got_in| **got_in).count() >= 2,
            "fewer than two"
        );
        let both = [0, 1].map(|key| {
            lists
                .submit(key, world.append(10 + key))
                .expect("two places")
        });
        let third = lists.submit(2, world.append(12)).map(drop);
        assert_eq!(third.expect_err("and no third").reason, Reason::QueueFull);
        drop(both);
        world.close(lists);
    });
}

/// Batches give back as they finish, others withdraw, and a third takes what there is.
#[test]
fn never_more_than_there_is_room_for() {
    explore(|| {
        let world = World::new(TWO);
        let lists = world.lists();
        let callers = [0, 1, 2].map(|key| {
            let (lists, append) = (lists.clone(), world.pen());
            thread::spawn(move || {
                for (n, is_dropped) in [(0, true), (1, false)] {
                    let id = 10 * key + n;
                    match lists.submit(key, append(id)) {
                        Ok(appending) if is_dropped => drop(appending),
                        Ok(appending) => drop(hear(appending, id)),
                        Err(refused) => assert_eq!(refused.reason, Reason::QueueFull),
                    }
                    assert!(lists.stats().queueing <= 2, "more than two");
                }
            })
        });
        for caller in callers {
            caller.join().expect("no panic");
        }
        world.close(lists);
    });
}

/// Who hears finds its place free, and the key's as well.
#[test]
fn an_answer_comes_after_the_place_is_given_back() {
    explore(|| {
        let world = World::new(Bounds {
            max_queueing: 1,
            max_queueing_per_key: 1,
            ..ROOMY
        });
        let lists = world.lists();
        for id in [1, 2, 3] {
            hear(
                lists
                    .submit(0, world.append(id))
                    .expect("its place is free"),
                id,
            );
        }
        let last = lists.submit(0, world.append(4)).expect("its place is free");
        shuttle::future::block_on(lists.close());
        assert_eq!(has_heard(last).expect("nothing keeps it from it").id, 4);
        world.close(lists);
    });
}
