//! Which inputs go together, and when.

use ferry_core::per_key::{Command, Limits, PerKey};

use crate::story::{Colliding, Hasher, Story, at, free, lingering, ms};

// ---- one batch in flight per key ----------------------------------------------------------------

#[test]
fn an_input_of_an_idle_key_goes_at_once() {
    free()
        .submit("a", 1)
        .dispatches("a", [1])
        .rests()
        .waits_for_no_time();
}

#[test]
fn what_arrives_while_a_batch_is_in_flight_goes_together_as_the_next() {
    let mut story = free();
    story.submit("a", 1).dispatches("a", [1]);
    story
        .submit_all("a", [2, 3])
        .submit("b", 9)
        .dispatches("b", [9])
        .submit("a", 4)
        .rests();
    story.finish("a").dispatches("a", [2, 3, 4]).rests();
    story.finish("a").finish("b").is_empty();
}

#[test]
fn a_batch_takes_no_more_than_it_may_and_the_rest_goes_next() {
    let mut story = Story::under(Limits {
        max_batch: 2,
        ..Limits::default()
    });
    story
        .submit("a", 1)
        .dispatches("a", [1])
        .submit_all("a", [2, 3, 4, 5, 6]);
    story.finish("a").dispatches("a", [2, 3]).rests();
    story.finish("a").dispatches("a", [4, 5]).rests();
    story
        .finish("a")
        .dispatches("a", [6])
        .finish("a")
        .is_empty();
}

#[test]
fn a_batch_is_no_heavier_than_it_may_be_and_order_is_kept() {
    let mut story = Story::under(Limits {
        max_weight: 10,
        ..Limits::default()
    });
    story.submit("a", 1).dispatches("a", [1]);
    story
        .submit_weighing(6, "a", 2)
        .submit_weighing(4, "a", 3)
        .submit_weighing(0, "a", 4);
    story
        .submit_weighing(7, "a", 5)
        .submit_weighing(5, "a", 6)
        .submit_weighing(2, "a", 7);
    story.finish("a").dispatches("a", [2, 3, 4]);
    // The last would fit in, but it does not overtake.
    story.finish("a").dispatches("a", [5]);
    story
        .finish("a")
        .dispatches("a", [6, 7])
        .finish("a")
        .is_empty();
}

#[test]
fn a_batch_carries_the_deadlines_of_its_inputs() {
    let mut story = free();
    story
        .submit("a", 1)
        .dispatches("a", [1])
        .submit_until(50, "a", 2)
        .submit("a", 3);
    story.finish("a").dispatches("a", [2, 3]);
    let mut batch = story.batch_of("a");
    let deadlines: Vec<_> = batch.items().iter().map(|item| item.deadline).collect();
    assert_eq!(deadlines, [Some(at(50)), None]);
    let drained: Vec<_> = batch.drain().map(|item| item.input).collect();
    assert_eq!(drained, [2, 3]);
    story.per_key.finished(at(0), batch);
    story.is_empty();
}

#[test]
fn keys_with_the_same_hash_are_kept_apart() {
    let mut per_key = PerKey::new(Limits::default(), Hasher::default()).unwrap();
    for key in 0..50 {
        per_key.submit(at(0), Colliding(key), key).unwrap();
    }
    for expected in 0..50 {
        let Some(Command::Dispatch(batch)) = per_key.poll() else {
            panic!("no batch")
        };
        assert_eq!(
            (*batch.key(), batch.items()[0].input),
            (Colliding(expected), expected)
        );
        per_key.finished(at(0), batch);
    }
    assert_eq!(per_key.keys(), 0);
}

// ---- linger -------------------------------------------------------------------------------------

#[test]
fn a_key_lingers_from_its_oldest_input_on() {
    let mut story = lingering();
    story.submit("a", 1).rests().wants_to_be_told_at(10);
    story.at(6).submit("a", 2).rests().wants_to_be_told_at(10);
    story.at(9).rests();
    story
        .at(10)
        .dispatches("a", [1, 2])
        .rests()
        .waits_for_no_time();
}

#[test]
fn a_full_batch_does_not_linger() {
    let mut story = lingering();
    story.submit_all("a", [1, 2]).rests();
    story
        .submit("a", 3)
        .dispatches("a", [1, 2, 3])
        .rests()
        .waits_for_no_time();
}

#[test]
fn a_batch_full_by_weight_does_not_linger() {
    let mut story = Story::under(Limits {
        linger: ms(10),
        max_weight: 10,
        ..Limits::default()
    });
    story.submit_weighing(9, "a", 1).rests();
    story
        .submit_weighing(1, "a", 2)
        .dispatches("a", [1, 2])
        .finish("a");
    // What comes next does not fit in with it, so it waits for nothing either.
    story
        .submit_weighing(6, "a", 3)
        .rests()
        .submit_weighing(6, "a", 4)
        .dispatches("a", [3]);
    story.finish("a").rests().wants_to_be_told_at(10);
    story.at(10).dispatches("a", [4]).finish("a").is_empty();
}

#[test]
fn what_waited_behind_a_batch_in_flight_lingers_no_longer_than_from_its_own_start() {
    let mut story = lingering();
    story.submit_all("a", [1, 2, 3]).dispatches("a", [1, 2, 3]);
    story.at(4).submit("a", 4).rests().waits_for_no_time();
    story.at(9).finish("a").rests().wants_to_be_told_at(14);
    story.at(13).submit("a", 5).rests();
    story.at(14).dispatches("a", [4, 5]);
    story.at(20).submit("a", 6);
    story
        .at(35)
        .finish("a")
        .dispatches("a", [6])
        .finish("a")
        .is_empty();
}

#[test]
fn when_the_oldest_leaves_the_next_oldest_decides_how_long_to_linger() {
    let mut story = lingering();
    story
        .submit("a", 1)
        .at(5)
        .submit("a", 2)
        .withdraw(1)
        .wants_to_be_told_at(15);
    story.at(10).rests();
    story.at(15).dispatches("a", [2]);
}

#[test]
fn a_full_batch_that_waits_for_a_permit_lingers_again_when_it_is_full_no_more() {
    let mut story = Story::under(Limits {
        linger: ms(10),
        max_batch: 2,
        max_in_flight: 1,
        ..Limits::default()
    });
    story.submit_all("a", [1, 2]).dispatches("a", [1, 2]);
    story.submit_all("b", [3, 4]).rests().waits_for_no_time();
    story
        .withdraw(4)
        .wants_to_be_told_at(10)
        .finish("a")
        .rests();
    story.at(10).dispatches("b", [3]).finish("b").is_empty();
}

#[test]
fn keys_that_lingered_until_the_same_moment_go_in_order_of_their_oldest_input() {
    let mut story = lingering();
    for (key, input) in [("c", 1), ("a", 2), ("b", 3), ("a", 4)] {
        story.submit(key, input);
    }
    story
        .at(10)
        .dispatches("c", [1])
        .dispatches("a", [2, 4])
        .dispatches("b", [3])
        .rests();
}
