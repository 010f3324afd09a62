//! Inputs that were declined by a fold that may have landed: they are not applied behind those that came after them.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::Arc;

use ferry_core::{Fold, Retry, Step, StepOf};

use crate::{
    deposits::{Account, Accounts, BEYOND, Deposit, Deposits},
    story::Story,
    words::{RETRY, by, deposit, down},
};

#[test]
fn an_input_that_a_landed_fold_declined_is_not_applied_behind_those_that_came_after() {
    let mut story = Story::of([deposit(1, 10), deposit(2, -50), deposit(3, 100)]);
    story.reads().commit_lands_unheard().hears(&[]);
    // On the record as it is now, 2 could be taken out.
    story.sleeps().reads();
    story.hears(&["2: not committed, overtaken"]);
    story.reads().hears(&["1: 10", "3: 110"]).ends();
    assert_eq!(story.store.ids(), [1, 3]);
}

#[test]
fn twins_are_overtaken_together_and_so_not_in_doubt() {
    let overdrawn = deposit(2, -50);
    let mut story = Story::of([deposit(1, 10), overdrawn, overdrawn, deposit(3, 100)]);
    story.reads().commit_lands_unheard().hears(&[]);
    story.sleeps().reads();
    story.hears(&["2: not committed, overtaken", "2: not committed, overtaken"]);
    story.reads().hears(&["1: 10", "3: 110"]).ends();
}

#[test]
fn an_input_is_not_overtaken_by_a_twin_of_one_that_was_applied_before_it() {
    let first = deposit(1, 10);
    let mut story = Story::of([first, deposit(2, -50), first]);
    story.reads().commit_lands_unheard().hears(&[]);
    story.a_rival_commits(9, 100);
    story.sleeps().reads().hears(&["1: 10"]);
    story.commit_lands().hears(&["2: 60", "1: 10"]).ends();
    assert_eq!(story.store.ids(), [1, 9, 2]);
}

#[test]
fn an_input_that_was_declined_by_a_fold_that_did_not_land_is_judged_afresh() {
    let mut story = Story::of([deposit(1, 10), deposit(2, -50), deposit(3, 100)]);
    story.reads().commit_goes_adrift();
    story.a_rival_commits(9, 45).the_adrift_comes_too_late();
    story.sleeps().reads().commit_lands();
    story.hears(&["1: 55", "2: 5", "3: 105"]).ends();
    assert_eq!(story.store.ids(), [9, 1, 2, 3]);
}

/// A fold that remembers no id below 10 once it has seen 30.
struct Moving;

impl Fold for Moving {
    type Schema = Accounts;
    type Input = Deposit;
    type Outcome = i64;

    fn id(&self, deposit: &Deposit) -> u64 {
        deposit.id
    }

    fn empty(&self, account: &u64) -> Account {
        Deposits.empty(account)
    }

    fn step(&self, account: &mut Account, deposit: &Deposit) -> StepOf<Self> {
        if deposit.id < 10 && account.applied.contains_key(&30) {
            return Step::TooOld(-3);
        }
        Deposits.step(account, deposit)
    }
}

#[test]
fn an_input_is_overtaken_though_the_one_behind_it_is_forgotten_by_now() {
    let deposits = [deposit(20, 10), deposit(12, -50), deposit(3, 100)];
    let mut story = Story::with(Moving, RETRY, deposits.map(|deposit| (deposit, None)));
    story
        .reads()
        .wants_to_commit(&[20, 3])
        .commit_lands_unheard();
    story.a_rival_commits(30, 1);
    story.sleeps().reads();
    story.hears(&["12: not committed, overtaken"]);
    story.reads().hears(&["20: 10", "3: -3"]).ends();
    assert_eq!(story.store.ids(), [20, 3, 30]);
}

#[test]
fn an_input_is_overtaken_though_the_one_behind_it_has_left_by_its_deadline() {
    let mut story = Story::within([
        (deposit(1, 10), None),
        (deposit(2, -50), None),
        (deposit(3, 100), by(1)),
    ]);
    story.reads().commit_lands_unheard().hears(&[]);
    story.sleeps().hears(&["3: in doubt, expired"]);
    story
        .sleeps()
        .reads()
        .hears(&["2: not committed, overtaken"]);
    story.reads().hears(&["1: 10"]).ends();
    assert_eq!(story.store.ids(), [1, 3]);
}

