//! The checkers, on histories made by hand: each violation is found where it is, and nowhere else.

use std::{sync::Arc, time::Duration};

use ferry_core::{Class, Fold, Instant, drive::Stats};
use ferry_sim::{
    Difference, How, Quirk, Sent, Told,
    calls::{Ask, Asked, Came},
    checkers::{Property, Violation, check},
    executor::Halt,
    history::{
        Heard, History, Life, NodeEnd, Reach, Resume, Resumed, Submission, SubmissionId, What, Why,
        Written,
    },
    purses::{Amount, Outcome, Purses, Standing, StoreError},
};

const KEY: u32 = 1;
const LIFE: Life = Life { node: 0, nth: 1 };

type Hears = Heard<Told<Outcome>>;

/// What happened to one purse. Everything is submitted at the first second.
struct Tale(History<Purses>);

macro_rules! assert_found {
    ($tale:expr, [$($violation:pat),*]) => {
        let found = $tale.found();
        assert!(matches!(&found[..], [$($violation),*]), "{found:?}");
    };
}

fn at(secs: u64) -> Instant {
    Instant::EPOCH + Duration::from_secs(secs)
}

/// Applied, and where that led.
fn applied(entries: u64, balance: i64) -> Told<Outcome> {
    let outcome = Outcome::Applied(Standing { entries, balance });
    let how = How::Applied;
    Told { how, outcome }
}

fn durable(told: Told<Outcome>) -> Hears {
    Heard::Outcome(told, Reach::Durable)
}

fn declined(entries: u64, balance: i64) -> Hears {
    let outcome = Outcome::Declined(Standing { entries, balance });
    let how = How::Declined;
    durable(Told { how, outcome })
}

impl Tale {
    /// In which everything came to rest.
    fn new() -> Self {
        Self(History {
            halt: Some(Halt::Quiet),
            ..History::default()
        })
    }

    /// Of records with views, to which these amounts were written at the second second, one commit after the other.
    fn with_view(cents: &[i64]) -> Self {
        let mut tale = Self::new();
        tale.0.has_views = true;
        for (number, &cents) in (10..).zip(cents) {
            let input = tale.asks(number, cents);
            tale.lands(2, &[input]);
        }
        tale
    }

    fn found(&self) -> Vec<Violation> {
        check(&Purses::default(), &self.0)
    }

    fn takes_in_no_more(&mut self, secs: u64) {
        self.0.lives.entry(LIFE).or_default().closing = Some(at(secs));
    }

    fn asks(&mut self, number: u64, cents: i64) -> usize {
        let content = Arc::new(Amount { id: number, cents });
        self.sends(number, content, Quirk::None)
    }

    /// The same input once more.
    fn asks_again(&mut self, of: usize) -> usize {
        let Submission {
            number, content, ..
        } = &self.0.submissions[of];
        let (number, content) = (*number, Arc::clone(content));
        self.sends(number, content, Quirk::None)
    }

    fn sends(&mut self, number: u64, content: Arc<Amount>, quirk: Quirk) -> usize {
        self.0.submissions.push(Submission {
            life: LIFE,
            key: KEY,
            number,
            content,
            quirk,
            at: at(1),
            within: None,
            answer: None,
            deserted: None,
        });
        self.0.submissions.len() - 1
    }

    fn hears(&mut self, submission: usize, secs: u64, heard: Hears) -> &mut Self {
        self.0.submissions[submission].answer = Some((at(secs), heard));
        self
    }

    fn writes(&mut self, secs: u64, by: Option<Life>, what: What<Purses>) -> &mut Self {
        let (at, key) = (at(secs), KEY);
        self.0.log.push(Written { at, key, by, what });
        self
    }

    /// A commit of it is asked for, and this comes of it.
    fn tries(&mut self, secs: u64, submission: usize, came: Came) -> &mut Self {
        let ids = vec![SubmissionId(submission as u64)];
        self.calls(1, Ask::Read(ids.clone()), Came::Done);
        self.calls(secs, Ask::Commit(ids), came)
    }

