//! What callers and nodes do to batches that are under way.

use super::{
    Play, Scenario, Stage,
    commits::everywhere,
    expected::{NOTHING, REJECTED, applied, not_committed},
    safeguards::{
        COMMITS_OUTLIVE_CALLERS, GUARD_AROUND_STEP, PLACES_COME_BACK, TIMER_AFTER_REFUSAL,
    },
    setting::Setting,
    stage::{KEY, NODE_A, NODE_B, OTHER, millis, secs},
};
use crate::{
    checkers::Property,
    history::Why,
    kind::{Fenced, Kind, Projected},
    purses::Purses,
    sent::Quirk,
    store::Fate,
    weak::ByHand,
};

pub(super) const STORIES: &[Scenario] = &[
    Scenario {
        name: "caller-gone",
        rows: &[21],
        gist: "a caller goes in mid-commit, and its batch is carried whole; what still waits goes with its caller",
        plays: everywhere!(caller_gone),
        by_hand: &[(
            Play::Fenced(caller_gone::<Fenced<Purses>>),
            COMMITS_OUTLIVE_CALLERS.fails(&[
                Property::TrueAnswers,
                Property::Answered,
                Property::NoLeaks,
            ]),
        )],
        ..Scenario::BLANK
    },
    Scenario {
        name: "places-come-back",
        rows: &[22],
        gist: "a caller that goes, a deadline that passes and a step that panics give their places back",
        setting: Setting {
            max_queueing: 3,
            max_in_flight: 1,
            ..Setting::USUAL
        },
        plays: everywhere!(places_come_back),
        by_hand: &[(
            Play::Fenced(places_come_back::<Fenced<Purses>>),
            PLACES_COME_BACK.fails(&[Property::NoLeaks]),
        )],
        ..Scenario::BLANK
    },
    Scenario {
        name: "nobody-polls",
        rows: &[23],
        gist: "batches go, and go again after a refusal and after a freeze, though nobody polls for their answers",
        setting: Setting {
            max_in_flight: 1,
            ..Setting::USUAL
        },
        plays: everywhere!(nobody_polls),
        by_hand: &[(
            Play::ByHand(nobody_polls::<ByHand<Purses>>),
            TIMER_AFTER_REFUSAL.fails(&[Property::Answered, Property::NoLeaks]),
        )],
        ..Scenario::BLANK
    },
    Scenario {
        name: "step-panics",
        rows: &[24],
        gist: "a step panics: its input fails alone, and the key goes on",
        plays: everywhere!(step_panics),
        by_hand: &[(
            Play::ByHand(step_panics::<ByHand<Purses>>),
            GUARD_AROUND_STEP.fails(&[Property::NoHarm]),
        )],
        ..Scenario::BLANK
    },
    Scenario {
        name: "shutdown-drains",
        rows: &[25],
        gist: "a node is shut down, and everyone that it had taken in is answered",
        plays: everywhere!(shutdown_drains),
        ..Scenario::BLANK
    },
];

fn caller_gone<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let ahead = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(millis(2));
    let before = stage.submit(NODE_A, KEY, 2, 1);
    let gone = stage.submit(NODE_A, KEY, 3, 1);
    let behind = stage.submit(NODE_A, KEY, 4, 1);
    let withdrawn = stage.submit(NODE_A, KEY, 5, 1);
    stage.drop_caller(withdrawn);
    stage.slow_commit_of(NODE_A, KEY, Default::default());
    stage.slow_commit_of(NODE_A, KEY, millis(200));
    stage.run_for(millis(150));
    stage.holds(KEY, &[1]);
    stage.drop_caller(gone);
    stage.run_for(secs(1));
    stage.hears(ahead, applied(1, 5));
    stage.hears(before, applied(2, 6));
    stage.hears(gone, NOTHING);
    stage.hears(behind, applied(4, 8));
    stage.hears(withdrawn, NOTHING);
    // One that is alone, and another that comes meanwhile.
    let gone = stage.submit(NODE_A, KEY, 6, 1);
    stage.run_for(millis(12));
    let waits = stage.submit(NODE_A, KEY, 7, 1);
    stage.drop_caller(gone);
    stage.run_for(secs(1));
    stage.hears(gone, NOTHING);
    stage.hears(waits, applied(6, 10));
    stage.holds(KEY, &[1, 2, 3, 4, 6, 7]);
}

