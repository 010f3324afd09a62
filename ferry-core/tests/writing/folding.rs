//! What a batch is folded to, and what its callers hear.

use ferry_core::{
    Fold, Instant, Retry, StepOf,
    fold_write::{Command, FoldWrite},
};

use crate::{
    deposits::{Account, Accounts, BEYOND, Deposit, Deposits, MISMATCH, POISON, batch},
    story::{ACCOUNT, RETRY, Story, deposit},
};

// ---- the fold -----------------------------------------------------------------------------------

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

// ---- duplicates ---------------------------------------------------------------------------------

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

// ---- panics -------------------------------------------------------------------------------------

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
fn a_panic_in_step_at_the_read_after_the_last_refusal_starts_no_further_try() {
    let once = Retry {
        attempts: 1,
        ..RETRY
    };
    let deposits = [(deposit(UNLUCKY, 50), None), (deposit(1, 10), None)];
    let mut story = Story::with(Fragile, once, deposits);
    story.reads().a_rival_commits(9, 5).commit_is_refused();
    story
        .reads()
        .hears(&["13: in doubt, panicked the unlucky step"]);
    story
        .reads_for(&[1])
        .hears(&["1: not committed, refused"])
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
    type Schema = Accounts;
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
    type Schema = Accounts;
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
