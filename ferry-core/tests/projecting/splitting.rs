//! Batches that go in parts: each commits on its own, and one projection comes after all of them.

use ferry_core::Fault;

use crate::{
    actor::{Actor, World},
    projecting::Frugal,
    story::{MS, ONCE, RETRY, Story, busy, by, deposit, down, error, patiently, too_large},
    tallied::Tallied::*,
};

#[test]
fn one_projection_comes_at_the_end_of_the_last_record() {
    let mut story = Story::of([1, 2, 3, 4].map(|id| deposit(id, 10)));
    story.reads().commit_fails(too_large());
    story.reads_for(&[1, 2]).commit_lands().hears(&[]);
    story.reads_for(&[3, 4]).commit_fails(too_large());
    story.reads_for(&[3]).commit_fails(too_large());
    story.hears(&["3: not committed, too large"]);
    story.reads_for(&[4]).commit_lands().hears(&[]);
    story.wants_to_project(2, 0).projection_lands();
    story.hears(&["1: 10, projected", "2: 20, projected", "4: 30, projected"]);
    story.ends(&[
        Reads(5),
        Commits(5),
        Faults(3),
        Splits(2),
        Projections(1),
        Applied(3),
        Failed(1),
    ]);
    story.world.view_is_whole(&[1, 2, 4]);
}

#[test]
fn where_the_last_part_fails_the_record_is_read_for_its_projection() {
    let mut story = Story::of([deposit(1, 10), deposit(2, 10)]);
    story.reads().commit_fails(too_large());
    story.reads_for(&[1]).commit_lands();
    story.reads_for(&[2]).commit_fails(too_large());
    story.hears(&["2: not committed, too large"]);
    story
        .reads_for(&[])
        .wants_to_project(1, 0)
        .projection_lands();
    story.hears(&["1: 10, projected"]);
}

#[test]
fn where_the_last_part_is_never_read_the_record_is_projected_as_the_one_before_committed_it() {
    let mut story = Story::of([deposit(1, 10), deposit(2, 10)]);
    story.reads().commit_fails(too_large());
    story.reads_for(&[1]).commit_lands();
    story.read_fails(Fault::permanent(error("malformed id")));
    story.hears(&["2: not committed, malformed id"]);
    story.wants_to_project(1, 0).projection_lands();
    story.hears(&["1: 10, projected"]);
    story.ends(&[
        Reads(3),
        Commits(2),
        Faults(2),
        Splits(1),
        Projections(1),
        Applied(1),
        Failed(1),
    ]);
}

#[test]
fn where_the_read_of_the_last_part_panics_it_is_the_same() {
    let mut story = Story::of([deposit(1, 10), deposit(2, 10)]);
    story.reads().commit_fails(too_large());
    story.reads_for(&[1]).commit_lands().read_panics();
    story.hears(&["2: not committed, panicked in read"]);
    story.wants_to_project(1, 0).projection_lands();
    story.hears(&["1: 10, projected"]);
}

#[test]
fn a_record_that_was_read_since_is_not_projected_as_it_was_committed() {
    // The second is a duplicate of what a rival commits in between.
    let world = World::default();
    let mut story = Story::retrying(&world, ONCE, [deposit(1, 10), deposit(2, 10)]);
    story.reads().commit_fails(too_large());
    story.reads_for(&[1]).commit_lands();
    world.a_rival_commits(2, 10);
    story.reads_for(&[2]).hears(&[]);
    story
        .reads_for(&[])
        .wants_to_project(2, 0)
        .projection_lands();
    story.hears(&["1: 10, projected", "2: 20, projected"]);
    world.view_is_whole(&[1, 2]);
}

#[test]
fn a_record_that_may_have_changed_since_is_not_projected_as_it_was_committed() {
    let world = World::default();
    let mut story = Story::retrying(&world, ONCE, [deposit(1, 10), deposit(2, 10)]);
    story.reads().commit_fails(too_large());
    story.reads_for(&[1]).commit_lands();
    story.reads_for(&[2]).commit_panics();
    story.read_fails(down()).hears(&["2: in doubt, down"]);
    story
        .reads_for(&[])
        .wants_to_project(2, 0)
        .projection_lands();
    story.hears(&["1: 10, projected"]);
    world.view_is_whole(&[1, 2]);
}

