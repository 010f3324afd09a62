//! How inputs leave without being carried, and how the machine ends.

use ferry_core::per_key::{Limits, Reason};

use crate::story::{Story, at, free, lingering, ms};

// ---- deadlines ----------------------------------------------------------------------------------

#[test]
fn an_input_whose_deadline_passes_while_it_waits_expires_and_the_others_go_on() {
    let mut story = free();
    story.submit("a", 1).dispatches("a", [1]);
    story
        .submit("a", 2)
        .submit_until(5, "a", 3)
        .submit("a", 4)
        .wants_to_be_told_at(5);
    story.at(4).rests();
    story.at(5).expires(3).rests().waits_for_no_time();
    story.finish("a").dispatches("a", [2, 4]);
}

#[test]
fn an_input_whose_deadline_has_passed_already_is_accepted_and_expires_at_once() {
    let mut story = free();
    story.at(7).submit_until(7, "a", 1).expires(1).is_empty();
    // It does not even make a batch full on its way.
    let mut story = lingering();
    story
        .at(7)
        .submit_all("a", [1, 2])
        .submit_until(3, "a", 3)
        .expires(3)
        .rests();
    story.at(17).dispatches("a", [1, 2]);
}

#[test]
fn deadlines_that_pass_at_one_moment_expire_in_order_of_submission() {
    let mut story = free();
    for (key, input) in [("a", 1), ("b", 2)] {
        story.submit(key, input).dispatches(key, [input]);
    }
    story
        .submit_until(5, "b", 3)
        .submit_until(6, "a", 4)
        .submit_until(5, "a", 5);
    story.submit_until(4, "b", 6);
    story
        .at(9)
        .expires(6)
        .expires(3)
        .expires(5)
        .expires(4)
        .rests();
}

#[test]
fn when_the_last_input_of_a_lingering_key_expires_the_key_is_forgotten() {
    let mut story = lingering();
    story.submit_until(5, "a", 1).wants_to_be_told_at(5);
    story.at(5).expires(1).is_empty();
    story.at(10).is_empty();
}

#[test]
fn when_the_last_input_of_a_ready_key_expires_the_key_is_forgotten() {
    let mut story = Story::under(Limits {
        max_in_flight: 1,
        ..Limits::default()
    });
    story
        .submit("a", 1)
        .dispatches("a", [1])
        .submit_until(5, "b", 2);
    story.at(5).expires(2).rests();
    assert_eq!(story.per_key.keys(), 1);
    story.finish("a").is_empty();
}

#[test]
fn an_input_in_flight_does_not_expire_here() {
    let mut story = free();
    story
        .submit_until(5, "a", 1)
        .dispatches("a", [1])
        .waits_for_no_time();
    story.at(9).rests().finish("a").is_empty();
}

#[test]
fn a_batch_that_finishes_at_a_deadline_does_not_carry_the_expired_on() {
    let mut story = free();
    story
        .submit("a", 1)
        .dispatches("a", [1])
        .submit_until(5, "a", 2);
    story.only_clock_at(5).finish("a").expires(2).is_empty();
}

// ---- withdrawing --------------------------------------------------------------------------------

#[test]
fn an_input_that_waits_can_be_withdrawn_once() {
    let mut story = free();
    story
        .submit("a", 1)
        .dispatches("a", [1])
        .submit_until(5, "a", 2)
        .submit("a", 3);
    story.withdraw(2).withdraw_in_vain(2).waits_for_no_time();
    story.at(9).rests().finish("a").dispatches("a", [3]);
}

#[test]
fn an_input_in_flight_is_carried_to_its_end() {
    let mut story = free();
    story
        .submit("a", 1)
        .withdraw_in_vain(1)
        .dispatches("a", [1])
        .withdraw_in_vain(1);
    story.finish("a").withdraw_in_vain(1).is_empty();
}

#[test]
fn an_input_that_was_answered_cannot_be_withdrawn_even_when_its_place_is_taken_again() {
    let mut story = lingering();
    story.submit_until(5, "a", 1).at(5).expires(1);
    story.submit("a", 2).withdraw_in_vain(1);
    story.at(15).dispatches("a", [2]);
}

#[test]
fn when_the_last_input_of_a_key_is_withdrawn_the_key_is_forgotten() {
    let mut story = lingering();
    story
        .submit("a", 1)
        .submit("a", 2)
        .withdraw(1)
        .withdraw(2)
        .is_empty();
    let mut story = Story::under(Limits {
        max_in_flight: 1,
        ..Limits::default()
    });
    story
        .submit("a", 1)
        .dispatches("a", [1])
        .submit("b", 2)
        .withdraw(2);
    assert_eq!(story.per_key.keys(), 1);
    story.finish("a").is_empty();
}

#[test]
fn the_oldest_can_be_taken_out_until_nothing_waits() {
    let mut story = lingering();
    story.submit("b", 1).submit("a", 2).submit("b", 3);
    for oldest in [1, 2, 3] {
        assert_eq!(
            story.per_key.evict_oldest().map(|(_, input)| input),
            Some(oldest)
        );
    }
    assert!(story.per_key.evict_oldest().is_none());
    story.is_empty();
}

// ---- closing ------------------------------------------------------------------------------------

#[test]
fn closed_with_nothing_there_it_is_drained_at_once_and_says_so_once() {
    let mut story = free();
    story.close().is_drained().rests();
    story
        .close()
        .at(5)
        .rests()
        .rejects(Reason::Closed, "a", 1)
        .is_empty();
}

