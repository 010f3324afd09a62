//! The projection after a commit: from the record as committed, and what each of its ends leads to.

use core::time::Duration;

use ferry_core::{Fault, Fold, Projection, RecordOf, Retry, StepOf};

use crate::{
    actor::{Actor, World},
    deposits::{Account, Accounts, Deposit, Deposits},
    story::{MS, ONCE, RETRY, Story, busy, deposit, down, error, patiently, too_large},
    tallied::Tallied::*,
};

// ---- the first ----------------------------------------------------------------------------------

#[test]
fn the_record_is_projected_as_it_was_committed_without_a_read() {
    let mut story = Story::of([deposit(1, 50), deposit(2, 10)]);
    story.reads_for(&[1, 2]).commit_lands().hears(&[]);
    assert_eq!(story.wants_to_project(1, 0).wanted().state.balance, 60);
    story.world.view_is_late(&[]);
    story
        .projection_lands()
        .hears(&["1: 50, projected", "2: 60, projected"]);
    story.ends(&[Reads(1), Commits(1), Projections(1), Applied(2)]);
    story.world.view_is_whole(&[1, 2]);
    assert_eq!(story.world.store().view.balance, 60);
}

#[test]
fn the_marker_is_as_it_was_read() {
    let world = World::default();
    world.a_rival_commits(9, 5).a_rival_projects();
    let mut story = Story::on(&world, [deposit(1, 50)]);
    story.reads().commit_lands().wants_to_project(2, 1);
    story.projection_lands().hears(&["1: 55, projected"]);
    story.ends(&[Reads(1), Commits(1), Projections(1), Applied(1)]);
    world.view_is_whole(&[9, 1]);
}

#[test]
fn where_nothing_is_pending_nothing_is_projected() {
    let mut story = Story::with(
        &World::default(),
        Frugal,
        RETRY,
        patiently([deposit(1, 50)]),
    );
    story.reads().commit_lands().hears(&["1: 50, projected"]);
    story.ends(&[Reads(1), Commits(1), Applied(1)]);
}

#[test]
fn what_the_fold_declines_behind_what_it_applies_waits_for_the_view_too() {
    let mut story = Story::of([deposit(1, 50), deposit(2, -60), deposit(1, 51)]);
    story.reads().commit_lands().hears(&[]);
    story.projection_lands();
    story.hears(&["1: 50, projected", "2: -1, projected", "1: -2, projected"]);
    story.ends(&[
        Reads(1),
        Commits(1),
        Projections(1),
        Applied(1),
        Declined(1),
        Mismatches(1),
    ]);
}

#[test]
fn a_step_that_panics_fails_its_input_alone_and_the_others_are_projected() {
    let mut story = Story::of([deposit(1, 50), deposit(2, crate::deposits::POISON)]);
    story
        .reads()
        .hears(&["2: not committed, panicked assertion `left != right` failed: the poison amount"]);
    story.reads_for(&[1]).commit_lands().projection_lands();
    story.hears(&["1: 50, projected"]);
    story.ends(&[Reads(2), Commits(1), Projections(1), Applied(1), Failed(1)]);
}

// ---- the others: from the record as read --------------------------------------------------------

#[test]
fn refused_by_a_newer_commit_the_newer_record_is_projected() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands();
    story.world.a_rival_commits(9, 5);
    story.wants_to_project(1, 0).projection_is_refused();
    story.hears(&[]).sleeps().reads_for(&[]);
    story.wants_to_project(2, 0).projection_lands();
    story.hears(&["1: 50, projected"]);
    story.ends(&[
        Reads(2),
        Commits(1),
        Retries(1),
        Projections(2),
        ProjectionsFailed(1),
        Applied(1),
    ]);
    story.world.view_is_whole(&[1, 9]);
}

#[test]
fn refused_by_anothers_projection_there_is_nothing_left_to_project() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands();
    story.world.a_rival_projects();
    story.projection_is_refused().hears(&[]);
    story.sleeps().reads_for(&[]).hears(&["1: 50, projected"]);
    story.ends(&[
        Reads(2),
        Commits(1),
        Retries(1),
        Projections(1),
        ProjectionsFailed(1),
        Applied(1),
    ]);
    story.world.view_is_whole(&[1]);
}

#[test]
fn refused_by_its_own_copy_it_is_found_to_have_landed() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands();
    story.projection_is_refused_by_its_own_copy().hears(&[]);
    story.sleeps().reads_for(&[]).hears(&["1: 50, projected"]);
    story.world.view_is_whole(&[1]);
}

#[test]
fn a_projection_that_failed_is_tried_again_from_a_read() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands().projection_fails(down());
    story
        .hears(&[])
        .sleeps()
        .reads_for(&[])
        .wants_to_project(1, 0);
    story.projection_lands().hears(&["1: 50, projected"]);
    story.ends(&[
        Reads(2),
        Commits(1),
        Retries(1),
        Projections(2),
        ProjectionsFailed(1),
        Applied(1),
    ]);
    story.world.view_is_whole(&[1]);
}

