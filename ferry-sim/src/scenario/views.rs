//! What can become of a view.

use core::time::Duration;

use super::{
    Play, Scenario, Stage,
    expected::{NOTHING, applied, late},
    safeguards::{
        MARKER_IN_PROJECTION_FENCE, MARKER_IS_NO_FLAG, MARKER_LEFT_ALONE, POSITIONS_IN_VIEW,
        PROJECTION_FENCE, VERSION_IN_PROJECTION_FENCE, VERSION_IN_VIEW, VIEW_BEFORE_MARKER,
        WAITING_FOR_VIEW,
    },
    setting::Setting,
    stage::{Caller, KEY, NODE_A, NODE_B, NODE_C, millis, secs},
};
use crate::{checkers::Property, kind::Projected, purses::Purses, store::Fate};

type Views = Stage<Projected<Purses>>;

pub(super) const STORIES: &[Scenario] = &[
    Scenario {
        name: "slow-projector",
        rows: &[31],
        gist: "a slow projection of an old version does not clear the debt that a newer commit has made",
        plays: &[Play::Together(slow_projector), Play::Apart(slow_marker)],
        without: &[VERSION_IN_PROJECTION_FENCE.fails(&[
            Property::TrueAnswers,
            Property::Projected,
            Property::ViewForward,
        ])],
        by_hand: &[(
            Play::Together(slow_projector),
            MARKER_IS_NO_FLAG.fails(&[
                Property::TrueAnswers,
                Property::Projected,
                Property::ViewForward,
            ]),
        )],
        ..Scenario::BLANK
    },
    Scenario {
        name: "same-projection-twice",
        rows: &[],
        gist: "a projection comes late, after another of the same version",
        plays: &[Play::Together(same_projection_twice)],
        without: &[MARKER_IN_PROJECTION_FENCE.fails(&[Property::ViewForward])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "old-projection-last",
        rows: &[32],
        gist: "a projection comes late, after one of a newer version",
        plays: &[Play::Together(old_projection_last)],
        without: &[PROJECTION_FENCE.fails(&[Property::ViewForward])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "old-entries-last",
        rows: &[32],
        gist: "entries come late to a view in another store, which shows newer ones already",
        plays: &[Play::Apart(old_projection_last)],
        without: &[
            VERSION_IN_VIEW.fails(&[Property::Projected, Property::ViewForward]),
            POSITIONS_IN_VIEW.fails(&[Property::ViewForward]),
        ],
        ..Scenario::BLANK
    },
    Scenario {
        name: "marker-after-the-view",
        rows: &[33],
        gist: "a node crashes between the two writes of a projection, and the next projects again",
        plays: &[Play::Apart(marker_after_the_view)],
        without: &[VIEW_BEFORE_MARKER.fails(&[
            Property::TrueAnswers,
            Property::Projected,
            Property::ViewForward,
        ])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "marker-not-backwards",
        rows: &[],
        gist: "a projection lands between a commit's read and the commit, which leaves the marker as it is stored",
        plays: &[
            Play::Together(marker_not_backwards),
            Play::Apart(marker_not_backwards),
        ],
        without: &[MARKER_LEFT_ALONE.fails(&[Property::ViewForward])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "projected-once-shown",
        rows: &[36],
        gist: "nobody hears that the view shows an input before it does",
        by_type: Some(
            "what a projection is answered cannot be that of the commit: `answer_a_projection_with_a_commit`, at \
             `ferry_core::projected_write::Command`",
        ),
        setting: Setting::TWO_TRIES,
        plays: &[
            Play::Together(projected_once_shown),
            Play::Apart(projected_once_shown),
        ],
        without: &[WAITING_FOR_VIEW.fails(&[Property::TrueAnswers])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "view-in-parts",
        rows: &[37],
        gist: "a projection lands in part, a newer commit follows, and the view stays one record's from entry to entry",
        setting: Setting::ONE_TRY,
        plays: &[Play::Apart(view_in_parts)],
        without: &[POSITIONS_IN_VIEW.fails(&[Property::ViewForward])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "broken-view",
        rows: &[38],
        gist: "no projection succeeds: commits go on, and their callers hear that the view may be late",
        setting: Setting::TWO_TRIES,
        plays: &[Play::Together(broken_view), Play::Apart(broken_view)],
        ..Scenario::BLANK
    },
];

fn slow_projector(stage: &mut Views) {
    stage.slow_projection(KEY, secs(2));
    newer_commit_owes(stage, millis(22), &[]);
}

/// A projection is under way after so long, which has shown this, and a newer commit lands before the rest of it.
fn newer_commit_owes(stage: &mut Views, after: Duration, shown: &[u64]) {
    let first = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(after);
    stage.crash(NODE_A);
    let second = stage.submit(NODE_B, KEY, 2, 7);
    stage.run_for(millis(18));
    stage.holds(KEY, &[1, 2]);
    stage.crash(NODE_B);
    // It arrives: the marker is as it was, and the version is not.
    stage.run_for(secs(3));
    stage.shows(KEY, shown);
    stage.owes(KEY, true);
    is_resumed(stage, NODE_C, &[1, 2]);
    stage.hears(first, NOTHING);
    stage.hears(second, NOTHING);
}

/// Somebody resumes the key, and these are shown then.
fn is_resumed(stage: &mut Views, node: usize, shown: &[u64]) {
    stage.resume(node, KEY);
    stage.run_for(secs(1));
    stage.shows(KEY, shown);
    stage.owes(KEY, false);
}

fn slow_marker(stage: &mut Views) {
    stage.slow_mark(KEY, secs(2));
    newer_commit_owes(stage, millis(32), &[1]);
}

fn same_projection_twice(stage: &mut Views) {
    let caller = projection_is_adrift(stage);
    is_resumed(stage, NODE_B, &[1]);
    stage.run_for(secs(2));
    stage.shows(KEY, &[1]);
    stage.hears(caller, NOTHING);
}

/// The first commit has landed, and its node is gone while the projection is still under way for two seconds.
fn projection_is_adrift(stage: &mut Views) -> Caller {
    stage.slow_projection(KEY, secs(2));
    let caller = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(millis(22));
    stage.crash(NODE_A);
    caller
}

fn old_projection_last(stage: &mut Views) {
    let first = projection_is_adrift(stage);
    let second = stage.submit(NODE_B, KEY, 2, 7);
    stage.run_for(secs(1));
    stage.hears(second, applied(2, 12));
    stage.shows(KEY, &[1, 2]);
    stage.run_for(secs(2));
    stage.shows(KEY, &[1, 2]);
    stage.owes(KEY, false);
    stage.hears(first, NOTHING);
}

fn marker_after_the_view(stage: &mut Views) {
    let caller = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(millis(27));
    stage.shows(KEY, &[1]);
    stage.owes(KEY, true);
    stage.crash(NODE_A);
    is_resumed(stage, NODE_B, &[1]);
    stage.hears(caller, NOTHING);
}

fn marker_not_backwards(stage: &mut Views) {
    stage.slow_projection(KEY, millis(100));
    stage.slow_commit_of(NODE_B, KEY, millis(300));
    let first = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(millis(30));
    let second = stage.submit(NODE_B, KEY, 2, 7);
    stage.run_for(millis(170));
    stage.hears(first, applied(1, 5));
    stage.shows(KEY, &[1]);
    stage.run_for(secs(2));
    stage.hears(second, applied(2, 12));
    stage.shows(KEY, &[1, 2]);
}

fn projected_once_shown(stage: &mut Views) {
    stage.every_projection(KEY, Fate::Busy);
    let caller = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.hears(caller, late(1, 5));
    stage.owes(KEY, true);
    // A duplicate does not hear otherwise.
    let again = stage.submit(NODE_B, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.hears(again, late(1, 5));
    stage.lift();
    let paid = stage.submit(NODE_B, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.hears(paid, applied(1, 5));
    stage.shows(KEY, &[1]);
}

fn view_in_parts(stage: &mut Views) {
    let ahead = stage.submit(NODE_A, KEY, 1, 5);
    let shown = stage.submit(NODE_A, KEY, 2, 1);
    let not_shown = stage.submit(NODE_A, KEY, 3, 1);
    // Until the first is projected.
    stage.run_for(millis(42));
    stage.next_projection_in_part(KEY, 1);
    stage.run_for(secs(1));
    stage.hears(ahead, applied(1, 5));
    stage.hears(shown, applied(2, 6));
    stage.hears(not_shown, late(3, 7));
    stage.shows(KEY, &[1, 2]);
    stage.owes(KEY, true);
    let newer = stage.submit(NODE_B, KEY, 4, 1);
    stage.run_for(secs(1));
    stage.hears(newer, applied(4, 8));
    stage.shows(KEY, &[1, 2, 3, 4]);
    stage.owes(KEY, false);
}

fn broken_view(stage: &mut Views) {
    stage.every_projection(KEY, Fate::Busy);
    for number in 1..=3 {
        let caller = stage.submit(NODE_A, KEY, number, 1);
        stage.run_for(secs(1));
        stage.hears(caller, late(number, number as i64));
    }
    stage.holds(KEY, &[1, 2, 3]);
    stage.shows(KEY, &[]);
    stage.lift();
    stage.sweep();
    stage.run_for(secs(20));
    stage.shows(KEY, &[1, 2, 3]);
    stage.owes(KEY, false);
}