#[test]
fn an_input_is_not_overtaken_by_one_that_has_left_and_cannot_have_landed() {
    let inputs = [
        (deposit(1, 10), None),
        (deposit(2, -50), None),
        (deposit(3, 100), by(1)),
    ];
    let mut story = Story::within(inputs);
    story.reads().commit_goes_adrift();
    story.sleeps().hears(&["3: in doubt, expired"]);
    // As it was: whatever commits now keeps the one that is under way out.
    story.sleeps().reads().commit_lands();
    story.hears(&["1: 10", &format!("2: {BEYOND}")]).ends();
    story.the_adrift_comes_too_late();
    assert_eq!(story.store.ids(), [1]);
}

#[test]
fn an_input_is_overtaken_by_one_of_a_later_part_too() {
    let mut story = Story::of([deposit(1, 60), deposit(2, -80), deposit(3, 100)]);
    story.reads().commit_panics().the_adrift_lands().hears(&[]);
    // 1 and 2 are tried apart from 3, which is stored.
    story.reads().hears(&["2: not committed, overtaken"]);
    story.reads().hears(&["1: 60"]);
    story.reads().hears(&["3: 160"]).ends();
    assert_eq!(story.store.ids(), [1, 3]);
}

#[test]
fn an_input_is_overtaken_though_a_later_try_without_the_one_before_it_had_applied_it() {
    let inputs = [
        (deposit(1, -50), by(1)),
        (deposit(2, -30), None),
        (deposit(3, 5), None),
    ];
    let mut story = Story::within(inputs);
    story.a_rival_commits(8, 60);
    story.reads().wants_to_commit(&[1, 3]).commit_goes_adrift();
    story.sleeps().hears(&["1: in doubt, expired"]);
    // Both tries are on one version: either may land, and it is the first that does.
    story.sleeps().reads().wants_to_commit(&[2, 3]);
    story.the_adrift_lands().commit_is_refused();
    story.a_rival_commits(9, 100);
    story.sleeps().reads();
    story.hears(&["2: not committed, overtaken"]);
    story.reads().hears(&["3: 15"]).ends();
    assert_eq!(story.store.ids(), [8, 1, 3, 9]);
}

#[test]
fn a_twin_in_a_later_part_is_overtaken_though_a_later_try_had_the_first_applied() {
    let inputs = [
        (deposit(1, -50), by(1)),
        (deposit(2, -30), None),
        (deposit(2, -30), None),
        (deposit(3, 5), None),
    ];
    let mut story = Story::within(inputs);
    story.a_rival_commits(8, 60);
    story.reads().wants_to_commit(&[1, 3]).commit_panics();
    // 1 and the first 2 are tried apart from the second 2 and 3.
    story.read_fails(down());
    story.sleeps().hears(&["1: in doubt, expired"]);
    story.sleeps().reads().wants_to_commit(&[2]);
    story.the_adrift_lands().commit_is_refused();
    story.a_rival_commits(9, 100);
    story.sleeps().reads();
    story.hears(&["2: in doubt, overtaken"]);
    story.reads_for(&[2, 3]);
    story.hears(&["2: not committed, overtaken"]);
    story.reads().hears(&["3: 15"]).ends();
    assert_eq!(story.store.ids(), [8, 1, 3, 9]);
}

/// A fold that panics once when it is asked for the id of the input whose id it is told.
struct Startled(Arc<AtomicU64>);

impl Fold for Startled {
    type Schema = Accounts;
    type Input = Deposit;
    type Outcome = i64;

    fn id(&self, deposit: &Deposit) -> u64 {
        let at = self.0.compare_exchange(deposit.id, 0, Relaxed, Relaxed);
        assert!(at.is_err(), "startled");
        deposit.id
    }

    fn empty(&self, account: &u64) -> Account {
        Deposits.empty(account)
    }

    fn step(&self, account: &mut Account, deposit: &Deposit) -> StepOf<Self> {
        Deposits.step(account, deposit)
    }
}