#[test]
fn a_projection_that_landed_unheard_is_found_by_the_next_read() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands().projection_lands_unheard();
    story
        .hears(&[])
        .sleeps()
        .reads()
        .hears(&["1: 50, projected"]);
    story.ends(&[
        Reads(2),
        Commits(1),
        Retries(1),
        Projections(1),
        ProjectionsFailed(1),
        Applied(1),
    ]);
    story.world.view_is_whole(&[1]);
}

#[test]
fn a_projection_adrift_that_comes_after_the_second_is_kept_out_by_it() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands().projection_goes_adrift();
    story.sleeps().reads().wants_to_project(1, 0);
    story.projection_lands().hears(&["1: 50, projected"]);
    story.world.the_adrift_comes_too_late().view_is_whole(&[1]);
}

#[test]
fn a_projection_adrift_that_lands_before_the_second_refuses_it_and_is_found() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands().projection_goes_adrift();
    story.sleeps().reads().wants_to_project(1, 0);
    story.world.the_adrift_lands();
    story.projection_is_refused().hears(&[]);
    story.sleeps().reads().hears(&["1: 50, projected"]);
    story.world.view_is_whole(&[1]);
}

#[test]
fn a_throttling_store_is_given_the_pause_it_asks_for() {
    let hint = Duration::from_secs(3);
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands().projection_fails(busy(hint));
    assert!(story.pause() >= hint);
    story.sleeps().read_fails(busy(hint));
    assert!(story.pause() >= hint);
    story
        .sleeps()
        .reads()
        .projection_lands()
        .hears(&["1: 50, projected"]);
    story.ends(&[
        Reads(3),
        Commits(1),
        Faults(1),
        Retries(2),
        Projections(2),
        ProjectionsFailed(1),
        Applied(1),
    ]);
}

#[test]
fn pauses_grow_no_further_than_the_ceiling() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands();
    for ceiling in [10, 20, 40] {
        story.projection_fails(down());
        assert!(story.pause() <= ceiling * MS, "{:?}", story.pause());
        story.sleeps().reads();
    }
}

#[test]
fn its_pauses_are_not_those_of_the_commit_once_more() {
    let mut story = Story::of([deposit(1, 50)]);
    let mut pauses = [vec![], vec![]];
    for _ in 1..RETRY.attempts {
        story.reads().commit_fails(down());
        pauses[0].push(story.pause());
        story.sleeps();
    }
    story.reads().commit_lands();
    for _ in 1..RETRY.attempts {
        story.projection_fails(down());
        pauses[1].push(story.pause());
        story.sleeps().reads();
    }
    assert_ne!(pauses[0], pauses[1]);
}

#[test]
fn woken_too_early_it_sleeps_on_for_what_is_left() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands().projection_fails(busy(9 * MS));
    let pause = story.pause();
    story.sleeps_for(4 * MS);
    assert_eq!(story.pause(), pause - 4 * MS);
    story.sleeps_for(Duration::ZERO);
    assert_eq!(story.pause(), pause - 4 * MS);
    story.sleeps().reads().projection_lands();
    story.hears(&["1: 50, projected"]);
    story.ends(&[
        Reads(2),
        Commits(1),
        Retries(1),
        Projections(2),
        ProjectionsFailed(1),
        Applied(1),
    ]);
}

// ---- no further try -----------------------------------------------------------------------------

#[test]
fn a_permanent_error_is_not_tried_again() {
    let mut story = Story::of([deposit(1, 50), deposit(2, 10)]);
    story.reads().commit_lands().projection_fails(too_large());
    story.hears(&["1: 50, committed, too large", "2: 60, committed, too large"]);
    story.ends(&[
        Reads(1),
        Commits(1),
        Projections(1),
        ProjectionsFailed(1),
        Applied(2),
        Late(2),
    ]);
    story.world.view_is_late(&[]);
}

#[test]
fn a_projection_that_panics_is_not_tried_again() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands().projection_panics();
    story.hears(&[]).reads();
    story.hears(&["1: 50, committed, panicked in project"]);
    story.ends(&[
        Reads(2),
        Commits(1),
        Projections(1),
        ProjectionsFailed(1),
        Applied(1),
        Late(1),
    ]);
    story.world.the_adrift_lands().view_is_whole(&[1]);
}

#[test]
fn a_read_for_it_that_fails_is_tried_again() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands().projection_fails(down());
    story.sleeps().read_fails(down()).hears(&[]);
    story.sleeps().reads_for(&[]).projection_lands();
    story.hears(&["1: 50, projected"]);
    story.ends(&[
        Reads(3),
        Commits(1),
        Faults(1),
        Retries(2),
        Projections(2),
        ProjectionsFailed(1),
        Applied(1),
    ]);
}

