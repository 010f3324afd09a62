//! Several processes at once, and processes that die: the fences keep the view in step.

use ferry_core::projected_write::resume::Resumed;

use crate::{
    actor::{Actor, World},
    resumer::Resumer,
    story::{Story, deposit},
    tallied::Tallied::*,
};

/// A resume to its end, on a store that behaves.
fn is_resumed(world: &World) {
    let mut resumer = Resumer::on(world);
    resumer.reads().projection_lands();
    resumer.ends(Ok(Resumed::Projected), &[Reads(1), Projections(1)]);
}

// ---- races --------------------------------------------------------------------------------------

#[test]
fn a_slow_projector_does_not_clear_the_debt_of_a_newer_commit() {
    let world = World::default();
    let mut slow = Story::on(&world, [deposit(1, 50)]);
    slow.reads().commit_lands().wants_to_project(1, 0);

    let mut newer = Story::on(&world, [deposit(2, 10)]);
    newer.reads().commit_lands();
    slow.projection_is_refused();
    world.view_is_late(&[]);

    newer.wants_to_project(2, 0).projection_lands();
    newer.hears(&["2: 60, projected"]);
    slow.sleeps().reads().hears(&["1: 50, projected"]);
    world.view_is_whole(&[1, 2]);
}

#[test]
fn an_older_projection_that_lands_last_does_not() {
    let world = World::default();
    let mut older = Story::on(&world, [deposit(1, 50)]);
    older.reads().commit_lands().projection_goes_adrift();

    let mut newer = Story::on(&world, [deposit(2, 10)]);
    newer.reads().commit_lands().projection_lands();
    world.view_is_whole(&[1, 2]);

    world.the_adrift_comes_too_late().view_is_whole(&[1, 2]);
    older.sleeps().reads().hears(&["1: 50, projected"]);
}

#[test]
fn an_older_projection_that_lands_between_a_newer_commit_and_its_projection_does_not() {
    let world = World::default();
    let mut older = Story::on(&world, [deposit(1, 50)]);
    older.reads().commit_lands().projection_goes_adrift();
    older.crashes();

    let mut newer = Story::on(&world, [deposit(2, 10)]);
    newer.reads().commit_lands();
    world.the_adrift_comes_too_late().view_is_late(&[]);
    newer.projection_lands().hears(&["2: 60, projected"]);
    world.view_is_whole(&[1, 2]);
}

#[test]
fn of_two_resumers_one_projects_and_both_say_so() {
    let world = World::default();
    world.a_rival_commits(9, 5);
    let (mut first, mut second) = (Resumer::on(&world), Resumer::on(&world));
    first.reads();
    second.reads();
    first.projection_lands();
    second.projection_is_refused().sleeps().reads();
    first.ends(Ok(Resumed::Projected), &[Reads(1), Projections(1)]);
    let took = [Reads(2), Retries(1), Projections(1), ProjectionsFailed(1)];
    second.ends(Ok(Resumed::Projected), &took);
    world.view_is_whole(&[9]);
}

#[test]
fn a_resume_and_a_writer_project_the_same_record_once() {
    let world = World::default();
    let mut writer = Story::on(&world, [deposit(1, 50)]);
    writer.reads().commit_lands();
    let mut resumer = Resumer::on(&world);
    resumer.reads().wants_to_project(1, 0);
    writer.projection_lands().hears(&["1: 50, projected"]);
    resumer.projection_is_refused().sleeps().reads();
    let took = [Reads(2), Retries(1), Projections(1), ProjectionsFailed(1)];
    resumer.ends(Ok(Resumed::Projected), &took);
    world.view_is_whole(&[1]);
}

#[test]
fn a_projection_between_a_writers_read_and_its_commit_is_not_undone() {
    let world = World::default();
    world.a_rival_commits(9, 5);
    let mut writer = Story::on(&world, [deposit(1, 50)]);
    writer.reads().wants_to_commit(&[1]);
    is_resumed(&world);
    world.view_is_whole(&[9]);

    // It does not know that the marker has moved, and its projection is refused for it.
    writer.commit_lands().wants_to_project(2, 0);
    writer.projection_is_refused().hears(&[]);
    writer.sleeps().reads().wants_to_project(2, 1);
    writer.projection_lands().hears(&["1: 55, projected"]);
    world.view_is_whole(&[9, 1]);
}