    fn calls(&mut self, secs: u64, ask: Ask, came: Came) -> &mut Self {
        self.0.calls.push(Asked {
            life: LIFE,
            key: KEY,
            ask,
            at: at(secs),
            version: None,
            came: Some((at(secs), came)),
        });
        self
    }

    /// These are committed together.
    fn lands(&mut self, secs: u64, submissions: &[usize]) -> &mut Self {
        let purses = Purses::default();
        let record = self.0.records.entry(KEY);
        let purse = record.or_insert_with(|| purses.empty(&KEY));
        let mut entries = Vec::new();
        for &nth in submissions {
            let submission = &self.0.submissions[nth];
            let _step = purses.step(purse, &submission.content);
            entries.push(Sent {
                number: submission.number,
                content: Arc::clone(&submission.content),
                submission: SubmissionId(nth as u64),
                quirk: submission.quirk,
            });
        }
        self.writes(secs, Some(LIFE), What::Commit(entries))
    }

    fn deletes(&mut self, secs: u64) -> &mut Self {
        self.0.records.remove(&KEY);
        self.writes(secs, None, What::Delete)
    }

    fn shows(&mut self, secs: u64, from: usize, to: usize) -> &mut Self {
        let is_by_position = false;
        let show = What::Show {
            from,
            to,
            is_by_position,
        };
        self.writes(secs, Some(LIFE), show)
    }

    fn marks(&mut self, secs: u64, to: usize) -> &mut Self {
        self.writes(secs, Some(LIFE), What::Mark(to))
    }
}

#[test]
fn a_history_in_which_nothing_happened_is_in_order() {
    assert_found!(Tale::new(), []);
}

// ---- P1 ---------------------------------------------------------------------------------------------

#[test]
fn what_is_written_twice_is_found_unless_it_was_deleted_in_between() {
    let mut tale = Tale::new();
    let first = tale.asks(10, 5);
    let second = tale.asks_again(first);
    assert_found!(tale.lands(2, &[first]), []);
    assert_found!(
        tale.lands(3, &[second]),
        [Violation::AppliedTwice {
            number: 10,
            first: SubmissionId(0),
            second: SubmissionId(1)
        }]
    );
    let mut tale = Tale::new();
    let first = tale.asks(10, 5);
    let second = tale.asks_again(first);
    assert_found!(tale.lands(2, &[first]).deletes(3).lands(4, &[second]), []);
}

#[test]
fn what_is_written_twice_in_one_commit_is_found() {
    let mut tale = Tale::new();
    let first = tale.asks(10, 5);
    let second = tale.asks_again(first);
    assert_found!(
        tale.lands(2, &[first, second]),
        [Violation::AppliedTwice { number: 10, .. }]
    );
}

// ---- P2 ---------------------------------------------------------------------------------------------

#[test]
fn an_outcome_is_that_of_the_log_and_of_the_same_content() {
    let mut tale = Tale::new();
    let input = tale.asks(10, 5);
    tale.lands(2, &[input]);
    assert_found!(tale.hears(input, 3, durable(applied(1, 5))), []);
    assert_found!(
        tale.hears(input, 3, durable(applied(1, 6))),
        [Violation::WrongOutcome { .. }]
    );
    tale.hears(input, 3, durable(applied(1, 5)));
    let mistaken = tale.asks(10, 6);
    assert_found!(
        tale.hears(mistaken, 3, durable(applied(1, 5))),
        [Violation::ForOtherContent {
            submission: SubmissionId(1),
            ..
        }]
    );
}

