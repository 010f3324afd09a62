//! Inputs come in from several threads, while batches begin and end.

use shuttle::thread;

use super::{
    callers::hear,
    explore::explore,
    store::Appends,
    world::{Bounds, ROOMY, World},
};

#[test]
fn two_threads_submit_while_a_batch_finishes() {
    explore(|| {
        let world = World::new(ROOMY);
        let lists = world.lists();
        let callers = [1, 2].map(|caller| {
            let (lists, append) = (lists.clone(), world.pen());
            thread::spawn(move || {
                let [first, second, third] = [0, 1, 2].map(|n| 10 * caller + n);
                let heard = lists.submit(0, append(first)).expect("room");
                let place = hear(heard, first);
                let both =
                    [second, third].map(|id| (id, lists.submit(0, append(id)).expect("room")));
                let [then, last] = both.map(|(id, heard)| hear(heard, id));
                assert!(
                    place < then && then < last,
                    "not in the order of submission"
                );
            })
        });
        for caller in callers {
            caller.join().expect("no panic");
        }
        assert_eq!(world.table.ids(0).len(), 6);
        world.close(lists);
    });
}

/// The one permit goes from batch to batch, through the line of the shards.
#[test]
fn two_shards_take_turns_for_one_permit() {
    explore(|| {
        let world = World::new(Bounds {
            shards: 2,
            max_in_flight: 1,
            ..ROOMY
        });
        let lists = world.lists();
        let callers = [0, 2].map(|key| {
            let (lists, append) = (lists.clone(), world.pen());
            thread::spawn(move || {
                let heard =
                    [key, key + 1].map(|key| (key, lists.submit(key, append(key)).expect("room")));
                for (id, heard) in heard {
                    hear(heard, id);
                }
                let heard = lists.submit(key, append(10 + key)).expect("room");
                hear(heard, 10 + key);
            })
        });
        for caller in callers {
            caller.join().expect("no panic");
        }
        world.close(lists);
    });
}

/// The stage goes to another thread and comes back with the store's answer.
#[test]
fn a_blocking_store_is_called_elsewhere() {
    explore(|| {
        let world = World::new(ROOMY);
        let lists = world
            .builder()
            .fold_write_blocking(Appends, world.table.clone())
            .expect("sound bounds");
        let callers = [1, 2].map(|caller| {
            let (lists, append) = (lists.clone(), world.pen());
            thread::spawn(move || {
                for id in [10 * caller, 10 * caller + 1] {
                    hear(lists.submit(0, append(id)).expect("room"), id);
                }
            })
        });
        for caller in callers {
            caller.join().expect("no panic");
        }
        world.close(lists);
    });
}
