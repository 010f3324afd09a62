//! What one bad input, one bad key or one bad hour does to the others.

use std::collections::BTreeSet;

use super::{
    Play, Scenario, Stage,
    commits::everywhere,
    expected::{REJECTED, applied, not_committed},
    safeguards::{
        BATCHES, END_OF_ATTEMPTS, JITTER, MEMORY_OF_THE_DECLINED, ONE_BATCH_IN_FLIGHT, PAUSES,
        SPLITTING,
    },
    setting::Setting,
    stage::{KEY, NODE_A, NODE_B, OTHER, millis, secs},
};
use crate::{
    checkers::Property,
    history::Why,
    kind::{Fenced, Kind, Projected},
    purses::{Purses, StoreError},
    sent::Quirk,
    store::Fate,
    weak::ByHand,
};

pub(super) const STORIES: &[Scenario] = &[
    Scenario {
        name: "poison",
        rows: &[26],
        gist: "the store takes no record with one of the inputs: the batch is split until that one fails alone",
        plays: everywhere!(poison),
        by_hand: &[(
            Play::ByHand(poison::<ByHand<Purses>>),
            SPLITTING.fails(&[Property::NoHarm]),
        )],
        ..Scenario::BLANK
    },
    Scenario {
        name: "retry-keeps-its-place",
        rows: &[27],
        gist: "a batch is tried again and again, and none of those that came after it goes first",
        plays: everywhere!(retry_keeps_its_place),
        by_hand: &[
            (
                Play::Fenced(retry_keeps_its_place::<Fenced<Purses>>),
                BATCHES.fails(&[Property::InOrder]),
            ),
            (
                Play::Fenced(retry_keeps_its_place::<Fenced<Purses>>),
                ONE_BATCH_IN_FLIGHT.fails(&[Property::InOrder]),
            ),
        ],
        ..Scenario::BLANK
    },
    Scenario {
        name: "declined-and-overtaken",
        rows: &[27],
        gist: "an input is declined by a commit that lands unheard, and is not applied behind those that came after it",
        plays: everywhere!(declined_and_overtaken),
        by_hand: &[(
            Play::ByHand(declined_and_overtaken::<ByHand<Purses>>),
            MEMORY_OF_THE_DECLINED.fails(&[Property::InOrder]),
        )],
        ..Scenario::BLANK
    },
    Scenario {
        name: "retries-spread",
        rows: &[28],
        gist: "all writers are throttled at once, with the same hint, and do not come back at once",
        plays: everywhere!(retries_spread),
        by_hand: &[(
            Play::ByHand(retries_spread::<ByHand<Purses>>),
            JITTER.fails(&[Property::BoundedWork]),
        )],
        ..Scenario::BLANK
    },
    Scenario {
        name: "told-in-the-end",
        rows: &[29],
        gist: "the store is busy for good: after a bounded number of tries the caller is told",
        plays: everywhere!(told_in_the_end),
        by_hand: &[
            (
                Play::ByHand(told_in_the_end::<ByHand<Purses>>),
                PAUSES.fails(&[Property::BoundedWork]),
            ),
            (
                Play::ByHand(told_in_the_end::<ByHand<Purses>>),
                END_OF_ATTEMPTS.fails(&[Property::BoundedWork]),
            ),
        ],
        ..Scenario::BLANK
    },
    Scenario {
        name: "throttled-key",
        rows: &[30],
        gist: "one key is throttled for good, and holds one permit and its own places, and nothing of the others'",
        setting: Setting {
            max_in_flight: 2,
            max_queueing: 4,
            max_queueing_per_key: 2,
            ..Setting::USUAL
        },
        plays: everywhere!(throttled_key),
        ..Scenario::BLANK
    },
];

