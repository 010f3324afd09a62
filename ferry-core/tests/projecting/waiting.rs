//! Deadlines that pass while an input waits for the view: it is durable, and hears so.

use crate::{
    actor::{Actor, World},
    story::{MS, Story, busy, by, deposit, down},
    tallied::Tallied::*,
};

#[test]
fn a_deadline_that_passes_between_tries_is_kept_and_the_others_wait_on() {
    let world = World::default();
    let mut story = Story::within(&world, [(deposit(1, 50), by(2)), (deposit(2, 10), None)]);
    story.reads().commit_lands().projection_fails(busy(9 * MS));
    assert_eq!(story.pause(), 2 * MS);
    story.sleeps().hears(&["1: 50, committed, expired"]);
    story.sleeps().reads_for(&[]).projection_lands();
    story.hears(&["2: 60, projected"]);
    story.ends(&[
        Reads(2),
        Commits(1),
        Retries(1),
        Projections(2),
        ProjectionsFailed(1),
        Applied(2),
        Late(1),
    ]);
    world.view_is_whole(&[1, 2]);
}

#[test]
fn each_deadline_ends_the_pause_for_its_own_input() {
    let world = World::default();
    let deposits = [(deposit(1, 50), by(4)), (deposit(2, 10), by(2))];
    let mut story = Story::within(&world, deposits);
    story.reads().commit_lands().projection_fails(busy(90 * MS));
    story.sleeps().hears(&["2: 60, committed, expired"]);
    assert_eq!(story.pause(), 2 * MS);
    // When nobody waits any more, the debt is left to others.
    story.sleeps().hears(&["1: 50, committed, expired"]);
    story.ends(&[
        Reads(1),
        Commits(1),
        Projections(1),
        ProjectionsFailed(1),
        Applied(2),
        Late(2),
    ]);
    world.view_is_late(&[]);
}

#[test]
fn a_deadline_does_not_make_the_next_try_come_sooner() {
    let world = World::default();
    let mut story = Story::within(&world, [(deposit(1, 50), by(2)), (deposit(2, 10), None)]);
    story.reads().commit_lands().projection_fails(busy(9 * MS));
    story.sleeps().hears(&["1: 50, committed, expired"]);
    assert!(story.pause() >= 7 * MS, "{:?}", story.pause());
}

#[test]
fn a_deadline_that_passes_during_the_projection_does_not_undo_what_landed() {
    let world = World::default();
    let mut story = Story::within(&world, [(deposit(1, 50), by(2))]);
    story
        .reads()
        .commit_lands()
        .takes(5 * MS)
        .projection_lands();
    story.hears(&["1: 50, projected"]);
}

#[test]
fn a_deadline_that_passes_during_the_commit_leaves_one_try_for_the_view() {
    let world = World::default();
    let mut story = Story::within(&world, [(deposit(1, 50), by(2))]);
    story.reads().takes(5 * MS).commit_lands().hears(&[]);
    story.projection_fails(down()).hears(&[]);
    assert!(story.pause().is_zero());
    story.sleeps().hears(&["1: 50, committed, expired"]);
    story.ends(&[
        Reads(1),
        Commits(1),
        Projections(1),
        ProjectionsFailed(1),
        Applied(1),
        Late(1),
    ]);
}

#[test]
fn a_duplicate_may_expire_while_what_is_behind_it_is_tried_again() {
    let world = World::default();
    world.a_rival_commits(9, 5);
    let mut story = Story::within(&world, [(deposit(9, 5), by(2)), (deposit(1, 50), by(4))]);
    story.reads().hears(&[]).commit_fails(busy(9 * MS));
    assert_eq!(story.pause(), 2 * MS);
    story.sleeps().hears(&["9: 5, committed, expired"]);
    assert_eq!(story.pause(), 2 * MS);
    story.sleeps().hears(&["1: not committed, expired"]);
    story.ends(&[
        Reads(1),
        Commits(1),
        Faults(1),
        Retries(1),
        Duplicates(1),
        Expired(1),
        Late(1),
    ]);
}

#[test]
fn a_duplicate_waits_on_while_all_behind_it_expire() {
    let world = World::default();
    world.a_rival_commits(9, 5);
    let mut story = Story::within(&world, [(deposit(9, 5), None), (deposit(1, 50), by(2))]);
    story.reads().commit_fails(busy(9 * MS));
    story.sleeps().hears(&["1: not committed, expired"]);
    story.reads_for(&[]).projection_lands();
    story.hears(&["9: 5, projected"]);
    world.view_is_whole(&[9]);
}

#[test]
fn woken_early_while_the_commit_is_tried_again_nobody_expires_and_it_sleeps_on() {
    let world = World::default();
    world.a_rival_commits(9, 5);
    let mut story = Story::within(&world, [(deposit(9, 5), by(8)), (deposit(1, 50), None)]);
    story.reads().commit_fails(busy(20 * MS));
    story.sleeps_for(3 * MS).hears(&[]);
    assert_eq!(story.pause(), 5 * MS);
    story.sleeps().hears(&["9: 5, committed, expired"]);
    assert!(story.pause() >= 12 * MS);
    story
        .sleeps()
        .reads_for(&[1])
        .commit_lands()
        .projection_lands();
    story.hears(&["1: 55, projected"]);
}
