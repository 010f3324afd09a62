//! User code of the read side that panics: `pending`, and what is dropped.

use ferry_core::{Fold, Projection, RecordOf, StepOf, projected_write::resume::Resumed};

use crate::{
    actor::{Actor, World},
    deposits::{Account, Accounts, Deposit, Deposits},
    resumer::Resumer,
    story::{RETRY, Story, deposit, patiently},
    tallied::Tallied::*,
};

/// Panics when it is asked about an account that holds thirteen.
struct Superstitious;

impl Fold for Superstitious {
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

impl Projection for Superstitious {
    type View = Vec<u64>;

    fn pending(&self, account: &RecordOf<Accounts>) -> bool {
        assert_ne!(account.state.balance, 13, "thirteen");
        Deposits.pending(account)
    }
}

const THIRTEEN: &str = "assertion `left != right` failed: thirteen";

#[test]
fn a_pending_that_panics_at_a_committed_record_is_a_projection_that_fails_for_good() {
    let deposits = patiently([deposit(1, 13)]);
    let mut story = Story::with(&World::default(), Superstitious, RETRY, deposits);
    story.reads().commit_lands().hears(&[]);
    story.reads_for(&[]);
    story.hears(&[&format!("1: 13, committed, panicked {THIRTEEN}")]);
    story.ends(&[Reads(2), Commits(1), Applied(1), Late(1)]);
}

#[test]
fn a_pending_that_panics_at_a_record_as_read_is_the_same_to_a_duplicate() {
    let world = World::default();
    world.a_rival_commits(9, 13);
    let deposits = patiently([deposit(9, 13)]);
    let mut story = Story::with(&world, Superstitious, RETRY, deposits);
    story.reads().hears(&[]);
    story.reads_for(&[]);
    story.hears(&[&format!("9: 13, committed, panicked {THIRTEEN}")]);
    story.ends(&[Reads(2), Duplicates(1), Late(1)]);
}

#[test]
fn a_pending_that_panics_does_not_stop_the_commit() {
    let world = World::default();
    world.a_rival_commits(9, 13);
    let deposits = patiently([deposit(9, 13), deposit(1, 1)]);
    let mut story = Story::with(&world, Superstitious, RETRY, deposits);
    story.reads().wants_to_commit(&[1]).commit_lands();
    story.wants_to_project(2, 0).projection_lands();
    story.hears(&["9: 13, projected", "1: 14, projected"]);
    world.view_is_whole(&[9, 1]);
}

#[test]
fn a_pending_that_panics_ends_a_resume() {
    let world = World::default();
    world.a_rival_commits(9, 13);
    let mut resumer = Resumer::with(&world, Superstitious, RETRY);
    resumer.reads();
    resumer.ends(Err(&format!("panicked {THIRTEEN}")), &[Reads(1)]);

    world.a_rival_commits(8, 1);
    let mut resumer = Resumer::with(&world, Superstitious, RETRY);
    resumer.reads().projection_lands();
    resumer.ends(Ok(Resumed::Projected), &[Reads(1), Projections(1)]);
}