#[test]
fn not_committed_is_untrue_of_what_is_written_before_or_after() {
    for secs in [2, 9] {
        for heard in [Heard::NotCommitted(Why::Refused), Heard::Rejected] {
            let mut tale = Tale::new();
            tale.takes_in_no_more(1);
            let input = tale.asks(10, 5);
            assert_found!(tale.hears(input, 3, heard), []);
            assert_found!(
                tale.lands(secs, &[input]),
                [Violation::WroteAfterAll { .. }]
            );
            tale.tries(2, input, Came::Refused);
            tale.hears(input, 3, Heard::InDoubt(Why::Refused));
            assert_found!(tale, []);
        }
    }
    let mut tale = Tale::new();
    let input = tale.asks(10, 5);
    tale.lands(1, &[input]).deletes(2);
    assert_found!(tale.hears(input, 3, Heard::NotCommitted(Why::Refused)), []);
}

#[test]
fn in_doubt_is_untrue_where_no_commit_may_have_brought_it() {
    let doubt = || Heard::InDoubt(Why::Store(StoreError::Busy));
    let told = |tell: &dyn Fn(&mut Tale, usize)| {
        let mut tale = Tale::new();
        let input = tale.asks(10, 5);
        tell(&mut tale, input);
        tale.hears(input, 3, doubt());
        tale
    };
    assert_found!(told(&|_, _| ()), [Violation::NoDoubt { .. }]);
    for came in [Came::Refused, Came::InDoubt, Came::Panicked, Came::Done] {
        assert_found!(told(&|tale, input| _ = tale.tries(2, input, came)), []);
        let late = told(&|tale, input| _ = tale.tries(4, input, came));
        assert_found!(late, [Violation::NoDoubt { .. }]);
    }
    let failed = Came::Failed(Class::Transient);
    let failed = told(&|tale, input| _ = tale.tries(2, input, failed));
    assert_found!(failed, [Violation::NoDoubt { .. }]);
    // Brought by another process; and with a copy beside it that may yet be.
    assert_found!(told(&|tale, input| _ = tale.lands(2, &[input])), []);
    assert_found!(told(&|tale, input| _ = tale.asks_again(input)), []);
    // And with one beside it that nobody knows the id of.
    let startled = |tale: &mut Tale| {
        let other = Arc::new(Amount { id: 11, cents: 5 });
        tale.sends(11, other, Quirk::Startles(2));
    };
    assert_found!(told(&|tale, _| startled(tale)), []);
}

#[test]
fn nobody_is_abandoned_by_a_node_that_is_there() {
    for heard in [
        Heard::NotCommitted(Why::Abandoned),
        Heard::InDoubt(Why::Abandoned),
    ] {
        let mut tale = Tale::new();
        let input = tale.asks(10, 5);
        tale.hears(input, 3, heard);
        assert_found!(tale, [Violation::NobodyLeft { .. }]);
        tale.0.ended.push(LIFE);
        assert_found!(tale, []);
    }
}

#[test]
fn declined_is_true_of_a_moment_between_question_and_answer_alone() {
    // Another's amount is written at that second; what is heard comes at the third.
    let tale = |secs, heard| {
        let mut tale = Tale::new();
        let input = tale.asks(10, -5);
        let other = tale.asks(11, 4);
        tale.hears(input, 3, heard).lands(secs, &[other]);
        tale
    };
    assert_found!(tale(2, declined(0, 0)), []);
    assert_found!(tale(2, declined(1, 4)), []);
    for (secs, heard) in [
        (0, declined(0, 0)), // no more so
        (9, declined(1, 4)), // not yet so
        (2, declined(1, 3)), // never so
        (2, declined(2, 4)),
    ] {
        assert_found!(tale(secs, heard), [Violation::NeverSo { .. }]);
    }
}

#[test]
fn a_mismatch_is_true_where_the_id_was_there_with_other_content() {
    let (how, outcome) = (How::Mismatch, Outcome::Mismatch);
    let mut tale = Tale::new();
    let input = tale.asks(10, 5);
    let mistaken = tale.asks(10, 6);
    tale.hears(mistaken, 3, durable(Told { how, outcome }));
    assert_found!(tale, [Violation::NeverSo { .. }]);
    assert_found!(tale.lands(2, &[input]), []);
}

