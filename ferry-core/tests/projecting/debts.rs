//! Debts that are found: who rests on a pending record pays first, whoever made it so.

use ferry_core::{Fold, Projection, RecordOf, Step, StepOf};

use crate::{
    actor::{Actor, World},
    deposits::{Account, Accounts, BEYOND, Deposit, Deposits, MISMATCH},
    story::{ONCE, RETRY, Story, deposit, down, patiently, too_large},
    tallied::Tallied::*,
};

/// An account that holds five, by the deposit 9, which nobody has projected.
fn indebted() -> World {
    let world = World::default();
    world.a_rival_commits(9, 5);
    world
}

/// As `indebted`, and projected since.
fn settled() -> World {
    let world = indebted();
    world.a_rival_projects();
    world
}

// ---- inputs that change nothing -----------------------------------------------------------------

#[test]
fn a_duplicate_on_a_pending_record_pays_the_debt_first() {
    let world = indebted();
    let mut story = Story::on(&world, [deposit(9, 5)]);
    story.reads_for(&[9]).hears(&[]).reads_for(&[]);
    story.wants_to_project(1, 0).projection_lands();
    story.hears(&["9: 5, projected"]);
    story.ends(&[Reads(2), Projections(1), Duplicates(1)]);
    world.view_is_whole(&[9]);
}

#[test]
fn a_duplicate_on_a_record_that_is_not_pending_is_answered_at_once() {
    let mut story = Story::on(&settled(), [deposit(9, 5)]);
    story.reads().hears(&["9: 5, projected"]);
    story.ends(&[Reads(1), Duplicates(1)]);
}

#[test]
fn a_duplicate_whose_debt_cannot_be_paid_is_durable_all_the_same() {
    let world = indebted();
    let mut story = Story::on(&world, [deposit(9, 5)]);
    story.reads().reads().projection_fails(too_large());
    story.hears(&["9: 5, committed, too large"]);
    story.ends(&[
        Reads(2),
        Projections(1),
        ProjectionsFailed(1),
        Duplicates(1),
        Late(1),
    ]);
    world.view_is_late(&[]);
}

#[test]
fn a_duplicate_whose_debt_another_pays_is_told_so() {
    let world = indebted();
    let mut story = Story::on(&world, [deposit(9, 5)]);
    story.reads().hears(&[]);
    world.a_rival_projects();
    story.reads().hears(&["9: 5, projected"]);
    story.ends(&[Reads(2), Duplicates(1)]);
}

#[test]
fn the_read_for_a_duplicates_debt_may_fail_and_is_tried_again() {
    let mut story = Story::on(&indebted(), [deposit(9, 5)]);
    story.reads().read_fails(down()).hears(&[]);
    story.sleeps().reads().projection_lands();
    story.hears(&["9: 5, projected"]);
    story.ends(&[
        Reads(3),
        Faults(1),
        Retries(1),
        Projections(1),
        Duplicates(1),
    ]);
}

#[test]
fn what_is_declined_mismatched_or_forgotten_pays_the_debt_first_too() {
    let deposits = [deposit(1, -6), deposit(9, 6), deposit(ANCIENT, 1)];
    let world = indebted();
    let mut story = Story::with(&world, Forgetful, RETRY, patiently(deposits));
    story.reads().hears(&[]).reads_for(&[]).projection_lands();
    story.hears(&[
        &format!("1: {BEYOND}, projected"),
        &format!("9: {MISMATCH}, projected"),
        &format!("0: {FORGOTTEN}, projected"),
    ]);
    story.ends(&[
        Reads(2),
        Projections(1),
        Declined(1),
        Mismatches(1),
        TooOld(1),
    ]);
    world.view_is_whole(&[9]);
}

#[test]
fn what_is_declined_mismatched_or_forgotten_without_a_debt_is_answered_at_once() {
    let deposits = [deposit(1, -6), deposit(9, 6), deposit(ANCIENT, 1)];
    let mut story = Story::with(&settled(), Forgetful, RETRY, patiently(deposits));
    story.reads().hears(&[
        &format!("1: {BEYOND}, projected"),
        &format!("9: {MISMATCH}, projected"),
        &format!("0: {FORGOTTEN}, projected"),
    ]);
    story.ends(&[Reads(1), Declined(1), Mismatches(1), TooOld(1)]);
}

#[test]
fn where_there_is_no_record_there_is_no_debt() {
    let mut story = Story::of([deposit(1, -6), deposit(2, -1)]);
    story.reads().hears(&[
        &format!("1: {BEYOND}, projected"),
        &format!("2: {BEYOND}, projected"),
    ]);
    story.ends(&[Reads(1), Declined(2)]);
}

#[test]
fn inputs_that_all_fail_leave_a_debt_to_others() {
    let world = indebted();
    let mut story = Story::on(&world, [deposit(1, 50)]);
    story.reads().commit_fails(too_large());
    story.hears(&["1: not committed, too large"]);
    story.ends(&[Reads(1), Commits(1), Faults(1), Failed(1)]);
    world.view_is_late(&[]);
}

// ---- beside inputs that change something --------------------------------------------------------

#[test]
fn one_projection_serves_a_duplicate_and_what_is_applied_behind_it() {
    let world = indebted();
    let mut story = Story::on(&world, [deposit(9, 5), deposit(1, 50), deposit(9, 5)]);
    story.reads().hears(&[]).wants_to_commit(&[1]);
    story.commit_lands().hears(&[]).wants_to_project(2, 0);
    story.projection_lands();
    story.hears(&["9: 5, projected", "1: 55, projected", "9: 5, projected"]);
    story.ends(&[
        Reads(1),
        Commits(1),
        Projections(1),
        Applied(1),
        Duplicates(2),
    ]);
    world.view_is_whole(&[9, 1]);
}

