//! Batches, and what a handle promises of them, checked on histories made by hand. Times are in milliseconds.

use std::{sync::Arc, time::Duration};

use ferry_core::{Class, Instant, Retry, drive::Stats, per_key::Limits};
use ferry_sim::{
    Quirk,
    calls::{Ask, Asked, Came, Carrier, Pace},
    checkers::{Violation, check},
    executor::Halt,
    history::{Heard, History, Life, Look, NodeEnd, Submission, SubmissionId, Why},
    purses::{Amount, Purses, StoreError},
};

const LIFE: Life = Life { node: 0, nth: 1 };
const BUSY: Came = Came::Failed(Class::Transient);
const TURNED_AWAY: Came = Came::Failed(Class::Permanent);

/// What became of inputs, none of which was ever written.
struct Tale(History<Purses>);

macro_rules! assert_found {
    ($tale:expr, [$($violation:pat),*]) => {
        let found = check(&Purses::default(), &$tale.0);
        assert!(matches!(&found[..], [$($violation),*]), "{found:?}");
    };
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn at(time: u64) -> Instant {
    Instant::EPOCH + millis(time)
}

impl Tale {
    fn new(limits: Limits) -> Self {
        Self(History {
            halt: Some(Halt::Quiet),
            pace: Pace {
                limits,
                retry: Retry {
                    attempts: 10,
                    total: millis(100),
                    ..Retry::default()
                },
                sweeps_at_once: 2,
                ..Pace::default()
            },
            ..History::default()
        })
    }

    fn unbound() -> Self {
        Self::new(Limits::default())
    }

    fn asks(&mut self, key: u32, time: u64) -> u64 {
        let id = self.0.submissions.len() as u64;
        let number = id + 1;
        self.0.submissions.push(Submission {
            life: LIFE,
            key,
            number,
            content: Arc::new(Amount {
                id: number,
                cents: 1,
            }),
            quirk: Quirk::None,
            at: at(time),
            within: None,
            answer: None,
            deserted: None,
        });
        id
    }

    fn asks_within(&mut self, key: u32, time: u64, within: u64) -> u64 {
        let id = self.asks(key, time);
        self.0.submissions[id as usize].within = Some(millis(within));
        id
    }

    fn is_rejected(&mut self, key: u32, time: u64) -> &mut Self {
        let id = self.asks(key, time);
        self.0.submissions[id as usize].answer = Some((at(time), Heard::Rejected));
        self
    }

    fn hears(&mut self, id: u64, time: u64, why: Why) -> &mut Self {
        self.0.submissions[id as usize].answer = Some((at(time), Heard::NotCommitted(why)));
        self
    }

    fn calls(&mut self, key: u32, (from, to): (u64, u64), ask: Ask, came: Came) -> &mut Self {
        self.0.calls.push(Asked {
            life: LIFE,
            key,
            ask,
            at: at(from),
            version: None,
            came: Some((at(to), came)),
        });
        self
    }

    /// They are read for, and committed two milliseconds later; of that comes this, two later still.
    fn tries(&mut self, ids: &[u64], from: u64, came: Came) -> &mut Self {
        let key = self.0.submissions[ids[0] as usize].key;
        let ids: Vec<_> = ids.iter().map(|&id| SubmissionId(id)).collect();
        self.calls(key, (from, from + 2), Ask::Read(ids.clone()), Came::Done);
        self.calls(key, (from + 2, from + 4), Ask::Commit(ids), came)
    }

    /// One try, which fails and is the last.
    fn carries(&mut self, ids: &[u64], from: u64) -> &mut Self {
        self.tries(ids, from, BUSY);
        for &id in ids {
            self.hears(id, from + 4, Why::Store(StoreError::Busy));
        }
        self
    }

    fn held_up(&mut self, from: u64, until: u64) -> &mut Self {
        let lived = self.0.lives.entry(LIFE).or_default();
        lived.held_up.push((at(from), Some(at(until))));
        self
    }

    fn closing(&mut self, time: u64) -> &mut Self {
        self.0.lives.entry(LIFE).or_default().closing = Some(at(time));
        self
    }

    fn closed(&mut self, time: u64) -> &mut Self {
        self.0.lives.entry(LIFE).or_default().closed = Some(at(time));
        self
    }
}

// ---- when a batch leaves ----------------------------------------------------------------------------

fn lingering() -> Limits {
    Limits {
        linger: millis(20),
        max_batch: 2,
        ..Limits::default()
    }
}

#[test]
fn a_batch_lingers_as_long_as_it_is_told_and_no_longer() {
    let left = |time| {
        let mut tale = Tale::new(lingering());
        let id = tale.asks(1, 10);
        tale.carries(&[id], time);
        tale
    };
    assert_found!(left(30), []);
    assert_found!(left(29), [Violation::LeftTooSoon { .. }]);
    assert_found!(left(31), [Violation::LeftTooLate { .. }]);
    assert_found!(left(31).held_up(20, 31), []);
    assert_found!(left(20).closing(20), []);
    assert_found!(left(21).closing(20), [Violation::LeftTooLate { .. }]);
}

#[test]
fn a_full_batch_goes_at_once_and_none_before_the_one_in_flight_is_over() {
    let left = |time| {
        let mut tale = Tale::new(lingering());
        let ids = [tale.asks(1, 10), tale.asks(1, 15)];
        tale.carries(&ids, time);
        tale
    };
    assert_found!(left(15), []);
    assert_found!(left(16), [Violation::LeftTooLate { .. }]);
    let behind_another = |time| {
        let mut tale = left(15);
        let id = tale.asks(1, 16);
        // The first is over when the last of its callers has heard.
        tale.hears(0, 50, Why::Refused);
        tale.carries(&[id], time);
        tale
    };
    assert_found!(behind_another(50), []);
    assert_found!(behind_another(51), [Violation::LeftTooLate { .. }]);
}

#[test]
fn whoever_waited_longest_goes_first_where_permits_are_few() {
    let limits = Limits {
        max_in_flight: 1,
        ..Limits::default()
    };
    let of = |second: u32, third: u32| {
        let mut tale = Tale::new(limits);
        let ids = [tale.asks(1, 10), tale.asks(2, 11), tale.asks(3, 12)];
        tale.carries(&ids[..1], 10);
        for (key, time) in [(second, 14), (third, 18)] {
            let id = ids[key as usize - 1];
            tale.carries(&[id], time);
        }
        tale
    };
    assert_found!(of(2, 3), []);
    assert_found!(
        of(3, 2),
        [Violation::PassedBy {
            first: SubmissionId(1),
            by: SubmissionId(2),
            ..
        }]
    );
    assert_found!(of(3, 2).held_up(13, 14), []);
}

#[test]
fn nothing_is_said_of_batches_that_are_not_the_handles_own() {
    let mut tale = Tale::new(lingering());
    let id = tale.asks(1, 10);
    tale.carries(&[id], 11);
    tale.0.pace.carrier = Carrier::Others;
    assert_found!(tale, []);
}

// ---- room -------------------------------------------------------------------------------------------

fn narrow() -> Limits {
    Limits {
        max_queueing: 2,
        max_queueing_per_key: 1,
        ..Limits::default()
    }
}

#[test]
fn there_is_as_much_room_as_there_is_said_to_be() {
    let of = |keys: [u32; 3]| {
        let mut tale = Tale::new(narrow());
        let ids = keys.map(|key| tale.asks(key, 10));
        for id in ids {
            tale.carries(&[id], 10);
        }
        tale
    };
    assert_found!(of([1, 2, 3]), [Violation::NoRoomLeft { queueing: 3, .. }]);
    let mut tale = of([1, 2, 3]);
    tale.0.pace.limits.max_queueing = 3;
    assert_found!(tale, []);
    let mut tale = Tale::new(narrow());
    let ids = [tale.asks(1, 10), tale.asks(1, 10)];
    tale.carries(&ids, 10);
    assert_found!(tale, [Violation::NoRoomAtKey { queueing: 2, .. }]);
}

#[test]
fn who_is_rejected_is_so_since_there_is_no_room() {
    let full = |keys: &[u32], rejected: u32, time| {
        let mut tale = Tale::new(narrow());
        let ids: Vec<_> = keys.iter().map(|&key| tale.asks(key, 10)).collect();
        tale.is_rejected(rejected, time);
        for id in ids {
            tale.carries(&[id], 10);
        }
        tale
    };
    assert_found!(full(&[1, 2], 3, 12), []);
    assert_found!(full(&[1], 1, 12), []);
    assert_found!(full(&[1], 2, 12), [Violation::RoomLeft { .. }]);
    assert_found!(full(&[1, 2], 3, 15), [Violation::RoomLeft { .. }]);
    assert_found!(full(&[1, 2], 3, 15).closing(15), []);
}

#[test]
fn what_a_node_shows_of_itself_is_so() {
    let shows = |change: fn(&mut Stats)| {
        let mut tale = Tale::unbound();
        let ids = [tale.asks(1, 10), tale.asks(1, 11)];
        tale.carries(&ids[..1], 10).carries(&ids[1..], 14);
        let mut stats = Stats::default();
        stats.counters.accepted = 2;
        stats.queueing = 2;
        stats.waiting = 1;
        stats.oldest_wait = millis(1);
        change(&mut stats);
        tale.0.looks.push(Look {
            life: LIFE,
            at: at(12),
            submitted: 2,
            stats,
        });
        tale
    };
    assert_found!(shows(|_| ()), []);
    for change in [
        |stats: &mut Stats| stats.waiting = 2,
        |stats: &mut Stats| stats.queueing = 1,
        |stats: &mut Stats| stats.oldest_wait = millis(2),
    ] {
        assert_found!(shows(change), [Violation::WrongGauge { .. }]);
    }
    for change in [
        |stats: &mut Stats| stats.counters.accepted = 1,
        |stats: &mut Stats| stats.counters.rejected = 1,
    ] {
        assert_found!(shows(change), [Violation::WrongCounter { .. }]);
    }
}

#[test]
fn what_a_node_has_counted_at_rest_is_what_there_was() {
    let counted = |change: fn(&mut Stats)| {
        let mut tale = Tale::unbound();
        let ids = [tale.asks(1, 10), tale.asks(1, 11)];
        let gone = tale.asks(1, 12);
        tale.0.submissions[gone as usize].deserted = Some(at(13));
        tale.carries(&ids[..1], 10).carries(&ids[1..], 14);
        let mut stats = Stats::default();
        stats.counters.accepted = 3;
        stats.counters.withdrawn = 1;
        stats.counters.batches = 2;
        stats.counters.batched = 2;
        stats.counters.largest_batch = 1;
        stats.counters.writes.reads = 2;
        stats.counters.writes.commits = 2;
        stats.counters.writes.faults = 2;
        stats.counters.writes.failed = 2;
        change(&mut stats);
        tale.0.nodes.push(NodeEnd {
            life: LIFE,
            stats,
            tasks_left: 0,
        });
        tale
    };
    assert_found!(counted(|_| ()), []);
    for change in [
        |stats: &mut Stats| stats.counters.accepted += 1,
        |stats: &mut Stats| stats.counters.rejected += 1,
        |stats: &mut Stats| stats.counters.withdrawn -= 1,
        |stats: &mut Stats| stats.counters.expired += 1,
        |stats: &mut Stats| stats.counters.batches -= 1,
        |stats: &mut Stats| stats.counters.largest_batch += 1,
        |stats: &mut Stats| stats.counters.writes.reads -= 1,
        |stats: &mut Stats| stats.counters.writes.commits += 1,
        |stats: &mut Stats| stats.counters.writes.refused += 1,
        |stats: &mut Stats| stats.counters.writes.in_doubt += 1,
        |stats: &mut Stats| stats.counters.writes.faults -= 1,
        |stats: &mut Stats| stats.counters.writes.projections += 1,
        |stats: &mut Stats| stats.counters.writes.splits += 1,
        |stats: &mut Stats| stats.counters.writes.retries += 5,
        |stats: &mut Stats| stats.counters.resumes += 1,
        |stats: &mut Stats| stats.counters.writes.late += 1,
    ] {
        assert_found!(counted(change), [Violation::WrongCounter { .. }]);
    }
}

// ---- deadlines --------------------------------------------------------------------------------------

#[test]
fn a_deadline_is_told_when_it_passes() {
    let told = |time| {
        let mut tale = Tale::unbound();
        let first = tale.asks(1, 10);
        let id = tale.asks_within(1, 11, 5);
        tale.tries(&[first], 10, BUSY)
            .hears(first, 30, Why::Refused);
        tale.hears(id, time, Why::Expired);
        tale
    };
    assert_found!(told(16), []);
    assert_found!(told(15), [Violation::ExpiredTooSoon { .. }]);
    assert_found!(told(17), [Violation::ExpiredTooLate { .. }]);
    assert_found!(told(17).held_up(15, 17), []);
    let mut tale = told(16);
    tale.0.submissions[1].within = None;
    assert_found!(tale, [Violation::NoDeadline { .. }]);
}

#[test]
fn a_try_under_way_is_not_cut_off_and_none_begins_after_a_deadline() {
    let told = |time| {
        let mut tale = Tale::unbound();
        let id = tale.asks_within(1, 10, 3);
        tale.tries(&[id], 10, BUSY).hears(id, time, Why::Expired);
        tale
    };
    assert_found!(told(14), []);
    assert_found!(told(15), [Violation::ExpiredTooLate { .. }]);
    let tried_again = |within| {
        let mut tale = Tale::unbound();
        let id = tale.asks_within(1, 10, within);
        tale.tries(&[id], 10, BUSY).carries(&[id], 20);
        tale
    };
    assert_found!(tried_again(11), []);
    assert_found!(tried_again(10), [Violation::TriedLate { .. }]);
}

// ---- the tries of a batch ---------------------------------------------------------------------------

#[test]
fn what_is_committed_was_looked_for() {
    let mut tale = Tale::unbound();
    let ids = [tale.asks(1, 10), tale.asks(1, 10)];
    tale.carries(&ids, 10);
    assert_found!(tale, []);
    let Ask::Read(named) = &mut tale.0.calls[0].ask else {
        unreachable!("it reads first")
    };
    named.pop();
    assert_found!(
        tale,
        [Violation::NotLookedFor {
            submission: SubmissionId(1),
            ..
        }]
    );
    tale.0.calls[0].ask = Ask::Look;
    assert_found!(
        tale,
        [
            Violation::NotLookedFor { .. },
            Violation::NotLookedFor { .. }
        ]
    );
}

#[test]
fn no_pause_ends_after_the_time_is_up() {
    let again = |time| {
        let mut tale = Tale::unbound();
        let id = tale.asks(1, 10);
        tale.tries(&[id], 10, BUSY).carries(&[id], time);
        tale
    };
    assert_found!(again(110), []);
    assert_found!(again(111), [Violation::TriedTooLong { .. }]);
    assert_found!(again(111).held_up(100, 111), []);
}

#[test]
fn what_is_turned_away_together_or_panics_is_tried_in_halves() {
    let tried = |came: Came, parts: &[&[u64]]| {
        let mut tale = Tale::unbound();
        for _ in 0..4 {
            tale.asks(1, 10);
        }
        tale.tries(&[0, 1, 2, 3], 10, came);
        for (nth, part) in (1..).zip(parts) {
            tale.tries(part, 10 + 4 * nth, BUSY);
        }
        for id in 0..4 {
            tale.hears(id, 50, Why::Store(StoreError::Busy));
        }
        tale
    };
    for came in [TURNED_AWAY, Came::Panicked] {
        assert_found!(tried(came, &[&[0, 1], &[2, 3]]), []);
        assert_found!(
            tried(came, &[&[0, 1], &[2]]),
            [Violation::NotTriedApart {
                submission: SubmissionId(3),
                ..
            }]
        );
        let uneven = tried(came, &[&[0, 1, 2], &[3]]);
        assert_found!(uneven, [Violation::NotHalved { .. }]);
    }
}

// ---- the end, and views -----------------------------------------------------------------------------

#[test]
fn a_node_is_closed_when_everyone_is_answered_and_the_store_is_left_alone() {
    let closed = |time| {
        let mut tale = Tale::unbound();
        let id = tale.asks(1, 10);
        tale.carries(&[id], 10).closed(time);
        tale
    };
    assert_found!(closed(14), []);
    assert_found!(
        closed(13),
        [
            Violation::ClosedTooSoon { .. },
            Violation::StoreAskedAfterClose { .. }
        ]
    );
}

#[test]
fn a_sweeper_resumes_no_more_keys_at_a_time_than_it_is_told() {
    let swept = |keys: &[u32]| {
        let mut tale = Tale::unbound();
        tale.0.has_views = true;
        for &key in keys {
            tale.calls(key, (10, 12), Ask::Look, Came::Done);
        }
        tale
    };
    assert_found!(swept(&[1, 2]), []);
    assert_found!(swept(&[1, 2, 3]), [Violation::SweptTooWide { keys: 3, .. }]);
    // A batch may be at work on one of them.
    let mut tale = swept(&[1, 2, 3]);
    let id = tale.asks(3, 9);
    tale.hears(id, 50, Why::Refused);
    assert_found!(tale, []);
}
