//! Folding, splitting, retrying and ending, where nothing is in doubt.

use core::time::Duration;

use ferry_core::{
    Fault, Fold, Instant, Retry, StepOf,
    fold_write::{Command, FoldWrite},
};

use crate::{
    deposits::{Account, BEYOND, Deposit, Deposits, MISMATCH, POISON, batch},
    store::error,
    story::{ACCOUNT, RETRY, Story, by, deposit},
};

const MS: Duration = Duration::from_millis(1);

fn down() -> Fault<std::io::Error> {
    Fault::transient(error("down"))
}

fn too_large() -> Fault<std::io::Error> {
    Fault::permanent(error("too large"))
}

// ---- the fold -------------------------------------------------------------------------------------

#[test]
fn a_batch_is_folded_in_order_and_answered_when_it_landed() {
    let mut story = Story::of([deposit(1, 50), deposit(2, 10), deposit(3, -60)]);
    story.reads_for(&[1, 2, 3]).hears(&[]);
    story
        .wants_to_commit(&[1, 2, 3])
        .commit_lands()
        .hears(&["1: 50", "2: 60", "3: 0"]);
    let tally = story.ends();
    assert_eq!((tally.reads, tally.commits, tally.applied), (1, 1, 3));
    assert_eq!(story.store.balance(), 0);
}

#[test]
fn a_commit_is_fenced_on_what_was_read() {
    let mut story = Story::of([deposit(1, 50)]);
    story.a_rival_commits(9, 5).reads();
    story.a_rival_commits(8, 5).commit_is_refused();
    story
        .sleeps()
        .reads()
        .commit_lands()
        .hears(&["1: 60"])
        .ends();
    assert_eq!(story.store.ids(), [9, 8, 1]);
}

#[test]
fn an_absent_record_is_fenced_on_being_absent() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().a_rival_commits(9, 5).commit_is_refused();
    story
        .sleeps()
        .reads()
        .commit_lands()
        .hears(&["1: 55"])
        .ends();
}

#[test]
fn an_input_refused_by_the_fold_costs_the_others_nothing() {
    let cents = [10, 10, -30, 10, 10];
    let mut story = Story::of((1..).zip(cents).map(|(id, cents)| deposit(id, cents)));
    story
        .reads()
        .hears(&[])
        .wants_to_commit(&[1, 2, 4, 5])
        .commit_lands();
    story.hears(&["1: 10", "2: 20", &format!("3: {BEYOND}"), "4: 30", "5: 40"]);
    let tally = story.ends();
    assert_eq!((tally.applied, tally.declined), (4, 1));
}

#[test]
fn what_rests_on_the_record_alone_is_answered_before_the_commit() {
    let mut story = Story::of([deposit(1, -5), deposit(9, 5), deposit(8, 1)]);
    story.a_rival_commits(9, 5).a_rival_commits(7, -5);
    story.reads().hears(&[&format!("1: {BEYOND}"), "9: 5"]);
    story
        .wants_to_commit(&[8])
        .commit_lands()
        .hears(&["8: 1"])
        .ends();
}

#[test]
fn what_rests_on_an_input_before_it_waits_for_the_commit() {
    // Beyond the balance only since the withdrawal before it.
    let mut story = Story::of([deposit(1, -5), deposit(2, -5)]);
    story.a_rival_commits(9, 5);
    story
        .reads()
        .hears(&[])
        .wants_to_commit(&[1])
        .commit_lands();
    story.hears(&["1: 0", &format!("2: {BEYOND}")]).ends();
}

#[test]
fn where_nothing_is_applied_nothing_is_written() {
    let mut story = Story::of([deposit(1, -5), deposit(9, 5), deposit(9, 6)]);
    story.a_rival_commits(9, 5).a_rival_commits(8, -5);
    story
        .reads()
        .hears(&[&format!("1: {BEYOND}"), "9: 5", &format!("9: {MISMATCH}")]);
    let tally = story.ends();
    assert_eq!((tally.reads, tally.commits), (1, 0));
    assert_eq!(
        (tally.declined, tally.duplicates, tally.mismatches),
        (1, 1, 1)
    );
}

#[test]
fn a_batch_with_nothing_in_it_needs_no_store() {
    let mut batch = batch(ACCOUNT, [deposit(1, 50)]);
    assert_eq!(batch.drain().len(), 1);
    let write = FoldWrite::new(Deposits, RETRY).unwrap();
    let command = write.call(1).start(Instant::EPOCH, batch);
    assert!(matches!(command, Command::Done(_)), "{command:?}");
}