#[test]
fn an_input_is_overtaken_though_the_one_behind_it_has_left_since_its_id_panicked() {
    let startled_at = Arc::new(AtomicU64::new(0));
    let inputs = [deposit(1, 10), deposit(2, -50), deposit(3, 100)];
    let fold = Startled(Arc::clone(&startled_at));
    let mut story = Story::with(fold, RETRY, inputs.map(|deposit| (deposit, None)));
    story.reads().commit_lands_unheard();
    startled_at.store(3, Relaxed);
    story.sleeps().hears(&["3: in doubt, panicked startled"]);
    story.reads().hears(&["2: not committed, overtaken"]);
    story.reads().hears(&["1: 10"]).ends();
    assert_eq!(story.store.ids(), [1, 3]);
}

#[test]
fn an_input_is_overtaken_though_its_id_panicked_as_its_commit_came_to_be_in_doubt() {
    let startled_at = Arc::new(AtomicU64::new(0));
    let inputs = [deposit(1, 10), deposit(2, -50), deposit(3, 100)];
    let fold = Startled(Arc::clone(&startled_at));
    let mut story = Story::with(fold, RETRY, inputs.map(|deposit| (deposit, None)));
    story.reads();
    startled_at.store(2, Relaxed);
    story.commit_lands_unheard();
    story
        .sleeps()
        .reads()
        .hears(&["2: not committed, overtaken"]);
    story.reads().hears(&["1: 10", "3: 110"]).ends();
    assert_eq!(story.store.ids(), [1, 3]);
}

#[test]
fn twins_are_both_in_doubt_though_the_id_of_the_first_panicked_when_it_was_asked_for() {
    let startled_at = Arc::new(AtomicU64::new(0));
    let fold = Startled(Arc::clone(&startled_at));
    let once = Retry {
        attempts: 1,
        ..RETRY
    };
    let twins = [deposit(1, 10), deposit(1, 10)];
    let mut story = Story::with(fold, once, twins.map(|deposit| (deposit, None)));
    story.reads();
    startled_at.store(1, Relaxed);
    story.commit_goes_adrift();
    story
        .read_fails(down())
        .hears(&["1: in doubt, down", "1: in doubt, down"])
        .ends();
    story.the_adrift_lands();
}

#[test]
fn an_input_is_in_doubt_while_its_twin_goes_on_though_its_id_panicked_as_it_left() {
    let startled_at = Arc::new(AtomicU64::new(0));
    let fold = Startled(Arc::clone(&startled_at));
    let twins = [(deposit(1, 10), by(1)), (deposit(1, 10), None)];
    let mut story = Story::with(fold, RETRY, twins);
    story.read_fails(down());
    startled_at.store(1, Relaxed);
    story.sleeps().hears(&["1: in doubt, expired"]);
    story.sleeps().reads().commit_lands();
    story.hears(&["1: 10"]).ends();
    assert_eq!(story.store.ids(), [1]);
}

/// A fold that panics at some of the next times that it is asked for an id: those whose bits are set, from the lowest on.
struct Fitful(Arc<AtomicU64>);

impl Fold for Fitful {
    type Schema = Accounts;
    type Input = Deposit;
    type Outcome = i64;

    fn id(&self, deposit: &Deposit) -> u64 {
        let asks = self.0.load(Relaxed);
        self.0.store(asks >> 1, Relaxed);
        assert!(asks & 1 == 0, "startled");
        deposit.id
    }

    fn empty(&self, account: &u64) -> Account {
        Deposits.empty(account)
    }

    fn step(&self, account: &mut Account, deposit: &Deposit) -> StepOf<Self> {
        Deposits.step(account, deposit)
    }
}

#[test]
fn an_input_whose_id_panicked_is_in_doubt_though_that_of_its_twin_panicked_as_they_were_compared() {
    let asks = Arc::new(AtomicU64::new(0));
    let twins = [deposit(1, 10), deposit(1, 10)].map(|deposit| (deposit, None));
    let mut story = Story::with(Fitful(Arc::clone(&asks)), RETRY, twins);
    story.reads().commit_fails(down());
    // The first is asked, and asked once more to be compared; then the second.
    asks.store(0b101, Relaxed);
    story
        .sleeps()
        .hears(&["1: in doubt, panicked startled"])
        .reads()
        .commit_lands();
    story.hears(&["1: 10"]).ends();
    assert_eq!(story.store.ids(), [1]);
}