#[test]
fn closed_it_takes_nothing_more_and_carries_what_it_has() {
    let mut story = free();
    story
        .submit("a", 1)
        .dispatches("a", [1])
        .submit("a", 2)
        .close();
    story
        .rejects(Reason::Closed, "a", 3)
        .rejects(Reason::Closed, "b", 3)
        .rests();
    story.finish("a").dispatches("a", [2]).rests();
    story.finish("a").is_drained().is_empty();
}

#[test]
fn closing_ends_the_lingering() {
    let mut story = lingering();
    story.submit("b", 1).submit("a", 2).submit("b", 3).close();
    story
        .dispatches("b", [1, 3])
        .dispatches("a", [2])
        .rests()
        .waits_for_no_time();
    story
        .finish("a")
        .rests()
        .finish("b")
        .is_drained()
        .is_empty();
}

#[test]
fn closing_ends_the_lingering_of_what_still_waits_behind_a_batch() {
    let mut story = lingering();
    story
        .submit_all("a", [1, 2, 3, 4])
        .dispatches("a", [1, 2, 3])
        .close()
        .rests();
    story
        .finish("a")
        .dispatches("a", [4])
        .finish("a")
        .is_drained();
}

#[test]
fn closed_it_still_keeps_to_the_bounds_of_batches_and_permits() {
    let limits = Limits {
        linger: ms(10),
        max_batch: 2,
        max_in_flight: 1,
        ..Limits::default()
    };
    let mut story = Story::under(limits);
    story
        .submit("a", 1)
        .submit("b", 2)
        .submit("c", 3)
        .submit("b", 4)
        .submit("b", 5);
    story.dispatches("b", [2, 4]).close().rests();
    story
        .finish("b")
        .dispatches("a", [1])
        .finish("a")
        .dispatches("c", [3]);
    story
        .finish("c")
        .dispatches("b", [5])
        .finish("b")
        .is_drained()
        .is_empty();
}

#[test]
fn closed_it_drains_when_the_last_input_is_withdrawn_or_expires() {
    let limits = Limits {
        max_in_flight: 1,
        ..Limits::default()
    };
    let mut story = Story::under(limits);
    story
        .submit("a", 1)
        .dispatches("a", [1])
        .submit("a", 2)
        .submit_until(5, "b", 3)
        .close();
    story
        .withdraw(2)
        .rests()
        .finish("a")
        .dispatches("b", [3])
        .finish("b")
        .is_drained();

    let mut story = Story::under(limits);
    story
        .submit("a", 1)
        .dispatches("a", [1])
        .submit_until(5, "a", 2)
        .close();
    story
        .finish("a")
        .dispatches("a", [2])
        .rests()
        .finish("a")
        .is_drained();

    let mut story = Story::under(limits);
    story
        .submit("a", 1)
        .dispatches("a", [1])
        .submit_until(5, "a", 2)
        .close();
    story
        .at(5)
        .expires(2)
        .rests()
        .finish("a")
        .is_drained()
        .is_empty();
}

// ---- misuse and time ----------------------------------------------------------------------------

#[test]
#[should_panic(expected = "the batch is of another `PerKey`")]
fn a_batch_of_another_machine_is_refused() {
    let mut story = free();
    let mut other = story.another();
    other.submit("a", 1).dispatches("a", [1]);
    story.per_key.finished(at(0), other.batch_of("a"));
}

#[test]
#[should_panic(expected = "the batch is of another `PerKey`")]
fn a_batch_of_another_machine_is_refused_where_another_key_is_in_flight() {
    let mut story = free();
    story.submit("a", 1).dispatches("a", [1]);
    let mut other = story.another();
    other.submit("b", 1).dispatches("b", [1]);
    story.per_key.finished(at(0), other.batch_of("b"));
}

#[test]
#[should_panic(expected = "the batch is of another `PerKey`")]
fn a_batch_of_another_machine_is_refused_where_nothing_of_the_key_is_in_flight() {
    let mut story = lingering();
    story.submit("a", 1);
    let mut other = free();
    other.submit("a", 1).dispatches("a", [1]);
    story.per_key.finished(at(0), other.batch_of("a"));
}

#[test]
fn time_that_goes_back_counts_as_standing_still() {
    let mut story = lingering();
    story.at(20).submit("a", 1).wants_to_be_told_at(30);
    story.at(5).submit("b", 2).rests();
    assert_eq!(story.per_key.oldest_waiting(), Some(at(20)));
    // Its deadline has passed, whatever the clock says now.
    story.submit_until(15, "b", 3).expires(3);
    story.at(30).dispatches("a", [1]).dispatches("b", [2]);
}

#[test]
fn a_wake_up_that_comes_late_makes_up_for_everything_missed() {
    let limits = Limits {
        linger: ms(10),
        max_in_flight: 1,
        ..Limits::default()
    };
    let mut story = Story::under(limits);
    story.submit("a", 1).submit_until(15, "b", 2).submit("b", 3);
    story
        .at(100)
        .expires(2)
        .dispatches("a", [1])
        .rests()
        .waits_for_no_time();
    story
        .finish("a")
        .dispatches("b", [3])
        .finish("b")
        .is_empty();
}

#[test]
fn a_key_that_comes_and_goes_leaves_nothing_behind() {
    let mut story = free();
    for round in 0..1000 {
        story
            .submit("a", round)
            .dispatches("a", [round])
            .finish("a")
            .is_empty();
    }
}
