//! Who finishes what others have left pending.

use std::collections::BTreeSet;

use super::{
    Play, Scenario, Stage,
    expected::{NOTHING, applied, late},
    safeguards::{PROJECTION_FENCE, QUERY_FINDS_ALL, RESUME_FENCE, SOMEBODY_RESUMES, STORE_KNOWS},
    setting::Setting,
    stage::{KEY, NODE_A, NODE_B, NODE_C, millis, secs},
};
use crate::{checkers::Property, kind::Projected, purses::Purses, store::Fate};

type Views = Stage<Projected<Purses>>;

pub(super) const STORIES: &[Scenario] = &[
    Scenario {
        name: "left-pending",
        rows: &[],
        gist: "a node crashes between commit and projection, and the others' sweepers finish it",
        plays: &[Play::Together(left_pending), Play::Apart(left_pending)],
        without: &[
            STORE_KNOWS.fails(&[Property::Projected]),
            SOMEBODY_RESUMES.fails(&[Property::Projected]),
        ],
        ..Scenario::BLANK
    },
    Scenario {
        name: "every-shape-is-found",
        rows: &[34],
        gist: "pending records of every shape are found by a sweep: of one entry or several, half shown, re-created",
        setting: Setting::ONE_TRY,
        plays: &[
            Play::Apart(every_shape_in_parts),
            Play::Together(every_shape),
        ],
        without: &[QUERY_FINDS_ALL.fails(&[Property::Projected])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "resumes-race",
        rows: &[35],
        gist: "two nodes resume a key while a third commits to it, and each entry is shown once",
        plays: &[Play::Together(resumes_race), Play::Apart(resumes_race)],
        without: &[PROJECTION_FENCE.fails(&[Property::TrueAnswers, Property::ViewForward])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "resumes-are-fenced",
        rows: &[14],
        gist: "a slow resume is held against the record like any projection, and then begins anew",
        plays: &[
            Play::Together(resumes_are_fenced),
            Play::Apart(resumes_are_fenced),
        ],
        without: &[
            RESUME_FENCE.fails(&[Property::Projected, Property::ViewForward]),
            PROJECTION_FENCE.fails(&[Property::Projected, Property::ViewForward]),
        ],
        ..Scenario::BLANK
    },
    Scenario {
        name: "sweepers-spread",
        rows: &[39],
        gist: "the view is down for ten minutes, and the sweepers of three nodes neither storm it nor march in step",
        setting: Setting::ONE_TRY,
        plays: &[
            Play::Together(sweepers_spread),
            Play::Apart(sweepers_spread),
        ],
        ..Scenario::BLANK
    },
];

fn left_pending(stage: &mut Views) {
    let caller = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(millis(17));
    stage.holds(KEY, &[1]);
    stage.crash(NODE_A);
    stage.sweep();
    stage.run_for(secs(20));
    stage.shows(KEY, &[1]);
    stage.owes(KEY, false);
    stage.hears(caller, NOTHING);
}

fn every_shape(stage: &mut Views) {
    // One entry.
    stage.next_projection(KEY, Fate::Busy);
    let one = stage.submit(NODE_A, KEY, 1, 1);
    // Two, of which the view shows one.
    let first = stage.submit(NODE_A, KEY + 1, 2, 1);
    stage.run_for(secs(1));
    stage.next_projection(KEY + 1, Fate::Busy);
    let second = stage.submit(NODE_A, KEY + 1, 3, 1);
    stage.run_for(secs(1));
    stage.hears(one, late(1, 1));
    stage.hears(first, applied(1, 1));
    stage.hears(second, late(2, 2));
    // Deleted, and created again.
    let before = stage.submit(NODE_A, KEY + 2, 4, 1);
    stage.run_for(secs(1));
    stage.hears(before, applied(1, 1));
    stage.delete(KEY + 2);
    stage.next_projection(KEY + 2, Fate::Busy);
    let after = stage.submit(NODE_A, KEY + 2, 5, 1);
    stage.run_for(secs(1));
    stage.hears(after, late(1, 1));
    stage.sweep();
    stage.run_for(secs(20));
    for (key, shown) in [(KEY, &[1][..]), (KEY + 1, &[2, 3]), (KEY + 2, &[5])] {
        stage.shows(key, shown);
        stage.owes(key, false);
    }
}

fn every_shape_in_parts(stage: &mut Views) {
    // Of four entries the view shows one, two of them by halves.
    let ahead = stage.submit(NODE_A, KEY + 3, 6, 1);
    let more = [7, 8, 9].map(|number| stage.submit(NODE_A, KEY + 3, number, 1));
    stage.run_for(millis(42));
    stage.next_projection_in_part(KEY + 3, 1);
    stage.run_for(secs(1));
    stage.hears(ahead, applied(1, 1));
    let [shown, ..] = more;
    stage.hears(shown, applied(2, 2));
    stage.shows(KEY + 3, &[6, 7]);
    stage.owes(KEY + 3, true);
    every_shape(stage);
    stage.shows(KEY + 3, &[6, 7, 8, 9]);
    stage.owes(KEY + 3, false);
}

fn resumes_race(stage: &mut Views) {
    let first = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(millis(17));
    stage.crash(NODE_A);
    let second = stage.submit(NODE_B, KEY, 2, 7);
    stage.run_for(millis(3));
    stage.resume(NODE_B, KEY);
    stage.resume(NODE_C, KEY);
    // Both read the record before the commit lands, and the commit's own projection comes after theirs.
    stage.next_projection(KEY, Fate::Plain);
    stage.next_projection(KEY, Fate::Plain);
    stage.slow_projection(KEY, millis(100));
    stage.run_for(millis(40));
    stage.resume(NODE_C, KEY);
    stage.resume(NODE_B, KEY);
    stage.run_for(secs(2));
    stage.hears(first, NOTHING);
    stage.hears(second, applied(2, 12));
    stage.shows(KEY, &[1, 2]);
    stage.owes(KEY, false);
}

fn resumes_are_fenced(stage: &mut Views) {
    let first = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(millis(17));
    stage.crash(NODE_A);
    // It has read the first version, and is slow to hear of it.
    stage.slow_read_of(NODE_B, KEY, secs(1));
    stage.resume(NODE_B, KEY);
    stage.run_for(millis(20));
    let second = stage.submit(NODE_C, KEY, 2, 7);
    stage.run_for(millis(17));
    stage.crash(NODE_C);
    stage.hears(second, NOTHING);
    stage.holds(KEY, &[1, 2]);
    stage.run_for(secs(2));
    stage.shows(KEY, &[1, 2]);
    stage.owes(KEY, false);
    stage.hears(first, NOTHING);
}

fn sweepers_spread(stage: &mut Views) {
    let minutes = |minutes: u64| secs(60 * minutes);
    stage.every_projection(KEY, Fate::Busy);
    let caller = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.hears(caller, late(1, 5));
    stage.sweep();
    // Their first turns come at once, and so together.
    stage.run_for(secs(1));
    let before = stage.projections(KEY).len();
    stage.run_for(minutes(10));
    let tries = stage.projections(KEY).split_off(before);
    let moments: BTreeSet<_> = tries.iter().collect();
    stage.expect(moments.len() == tries.len(), || {
        format!("{} tries at {} moments", tries.len(), moments.len())
    });
    // A turn every eight seconds, give or take a half, of each of three nodes.
    let bound = 3 * 600 / 8;
    stage.expect((10..=bound).contains(&tries.len()), || {
        format!(
            "{} tries in ten minutes, and {bound} would be a storm",
            tries.len()
        )
    });
    stage.lift();
    stage.run_for(secs(40));
    stage.shows(KEY, &[1]);
    stage.owes(KEY, false);
}
