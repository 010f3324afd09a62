//! Projections that land in part: who is covered is answered, and the others wait for the rest.

use ferry_core::{Fold, Projection, RecordOf, StepOf};

use crate::{
    actor::{Actor, World},
    deposits::{Account, Accounts, BEYOND, Deposit, Deposits, MISMATCH},
    story::{MS, ONCE, RETRY, Story, busy, by, deposit, down, patiently, too_large},
    tallied::Tallied::*,
};

#[test]
fn who_is_covered_is_answered_and_the_others_after_a_further_try() {
    let mut story = Story::of([1, 2, 3].map(|id| deposit(id, 10)));
    story.reads().commit_lands();
    story.projection_lands_for(&[1, 3], down());
    story.hears(&["1: 10, projected", "3: 30, projected"]);
    story.world.view_is_late(&[1, 3]);
    story.sleeps().reads_for(&[]).wants_to_project(1, 0);
    story.projection_lands().hears(&["2: 20, projected"]);
    story.ends(&[
        Reads(2),
        Commits(1),
        Retries(1),
        Projections(2),
        ProjectionsFailed(1),
        Applied(3),
    ]);
    assert_eq!(story.world.store().view.ids, [1, 3, 2]);
    assert!(!story.world.store().is_pending());
}

#[test]
fn the_others_are_committed_if_the_rest_never_comes() {
    let world = World::default();
    let mut story = Story::retrying(&world, ONCE, [deposit(1, 10), deposit(2, 10)]);
    story.reads().commit_lands();
    story.projection_lands_for(&[2], down());
    story.hears(&["2: 20, projected", "1: 10, committed, down"]);
    story.ends(&[
        Reads(1),
        Commits(1),
        Projections(1),
        ProjectionsFailed(1),
        Applied(2),
        Late(1),
    ]);
    world.view_is_late(&[2]);
}

#[test]
fn a_rest_that_fails_for_good_is_not_tried_again() {
    let mut story = Story::of([deposit(1, 10), deposit(2, 10)]);
    story.reads().commit_lands();
    story.projection_lands_for(&[1], too_large());
    story.hears(&["1: 10, projected", "2: 20, committed, too large"]);
    story.world.view_is_late(&[1]);
}

#[test]
fn a_rest_may_be_throttled() {
    let mut story = Story::of([deposit(1, 10), deposit(2, 10)]);
    story.reads().commit_lands();
    story.projection_lands_for(&[1], busy(500 * MS));
    assert!(story.pause() >= 500 * MS);
}

#[test]
fn when_all_are_covered_it_ends_though_the_record_is_pending() {
    let world = World::default();
    world.a_rival_commits(9, 5);
    let mut story = Story::on(&world, [deposit(1, 10), deposit(2, 10)]);
    story.reads().commit_lands();
    story.projection_lands_for(&[1, 2], down());
    story.hears(&["1: 15, projected", "2: 25, projected"]);
    story.ends(&[
        Reads(1),
        Commits(1),
        Projections(1),
        ProjectionsFailed(1),
        Applied(2),
    ]);
    world.view_is_late(&[1, 2]);

    // The key's next batch pays the rest.
    let mut next = Story::on(&world, [deposit(3, 10)]);
    next.reads().commit_lands().projection_lands();
    next.hears(&["3: 35, projected"]);
    assert_eq!(world.store().view.ids, [1, 2, 9, 3]);
}

#[test]
fn when_all_are_covered_and_the_rest_fails_for_good_nobody_is_late() {
    let mut story = Story::of([deposit(1, 10)]);
    story.world.a_rival_commits(9, 5);
    story.reads().commit_lands();
    story.projection_lands_for(&[1], too_large());
    story.hears(&["1: 15, projected"]);
    story.ends(&[
        Reads(1),
        Commits(1),
        Projections(1),
        ProjectionsFailed(1),
        Applied(1),
    ]);
}

#[test]
fn parts_add_up() {
    let mut story = Story::of([1, 2, 3].map(|id| deposit(id, 10)));
    story.reads().commit_lands();
    for id in [3, 1, 2] {
        story.projection_lands_for(&[id], down());
        story.hears(&[&format!("{id}: {}, projected", 10 * id)]);
        if id != 2 {
            story.sleeps().reads();
        }
    }
    story.ends(&[
        Reads(3),
        Commits(1),
        Retries(2),
        Projections(3),
        ProjectionsFailed(3),
        Applied(3),
    ]);
    story.world.view_is_late(&[3, 1, 2]);
}

