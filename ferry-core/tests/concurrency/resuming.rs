//! Several resume one key at once.

use shuttle::{future::block_on, thread};

use super::{
    callers::poll_here,
    explore::explore,
    world::{ROOMY, World},
};

/// Whoever asks is answered by a read that began after, whether the run that was under way could still take it up or had
/// just ended.
#[test]
fn each_is_told_of_what_was_owed_when_it_asked() {
    explore(|| {
        let world = World::new(ROOMY);
        world.table.owe(0, 1);
        let lists = world.shown_lists();
        let callers = [2, 3].map(|id| {
            let (lists, table) = (lists.clone(), world.table.clone());
            thread::spawn(move || {
                for id in [id, 10 + id] {
                    let version = table.owe(0, id);
                    block_on(lists.resume(&0)).expect("nothing keeps it from it");
                    assert!(table.marker(0) >= version, "told too early");
                }
            })
        });
        for caller in callers {
            caller.join().expect("no panic");
        }
        world.close(lists);
    });
}

/// One who gives up does not take the run along.
#[test]
fn the_others_hear_though_one_leaves() {
    explore(|| {
        let world = World::new(ROOMY);
        let version = world.table.owe(0, 1);
        let lists = world.shown_lists();
        let leaves = {
            let lists = lists.clone();
            thread::spawn(move || {
                let mut resuming = Box::pin(lists.resume(&0));
                drop(poll_here(&mut resuming));
            })
        };
        let stays = {
            let lists = lists.clone();
            thread::spawn(move || block_on(lists.resume(&0)).expect("nothing keeps it from it"))
        };
        leaves.join().expect("no panic");
        stays.join().expect("no panic");
        assert_eq!(world.table.marker(0), version);
        world.close(lists);
    });
}

/// Refused, or waited for.
#[test]
fn it_is_closed_while_some_resume() {
    explore(|| {
        let world = World::new(ROOMY);
        let version = world.table.owe(0, 1);
        let lists = world.shown_lists();
        let callers = [1, 2].map(|_| {
            let lists = lists.clone();
            thread::spawn(move || block_on(lists.resume(&0)))
        });
        block_on(lists.close());
        let marker = world.table.marker(0);
        for caller in callers {
            if caller.join().expect("no panic").is_ok() {
                assert_eq!(marker, version, "closed before a resume had ended");
            }
        }
        world.close(lists);
    });
}

/// The handle may go; the run goes on, and nothing is left of it.
#[test]
fn the_last_handle_is_dropped_while_some_resume() {
    explore(|| {
        let world = World::new(ROOMY);
        let version = world.table.owe(0, 1);
        let lists = world.shown_lists();
        let resuming = lists.resume(&0);
        let other = {
            let lists = lists.clone();
            thread::spawn(move || drop(lists.resume(&0)))
        };
        drop(lists);
        block_on(resuming).expect("nothing keeps it from it");
        other.join().expect("no panic");
        assert_eq!(world.table.marker(0), version);
        world.end();
    });
}
