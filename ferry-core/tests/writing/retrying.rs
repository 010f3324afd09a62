//! Splitting, trying again, giving up and ending.

use core::time::Duration;
use std::rc::Rc;

use ferry_core::{
    Fault, Fold, Instant, Retry, Schema, Step, StepOf,
    fold_write::{Command, FoldWrite},
    per_key::{self, Limits, PerKey},
};

use crate::{
    deposits::{Deposits, Hasher},
    story::{RETRY, Story, busy, by, deposit, down, too_large},
    words::error,
};

const MS: Duration = Duration::from_millis(1);

// ---- splitting ----------------------------------------------------------------------------------

#[test]
fn a_permanent_failure_splits_until_the_input_at_fault_fails_alone() {
    let mut story = Story::of([1, 2, 3, 4, 5].map(|id| deposit(id, 10)));
    // The fourth is too large.
    story
        .reads()
        .wants_to_commit(&[1, 2, 3, 4, 5])
        .commit_fails(too_large())
        .hears(&[]);
    story
        .reads()
        .wants_to_commit(&[1, 2, 3])
        .commit_lands()
        .hears(&["1: 10", "2: 20", "3: 30"]);
    story
        .reads()
        .wants_to_commit(&[4, 5])
        .commit_fails(too_large())
        .hears(&[]);
    story
        .reads()
        .wants_to_commit(&[4])
        .commit_fails(too_large());
    story.hears(&["4: not committed, too large"]);
    story
        .reads()
        .wants_to_commit(&[5])
        .commit_lands()
        .hears(&["5: 40"]);
    let tally = story.ends();
    assert_eq!((tally.splits, tally.applied, tally.failed), (2, 4, 1));
    assert_eq!(story.store.ids(), [1, 2, 3, 5]);
}

#[test]
fn one_input_at_fault_costs_twice_the_logarithm_in_commits() {
    for at_fault in 0..64 {
        let mut story = Story::of((0..64).map(|id| deposit(id, 10)));
        let mut commits = 0;
        while commits < 13 {
            commits += 1;
            story.reads();
            match story.would_commit(at_fault) {
                true => story.commit_fails(too_large()),
                false => story.commit_lands(),
            };
        }
        let heard: Vec<_> = story.command().answers().collect();
        assert_eq!(heard.len(), 64);
        assert!(
            heard
                .iter()
                .all(|heard| heard.result.is_ok() == (heard.input.id != at_fault))
        );
        story.ends();
        assert_eq!(
            story.store.ids(),
            (0..64).filter(|&id| id != at_fault).collect::<Vec<_>>()
        );
    }
}

#[test]
fn a_permanent_failure_is_not_tried_again_as_it_is() {
    let mut story = Story::of([deposit(1, 50)]);
    story
        .reads()
        .commit_fails(too_large())
        .hears(&["1: not committed, too large"]);
    assert_eq!(story.ends().commits, 1);
}

#[test]
fn each_part_of_a_split_batch_has_all_its_tries() {
    let retry = Retry {
        attempts: 2,
        ..RETRY
    };
    let mut story = Story::retrying(retry, [deposit(1, 50), deposit(2, 10)]);
    story.reads().commit_fails(down());
    story.sleeps().reads().commit_fails(too_large());
    story.reads().commit_fails(down());
    story
        .sleeps()
        .reads()
        .commit_fails(down())
        .hears(&["1: not committed, down"]);
    story.reads().commit_fails(down());
    story
        .sleeps()
        .reads()
        .commit_lands()
        .hears(&["2: 10"])
        .ends();
}

#[test]
fn a_part_that_was_refused_to_the_end_leaves_the_next_part_its_commit() {
    let once = Retry {
        attempts: 1,
        ..RETRY
    };
    let mut story = Story::retrying(once, [deposit(1, 50), deposit(2, 10)]);
    story.reads().commit_fails(too_large());
    story.reads().a_rival_commits(9, 5).commit_is_refused();
    story.reads_for(&[1]).hears(&["1: not committed, refused"]);
    story
        .reads_for(&[2])
        .commit_lands()
        .hears(&["2: 15"])
        .ends();
}

#[test]
fn a_read_that_fails_for_an_id_splits_too() {
    let mut story = Story::of([deposit(1, 50), deposit(2, 10), deposit(3, 1)]);
    let malformed = || Fault::permanent(error("malformed id"));
    story.read_fails(malformed());
    story
        .reads_for(&[1, 2])
        .commit_lands()
        .hears(&["1: 50", "2: 60"]);
    story
        .read_fails(malformed())
        .hears(&["3: not committed, malformed id"])
        .ends();
}

#[test]
fn a_read_that_panics_for_an_id_splits_too() {
    let mut story = Story::of([deposit(1, 50), deposit(2, 10)]);
    story.read_panics();
    story
        .read_panics()
        .hears(&["1: not committed, panicked in read"]);
    story
        .reads_for(&[2])
        .commit_lands()
        .hears(&["2: 10"])
        .ends();
}