#[test]
fn a_part_that_moved_the_marker_is_followed_by_the_rest_from_there() {
    let world = World::default();
    world.a_rival_commits(9, 5).a_rival_commits(8, 5);
    let mut story = Story::on(&world, [deposit(9, 5), deposit(8, 5), deposit(1, 10)]);
    story.reads().commit_lands().wants_to_project(3, 0);
    story.projection_lands_until(2, down());
    story.hears(&["9: 5, projected", "8: 10, projected"]);
    story.sleeps().reads_for(&[]).wants_to_project(3, 2);
    story.projection_lands().hears(&["1: 20, projected"]);
    world.view_is_whole(&[9, 8, 1]);
}

#[test]
fn twins_are_covered_together_and_what_was_declined_waits_for_all_of_it() {
    let deposits = [
        deposit(1, 10),
        deposit(1, 10),
        deposit(2, -50),
        deposit(3, 1),
    ];
    let mut story = Story::of(deposits);
    story.reads().commit_lands();
    story.projection_lands_for(&[1, 3], down());
    story.hears(&["1: 10, projected", "1: 10, projected", "3: 11, projected"]);
    story.sleeps().reads().projection_lands();
    story.hears(&[&format!("2: {BEYOND}, projected")]);
}

#[test]
fn what_was_declined_is_not_covered_by_a_twin_that_was_applied_behind_it() {
    let deposits = [
        deposit(2, -5),
        deposit(1, 10),
        deposit(2, -5),
        deposit(1, 11),
    ];
    let world = World::default();
    world.a_rival_commits(9, 1);
    let mut story = Story::on(&world, deposits);
    story.reads().commit_lands();
    story.projection_lands_for(&[1, 2], down());
    story.hears(&["1: 11, projected", "2: 6, projected"]);
    story.sleeps().reads().projection_lands();
    story.hears(&[
        &format!("2: {BEYOND}, projected"),
        &format!("1: {MISMATCH}, projected"),
    ]);
}

#[test]
fn who_is_not_covered_may_expire_while_it_waits_for_the_rest() {
    let world = World::default();
    let mut story = Story::within(&world, [(deposit(1, 10), by(2)), (deposit(2, 10), by(2))]);
    story.reads().commit_lands();
    story.projection_lands_for(&[1], busy(9 * MS));
    story.hears(&["1: 10, projected"]);
    story.sleeps().hears(&["2: 20, committed, expired"]);
    story.ends(&[
        Reads(1),
        Commits(1),
        Projections(1),
        ProjectionsFailed(1),
        Applied(2),
        Late(1),
    ]);
}

#[test]
fn an_includes_that_panics_is_a_no() {
    let deposits = patiently([deposit(1, 10), deposit(UNSEEN, 10), deposit(2, 10)]);
    let mut story = Story::with(&World::default(), Blinking, RETRY, deposits);
    story.reads().commit_lands();
    story.projection_lands_for(&[1, UNSEEN, 2], down());
    story.hears(&["1: 10, projected", "2: 30, projected"]);
    story.sleeps().reads().projection_lands();
    story.hears(&["13: 20, projected"]);
}

#[test]
fn without_includes_a_part_covers_nobody() {
    let deposits = patiently([deposit(1, 150)]);
    let world = World::default();
    let mut story = Story::with(&world, crate::projecting::Frugal, ONCE, deposits);
    story.reads().commit_lands();
    story.projection_lands_for(&[1], down());
    story.hears(&["1: 150, committed, down"]);
}

/// Cannot tell of the deposit 13 whether a view includes it.
struct Blinking;

const UNSEEN: u64 = 13;

impl Fold for Blinking {
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
        Deposits.step(account, deposit)
    }
}

impl Projection for Blinking {
    type View = Vec<u64>;

    fn pending(&self, account: &RecordOf<Accounts>) -> bool {
        Deposits.pending(account)
    }

    fn includes(&self, view: &Vec<u64>, deposit: &Deposit) -> bool {
        assert_ne!(deposit.id, UNSEEN, "the unseen deposit");
        Deposits.includes(view, deposit)
    }
}