fn poison<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let ahead = stage.submit(NODE_A, KEY, 1, 5);
    let before = stage.submit(NODE_A, KEY, 2, 1);
    let poison = stage.submit_bad(NODE_A, KEY, 3, Quirk::Poison);
    let behind = stage.submit(NODE_A, KEY, 4, 1);
    let last = stage.submit(NODE_A, KEY, 5, 1);
    stage.run_for(secs(1));
    stage.hears(ahead, applied(1, 5));
    stage.hears(before, applied(2, 6));
    stage.hears(poison, not_committed(StoreError::NotAllowed));
    stage.hears(behind, applied(3, 7));
    stage.hears(last, applied(4, 8));
    let next = stage.submit(NODE_A, KEY, 6, 1);
    stage.run_for(secs(1));
    stage.hears(next, applied(5, 9));
    stage.holds(KEY, &[1, 2, 4, 5, 6]);
    // 1; 2 to 5; 2 and 3; 2; 3; 4 and 5; 6.
    let commits = stage.commits(KEY).len();
    stage.expect(commits == 7, || format!("{commits} commits, and not 7"));
}

fn retry_keeps_its_place<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    stage.next_commit(KEY, Fate::Busy);
    stage.next_commit(KEY, Fate::Throttled(Some(millis(300))));
    stage.next_commit(KEY, Fate::RequestLost);
    let first = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(millis(50));
    let second = stage.submit(NODE_A, KEY, 2, 1);
    stage.run_for(millis(500));
    let third = stage.submit(NODE_A, KEY, 3, 1);
    stage.holds(KEY, &[]);
    stage.run_for(secs(5));
    stage.hears(first, applied(1, 5));
    stage.hears(second, applied(2, 6));
    stage.hears(third, applied(3, 7));
    stage.holds(KEY, &[1, 2, 3]);
}

fn declined_and_overtaken<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let ahead = stage.submit(NODE_A, KEY, 1, 5);
    let before = stage.submit(NODE_A, KEY, 2, 1);
    let too_much = stage.submit(NODE_A, KEY, 3, -10);
    let behind = stage.submit(NODE_A, KEY, 4, 10);
    stage.next_commit(KEY, Fate::Plain);
    stage.next_commit(KEY, Fate::AnswerLost);
    stage.run_for(secs(2));
    stage.hears(ahead, applied(1, 5));
    stage.hears(before, applied(2, 6));
    stage.hears(behind, applied(3, 16));
    stage.hears(too_much, not_committed(Why::Overtaken));
    let again = stage.submit(NODE_A, KEY, 3, -10);
    stage.run_for(secs(1));
    stage.hears(again, applied(4, 6));
    stage.holds(KEY, &[1, 2, 4, 3]);
}

fn retries_spread<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let keys = 0..8;
    let hint = Some(millis(300));
    for key in keys.clone() {
        for _ in 0..3 {
            stage.next_commit(key, Fate::Throttled(hint));
        }
        let node = key as usize % 3;
        stage.submit(node, key, u64::from(key) + 1, 1);
    }
    stage.run_for(secs(3));
    let tries: Vec<_> = keys.flat_map(|key| stage.commits(key)).collect();
    let moments: BTreeSet<_> = tries.iter().collect();
    // The first tries are at one moment, since all were sent at one.
    stage.expect(tries.len() == 32 && moments.len() == 25, || {
        format!("{} tries, at {} moments", tries.len(), moments.len())
    });
    let early = tries.iter().filter(|at| at.nanos() < 300_000_000).count();
    stage.expect(early == 8, || {
        format!("{early} tries before the hint has passed")
    });
}

fn told_in_the_end<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    stage.every_commit(KEY, Fate::Busy);
    let caller = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(secs(30));
    stage.hears(caller, not_committed(StoreError::Busy));
    let tries = stage.commits(KEY).len();
    stage.expect(tries == 10, || format!("{tries} tries, and not 10"));
    stage.lift();
    let again = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.hears(again, applied(1, 5));
}

fn throttled_key<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    stage.every_commit(KEY, Fate::Throttled(None));
    let throttled = stage.submit(NODE_A, KEY, 1, 5);
    let waiting = stage.submit(NODE_A, KEY, 2, 1);
    let over = stage.submit(NODE_A, KEY, 3, 1);
    stage.hears(over, REJECTED);
    for number in 4..=8 {
        let other = stage.submit(NODE_A, OTHER, number, 1);
        stage.run_for(millis(50));
        stage.hears_applied(other);
    }
    stage.lift();
    stage.run_for(secs(5));
    stage.hears(throttled, applied(1, 5));
    stage.hears(waiting, applied(2, 6));
    let elsewhere = stage.submit(NODE_B, KEY, 9, 1);
    stage.run_for(secs(1));
    stage.hears(elsewhere, applied(3, 7));
}