// ---- duplicates -----------------------------------------------------------------------------------

#[test]
fn the_same_id_twice_in_a_batch_is_applied_once_and_both_hear_so() {
    let mut story = Story::of([deposit(1, 50), deposit(2, 10), deposit(1, 50)]);
    story
        .reads()
        .hears(&[])
        .wants_to_commit(&[1, 2])
        .commit_lands();
    story.hears(&["1: 50", "2: 60", "1: 50"]);
    let tally = story.ends();
    assert_eq!((tally.applied, tally.duplicates), (2, 1));
}

#[test]
fn the_same_id_in_a_later_batch_hears_the_whole_first_outcome() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands().hears(&["1: 50"]);
    let (_, call) = story.ends_with_call();
    // The balance has moved on; the answer is the one first given.
    story.a_rival_commits(9, 100);
    story.begins(call, [(deposit(1, 50), None)]);
    story.reads().hears(&["1: 50"]).ends();
    assert_eq!(story.store.ids(), [1, 9]);
}

#[test]
fn an_id_that_another_process_applies_while_it_is_in_flight_is_not_applied_again() {
    let mut story = Story::of([deposit(1, 50), deposit(2, 10)]);
    story.reads().a_rival_commits(1, 50).commit_is_refused();
    story
        .sleeps()
        .reads()
        .hears(&["1: 50"])
        .wants_to_commit(&[2])
        .commit_lands();
    story.hears(&["2: 60"]).ends();
    assert_eq!(story.store.ids(), [1, 2]);
}

#[test]
fn an_id_with_other_content_is_told_apart_and_changes_nothing() {
    let mut story = Story::of([deposit(1, 50), deposit(1, 51), deposit(2, 1)]);
    story
        .reads()
        .hears(&[])
        .wants_to_commit(&[1, 2])
        .commit_lands();
    story.hears(&["1: 50", &format!("1: {MISMATCH}"), "2: 51"]);
    assert_eq!(story.ends().mismatches, 1);
    assert_eq!(story.store.balance(), 51);
}

// ---- panics ---------------------------------------------------------------------------------------

#[test]
fn a_panic_in_step_fails_its_input_alone() {
    let mut story = Story::of([deposit(1, 50), deposit(2, POISON), deposit(3, 10)]);
    story.reads_for(&[1, 2, 3]);
    story.hears(&[&format!("2: not committed, panicked {PANIC}")]);
    story
        .reads_for(&[1, 3])
        .wants_to_commit(&[1, 3])
        .commit_lands()
        .hears(&["1: 50", "3: 60"]);
    let tally = story.ends();
    assert_eq!((tally.failed, tally.splits, tally.commits), (1, 0, 1));
}

const PANIC: &str = "assertion `left != right` failed: the poison amount";

#[test]
fn several_panics_in_step_fail_their_inputs_and_no_other() {
    let poison = |id| deposit(id, POISON);
    let mut story = Story::of([poison(1), deposit(2, 10), poison(3), poison(4)]);
    for id in [1, 3, 4] {
        story
            .reads()
            .hears(&[&format!("{id}: not committed, panicked {PANIC}")]);
    }
    story
        .reads()
        .wants_to_commit(&[2])
        .commit_lands()
        .hears(&["2: 10"])
        .ends();
}

#[test]
fn a_panic_in_step_of_an_input_in_doubt_leaves_it_in_doubt() {
    // Deposits of the id 13 panic once the account has anything.
    let mut story = Story::with(Fragile, RETRY, [(deposit(UNLUCKY, 50), None)]);
    story.reads().commit_goes_adrift().a_rival_commits(9, 5);
    story
        .sleeps()
        .reads()
        .hears(&["13: in doubt, panicked the unlucky step"])
        .ends();
}

#[test]
fn a_panic_over_an_id_fails_its_input_alone() {
    let deposits = [deposit(1, 50), deposit(2, NAMELESS), deposit(3, 10)];
    let mut story = Story::with(Fragile, RETRY, deposits.map(|deposit| (deposit, None)));
    story.hears(&["2: not committed, panicked the nameless input"]);
    story
        .reads_for(&[1, 3])
        .commit_lands()
        .hears(&["1: 50", "3: 60"])
        .ends();
}

#[test]
fn a_panic_over_every_id_needs_no_store() {
    let deposits = [deposit(1, NAMELESS), deposit(2, NAMELESS)];
    let mut story = Story::with(Fragile, RETRY, deposits.map(|deposit| (deposit, None)));
    story.hears(&[
        "1: not committed, panicked the nameless input",
        "2: not committed, panicked the nameless input",
    ]);
    assert_eq!(story.ends().reads, 0);
}

