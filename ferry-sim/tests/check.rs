//! The checkers, on histories made by hand.

use std::time::Duration;

use ferry_core::{Instant, drive::Stats};
use ferry_sim::{
    Input, Outcome, Standing,
    check::{Property, check},
    executor::Halt,
    history::{Answer, Ask, Call, History, Landed, Life, NodeEnd, Submission, SubmissionId, Why},
};

const LIFE: Life = Life { node: 0, nth: 1 };

fn at(secs: u64) -> Instant {
    Instant::EPOCH + Duration::from_secs(secs)
}

/// A history in which everything came to rest.
fn quiet() -> History {
    History {
        halt: Some(Halt::Quiet),
        ..History::default()
    }
}

fn violated(history: &History) -> Vec<Property> {
    check(history)
        .iter()
        .map(|found| found.property())
        .collect()
}

/// Submitted at the first second, with an answer at the third.
fn submit(history: &mut History, id: u64, cents: i64, answer: Option<Answer>) {
    history.submissions.push(Submission {
        life: LIFE,
        ask: Ask { key: 1, id, cents },
        at: at(1),
        answer: answer.map(|answer| (at(3), answer)),
    });
}

fn land(history: &mut History, secs: u64, submission: u64) {
    let Ask { key, id, cents } = history.submissions[submission as usize].ask;
    history.landed.push(Landed {
        at: at(secs),
        call: Call {
            nth: 1,
            life: LIFE,
            key,
        },
        entries: vec![Input {
            id,
            cents,
            submission: SubmissionId(submission),
            is_poison: false,
        }],
    });
}

fn declined(entries: u64, balance: i64) -> Option<Answer> {
    Some(Answer::Outcome(Outcome::Declined(Standing {
        entries,
        balance,
    })))
}

#[test]
fn a_history_in_which_nothing_happened_is_in_order() {
    assert_eq!(violated(&quiet()), []);
}

#[test]
fn who_is_not_answered_and_what_never_comes_to_rest_is_found() {
    let unanswered = vec![7];
    assert_eq!(
        violated(&History {
            unanswered,
            ..quiet()
        }),
        [Property::Answered]
    );
    for halt in [Halt::TimeUp, Halt::Spinning] {
        let halt = Some(halt);
        assert_eq!(violated(&History { halt, ..quiet() }), [Property::Answered]);
    }
}

#[test]
fn what_is_held_at_the_end_is_found() {
    let end = |change: fn(&mut Stats), tasks_left| {
        let mut stats = Stats::default();
        change(&mut stats);
        let node = 0;
        let nodes = vec![NodeEnd {
            node,
            stats,
            tasks_left,
        }];
        violated(&History { nodes, ..quiet() })
    };
    assert_eq!(end(|_| (), 0), []);
    assert_eq!(end(|_| (), 1), [Property::NoLeaks]);
    assert_eq!(end(|stats| stats.queueing = 1, 0), [Property::NoLeaks]);
    assert_eq!(end(|stats| stats.waiting = 1, 0), [Property::NoLeaks]);
    assert_eq!(
        end(|stats| stats.batches_in_flight = 1, 0),
        [Property::NoLeaks]
    );
    assert_eq!(end(|stats| stats.keys = 1, 0), [Property::NoLeaks]);
}

#[test]
fn who_is_overtaken_and_what_is_written_twice_is_found() {
    let mut history = quiet();
    submit(&mut history, 10, 5, None);
    submit(&mut history, 11, 5, None);
    land(&mut history, 2, 1);
    assert_eq!(violated(&history), []);
    land(&mut history, 2, 0);
    assert_eq!(violated(&history), [Property::InOrder]);
    history.landed.swap(0, 1);
    land(&mut history, 4, 1);
    assert_eq!(violated(&history), [Property::AppliedOnce]);
}

#[test]
fn not_committed_is_untrue_of_what_is_written_before_or_after() {
    for secs in [2, 9] {
        for answer in [Answer::NotCommitted(Why::Refused), Answer::Rejected] {
            let mut history = quiet();
            submit(&mut history, 10, 5, Some(answer));
            assert_eq!(violated(&history), []);
            land(&mut history, secs, 0);
            assert_eq!(violated(&history), [Property::TrueAnswers]);
        }
    }
}

#[test]
fn declined_is_true_of_a_moment_between_question_and_answer_alone() {
    let heard = |secs, answer| {
        let mut history = quiet();
        submit(&mut history, 10, -5, answer);
        submit(&mut history, 11, 4, None);
        land(&mut history, secs, 1);
        violated(&history)
    };
    assert_eq!(heard(2, declined(0, 0)), [], "before it landed");
    assert_eq!(heard(2, declined(1, 4)), [], "after it landed");
    assert_eq!(
        heard(0, declined(0, 0)),
        [Property::TrueAnswers],
        "it was no more so"
    );
    assert_eq!(
        heard(9, declined(1, 4)),
        [Property::TrueAnswers],
        "it was not yet so"
    );
    assert_eq!(
        heard(2, declined(1, 3)),
        [Property::TrueAnswers],
        "it was never so"
    );
    assert_eq!(
        heard(2, declined(2, 4)),
        [Property::TrueAnswers],
        "there never were two"
    );
}

#[test]
fn an_acknowledged_input_is_in_the_log_by_then_and_in_the_record() {
    let heard = |cents| {
        let standing = Standing {
            entries: 1,
            balance: cents,
        };
        Some(Answer::Outcome(Outcome::Applied(standing)))
    };
    let mut history = quiet();
    submit(&mut history, 10, 5, heard(5));
    assert_eq!(
        violated(&history),
        [Property::NothingLost],
        "not in the log"
    );
    land(&mut history, 4, 0);
    assert_eq!(violated(&history), [Property::NothingLost], "not in time");
    history.landed[0].at = at(2);
    assert_eq!(
        violated(&history),
        [Property::NothingLost],
        "not in the record"
    );
}
