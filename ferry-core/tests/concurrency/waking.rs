//! Whoever polls last is woken, whoever polled before.

use std::{future::Future, pin::Pin, task::Poll};

use ferry_core::per_key::Reason;
use shuttle::{future::block_on, thread};

use super::{
    callers::{hear, poll_here},
    explore::explore,
    world::{Bounds, ROOMY, World},
};

/// Polls a future in one thread, and waits for it in another.
fn hand_over<F>(mut future: F) -> F::Output
where
    F: Future<Output: Send + 'static> + Send + Unpin + 'static,
{
    let begun = thread::spawn(move || match poll_here(&mut future) {
        Poll::Ready(output) => Ok(output),
        Poll::Pending => Err(future),
    });
    match begun.join().expect("no panic") {
        Ok(output) => output,
        Err(future) => {
            let goes_on = thread::spawn(move || block_on(future));
            goes_on.join().expect("no panic")
        }
    }
}

#[test]
fn a_submission_changes_hands_while_it_is_answered() {
    explore(|| {
        let world = World::new(ROOMY);
        let lists = world.lists();
        for id in [1, 2] {
            let appended = hand_over(lists.submit(0, world.append(id)).expect("room"));
            assert_eq!(appended.expect("nothing keeps it from it").id, id);
        }
        world.close(lists);
    });
}

#[test]
fn one_who_waits_for_room_changes_hands_while_it_comes() {
    explore(|| {
        let world = World::new(Bounds {
            max_queueing: 2,
            max_queueing_per_key: 1,
            ..ROOMY
        });
        let lists = world.lists();
        let others = [1, 2].map(|key| lists.submit(key, world.append(key)).expect("room"));
        let waits = Box::pin(lists.submit_when_free(1, world.append(3)));
        let heard = hand_over(waits).expect("not closed");
        let [first, second] = others;
        hear(heard, 3);
        hear(first, 1);
        hear(second, 2);
        world.close(lists);
    });
}

#[test]
fn one_who_waits_for_the_end_changes_hands_while_it_comes() {
    explore(|| {
        let world = World::new(ROOMY);
        let lists = world.lists();
        let heard = lists.submit(0, world.append(1)).expect("room");
        let closing: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(lists.close());
        hand_over(closing);
        let refused = lists.submit(0, world.append(2)).expect_err("closed");
        assert_eq!(refused.reason, Reason::Closed);
        drop(refused);
        hear(heard, 1);
        world.close(lists);
    });
}

#[test]
fn one_who_resumes_changes_hands_while_it_ends() {
    explore(|| {
        let world = World::new(ROOMY);
        let version = world.table.owe(0, 1);
        let lists = world.shown_lists();
        hand_over(Box::pin(lists.resume(&0))).expect("nothing keeps it from it");
        assert_eq!(world.table.marker(0), version);
        world.close(lists);
    });
}
