//! Inputs that are sent again, and how they are known.

use core::num::NonZeroUsize;

use super::{
    Play, Scenario, Stage,
    commits::everywhere,
    expected::{MISMATCH, NOTHING, TOO_OLD, applied, declined, in_doubt, not_committed},
    safeguards::{
        BOUND_OF_FORGETTING, CONTENT_LOOKED_AT, DEDUP, DEDUP_IN_BATCH, DOUBT_OF_TWINS,
        IDS_IN_RECORD, STORED_OUTCOMES,
    },
    setting::Setting,
    stage::{KEY, NODE_A, NODE_B, millis, secs},
};
use crate::{
    checkers::Property,
    kind::{Fenced, Kind, Projected},
    purses::{Purses, StoreError},
    sent::Quirk,
    weak::ByHand,
};

const FEW: NonZeroUsize = NonZeroUsize::new(8).unwrap();

pub(super) const STORIES: &[Scenario] = &[
    Scenario {
        name: "duplicate-hears-the-same",
        rows: &[9],
        gist: "an input that is sent again hears what it heard first, whatever has happened since",
        plays: everywhere!(duplicate_hears_the_same),
        without: &[STORED_OUTCOMES.fails(&[Property::TrueAnswers])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "crash-before-the-answer",
        rows: &[10],
        gist: "a node crashes between commit and answer, and another tells the client what happened",
        plays: everywhere!(crash_before_the_answer),
        without: &[DEDUP.fails(&[Property::AppliedOnce, Property::TrueAnswers])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "twice-in-one-batch",
        rows: &[16],
        gist: "the same input twice in one batch is applied once, and both callers hear of it",
        plays: everywhere!(twice_in_one_batch),
        without: &[DEDUP.fails(&[Property::AppliedOnce, Property::TrueAnswers])],
        by_hand: &[(
            Play::ByHand(twice_in_one_batch::<ByHand<Purses>>),
            DEDUP_IN_BATCH.fails(&[Property::AppliedOnce]),
        )],
        ..Scenario::BLANK
    },
    Scenario {
        name: "twins-parted",
        rows: &[16],
        gist: "the same input is in both halves of a batch: one half lands, the other fails, and nobody hears that nothing was written",
        setting: Setting::TWO_TRIES,
        plays: everywhere!(twins_parted),
        by_hand: &[(
            Play::ByHand(twins_parted::<ByHand<Purses>>),
            DOUBT_OF_TWINS.fails(&[Property::TrueAnswers]),
        )],
        ..Scenario::BLANK
    },
    Scenario {
        name: "same-id-other-content",
        rows: &[17],
        gist: "an id that comes with other content is told so, and nothing changes",
        plays: everywhere!(same_id_other_content),
        without: &[CONTENT_LOOKED_AT.fails(&[Property::TrueAnswers])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "forgotten-id",
        rows: &[18],
        gist: "a record remembers a bounded number of ids, and what it may have forgotten it does not apply again",
        setting: Setting {
            ids: FEW,
            ..Setting::USUAL
        },
        plays: everywhere!(forgotten_id),
        without: &[BOUND_OF_FORGETTING.fails(&[Property::AppliedOnce, Property::TrueAnswers])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "new-owner",
        rows: &[19],
        gist: "a new owner knows the ids that an earlier one has applied",
        plays: everywhere!(new_owner),
        without: &[IDS_IN_RECORD.fails(&[Property::AppliedOnce, Property::TrueAnswers])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "declined-for-good",
        rows: &[20],
        gist: "where a no is stored, an input that is sent again hears it again, though it would be applied now",
        setting: Setting {
            keeps_declined: true,
            ..Setting::USUAL
        },
        plays: everywhere!(declined_for_good),
        without: &[STORED_OUTCOMES.fails(&[Property::TrueAnswers])],
        ..Scenario::BLANK
    },
];

fn duplicate_hears_the_same<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let first = stage.submit(NODE_A, KEY, 1, 5);
    let second = stage.submit(NODE_A, KEY, 2, 7);
    stage.run_for(secs(1));
    stage.hears(first, applied(1, 5));
    stage.hears(second, applied(2, 12));
    let again = stage.submit(NODE_B, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.hears(again, applied(1, 5));
    stage.holds(KEY, &[1, 2]);
}

fn crash_before_the_answer<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let caller = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(millis(17));
    stage.holds(KEY, &[1]);
    stage.crash(NODE_A);
    let again = stage.submit(NODE_B, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.hears(caller, NOTHING);
    stage.hears(again, applied(1, 5));
    stage.holds(KEY, &[1]);
}

fn twice_in_one_batch<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let ahead = stage.submit(NODE_A, KEY, 1, 5);
    let one = stage.submit(NODE_A, KEY, 2, 7);
    let other = stage.submit(NODE_A, KEY, 2, 7);
    stage.run_for(secs(1));
    stage.hears(ahead, applied(1, 5));
    stage.hears(one, applied(2, 12));
    stage.hears(other, applied(2, 12));
    stage.holds(KEY, &[1, 2]);
    let batches = stage.stats(NODE_A).counters.batches;
    stage.expect(batches == 2, || format!("{batches} batches, and not two"));
}

fn twins_parted<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let ahead = stage.submit(NODE_A, KEY, 1, 5);
    let one = stage.submit(NODE_A, KEY, 2, 7);
    let poison = stage.submit_bad(NODE_A, KEY, 3, Quirk::Poison);
    let twin = stage.submit(NODE_A, KEY, 2, 7);
    let beside = stage.submit(NODE_A, KEY, 4, 1);
    // For the one ahead, all four, the first half, and each of its inputs; and then for the second half.
    stage.next_reads(KEY, 5);
    stage.next_read_fails(KEY);
    stage.next_read_fails(KEY);
    stage.run_for(secs(1));
    stage.hears(ahead, applied(1, 5));
    stage.hears(one, applied(2, 12));
    stage.hears(poison, not_committed(StoreError::NotAllowed));
    stage.hears(twin, in_doubt(StoreError::Busy));
    stage.hears(beside, not_committed(StoreError::Busy));
    stage.holds(KEY, &[1, 2]);
}

fn same_id_other_content<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let first = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.hears(first, applied(1, 5));
    let other = stage.submit(NODE_B, KEY, 1, 6);
    let ahead = stage.submit(NODE_A, KEY, 2, 1);
    stage.run_for(secs(1));
    stage.hears(other, MISMATCH);
    stage.hears(ahead, applied(2, 6));
    // And within one batch.
    let first = stage.submit(NODE_A, KEY, 3, 1);
    let second = stage.submit(NODE_A, KEY, 4, 1);
    let other = stage.submit(NODE_A, KEY, 4, 2);
    stage.run_for(secs(1));
    stage.hears(first, applied(3, 7));
    stage.hears(second, applied(4, 8));
    stage.hears(other, MISMATCH);
    stage.holds(KEY, &[1, 2, 3, 4]);
}

fn forgotten_id<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    for number in 1..=12 {
        let caller = stage.submit(NODE_A, KEY, number, 1);
        stage.run_for(millis(100));
        stage.hears(caller, applied(number, number as i64));
    }
    stage.remembers(KEY, FEW.get());
    let remembered = stage.submit(NODE_B, KEY, 12, 1);
    let forgotten = stage.submit(NODE_A, KEY, 1, 1);
    stage.run_for(secs(1));
    stage.hears(remembered, applied(12, 12));
    stage.hears(forgotten, TOO_OLD);
    stage.holds(KEY, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
}

fn new_owner<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let first = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.hears(first, applied(1, 5));
    stage.crash(NODE_A);
    let elsewhere = stage.submit(NODE_B, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.restart(NODE_A);
    let back = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.hears(elsewhere, applied(1, 5));
    stage.hears(back, applied(1, 5));
    stage.holds(KEY, &[1]);
}

fn declined_for_good<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let refused = stage.submit(NODE_A, KEY, 1, -5);
    stage.run_for(secs(1));
    stage.hears(refused, declined(0, 0));
    let filled = stage.submit(NODE_A, KEY, 2, 10);
    stage.run_for(secs(1));
    stage.hears(filled, applied(1, 10));
    let again = stage.submit(NODE_B, KEY, 1, -5);
    stage.run_for(secs(1));
    stage.hears(again, declined(0, 0));
    stage.holds(KEY, &[1, 2]);
}
