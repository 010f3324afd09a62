//! It is closed while inputs come in, expire and are answered.

use std::{task::Poll, time::Duration};

use ferry_core::{Cause, Failure, per_key::Reason};
use shuttle::{future::block_on, thread};

use super::{
    callers::{has_heard, hear, poll_here},
    explore::explore,
    runtime::FAR,
    world::{Bounds, ROOMY, World, is_quiet},
};

/// When closing has completed, whoever was accepted has the answer, and nobody is any more.
#[test]
fn everything_accepted_is_answered_before_the_end() {
    explore(|| {
        let world = World::new(Bounds { shards: 2, ..ROOMY });
        let lists = world.lists();
        let callers = [0, 1].map(|key| {
            let (lists, append) = (lists.clone(), world.pen());
            thread::spawn(move || {
                [10 * key, 10 * key + 1].map(|id| match lists.submit(key, append(id)) {
                    Ok(appending) => Some((id, appending)),
                    Err(refused) => {
                        assert_eq!(refused.reason, Reason::Closed);
                        None
                    }
                })
            })
        });
        block_on(lists.close());
        for caller in callers {
            for (id, appending) in caller.join().expect("no panic").into_iter().flatten() {
                assert_eq!(
                    has_heard(appending).expect("nothing keeps it from it").id,
                    id
                );
            }
        }
        world.close(lists);
    });
}

#[test]
fn what_expires_is_told_before_the_end() {
    explore(|| {
        let world = World::new(ROOMY);
        let lists = world.lists_by(world.builder().linger(FAR));
        let within = Duration::from_millis(5);
        let both = [1, 2].map(|id| {
            lists
                .submit_within(id, world.append(id), within)
                .expect("room")
        });
        block_on(lists.close());
        is_quiet(&lists);
        for (id, appending) in [1, 2].into_iter().zip(both) {
            match has_heard(appending) {
                Ok(appended) => assert_eq!(appended.id, id),
                Err(failure) => assert_eq!(failure, Failure::NotCommitted(Cause::Expired)),
            }
        }
        world.close(lists);
    });
}

#[test]
fn a_withdrawal_does_not_keep_it_from_ending() {
    explore(|| {
        let world = World::new(Bounds {
            max_in_flight: 1,
            ..ROOMY
        });
        let lists = world.lists();
        let first = lists.submit(0, world.append(1)).expect("room");
        let second = lists.submit(1, world.append(2)).expect("room");
        let leaves = thread::spawn(move || drop(second));
        block_on(lists.close());
        assert_eq!(has_heard(first).expect("nothing keeps it from it").id, 1);
        leaves.join().expect("no panic");
        world.close(lists);
    });
}

#[test]
fn it_is_closed_more_than_once() {
    explore(|| {
        let world = World::new(ROOMY);
        let lists = world.lists();
        let heard = lists.submit(0, world.append(1)).expect("room");
        let closes = [1, 2].map(|_| {
            let lists = lists.clone();
            thread::spawn(move || {
                block_on(lists.close());
                is_quiet(&lists);
            })
        });
        // One who does not wait for it leaves the others waiting.
        let mut given_up = Box::pin(lists.close());
        let (Poll::Ready(()) | Poll::Pending) = poll_here(&mut given_up);
        drop(given_up);
        for close in closes {
            close.join().expect("no panic");
        }
        hear(heard, 1);
        world.close(lists);
    });
}