#[test]
fn projected_is_true_once_the_view_shows_it() {
    // The view shows it from that second on; what is heard comes at the third.
    let tale = |secs, reach| {
        let mut tale = Tale::with_view(&[5]);
        tale.hears(0, 3, Heard::Outcome(applied(1, 5), reach));
        tale.shows(secs, 0, 1).marks(secs, 1);
        tale
    };
    assert_found!(tale(2, Reach::Projected), []);
    assert_found!(
        tale(4, Reach::Projected),
        [Violation::NotShown {
            submission: SubmissionId(0),
            entries: 1,
            shown: 0
        }]
    );
    assert_found!(tale(4, Reach::Committed(Why::Refused)), []);
}

#[test]
fn projected_is_true_of_what_was_declined_once_the_view_shows_the_record_that_it_rests_on() {
    let (how, outcome) = (
        How::Declined,
        Outcome::Declined(Standing {
            entries: 1,
            balance: 5,
        }),
    );
    let told = Told { how, outcome };
    let tale = |secs| {
        let mut tale = Tale::with_view(&[5]);
        let input = tale.asks(11, -9);
        tale.hears(input, 3, Heard::Outcome(told.clone(), Reach::Projected));
        tale.shows(secs, 0, 1).marks(secs, 1);
        tale
    };
    assert_found!(tale(2), []);
    assert_found!(tale(4), [Violation::NotShown { .. }]);
}

// ---- P3 ---------------------------------------------------------------------------------------------

#[test]
fn an_acknowledged_input_is_in_the_log_by_then_and_in_the_record() {
    let mut tale = Tale::new();
    let input = tale.asks(10, 5);
    tale.hears(input, 3, durable(applied(1, 5)));
    assert_found!(tale, [Violation::NeverWritten { number: 10, .. }]);
    tale.lands(4, &[input]);
    assert_found!(tale, [Violation::WrittenAfterwards { .. }]);
    tale.0.log[0].at = at(2);
    assert_found!(tale, []);
    tale.0.records.clear();
    assert_found!(
        tale,
        [Violation::NotInRecord {
            key: KEY,
            number: 10,
            ..
        }]
    );
    assert_found!(tale.deletes(4), []);
}

// ---- P4 ---------------------------------------------------------------------------------------------

#[test]
fn who_is_overtaken_is_found() {
    let mut tale = Tale::new();
    let (first, second) = (tale.asks(10, 5), tale.asks(11, 5));
    assert_found!(tale.lands(2, &[second]), []);
    assert_found!(
        tale.lands(2, &[first]),
        [Violation::Overtaken {
            earlier: SubmissionId(0),
            by: SubmissionId(1),
            ..
        }]
    );
    // Through another process it is nothing.
    tale.0.log[0].by = Some(Life { node: 1, nth: 1 });
    assert_found!(tale, []);
}

// ---- P5 ---------------------------------------------------------------------------------------------

#[test]
fn what_is_pending_for_good_is_found_unless_its_key_is_broken() {
    let mut tale = Tale::with_view(&[5, 6]);
    tale.shows(3, 0, 1).marks(3, 1);
    tale.0.pending = vec![KEY];
    assert_found!(
        tale,
        [
            Violation::StillPending { key: KEY },
            Violation::NeverShown {
                key: KEY,
                shown: 1,
                entries: 2
            }
        ]
    );
    tale.0.broken = Some(KEY);
    assert_found!(tale, []);
}

#[test]
fn a_view_that_lacks_an_entry_for_good_is_found_also_where_nothing_is_pending() {
    let mut tale = Tale::with_view(&[5, 6]);
    tale.shows(3, 0, 1).marks(3, 1);
    assert_found!(tale, [Violation::NeverShown { .. }]);
    assert_found!(tale.shows(4, 1, 2).marks(4, 2), []);
}