#[test]
fn a_duplicate_that_waits_hears_of_its_debt_though_what_is_applied_behind_it_fails() {
    let world = indebted();
    let mut story = Story::on(&world, [deposit(9, 5), deposit(1, 50)]);
    story
        .reads()
        .commit_fails(too_large())
        .hears(&["1: not committed, too large"]);
    story
        .reads_for(&[])
        .wants_to_project(1, 0)
        .projection_lands();
    story.hears(&["9: 5, projected"]);
    story.ends(&[
        Reads(2),
        Commits(1),
        Faults(1),
        Projections(1),
        Duplicates(1),
        Failed(1),
    ]);
}

#[test]
fn the_call_fails_only_for_inputs_whose_commit_is_not_known_to_have_happened() {
    let world = indebted();
    let mut story = Story::retrying(&world, ONCE, [deposit(9, 5), deposit(1, 50)]);
    story.reads().commit_goes_adrift().hears(&[]);
    story.reads_for(&[1]).hears(&["1: in doubt, timed out"]);
    // The commit lands after all; the projection is of that, too.
    world.the_adrift_lands();
    story.reads_for(&[]).wants_to_project(2, 0);
    story
        .projection_fails(down())
        .hears(&["9: 5, committed, down"]);
    story.ends(&[
        Reads(3),
        Commits(1),
        InDoubt(1),
        Projections(1),
        ProjectionsFailed(1),
        Duplicates(1),
        Failed(1),
        Late(1),
    ]);
}

#[test]
fn a_commit_that_landed_unheard_is_projected_when_it_is_found() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands_unheard().hears(&[]);
    story.sleeps().reads_for(&[1]).hears(&[]);
    story
        .reads_for(&[])
        .wants_to_project(1, 0)
        .projection_lands();
    story.hears(&["1: 50, projected"]);
    story.ends(&[
        Reads(3),
        Commits(1),
        InDoubt(1),
        Retries(1),
        Projections(1),
        Duplicates(1),
    ]);
}

#[test]
fn a_commit_that_is_found_after_its_last_try_is_projected_too() {
    let world = World::default();
    let mut story = Story::retrying(&world, ONCE, [deposit(1, 50), deposit(2, -60)]);
    story.reads().commit_panics().hears(&[]);
    // Each half is read on its own; what the second half is declined rests on the first.
    story.reads_for(&[1]).hears(&[]);
    story.reads_for(&[2]).hears(&[]);
    story.reads_for(&[]).projection_lands();
    story.hears(&["1: 50, projected", &format!("2: {BEYOND}, projected")]);
    world.view_is_whole(&[1]);
}

#[test]
fn after_the_last_refusal_what_is_found_in_the_record_is_projected() {
    let world = World::default();
    let mut story = Story::retrying(&world, ONCE, [deposit(1, 50), deposit(2, 10)]);
    story.reads();
    world.a_rival_commits(1, 50);
    story.commit_is_refused().reads_for(&[1, 2]);
    story.hears(&["2: not committed, refused"]);
    story
        .reads_for(&[])
        .wants_to_project(1, 0)
        .projection_lands();
    story.hears(&["1: 50, projected"]);
    world.view_is_whole(&[1]);
}

// ---- earlier debts ------------------------------------------------------------------------------

#[test]
fn a_later_success_does_not_clear_an_earlier_debt_without_paying_it() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands().projection_fails(too_large());
    story.hears(&["1: 50, committed, too large"]);
    let world = story.world.clone();
    world.view_is_late(&[]);

    let mut next = Story::on(&world, [deposit(2, 10)]);
    next.reads().commit_lands().wants_to_project(2, 0);
    next.projection_lands().hears(&["2: 60, projected"]);
    world.view_is_whole(&[1, 2]);
}

#[test]
fn a_projection_that_always_fails_stops_no_commit() {
    let world = World::default();
    for id in 1..=5 {
        let mut story = Story::retrying(&world, ONCE, [deposit(id, 10)]);
        story.reads().commit_lands().projection_fails(down());
        let balance = 10 * id;
        story.hears(&[&format!("{id}: {balance}, committed, down")]);
    }
    assert_eq!(world.store().ids(), [1, 2, 3, 4, 5]);
    world.view_is_late(&[]);

    let mut story = Story::on(&world, [deposit(3, 10)]);
    story
        .reads()
        .reads()
        .wants_to_project(5, 0)
        .projection_lands();
    story.hears(&["3: 30, projected"]);
    world.view_is_whole(&[1, 2, 3, 4, 5]);
}

/// Remembers nothing of the deposit 0.
struct Forgetful;

const ANCIENT: u64 = 0;
const FORGOTTEN: i64 = -3;

impl Fold for Forgetful {
    type Schema = Accounts;
    type Input = Deposit;
    type Outcome = i64;

    fn id(&self, deposit: &Deposit) -> u64 {
        Deposits.id(deposit)
    }

    fn empty(&self, account: &u64) -> Account {
        Deposits.empty(account)
    }

    fn step(&self, account: &mut Account, deposit: &Deposit) -> StepOf<Self> {
        match deposit.id {
            ANCIENT => Step::TooOld(FORGOTTEN),
            _ => Deposits.step(account, deposit),
        }
    }
}

impl Projection for Forgetful {
    type View = Vec<u64>;

    fn pending(&self, account: &RecordOf<Accounts>) -> bool {
        Deposits.pending(account)
    }
}
