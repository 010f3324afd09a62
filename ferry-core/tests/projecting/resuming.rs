//! The projection alone.

use core::time::Duration;

use ferry_core::{Fault, projected_write::resume::Resumed};

use crate::{
    actor::{Actor, World},
    resumer::Resumer,
    story::{MS, RETRY, busy, down, error, too_large},
    tallied::Tallied::*,
};

const PROJECTED: Result<Resumed, &str> = Ok(Resumed::Projected);
const NOTHING_PENDING: Result<Resumed, &str> = Ok(Resumed::NothingPending);

fn indebted() -> World {
    let world = World::default();
    world.a_rival_commits(9, 5);
    world
}

#[test]
fn it_projects_what_is_pending() {
    let world = indebted();
    let mut resumer = Resumer::on(&world);
    resumer.reads().wants_to_project(1, 0).projection_lands();
    resumer.ends(PROJECTED, &[Reads(1), Projections(1)]);
    world.view_is_whole(&[9]);
}

#[test]
fn it_finds_nothing_pending() {
    let world = indebted();
    world.a_rival_projects();
    let mut resumer = Resumer::on(&world);
    resumer.reads();
    resumer.ends(NOTHING_PENDING, &[Reads(1)]);
}

#[test]
fn it_finds_no_record() {
    let mut resumer = Resumer::on(&World::default());
    resumer.reads();
    resumer.ends(NOTHING_PENDING, &[Reads(1)]);
}

#[test]
fn where_another_finishes_first_it_finds_the_debt_paid() {
    let world = indebted();
    let mut resumer = Resumer::on(&world);
    resumer.reads();
    world.a_rival_projects();
    resumer.projection_is_refused().sleeps().reads();
    let took = [Reads(2), Retries(1), Projections(1), ProjectionsFailed(1)];
    resumer.ends(PROJECTED, &took);
    world.view_is_whole(&[9]);
}

#[test]
fn where_a_newer_commit_comes_first_it_projects_the_newer_record() {
    let world = indebted();
    let mut resumer = Resumer::on(&world);
    resumer.reads();
    world.a_rival_commits(8, 5);
    resumer.projection_is_refused().sleeps().reads();
    resumer.wants_to_project(2, 0).projection_lands();
    let took = [Reads(2), Retries(1), Projections(2), ProjectionsFailed(1)];
    resumer.ends(PROJECTED, &took);
    world.view_is_whole(&[9, 8]);
}

#[test]
fn a_projection_that_landed_unheard_is_found() {
    let world = indebted();
    let mut resumer = Resumer::on(&world);
    resumer.reads().projection_lands_unheard().sleeps().reads();
    let took = [Reads(2), Retries(1), Projections(1), ProjectionsFailed(1)];
    resumer.ends(PROJECTED, &took);
}

#[test]
fn it_is_tried_as_often_as_a_batch_and_then_tells_why_the_record_is_pending_still() {
    let world = indebted();
    let mut resumer = Resumer::on(&world);
    resumer.read_fails(Fault::transient(error("cut off")));
    for _ in 2..RETRY.attempts {
        resumer.sleeps().reads().projection_fails(down());
    }
    resumer.sleeps().reads().projection_goes_adrift().reads();
    let took = [
        Reads(5),
        Faults(1),
        Retries(3),
        Projections(3),
        ProjectionsFailed(3),
    ];
    resumer.ends(Err("timed out"), &took);
    world
        .view_is_late(&[])
        .the_adrift_lands()
        .view_is_whole(&[9]);
}

#[test]
fn tried_once_it_is_not_tried_again() {
    let world = indebted();
    let mut resumer = Resumer::once_on(&world);
    resumer.reads().projection_fails(down());
    resumer.ends(
        Err("down"),
        &[Reads(1), Projections(1), ProjectionsFailed(1)],
    );

    let mut resumer = Resumer::once_on(&world);
    resumer.read_fails(down());
    resumer.ends(Err("down"), &[Reads(1), Faults(1)]);

    let mut resumer = Resumer::once_on(&world);
    resumer.reads().projection_lands();
    resumer.ends(PROJECTED, &[Reads(1), Projections(1)]);
}

#[test]
fn permanent_errors_and_panics_are_the_end() {
    let world = indebted();
    let mut resumer = Resumer::on(&world);
    resumer.reads().projection_fails(too_large());
    resumer.ends(
        Err("too large"),
        &[Reads(1), Projections(1), ProjectionsFailed(1)],
    );

    let mut resumer = Resumer::on(&world);
    resumer.read_fails(too_large());
    resumer.ends(Err("too large"), &[Reads(1), Faults(1)]);

    let mut resumer = Resumer::on(&world);
    resumer.read_panics();
    resumer.ends(Err("panicked in read"), &[Reads(1), Faults(1)]);

    let mut resumer = Resumer::on(&world);
    resumer.reads().projection_panics().reads();
    resumer.ends(
        Err("panicked in project"),
        &[Reads(2), Projections(1), ProjectionsFailed(1)],
    );
}

#[test]
fn who_is_refused_at_its_last_try_sees_that_a_rival_has_paid() {
    let world = indebted();
    let mut resumer = Resumer::once_on(&world);
    resumer.reads();
    world.a_rival_projects();
    resumer.projection_is_refused().reads();
    resumer.ends(PROJECTED, &[Reads(2), Projections(1), ProjectionsFailed(1)]);
}

#[test]
fn a_part_leaves_the_record_pending() {
    let world = indebted();
    world.a_rival_commits(8, 5);
    let mut resumer = Resumer::on(&world);
    resumer.reads().projection_lands_for(&[8], down());
    resumer.sleeps().reads().projection_lands_until(1, down());
    resumer
        .sleeps()
        .reads()
        .wants_to_project(2, 1)
        .projection_lands();
    let took = [Reads(3), Retries(2), Projections(3), ProjectionsFailed(2)];
    resumer.ends(PROJECTED, &took);
    assert_eq!(world.store().view.ids, [8, 9]);
    assert!(!world.store().is_pending());
}

#[test]
fn it_waits_as_long_as_the_store_asks_for_and_sleeps_on_if_woken_early() {
    let world = indebted();
    let mut resumer = Resumer::on(&world);
    resumer.reads().projection_fails(busy(9 * MS));
    let pause = resumer.pause();
    assert!(pause >= 9 * MS);
    resumer.sleeps_for(4 * MS);
    assert_eq!(resumer.pause(), pause - 4 * MS);
    resumer
        .sleeps_for(Duration::ZERO)
        .sleeps()
        .reads()
        .projection_lands();
    let took = [Reads(2), Retries(1), Projections(2), ProjectionsFailed(1)];
    resumer.ends(PROJECTED, &took);
}

#[test]
fn it_ends_when_its_time_is_used_up() {
    let mut resumer = Resumer::on(&indebted());
    resumer
        .reads()
        .takes(RETRY.total)
        .projection_fails(busy(MS));
    resumer.ends(
        Err("busy"),
        &[Reads(1), Projections(1), ProjectionsFailed(1)],
    );
}

#[test]
fn its_time_begins_when_it_does() {
    let world = indebted();
    world.passes(2 * RETRY.total);
    let mut resumer = Resumer::on(&world);
    resumer.reads().projection_fails(down()).sleeps().reads();
    resumer.projection_lands();
    let took = [Reads(2), Retries(1), Projections(2), ProjectionsFailed(1)];
    resumer.ends(PROJECTED, &took);
}