// ---- P6 ---------------------------------------------------------------------------------------------

#[test]
fn what_is_shown_twice_is_found_unless_it_goes_to_its_own_position() {
    let mut tale = Tale::with_view(&[5, 6]);
    tale.shows(3, 0, 1).shows(3, 0, 2).marks(3, 2);
    assert_found!(
        tale,
        [Violation::ShownTwice {
            key: KEY,
            shown: 1,
            again: 0
        }]
    );
    let mut tale = Tale::with_view(&[5, 6]);
    for to in [1, 2] {
        tale.writes(
            3,
            Some(LIFE),
            What::Show {
                from: 0,
                to,
                is_by_position: true,
            },
        );
    }
    assert_found!(tale.marks(3, 2), []);
}

#[test]
fn a_view_with_a_hole_is_found() {
    let mut tale = Tale::with_view(&[5, 6]);
    assert_found!(
        tale.shows(3, 1, 2).marks(3, 2),
        [Violation::ViewLacks {
            key: KEY,
            shown: 0,
            next: 1
        }]
    );
}

#[test]
fn a_view_that_goes_back_is_found() {
    let mut tale = Tale::with_view(&[5, 6]);
    for to in [2, 1, 2] {
        tale.writes(3, Some(LIFE), What::ShowInstead(to));
    }
    assert_found!(
        tale.marks(3, 2),
        [Violation::ViewWentBack {
            key: KEY,
            shown: 2,
            to: 1
        }]
    );
}

#[test]
fn a_marker_that_goes_back_or_ahead_of_the_view_is_found() {
    let mut tale = Tale::with_view(&[5, 6]);
    assert_found!(
        tale.shows(3, 0, 2).marks(3, 2).marks(4, 1),
        [Violation::MarkerWentBack {
            key: KEY,
            marker: 2,
            to: 1
        }]
    );
    let mut tale = Tale::with_view(&[5, 6]);
    assert_found!(
        tale.marks(3, 2).shows(4, 0, 2),
        [Violation::MarkedUnshown {
            key: KEY,
            shown: 0,
            to: 2
        }]
    );
}

#[test]
fn a_marker_that_stands_within_a_commit_is_found() {
    let mut tale = Tale::with_view(&[]);
    let (first, second) = (tale.asks(10, 5), tale.asks(11, 6));
    tale.lands(2, &[first, second]).shows(3, 0, 2);
    assert_found!(
        tale.marks(3, 1),
        [Violation::MarkedWithinCommit { key: KEY, to: 1 }]
    );
}

#[test]
fn a_new_record_has_a_new_view() {
    let mut tale = Tale::with_view(&[5, 6]);
    tale.shows(3, 0, 2).marks(3, 2).deletes(4);
    let input = tale.asks(12, 7);
    assert_found!(tale.lands(5, &[input]).shows(6, 0, 1).marks(6, 1), []);
}

// ---- P7 ---------------------------------------------------------------------------------------------

#[test]
fn who_is_not_answered_and_what_never_comes_to_rest_is_found() {
    let mut tale = Tale::new();
    tale.0.unanswered = vec![7];
    assert_found!(
        tale,
        [Violation::Unanswered {
            number: 7,
            halt: Halt::Quiet
        }]
    );
    for halt in [Halt::TimeUp, Halt::Spinning] {
        let mut tale = Tale::new();
        tale.0.halt = Some(halt);
        assert_found!(tale, [Violation::NeverQuiet { .. }]);
    }
}

// ---- P8 ---------------------------------------------------------------------------------------------

