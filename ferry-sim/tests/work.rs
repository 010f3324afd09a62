//! How much work the store has, checked on histories made by hand.

use std::time::Duration;

use ferry_core::{Class, Instant, Retry, per_key::Limits};
use ferry_sim::{
    calls::{Ask, Asked, Came, Pace},
    checkers::{Violation, check},
    executor::Halt,
    history::{History, Life, Resume, SubmissionId, What, Written},
    purses::Purses,
};

const KEY: u32 = 1;
const LIFE: Life = Life { node: 0, nth: 1 };
const OTHER: Life = Life { node: 1, nth: 1 };
const BUSY: Came = Came::Failed(Class::Transient);
const THROTTLED: Came = Came::Failed(Class::Throttled(None));

/// What nodes asked of the store; a call takes a millisecond.
struct Tale {
    history: History<Purses>,
    now: Instant,
}

macro_rules! assert_found {
    ($tale:expr, [$($violation:pat),*]) => {
        let found = check(&Purses::default(), &$tale.history);
        assert!(matches!(&found[..], [$($violation),*]), "{found:?}");
    };
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

impl Tale {
    fn new() -> Self {
        let history = History {
            halt: Some(Halt::Quiet),
            pace: Pace {
                limits: Limits {
                    max_batch: 2,
                    max_in_flight: 2,
                    ..Limits::default()
                },
                retry: Retry {
                    attempts: 4,
                    ..Retry::default()
                },
                sweep_every: Duration::from_secs(1),
                sweep_pause_max: Duration::from_secs(16),
                sweeps_at_once: 8,
                ..Pace::default()
            },
            ..History::default()
        };
        let now = Instant::EPOCH;
        Self { history, now }
    }

    fn asks(&mut self, life: Life, ask: Ask, came: Came) -> &mut Self {
        let at = self.now;
        self.now = at + millis(1);
        self.history.calls.push(Asked {
            life,
            key: KEY,
            ask,
            at,
            version: None,
            came: Some((self.now, came)),
        });
        self
    }

    /// Tries to commit what came in this attempt, once for each pause and once more; and so it goes every time.
    fn tries(&mut self, life: Life, attempt: u64, came: Came, pauses: &[Duration]) -> &mut Self {
        let commit = Ask::Commit(vec![SubmissionId(attempt)]);
        for &pause in pauses {
            self.asks(life, Ask::Read(vec![SubmissionId(attempt)]), Came::Done);
            self.asks(life, commit.clone(), came);
            self.now = self.now + pause;
        }
        self.asks(life, Ask::Read(vec![SubmissionId(attempt)]), Came::Done);
        self.asks(life, commit, came)
    }
}

#[test]
fn the_same_is_tried_as_often_as_there_are_attempts_and_no_more() {
    let long = [31, 32, 33, 34].map(millis);
    assert_found!(Tale::new().tries(LIFE, 7, BUSY, &long[..3]), []);
    assert_found!(
        Tale::new().tries(LIFE, 7, BUSY, &long),
        [Violation::TriedTooOften {
            tries: 5,
            attempts: 4,
            ..
        }]
    );
    // Another batch, and halves of one that was turned away for good, or that panicked, begin anew.
    let mut tale = Tale::new();
    tale.tries(LIFE, 7, BUSY, &long[..3]);
    assert_found!(tale.tries(LIFE, 8, BUSY, &long[1..]), []);
    let both = vec![SubmissionId(7), SubmissionId(8)];
    for end in [Came::Failed(Class::Permanent), Came::Panicked] {
        let mut tale = Tale::new();
        for pause in [Some(long[0]), Some(long[1]), None] {
            tale.asks(LIFE, Ask::Read(both.clone()), Came::Done);
            let came = pause.map_or(end, |_| BUSY);
            tale.asks(LIFE, Ask::Commit(both.clone()), came);
            tale.now = tale.now + pause.unwrap_or_default();
        }
        assert_found!(tale.tries(LIFE, 7, BUSY, &long[1..]), []);
    }
    let mut tale = Tale::new();
    tale.tries(LIFE, 7, BUSY, &long[..3]);
    tale.asks(LIFE, Ask::Read(both), Came::Panicked);
    assert_found!(tale.tries(LIFE, 7, BUSY, &long[1..]), []);
}

#[test]
fn a_store_that_throttles_is_given_half_of_the_longest_pause_and_its_hint() {
    let enough = [5, 10, 20].map(millis);
    assert_found!(Tale::new().tries(LIFE, 7, THROTTLED, &enough), []);
    assert_found!(
        Tale::new().tries(LIFE, 7, THROTTLED, &[millis(5), millis(9)]),
        [Violation::TooSoon { .. }]
    );
    let hinted = Came::Failed(Class::Throttled(Some(millis(300))));
    assert_found!(Tale::new().tries(LIFE, 7, hinted, &[millis(300)]), []);
    let mut tale = Tale::new();
    tale.tries(LIFE, 7, hinted, &[millis(299)]);
    assert_found!(tale, [Violation::TooSoon { .. }]);
    // A clock that goes too fast, or may have jumped, has seen the whole of it.
    tale.history.pace.drift = 5;
    assert_found!(tale, []);
    tale.history.pace.drift = 0;
    tale.history.pace.is_jumpy = true;
    assert_found!(tale, []);
}

#[test]
fn pauses_that_are_short_time_and_again_are_none() {
    // Evenly drawn, the third pause is shorter than a hundredth of its longest once in a hundred times.
    let tale = |batches: u64, pauses: fn(u64) -> [u64; 3]| {
        let mut tale = Tale::new();
        for batch in 0..batches {
            // No two alike.
            let own = Duration::from_nanos(batch);
            let pauses = pauses(batch).map(|micros| Duration::from_micros(micros) + own);
            tale.tries(LIFE, batch, BUSY, &pauses);
        }
        tale
    };
    assert_found!(tale(3, |_| [100, 200, 400]), []);
    assert_found!(
        tale(30, |_| [100, 200, 400]),
        [Violation::NoBackoff { failures: 120, .. }]
    );
    let all_lengths = |batch| [(batch + 1) * 300, (batch + 1) * 600, (batch + 1) * 1_200];
    assert_found!(tale(30, all_lengths), []);
}

#[test]
fn who_makes_the_same_three_pauses_as_another_is_in_step() {
    let pauses = [31, 32, 33].map(millis);
    let mut tale = Tale::new();
    tale.tries(LIFE, 7, BUSY, &pauses);
    assert_found!(tale.tries(OTHER, 8, BUSY, &pauses[..2]), []);
    assert_found!(
        tale.tries(OTHER, 9, BUSY, &pauses),
        [Violation::InStep {
            one: (LIFE, KEY),
            other: (OTHER, KEY),
            ..
        }]
    );
}

#[test]
fn a_key_that_is_throttled_for_good_is_swept_less_and_less_often() {
    let swept = |pauses: &[u64]| {
        let mut tale = Tale::new();
        tale.history.broken = Some(KEY);
        tale.history.has_views = true;
        for &pause in pauses {
            tale.asks(LIFE, Ask::Project, THROTTLED);
            tale.now = tale.now + Duration::from_secs(pause);
        }
        tale
    };
    assert_found!(swept(&[1, 2, 4, 8, 8, 8, 8, 8, 8]), []);
    let mut tale = swept(&[1; 30]);
    assert_found!(
        tale,
        [Violation::SweptTooOften {
            life: LIFE,
            key: KEY,
            tries: 30,
            ..
        }]
    );
    // Each that is told to resume it, and each deletion, may bring tries of its own.
    let resume = Resume {
        life: LIFE,
        key: KEY,
        at: Instant::EPOCH,
        answer: None,
    };
    tale.history.resumes = vec![resume; 6];
    assert_found!(tale, []);
    tale.history.resumes.clear();
    for _ in 0..5 {
        tale.history.log.push(Written {
            at: Instant::EPOCH,
            key: KEY,
            by: None,
            what: What::Delete,
        });
    }
    assert_found!(tale, []);
}

#[test]
fn a_batch_is_no_larger_than_it_may_be() {
    let of = |attempts: u64| {
        let mut tale = Tale::new();
        let ids: Vec<_> = (1..=attempts).map(SubmissionId).collect();
        tale.asks(LIFE, Ask::Read(ids.clone()), Came::Done);
        tale.asks(LIFE, Ask::Commit(ids), Came::Done);
        tale
    };
    assert_found!(of(2), []);
    assert_found!(
        of(3),
        [Violation::BatchTooLarge {
            life: LIFE,
            key: KEY,
            inputs: 3,
            inputs_max: 2
        }]
    );
}

#[test]
fn no_more_batches_are_in_flight_than_may_be() {
    // Each begins a millisecond after the one before it, and ends so many after its own beginning.
    let of = |lasts: u64| {
        let mut tale = Tale::new();
        for key in 1..=3 {
            tale.asks(LIFE, Ask::Read(vec![SubmissionId(key.into())]), Came::Done);
            let call = tale.history.calls.last_mut().unwrap();
            call.key = key;
            call.came = Some((call.at + millis(lasts), Came::Done));
        }
        tale.asks(OTHER, Ask::Read(vec![SubmissionId(4)]), Came::Done);
        tale
    };
    assert_found!(of(2), []);
    assert_found!(
        of(3),
        [Violation::TooManyInFlight {
            life: LIFE,
            key: 3,
            batches: 3,
            batches_max: 2
        }]
    );
}