#[test]
fn what_waits_is_answered_by_a_later_read_that_finds_nothing_pending() {
    let mut story = Story::of([deposit(1, 10), deposit(2, 10)]);
    story.reads().commit_fails(too_large());
    story.reads_for(&[1]).commit_lands().hears(&[]);
    story.world.a_rival_projects();
    story.reads_for(&[2]).hears(&["1: 10, projected"]);
    story.commit_lands().wants_to_project(2, 1);
    story.projection_lands().hears(&["2: 20, projected"]);
    story.world.view_is_whole(&[1, 2]);
}

#[test]
fn what_waits_is_not_answered_by_a_later_read_of_a_record_that_is_pending() {
    let mut story = Story::of([deposit(1, 10), deposit(2, 10)]);
    story.reads().commit_fails(too_large());
    story.reads_for(&[1]).commit_lands();
    story.world.a_rival_projects().a_rival_commits(9, 5);
    story.reads_for(&[2]).hears(&[]);
    story
        .commit_fails(too_large())
        .hears(&["2: not committed, too large"]);
    story
        .reads_for(&[])
        .wants_to_project(2, 1)
        .projection_lands();
    story.hears(&["1: 10, projected"]);
}

#[test]
fn what_waits_is_not_answered_by_a_later_read_that_fails() {
    let mut story = Story::of([deposit(1, 10), deposit(2, 10)]);
    story.reads().commit_fails(too_large());
    story.reads_for(&[1]).commit_lands();
    story.read_fails(down()).hears(&[]);
    story.sleeps().reads_for(&[2]).hears(&[]);
    story.commit_lands().projection_lands();
    story.hears(&["1: 10, projected", "2: 20, projected"]);
}

#[test]
fn what_waits_is_answered_by_a_later_commit_that_leaves_nothing_pending() {
    let deposits = [deposit(1, 150), deposit(2, -100)];
    let mut story = Story::with(&World::default(), Frugal, RETRY, patiently(deposits));
    story.reads().commit_fails(too_large());
    story.reads_for(&[1]).commit_lands().hears(&[]);
    story.reads_for(&[2]).commit_lands();
    story.hears(&["1: 150, projected", "2: 50, projected"]);
    story.ends(&[Reads(3), Commits(3), Faults(1), Splits(1), Applied(2)]);
}

#[test]
fn a_twin_that_is_found_behind_a_split_waits_for_the_same_projection() {
    let mut story = Story::of([deposit(1, 10), deposit(1, 10)]);
    story.reads().commit_fails(too_large());
    story.reads_for(&[1]).commit_lands().hears(&[]);
    story.reads_for(&[1]).hears(&[]);
    story
        .reads_for(&[])
        .wants_to_project(1, 0)
        .projection_lands();
    story.hears(&["1: 10, projected", "1: 10, projected"]);
    story.ends(&[
        Reads(4),
        Commits(2),
        Faults(1),
        Splits(1),
        Projections(1),
        Applied(1),
        Duplicates(1),
    ]);
}

#[test]
fn a_twin_that_fails_behind_a_split_is_in_doubt_and_the_first_is_projected() {
    let world = World::default();
    let mut story = Story::retrying(&world, ONCE, [deposit(1, 10), deposit(1, 10)]);
    story.reads().commit_fails(too_large());
    story.reads_for(&[1]).commit_lands();
    story.read_fails(down()).hears(&["1: in doubt, down"]);
    story.wants_to_project(1, 0).projection_lands();
    story.hears(&["1: 10, projected"]);
    world.view_is_whole(&[1]);
}

#[test]
fn while_a_later_part_is_tried_again_what_waits_may_expire() {
    let world = World::default();
    let mut story = Story::within(&world, [(deposit(1, 10), by(2)), (deposit(2, 10), None)]);
    story.reads().commit_fails(too_large());
    story.reads_for(&[1]).commit_lands();
    story.reads_for(&[2]).commit_fails(busy(9 * MS)).hears(&[]);
    assert_eq!(story.pause(), 2 * MS);
    story.sleeps().hears(&["1: 10, committed, expired"]);
    story.sleeps().reads_for(&[2]).commit_lands();
    story.wants_to_project(2, 0).projection_lands();
    story.hears(&["2: 20, projected"]);
    story.ends(&[
        Reads(4),
        Commits(4),
        Faults(2),
        Retries(1),
        Splits(1),
        Projections(1),
        Applied(2),
        Late(1),
    ]);
    world.view_is_whole(&[1, 2]);
}