fn places_come_back<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let carried = stage.submit(NODE_A, KEY, 1, 5);
    let gone = stage.submit(NODE_A, KEY, 2, 1);
    let expired = stage.submit_within(NODE_A, OTHER, (3, 1), millis(3));
    let over = stage.submit(NODE_A, KEY, 4, 1);
    stage.hears(over, REJECTED);
    stage.drop_caller(gone);
    let panics = stage.submit_bad(NODE_A, KEY, 5, Quirk::Panics);
    stage.run_for(millis(4));
    stage.hears(expired, not_committed(Why::Expired));
    let poison = stage.submit_bad(NODE_A, OTHER, 6, Quirk::Poison);
    let over = stage.submit(NODE_A, KEY, 7, 1);
    stage.hears(over, REJECTED);
    stage.run_for(secs(1));
    stage.hears(carried, applied(1, 5));
    stage.hears(panics, not_committed(Why::Panicked));
    stage.hears(poison, not_committed(crate::purses::StoreError::NotAllowed));
    let queueing = stage.stats(NODE_A).queueing;
    stage.expect(queueing == 0, || format!("{queueing} places are held"));
    // There is room for as many as before, and for no more.
    let taken = [8, 9, 10].map(|number| stage.submit(NODE_A, KEY, number, 1));
    let over = stage.submit(NODE_A, KEY, 11, 1);
    stage.hears(over, REJECTED);
    stage.run_for(secs(1));
    taken
        .into_iter()
        .for_each(|taken| stage.hears_applied(taken));
    stage.holds(KEY, &[1, 8, 9, 10]);
}

fn nobody_polls<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let first = stage.submit_unheeded(NODE_A, KEY, 1, 5);
    let second = stage.submit_unheeded(NODE_A, KEY, 2, 7);
    let neighbour = stage.submit_unheeded(NODE_A, OTHER, 3, 1);
    stage.run_for(secs(1));
    stage.holds(KEY, &[1, 2]);
    stage.holds(OTHER, &[3]);
    // Another writer is first, so that the commit is refused.
    stage.slow_commit_of(NODE_A, KEY, millis(100));
    let refused = stage.submit_unheeded(NODE_A, KEY, 4, 1);
    let other = stage.submit_unheeded(NODE_B, KEY, 5, 1);
    stage.run_for(secs(1));
    stage.holds(KEY, &[1, 2, 5, 4]);
    let frozen = stage.submit_unheeded(NODE_A, KEY, 6, 1);
    let waiting = stage.submit_unheeded(NODE_A, KEY, 7, 1);
    stage.run_for(millis(12));
    stage.freeze(NODE_A, secs(20));
    stage.run_for(secs(21));
    stage.holds(KEY, &[1, 2, 5, 4, 6, 7]);
    for caller in [first, second, neighbour, refused, other, frozen, waiting] {
        stage.hears(caller, NOTHING);
        stage.listen(caller);
        stage.run_for(millis(0));
        stage.hears_applied(caller);
    }
}

fn step_panics<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let ahead = stage.submit(NODE_A, KEY, 1, 5);
    let before = stage.submit(NODE_A, KEY, 2, 1);
    let panics = stage.submit_bad(NODE_A, KEY, 3, Quirk::Panics);
    let behind = stage.submit(NODE_A, KEY, 4, 1);
    stage.run_for(secs(1));
    stage.hears(ahead, applied(1, 5));
    stage.hears(before, applied(2, 6));
    stage.hears(panics, not_committed(Why::Panicked));
    stage.hears(behind, applied(3, 7));
    // Not after a commit that may have landed either: that is told by a read.
    stage.next_commit(KEY, Fate::AnswerLost);
    let landed = stage.submit(NODE_A, KEY, 5, 1);
    let panics = stage.submit_bad(NODE_A, KEY, 6, Quirk::Panics);
    stage.run_for(secs(2));
    stage.hears(landed, applied(4, 8));
    stage.hears(panics, not_committed(Why::Panicked));
    stage.holds(KEY, &[1, 2, 4, 5]);
}

fn shutdown_drains<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let in_flight = stage.submit(NODE_A, KEY, 1, 5);
    let waiting = stage.submit(NODE_A, KEY, 2, 1);
    let elsewhere = stage.submit(NODE_A, OTHER, 3, 1);
    stage.next_commit(KEY, Fate::AnswerLost);
    stage.next_read_fails(OTHER);
    stage.run_for(millis(12));
    stage.shut_down(NODE_A);
    stage.run_for(secs(2));
    stage.hears(in_flight, applied(1, 5));
    stage.hears(waiting, applied(2, 6));
    stage.hears(elsewhere, applied(1, 1));
    let next = stage.submit(NODE_B, KEY, 4, 1);
    stage.run_for(secs(1));
    stage.hears(next, applied(3, 7));
    stage.holds(KEY, &[1, 2, 4]);
}