#[test]
fn a_writers_commit_between_a_resumes_read_and_its_projection_keeps_its_debt() {
    let world = World::default();
    world.a_rival_commits(9, 5);
    let mut resumer = Resumer::on(&world);
    resumer.reads();
    let mut writer = Story::on(&world, [deposit(1, 50)]);
    writer.reads().commit_lands();
    writer.crashes();
    resumer.projection_is_refused();
    world.view_is_late(&[]);
    resumer
        .sleeps()
        .reads()
        .wants_to_project(2, 0)
        .projection_lands();
    world.view_is_whole(&[9, 1]);
}

#[test]
fn a_commit_adrift_that_lands_behind_a_projection_is_pending() {
    let world = World::default();
    world.a_rival_commits(9, 5);
    let mut writer = Story::on(&world, [deposit(1, 50)]);
    writer.reads().commit_goes_adrift();
    writer.crashes();
    is_resumed(&world);
    world.the_adrift_lands().view_is_late(&[9]);
    is_resumed(&world);
    world.view_is_whole(&[9, 1]);
}

// ---- crashes ------------------------------------------------------------------------------------

/// A round trip that meets trouble in each of its two writes, up to its n-th command; `None` where it
/// is over before.
fn up_to(nth: usize) -> Option<(World, Story)> {
    let world = World::default();
    world.a_rival_commits(9, 5);
    let mut story = Story::on(&world, [deposit(9, 5), deposit(1, 50)]);
    let script: &[fn(&mut Story)] = &[
        |story| {
            story.reads();
        },
        |story| {
            story.commit_lands_unheard();
        },
        |story| {
            story.sleeps();
        },
        |story| {
            story.reads();
        },
        |story| {
            story.reads();
        },
        |story| {
            story.projection_fails(crate::story::down());
        },
        |story| {
            story.sleeps();
        },
        |story| {
            story.reads();
        },
        |story| {
            story.projection_lands_unheard();
        },
    ];
    script.get(..nth)?.iter().for_each(|step| step(&mut story));
    Some((world, story))
}

#[test]
fn wherever_a_process_dies_the_next_batch_finishes_what_it_left() {
    let mut deaths = 0;
    while let Some((world, story)) = up_to(deaths) {
        story.crashes();
        deaths += 1;

        // Its client sends the input again.
        let mut next = Story::on(&world, [deposit(1, 50)]);
        next.reads();
        let is_stored = world.store().ids().contains(&1);
        let is_pending = world.store().is_pending();
        match (is_stored, is_pending) {
            (false, _) => next.commit_lands().projection_lands(),
            (true, true) => next.reads().projection_lands(),
            (true, false) => &mut next,
        };
        next.hears(&["1: 55, projected"]);
        world.view_is_whole(&[9, 1]);
    }
    assert_eq!(deaths, 10);
}

#[test]
fn wherever_a_process_dies_a_resume_finishes_what_it_left() {
    let mut deaths = 0;
    while let Some((world, story)) = up_to(deaths) {
        story.crashes();
        deaths += 1;

        let mut resumer = Resumer::on(&world);
        if world.store().is_pending() {
            resumer.reads().projection_lands();
            resumer.ends(Ok(Resumed::Projected), &[Reads(1), Projections(1)]);
        } else {
            resumer.reads();
            resumer.ends(Ok(Resumed::NothingPending), &[Reads(1)]);
        }
        let ids = world.store().ids();
        world.view_is_whole(&ids);
    }
    assert_eq!(deaths, 10);
}

#[test]
fn wherever_a_resume_dies_another_finishes() {
    let script: &[fn(&mut Resumer)] = &[
        |resumer| {
            resumer.reads();
        },
        |resumer| {
            resumer.projection_goes_adrift();
        },
        |resumer| {
            resumer.sleeps();
        },
        |resumer| {
            resumer.reads();
        },
    ];
    for deaths in 0..=script.len() {
        let world = World::default();
        world.a_rival_commits(9, 5);
        let mut resumer = Resumer::on(&world);
        script[..deaths].iter().for_each(|step| step(&mut resumer));
        resumer.crashes();
        is_resumed(&world);
        if deaths > 1 {
            world.the_adrift_comes_too_late();
        }
        world.view_is_whole(&[9]);
    }
}