#[test]
fn a_panic_over_the_empty_state_fails_the_batch_and_the_next_read_may_do_better() {
    let deposits = [(deposit(1, 50), None), (deposit(2, 10), None)];
    let mut story = Story::with(Barren, RETRY, deposits);
    story.reads().hears(&[
        "1: not committed, panicked nothing to begin with",
        "2: not committed, panicked nothing to begin with",
    ]);
    let (_, call) = story.ends_with_call();
    story.a_rival_commits(9, 5);
    story.begins(call, [(deposit(1, 50), None)]);
    story.reads().commit_lands().hears(&["1: 55"]).ends();
}

/// Panics for some ids and amounts where `Deposits` does not.
struct Fragile;

const UNLUCKY: u64 = 13;
const NAMELESS: i64 = 777;

impl Fold for Fragile {
    type Schema = crate::deposits::Accounts;
    type Input = Deposit;
    type Outcome = i64;

    fn id(&self, deposit: &Deposit) -> u64 {
        assert!(deposit.cents != NAMELESS, "the nameless input");
        deposit.id
    }

    fn empty(&self, account: &u64) -> Account {
        Deposits.empty(account)
    }

    fn step(&self, account: &mut Account, deposit: &Deposit) -> StepOf<Self> {
        assert!(
            deposit.id != UNLUCKY || account.balance == 0,
            "the unlucky step"
        );
        Deposits.step(account, deposit)
    }
}

/// Has no empty state.
struct Barren;

impl Fold for Barren {
    type Schema = crate::deposits::Accounts;
    type Input = Deposit;
    type Outcome = i64;

    fn id(&self, deposit: &Deposit) -> u64 {
        deposit.id
    }

    fn empty(&self, _account: &u64) -> Account {
        panic!("nothing to begin with")
    }

    fn step(&self, account: &mut Account, deposit: &Deposit) -> StepOf<Self> {
        Deposits.step(account, deposit)
    }
}

// ---- splitting ------------------------------------------------------------------------------------

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

// ---- trying again ---------------------------------------------------------------------------------

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
    story.read_fails(Fault::throttled(error("slow down"), Some(hint)));
    assert!(story.pause() >= hint);
    story
        .sleeps()
        .reads()
        .commit_fails(Fault::throttled(error("slow down"), Some(hint)));
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
    story
        .reads()
        .commit_fails(Fault::throttled(error("slow down"), Some(9 * MS)));
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
    story
        .reads()
        .takes(40 * MS)
        .commit_fails(Fault::throttled(error("busy"), Some(MS)));
    story
        .sleeps()
        .hears(&[])
        .reads()
        .commit_fails(Fault::throttled(error("busy"), Some(MS)));
    story.hears(&["1: not committed, busy"]).ends();
}

#[test]
fn a_hint_beyond_the_time_is_not_waited_for() {
    let mut story = Story::of([deposit(1, 50)]);
    story.read_fails(Fault::throttled(error("busy"), Some(RETRY.total + MS)));
    story.hears(&["1: not committed, busy"]).ends();
}

// ---- deadlines ------------------------------------------------------------------------------------

#[test]
fn an_input_that_expires_between_tries_leaves_at_once_and_the_others_go_on() {
    let mut story = Story::within([(deposit(1, 50), by(2)), (deposit(2, 10), None)]);
    story
        .reads()
        .commit_fails(Fault::throttled(error("busy"), Some(9 * MS)));
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
    story
        .reads()
        .commit_fails(Fault::throttled(error("busy"), Some(9 * MS)));
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
    story
        .reads()
        .commit_fails(Fault::throttled(error("busy"), Some(9 * MS)));
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

// ---- a call used again ----------------------------------------------------------------------------

#[test]
fn a_call_used_again_knows_nothing_of_the_batch_before() {
    let mut story = Story::of([deposit(1, 50), deposit(2, 10)]);
    for _ in 1..RETRY.attempts {
        story.reads().commit_goes_adrift().sleeps();
    }
    story.reads().commit_fails(too_large());
    story.reads().commit_fails(too_large());
    story.reads().commit_fails(too_large());
    story.hears(&["1: in doubt, too large", "2: in doubt, too large"]);
    let (before, call) = story.ends_with_call();
    assert_eq!((before.reads, before.in_doubt, before.failed), (6, 3, 2));

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
