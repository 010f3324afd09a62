//! What commits are held against, and what is durable by when.

use super::{
    Play, Scenario, Stage,
    commits::everywhere,
    expected::{applied, declined, not_committed},
    safeguards::{
        COMMIT_FENCE, FRESH_READS, VERSIONS_GO_ON, VERSIONS_NO_FINGERPRINTS,
        WRITING_BEFORE_ANSWERING,
    },
    setting::Setting,
    stage::{KEY, NODE_A, NODE_B, millis, secs},
};
use crate::{
    checkers::Property,
    kind::{Fenced, Kind, Projected},
    purses::{Purses, StoreError},
    sent::Quirk,
    store::Fate,
};

pub(super) const STORIES: &[Scenario] = &[
    Scenario {
        name: "durable-before-the-answer",
        rows: &[11],
        gist: "what a caller has heard is there after any crash",
        by_type: Some(
            "what was applied is answered once its commit is, which a read cannot be given: `answer_a_read_with_a_commit`, at \
             `ferry_core::fold_write::Command`",
        ),
        plays: &[Play::Fenced(durable_before_the_answer)],
        without: &[WRITING_BEFORE_ANSWERING.fails(&[Property::NothingLost])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "read-what-is-there",
        rows: &[],
        gist: "what is declined is declined on the record as it is, and not as it was before",
        plays: everywhere!(read_what_is_there),
        without: &[FRESH_READS.fails(&[Property::TrueAnswers])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "deleted-and-created-again",
        rows: &[12],
        gist: "a commit on an absent record comes late, after another was created and deleted",
        setting: Setting::TWO_TRIES,
        plays: everywhere!(deleted_and_created_again),
        without: &[VERSIONS_GO_ON.fails(&[Property::TrueAnswers])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "equal-content-again",
        rows: &[13],
        gist: "a commit comes late, and the record has the content again on which it was based",
        setting: Setting::TWO_TRIES,
        plays: everywhere!(equal_content_again),
        without: &[VERSIONS_NO_FINGERPRINTS.fails(&[Property::TrueAnswers])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "parts-are-fenced",
        rows: &[14],
        gist: "the parts of a batch that was split are held against the record like any commit",
        plays: everywhere!(parts_are_fenced),
        without: &[COMMIT_FENCE.fails(&[Property::TrueAnswers, Property::NothingLost])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "newcomer",
        rows: &[15],
        gist: "one input through another node gets in beside an owner that commits without a pause",
        plays: everywhere!(newcomer),
        ..Scenario::BLANK
    },
];

fn durable_before_the_answer(stage: &mut Stage<Fenced<Purses>>) {
    let caller = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(millis(30));
    stage.hears(caller, applied(1, 5));
    stage.crash(NODE_A);
    stage.holds(KEY, &[1]);
    let other = stage.submit(NODE_B, KEY, 2, 7);
    stage.run_for(secs(1));
    stage.hears(other, applied(2, 12));
}

fn read_what_is_there<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let filled = stage.submit(NODE_A, KEY, 1, 10);
    stage.run_for(secs(1));
    stage.hears(filled, applied(1, 10));
    let taken = stage.submit(NODE_B, KEY, 2, -10);
    stage.run_for(secs(1));
    stage.hears(taken, applied(2, 0));
    let too_much = stage.submit(NODE_A, KEY, 3, -10);
    stage.run_for(secs(1));
    stage.hears(too_much, declined(2, 0));
}

fn deleted_and_created_again<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    stage.next_commit_of(NODE_A, KEY, Fate::Late(secs(10)));
    stage.next_commit_of(NODE_A, KEY, Fate::Busy);
    let late = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(millis(100));
    let other = stage.submit(NODE_B, KEY, 2, 7);
    stage.run_for(secs(2));
    stage.hears(other, applied(1, 7));
    // It was based on no record, and there is one.
    stage.hears(late, not_committed(StoreError::Busy));
    stage.delete(KEY);
    stage.run_for(secs(10));
    stage.holds(KEY, &[]);
}

fn equal_content_again<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let first = stage.submit(NODE_B, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.hears(first, applied(1, 5));
    stage.next_commit_of(NODE_A, KEY, Fate::Late(secs(10)));
    stage.next_commit_of(NODE_A, KEY, Fate::Busy);
    let late = stage.submit(NODE_A, KEY, 2, 2);
    stage.run_for(millis(100));
    let other = stage.submit(NODE_B, KEY, 3, 7);
    stage.run_for(secs(2));
    stage.hears(other, applied(2, 12));
    stage.hears(late, not_committed(StoreError::Busy));
    stage.delete(KEY);
    let anew = stage.submit(NODE_B, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.hears(anew, applied(1, 5));
    stage.run_for(secs(10));
    stage.holds(KEY, &[1]);
}

fn parts_are_fenced<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let alone = stage.submit(NODE_A, KEY, 1, 5);
    let before = stage.submit(NODE_A, KEY, 2, 1);
    let poison = stage.submit_bad(NODE_A, KEY, 3, Quirk::Poison);
    let behind = stage.submit(NODE_A, KEY, 4, 1);
    // All of 1; 2, 3 and 4; 2 and 3; and then 2.
    stage.next_commit_of(NODE_A, KEY, Fate::Plain);
    stage.next_commit_of(NODE_A, KEY, Fate::Plain);
    stage.next_commit_of(NODE_A, KEY, Fate::Plain);
    stage.slow_commit_of(NODE_A, KEY, millis(200));
    stage.run_for(millis(150));
    let other = stage.submit(NODE_B, KEY, 5, 10);
    stage.run_for(secs(2));
    stage.hears(alone, applied(1, 5));
    stage.hears(other, applied(2, 15));
    stage.hears(before, applied(3, 16));
    stage.hears(poison, not_committed(StoreError::NotAllowed));
    stage.hears(behind, applied(4, 17));
    stage.holds(KEY, &[1, 5, 2, 4]);
}

fn newcomer<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let mut owned = Vec::new();
    let mut come = None;
    for number in 1..=400 {
        owned.push(stage.submit(NODE_A, KEY, number, 1));
        if number == 20 {
            come = Some(stage.submit(NODE_B, KEY, 1_000, 1));
        }
        stage.run_for(millis(5));
    }
    // Not once everybody else is done.
    come.into_iter().for_each(|come| stage.hears_applied(come));
    stage.run_for(secs(1));
    owned.into_iter().for_each(|one| stage.hears_applied(one));
}