// ---- trying again -------------------------------------------------------------------------------

#[test]
fn a_failed_commit_is_read_and_folded_again() {
    let mut story = Story::of([deposit(1, 50), deposit(2, 10)]);
    story.reads().commit_fails(down()).hears(&[]);
    story.a_rival_commits(9, 5);
    story
        .sleeps()
        .reads()
        .wants_to_commit(&[1, 2])
        .commit_lands()
        .hears(&["1: 55", "2: 65"])
        .ends();
    assert_eq!(story.store.ids(), [9, 1, 2]);
}

#[test]
fn pauses_grow_no_further_than_the_ceiling() {
    let mut story = Story::of([deposit(1, 50)]);
    for ceiling in [10, 20, 40] {
        story.reads().commit_fails(down());
        assert!(story.pause() <= ceiling * MS, "{:?}", story.pause());
        story.sleeps();
    }
}

#[test]
fn a_throttling_store_is_given_the_pause_it_asks_for() {
    let hint = Duration::from_secs(3);
    let mut story = Story::of([deposit(1, 50)]);
    story.read_fails(busy(hint));
    assert!(story.pause() >= hint);
    story.sleeps().reads().commit_fails(busy(hint));
    assert!(story.pause() >= hint);
    story
        .sleeps()
        .reads()
        .commit_lands()
        .hears(&["1: 50"])
        .ends();
}

#[test]
fn woken_too_early_it_sleeps_on_for_what_is_left() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_fails(busy(9 * MS));
    let pause = story.pause();
    story.sleeps_for(4 * MS);
    assert_eq!(story.pause(), pause - 4 * MS);
    story.sleeps_for(Duration::ZERO);
    assert_eq!(story.pause(), pause - 4 * MS);
    story
        .sleeps()
        .reads()
        .commit_lands()
        .hears(&["1: 50"])
        .ends();
}

#[test]
fn when_the_attempts_are_used_up_the_last_cause_is_told() {
    let mut story = Story::of([deposit(1, 50), deposit(2, 10)]);
    story.read_fails(Fault::transient(error("cut off")));
    for _ in 1..RETRY.attempts {
        story.sleeps().hears(&[]).reads().commit_fails(down());
    }
    story.hears(&["1: not committed, down", "2: not committed, down"]);
    let tally = story.ends();
    assert_eq!((tally.reads, tally.faults), (4, 4));
}

#[test]
fn when_the_time_is_used_up_there_are_no_more_attempts() {
    let retry = Retry {
        total: 50 * MS,
        ..RETRY
    };
    let mut story = Story::retrying(retry, [deposit(1, 50)]);
    story.reads().takes(40 * MS).commit_fails(busy(MS));
    story.sleeps().hears(&[]).reads().commit_fails(busy(MS));
    story.hears(&["1: not committed, busy"]).ends();
}

#[test]
fn a_hint_beyond_the_time_is_not_waited_for() {
    let mut story = Story::of([deposit(1, 50)]);
    story.read_fails(busy(RETRY.total + MS));
    story.hears(&["1: not committed, busy"]).ends();
}

// ---- deadlines ----------------------------------------------------------------------------------

#[test]
fn an_input_that_expires_between_tries_leaves_at_once_and_the_others_go_on() {
    let mut story = Story::within([(deposit(1, 50), by(2)), (deposit(2, 10), None)]);
    story.reads().commit_fails(busy(9 * MS));
    assert_eq!(story.pause(), 2 * MS);
    story.sleeps().hears(&["1: not committed, expired"]);
    story
        .sleeps()
        .reads_for(&[2])
        .commit_lands()
        .hears(&["2: 10"]);
    assert_eq!(story.ends().expired, 1);
    assert_eq!(story.store.ids(), [2]);
}

#[test]
fn an_input_of_a_part_that_is_not_yet_its_turn_expires_at_once_too() {
    let mut story = Story::within([(deposit(1, 50), None), (deposit(2, 10), by(2))]);
    story.reads().commit_fails(too_large());
    story.reads().commit_fails(busy(9 * MS));
    assert_eq!(story.pause(), 2 * MS);
    story.sleeps().hears(&["2: not committed, expired"]);
    story
        .sleeps()
        .reads()
        .commit_lands()
        .hears(&["1: 50"])
        .ends();
}

#[test]
fn when_the_last_input_expires_the_trip_ends() {
    let mut story = Story::within([(deposit(1, 50), by(2)), (deposit(2, 10), by(2))]);
    story.reads().commit_fails(busy(9 * MS));
    story
        .sleeps()
        .hears(&["1: not committed, expired", "2: not committed, expired"])
        .ends();
}

#[test]
fn a_deadline_that_passes_during_the_commit_does_not_undo_what_landed() {
    let mut story = Story::within([(deposit(1, 50), by(2))]);
    story
        .takes(5 * MS)
        .reads()
        .takes(5 * MS)
        .commit_lands()
        .hears(&["1: 50"])
        .ends();
}

