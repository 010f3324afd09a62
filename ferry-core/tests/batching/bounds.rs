//! What is over a bound waits or is handed back.

use ferry_core::per_key::{Limits, PerKey, Reason};

use crate::story::{Hasher, Story};

#[test]
fn no_more_inputs_queue_than_may_whether_they_wait_or_are_in_flight() {
    let mut story = Story::under(Limits {
        max_queueing: 3,
        ..Limits::default()
    });
    story
        .submit("a", 1)
        .dispatches("a", [1])
        .submit("a", 2)
        .submit("b", 3)
        .dispatches("b", [3]);
    story
        .rejects(Reason::QueueFull, "c", 4)
        .rejects(Reason::QueueFull, "a", 4)
        .rests();
    // In flight they still take up room; only when finished is it free.
    story
        .finish("a")
        .dispatches("a", [2])
        .submit("c", 4)
        .dispatches("c", [4]);
    story.rejects(Reason::QueueFull, "d", 5);
    story.finish("b").submit("d", 5).dispatches("d", [5]);
}

#[test]
fn no_more_inputs_of_a_key_queue_than_may_and_other_keys_have_room() {
    let mut story = Story::under(Limits {
        max_queueing_per_key: 2,
        ..Limits::default()
    });
    story.submit("a", 1).dispatches("a", [1]).submit("a", 2);
    story
        .rejects(Reason::KeyFull, "a", 3)
        .submit("b", 4)
        .dispatches("b", [4]);
    story
        .finish("a")
        .dispatches("a", [2])
        .submit("a", 3)
        .rejects(Reason::KeyFull, "a", 5);
}

#[test]
fn an_input_heavier_than_a_batch_may_be_is_rejected_and_one_just_as_heavy_goes() {
    let mut story = Story::under(Limits {
        max_weight: 10,
        ..Limits::default()
    });
    story
        .rejects_weighing(11, Reason::TooHeavy, "a", 1)
        .is_empty();
    story.submit_weighing(10, "a", 1).dispatches("a", [1]);
}

#[test]
fn an_input_that_expired_or_was_withdrawn_gives_its_place_back() {
    let mut story = Story::under(Limits {
        max_queueing: 2,
        ..Limits::default()
    });
    story
        .submit("a", 1)
        .dispatches("a", [1])
        .submit_until(5, "a", 2);
    story
        .rejects(Reason::QueueFull, "b", 3)
        .withdraw(2)
        .submit_until(5, "a", 3);
    story.rejects(Reason::QueueFull, "b", 4);
    // The submission itself tells the time.
    story
        .only_clock_at(5)
        .submit("b", 4)
        .expires(3)
        .dispatches("b", [4]);
}

#[test]
fn no_more_batches_are_in_flight_than_may_and_ready_keys_go_oldest_first() {
    let mut story = Story::under(Limits {
        max_in_flight: 2,
        ..Limits::default()
    });
    story
        .submit("a", 1)
        .submit("b", 2)
        .dispatches("a", [1])
        .dispatches("b", [2]);
    story
        .submit("c", 3)
        .submit("d", 4)
        .submit("a", 5)
        .submit("c", 6)
        .rests();
    assert_eq!(story.per_key.batches_in_flight(), 2);
    story.finish("b").dispatches("c", [3, 6]).rests();
    // "a" has waited less long than "d".
    story.finish("a").dispatches("d", [4]).rests();
    story
        .finish("c")
        .dispatches("a", [5])
        .finish("a")
        .finish("d")
        .is_empty();
}

#[test]
fn a_busy_key_does_not_starve_the_others() {
    let mut story = Story::under(Limits {
        max_in_flight: 1,
        ..Limits::default()
    });
    story
        .submit("hot", 1)
        .dispatches("hot", [1])
        .submit("hot", 2)
        .submit("cold", 3);
    story
        .submit("hot", 4)
        .finish("hot")
        .dispatches("hot", [2, 4]);
    story.submit("hot", 5).finish("hot").dispatches("cold", [3]);
    story.finish("cold").dispatches("hot", [5]);
}

#[test]
fn when_its_oldest_input_leaves_a_key_moves_back_among_the_ready() {
    let mut story = Story::under(Limits {
        max_in_flight: 1,
        ..Limits::default()
    });
    story.submit("a", 1).dispatches("a", [1]);
    story
        .submit("b", 2)
        .submit("c", 3)
        .submit("b", 4)
        .withdraw(2);
    story
        .finish("a")
        .dispatches("c", [3])
        .finish("c")
        .dispatches("b", [4]);
}

#[test]
fn a_bound_of_zero_is_refused_by_name() {
    let limits = Limits {
        max_queueing_per_key: 0,
        ..Limits::default()
    };
    let error = PerKey::<u8, u8, _>::new(limits, Hasher::default()).unwrap_err();
    assert_eq!(error.bound(), "max_queueing_per_key");
    assert!(error.to_string().contains("`max_queueing_per_key` is 0"));
    for limits in [
        Limits {
            max_batch: 0,
            ..Limits::default()
        },
        Limits {
            max_weight: 0,
            ..Limits::default()
        },
        Limits {
            max_queueing: 0,
            ..Limits::default()
        },
        Limits {
            max_in_flight: 0,
            ..Limits::default()
        },
    ] {
        assert!(limits.check().is_err(), "{limits:?}");
    }
}