#[test]
fn what_is_held_at_the_end_is_found() {
    let end = |change: fn(&mut Stats), tasks_left| {
        let mut stats = Stats::default();
        change(&mut stats);
        let mut tale = Tale::new();
        tale.0.nodes.push(NodeEnd {
            life: LIFE,
            stats,
            tasks_left,
        });
        tale
    };
    assert_found!(end(|_| (), 0), []);
    assert_found!(end(|_| (), 1), [Violation::TasksLeft { tasks: 1, .. }]);
    for change in [
        |stats: &mut Stats| stats.queueing = 1,
        |stats: &mut Stats| stats.waiting = 1,
        |stats: &mut Stats| stats.batches_in_flight = 1,
        |stats: &mut Stats| stats.keys = 1,
    ] {
        assert_found!(end(change, 0), [Violation::StillHeld { .. }]);
    }
}

#[test]
fn who_has_a_key_resumed_is_told_that_it_is_done_when_the_view_shows_what_there_was() {
    let resumed = |asked, resumed| {
        let mut tale = Tale::with_view(&[5, 7]);
        tale.shows(3, 0, 1).shows(5, 1, 2).marks(5, 2);
        tale.0.resumes.push(Resume {
            life: LIFE,
            key: KEY,
            at: at(asked),
            answer: Some((at(4), resumed)),
        });
        tale
    };
    assert_found!(
        resumed(3, Resumed::Shown),
        [Violation::ResumedUnshown {
            entries: 2,
            shown: 1,
            ..
        }]
    );
    assert_found!(resumed(1, Resumed::Shown), []);
    assert_found!(resumed(3, Resumed::StillPending), []);
    assert_found!(resumed(3, Resumed::Closed), []);
}

// ---- P9 ---------------------------------------------------------------------------------------------

#[test]
fn who_is_blamed_for_what_is_not_wrong_with_it_is_found() {
    let heard = |quirk, heard: Hears| {
        let mut tale = Tale::new();
        let content = Arc::new(Amount { id: 10, cents: 5 });
        let input = tale.sends(10, content, quirk);
        tale.tries(2, input, Came::InDoubt).hears(input, 3, heard);
        tale
    };
    let not_allowed = Why::Store(StoreError::NotAllowed);
    let faults = [
        (Quirk::Poison, not_allowed),
        (Quirk::Panics, Why::Panicked),
        (Quirk::Startles(2), Why::Panicked),
    ];
    for (quirk, why) in faults {
        for innocent in [Heard::NotCommitted(why), Heard::InDoubt(why)] {
            assert_found!(heard(quirk, innocent.clone()), []);
            assert_found!(heard(Quirk::None, innocent), [Violation::Blamed { .. }]);
        }
    }
    for why in [Why::Store(StoreError::Busy), Why::CallPanicked] {
        let nobodys = Heard::NotCommitted(why);
        assert_found!(heard(Quirk::None, nobodys), []);
    }
}

// ---- P11 --------------------------------------------------------------------------------------------

#[test]
fn a_second_run_that_differs_has_another_trace() {
    let (same, then) = (3, None);
    let diverged = Violation::Diverged(Box::new(Difference { same, then }));
    assert_eq!(diverged.property(), Property::SameTrace);
}

#[test]
fn a_batch_is_no_heavier_than_it_may_be() {
    let found = |weight_max: usize| {
        let mut tale = Tale::new();
        tale.0.pace.limits.max_weight = weight_max;
        let both = [tale.asks(1, 5), tale.asks(2, 100)];
        tale.lands(2, &both);
        tale.tries(2, both[0], Came::Done);
        let ids = both.map(|nth| SubmissionId(nth as u64));
        tale.0.calls[0].ask = Ask::Read(ids.into());
        tale.0.calls[1].ask = Ask::Commit(ids.into());
        tale.found()
    };
    // The second weighs four.
    assert_eq!(found(5), []);
    let heavier = Violation::BatchTooHeavy {
        life: LIFE,
        key: KEY,
        weight: 5,
        weight_max: 4,
    };
    assert_eq!(found(4), [heavier]);
}