#[test]
fn an_input_that_expires_during_a_try_that_is_turned_away_for_good_is_not_tried_again() {
    let mut story = Story::within([(deposit(1, 50), by(2)), (deposit(2, 10), None)]);
    story.reads().takes(5 * MS).commit_fails(too_large());
    story.hears(&["1: not committed, expired"]);
    story
        .reads_for(&[2])
        .commit_lands()
        .hears(&["2: 10"])
        .ends();
    assert_eq!(story.store.ids(), [2]);
}

#[test]
fn an_input_that_has_expired_before_the_start_never_goes() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands().hears(&["1: 50"]);
    let (_, call) = story.ends_with_call();
    story
        .takes(5 * MS)
        .begins(call, [(deposit(2, 10), by(5)), (deposit(3, 1), by(6))]);
    story.hears(&["2: not committed, expired"]);
    story
        .reads_for(&[3])
        .commit_lands()
        .hears(&["3: 51"])
        .ends();
}

// ---- a call used again --------------------------------------------------------------------------

#[test]
fn a_call_used_again_knows_nothing_of_the_batch_before() {
    let mut story = Story::of([deposit(1, 50), deposit(2, 10)]);
    for _ in 1..RETRY.attempts {
        story.reads().commit_goes_adrift().sleeps();
    }
    story.reads().commit_fails(too_large());
    story.reads().commit_fails(too_large()).reads();
    story.reads().commit_fails(too_large()).reads();
    story.hears(&["1: in doubt, too large", "2: in doubt, too large"]);
    let (before, call) = story.ends_with_call();
    assert_eq!((before.reads, before.in_doubt, before.failed), (8, 3, 2));

    story.takes(Duration::from_secs(3600));
    story.begins(call, [(deposit(3, 5), None)]);
    for _ in 1..RETRY.attempts {
        story
            .reads_for(&[3])
            .commit_fails(down())
            .hears(&[])
            .sleeps();
    }
    story
        .reads()
        .wants_to_commit(&[3])
        .commit_fails(too_large());
    story.hears(&["3: not committed, too large"]);
    let tally = story.ends();
    assert_eq!(
        (tally.reads, tally.commits, tally.failed, tally.in_doubt),
        (4, 4, 1, 0)
    );
}

#[test]
fn a_call_used_again_after_it_gave_up_has_all_its_attempts() {
    let mut story = Story::retrying(
        Retry {
            attempts: 2,
            ..RETRY
        },
        [deposit(1, 50)],
    );
    story
        .reads()
        .commit_fails(down())
        .sleeps()
        .reads()
        .commit_fails(down());
    story.hears(&["1: not committed, down"]);
    let (_, call) = story.ends_with_call();
    story.begins(call, [(deposit(1, 50), None)]);
    story
        .reads()
        .commit_fails(down())
        .sleeps()
        .reads()
        .commit_lands()
        .hears(&["1: 50"])
        .ends();
}

#[test]
fn a_call_at_rest_holds_nothing_of_its_batch() {
    let mut per_key = PerKey::new(Limits::default(), Hasher::default()).unwrap();
    let input = Rc::new(());
    per_key
        .submit(Instant::EPOCH, 7, Rc::clone(&input))
        .unwrap();
    let Some(per_key::Command::Dispatch(batch)) = per_key.poll() else {
        panic!("no batch");
    };
    let call = FoldWrite::new(Sharing, RETRY).unwrap().call(1);
    let Command::Read(read) = call.start(Instant::EPOCH, batch) else {
        panic!("no read");
    };
    let Command::Commit(commit) = read.resume(Instant::EPOCH, Ok(None)) else {
        panic!("no commit");
    };
    assert_eq!(
        Rc::strong_count(&input),
        3,
        "ours, the input, and the entry"
    );
    let mut command = commit.resume(Instant::EPOCH, Ok(1));
    command.answers().for_each(drop);
    let Command::Done(done) = command else {
        panic!("not done");
    };
    let _batch_and_call = done.finish();
    assert_eq!(Rc::strong_count(&input), 1);
}

/// The entry shares what the input holds.
struct Sharing;

impl Schema for Sharing {
    type Key = u8;
    type Id = u8;
    type State = ();
    type Version = u8;
    type Entry = Rc<()>;
    type Error = std::io::Error;
}

impl Fold for Sharing {
    type Schema = Self;
    type Input = Rc<()>;
    type Outcome = ();

    fn id(&self, _: &Rc<()>) -> u8 {
        0
    }

    fn empty(&self, _: &u8) {}

    fn step(&self, _: &mut (), input: &Rc<()>) -> StepOf<Self> {
        Step::Applied(Rc::clone(input), ())
    }
}

#[test]
fn a_retry_that_makes_no_sense_is_refused() {
    assert!(
        FoldWrite::new(
            Deposits,
            Retry {
                attempts: 0,
                ..RETRY
            }
        )
        .is_err()
    );
}