#[test]
fn a_read_for_it_that_fails_for_good_is_the_end() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands().projection_fails(down());
    let malformed = Fault::permanent(error("malformed"));
    story
        .sleeps()
        .read_fails(malformed)
        .hears(&["1: 50, committed, malformed"]);
    story.ends(&[
        Reads(2),
        Commits(1),
        Faults(1),
        Retries(1),
        Projections(1),
        ProjectionsFailed(1),
        Applied(1),
        Late(1),
    ]);
}

#[test]
fn a_read_for_it_that_panics_is_the_end() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands().projection_fails(down());
    story.sleeps().read_panics();
    story.hears(&["1: 50, committed, panicked in read"]);
    story.ends(&[
        Reads(2),
        Commits(1),
        Faults(1),
        Retries(1),
        Projections(1),
        ProjectionsFailed(1),
        Applied(1),
        Late(1),
    ]);
}

#[test]
fn when_the_attempts_are_used_up_the_last_cause_is_told() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands();
    for _ in 1..RETRY.attempts {
        story.projection_fails(down()).hears(&[]).sleeps().reads();
    }
    story.projection_goes_adrift().hears(&[]).reads();
    story.hears(&["1: 50, committed, timed out"]);
    story.ends(&[
        Reads(5),
        Commits(1),
        Retries(3),
        Projections(4),
        ProjectionsFailed(4),
        Applied(1),
        Late(1),
    ]);
}

#[test]
fn tried_once_it_is_not_tried_again() {
    let mut story = Story::retrying(&World::default(), ONCE, [deposit(1, 50)]);
    story.reads().commit_lands();
    story.world.a_rival_commits(8, 5);
    story.projection_is_refused().hears(&[]).reads();
    story.hears(&["1: 50, committed, refused"]);
}

#[test]
fn what_the_last_try_left_open_one_more_read_tells() {
    let mut story = Story::retrying(&World::default(), ONCE, [deposit(1, 50)]);
    story.reads().commit_lands();
    story.world.a_rival_projects();
    story.projection_is_refused().hears(&[]).reads();
    story.hears(&["1: 50, projected"]);

    let mut story = Story::retrying(&World::default(), ONCE, [deposit(1, 50)]);
    story.reads().commit_lands().projection_lands_unheard();
    story.hears(&[]).reads().hears(&["1: 50, projected"]);
}

#[test]
fn a_last_read_that_fails_leaves_the_cause_of_the_last_try() {
    let mut story = Story::retrying(&World::default(), ONCE, [deposit(1, 50)]);
    story.reads().commit_lands().projection_goes_adrift();
    story.read_fails(down());
    story.hears(&["1: 50, committed, timed out"]);

    let mut story = Story::retrying(&World::default(), ONCE, [deposit(1, 50)]);
    story.reads().commit_lands().projection_goes_adrift();
    story.read_panics();
    story.hears(&["1: 50, committed, timed out"]);
}

#[test]
fn a_last_try_that_certainly_failed_is_not_followed_by_a_read() {
    let mut story = Story::retrying(&World::default(), ONCE, [deposit(1, 50)]);
    story.reads().commit_lands().projection_fails(down());
    story.hears(&["1: 50, committed, down"]);
}

#[test]
fn it_has_all_its_attempts_however_many_the_commit_took() {
    let mut story = Story::of([deposit(1, 50)]);
    for _ in 1..RETRY.attempts {
        story.reads().commit_fails(down()).sleeps();
    }
    story.reads().commit_lands();
    for _ in 1..RETRY.attempts {
        story.projection_fails(down()).hears(&[]).sleeps().reads();
    }
    story.projection_lands().hears(&["1: 50, projected"]);
    story.ends(&[
        Reads(7),
        Commits(4),
        Faults(3),
        Retries(6),
        Projections(4),
        ProjectionsFailed(3),
        Applied(1),
    ]);
}

#[test]
fn when_its_time_is_used_up_there_are_no_more_attempts() {
    let retry = Retry {
        total: 50 * MS,
        ..RETRY
    };
    let mut story = Story::retrying(&World::default(), retry, [deposit(1, 50)]);
    // The commit takes as long as it takes: the projection has a time of its own.
    story.reads().takes(200 * MS).commit_lands();
    story.takes(40 * MS).projection_fails(busy(MS)).hears(&[]);
    story.sleeps().reads().projection_fails(busy(MS));
    story.hears(&["1: 50, committed, busy"]);
    story.ends(&[
        Reads(2),
        Commits(1),
        Retries(1),
        Projections(2),
        ProjectionsFailed(2),
        Applied(1),
        Late(1),
    ]);
}

#[test]
fn a_hint_beyond_its_time_is_not_waited_for() {
    let mut story = Story::of([deposit(1, 50)]);
    story
        .reads()
        .commit_lands()
        .projection_fails(busy(RETRY.total + MS));
    story.hears(&["1: 50, committed, busy"]);
}

/// Only of an account that holds a hundred or more is there a view.
pub(crate) struct Frugal;

impl Fold for Frugal {
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

impl Projection for Frugal {
    type View = Vec<u64>;

    fn pending(&self, account: &RecordOf<Accounts>) -> bool {
        account.state.balance >= 100 && Deposits.pending(account)
    }
}
