//! What can become of a commit between a node and its store.

use super::{
    Play, Scenario, Stage,
    expected::{Expected, NOTHING, applied, in_doubt, not_committed},
    safeguards::{
        COMMIT_FENCE, DEDUP, DEDUP_BEFORE_ALL_ELSE, DEDUP_BEFORE_THE_FENCE, DOUBT_OF_A_REFUSAL,
        IN_DOUBT_NOT_FAILED, IN_DOUBT_NOT_LANDED, PROOF_OF_NOT_COMMITTED, READ_AFTER_REFUSAL,
        WAITING_FOR_OWN_COMMIT,
    },
    setting::Setting,
    stage::{Caller, KEY, NODE_A, NODE_B, millis, secs},
};
use crate::{
    checkers::Property,
    history::Why,
    kind::{Fenced, Kind, Projected},
    purses::{Purses, StoreError},
    store::Fate,
    weak::ByHand,
};

/// On either kind of write, and with the view in either place.
macro_rules! everywhere {
    ($story:ident) => {
        &[
            Play::Fenced($story::<Fenced<Purses>>),
            Play::Together($story::<Projected<Purses>>),
            Play::Apart($story::<Projected<Purses>>),
        ]
    };
}
pub(super) use everywhere;

pub(super) const STORIES: &[Scenario] = &[
    Scenario {
        name: "two-writers",
        rows: &[],
        gist: "two nodes read the same record, and both commit: the second is refused and folds again",
        plays: everywhere!(two_writers),
        without: &[COMMIT_FENCE.fails(&[Property::TrueAnswers, Property::NothingLost])],
        by_hand: &[(
            Play::ByHand(two_writers::<ByHand<Purses>>),
            READ_AFTER_REFUSAL.fails(&[Property::TrueAnswers, Property::NothingLost]),
        )],
        ..Scenario::BLANK
    },
    Scenario {
        name: "late-commit",
        rows: &[1],
        gist: "a commit lands after the time-out, and after the re-read that did not find it",
        plays: everywhere!(late_commit),
        without: &[COMMIT_FENCE.fails(&[Property::AppliedOnce, Property::NothingLost])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "own-first-copy",
        rows: &[2],
        gist: "a commit arrives twice, and its second copy is refused because of the first",
        setting: Setting::ONE_TRY,
        plays: everywhere!(own_first_copy),
        without: &[DOUBT_OF_A_REFUSAL.fails(&[Property::TrueAnswers])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "failed-and-applied",
        rows: &[3],
        gist: "the store answers with an error, and had applied the commit",
        setting: Setting::ONE_TRY,
        plays: everywhere!(failed_and_applied),
        without: &[IN_DOUBT_NOT_FAILED.fails(&[Property::TrueAnswers])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "lost-answer",
        rows: &[],
        gist: "a commit lands and its answer is lost: the retry finds it, and so does the client's own",
        plays: everywhere!(lost_answer),
        without: &[DEDUP.fails(&[Property::AppliedOnce, Property::TrueAnswers])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "lost-request",
        rows: &[],
        gist: "a commit is lost on its way: nobody takes it for landed, and the retry writes it",
        plays: everywhere!(lost_request),
        without: &[IN_DOUBT_NOT_LANDED.fails(&[Property::NothingLost])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "attempts-run-out",
        rows: &[4],
        gist: "no try is answered, and the first lands long after the last",
        setting: Setting::TWO_TRIES,
        plays: everywhere!(attempts_run_out),
        without: &[IN_DOUBT_NOT_FAILED.fails(&[Property::TrueAnswers])],
        by_hand: &[(
            Play::ByHand(attempts_run_out::<ByHand<Purses>>),
            PROOF_OF_NOT_COMMITTED.fails(&[Property::TrueAnswers]),
        )],
        ..Scenario::BLANK
    },
    Scenario {
        name: "deadline-in-doubt",
        rows: &[4],
        gist: "a deadline passes while a try is in doubt, which then lands",
        plays: everywhere!(deadline_in_doubt),
        without: &[IN_DOUBT_NOT_FAILED.fails(&[Property::TrueAnswers])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "silent-resend",
        rows: &[5],
        gist: "a layer below sends a commit again by itself, after a newer one",
        plays: everywhere!(silent_resend),
        without: &[COMMIT_FENCE.fails(&[Property::AppliedOnce, Property::NothingLost])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "busy-or-refused",
        rows: &[6],
        gist: "busy, overtaken by another, and overtaken by its own copy are three things, each told as it is",
        setting: Setting::ONE_TRY,
        plays: everywhere!(busy_or_refused),
        without: &[DOUBT_OF_A_REFUSAL.fails(&[Property::TrueAnswers])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "landed-before-refused",
        rows: &[7],
        gist: "what has landed unheard would be refused on the record as it is now: the id is looked up first",
        plays: everywhere!(landed_before_refused),
        without: &[DEDUP_BEFORE_ALL_ELSE.fails(&[Property::TrueAnswers])],
        by_hand: &[(
            Play::ByHand(landed_before_refused::<ByHand<Purses>>),
            DEDUP_BEFORE_THE_FENCE.fails(&[Property::TrueAnswers]),
        )],
        ..Scenario::BLANK
    },
    Scenario {
        name: "doubt-is-kept",
        rows: &[8],
        gist: "a try in doubt is followed by one that fails for certain: the caller still hears in doubt",
        setting: Setting::TWO_TRIES,
        plays: everywhere!(doubt_is_kept),
        without: &[IN_DOUBT_NOT_FAILED.fails(&[Property::TrueAnswers])],
        ..Scenario::BLANK
    },
    Scenario {
        name: "declined-in-doubt",
        rows: &[8],
        gist: "an input whose commit may still land is declined without the one before it, and is not told so",
        setting: Setting::TWO_TRIES,
        plays: everywhere!(declined_in_doubt),
        by_hand: &[(
            Play::ByHand(declined_in_doubt::<ByHand<Purses>>),
            WAITING_FOR_OWN_COMMIT.fails(&[Property::TrueAnswers]),
        )],
        ..Scenario::BLANK
    },
];

fn two_writers<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let before = stage.submit(NODE_A, KEY, 1, 1);
    stage.run_for(secs(1));
    stage.hears(before, applied(1, 1));
    stage.slow_commit_of(NODE_A, KEY, millis(100));
    let second = stage.submit(NODE_A, KEY, 2, 5);
    let first = stage.submit(NODE_B, KEY, 3, 7);
    stage.run_for(secs(1));
    stage.hears(first, applied(2, 8));
    stage.hears(second, applied(3, 13));
    stage.holds(KEY, &[1, 3, 2]);
}

fn late_commit<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    copy_comes_last(stage, Fate::Late(secs(10)));
}

/// A commit that comes once more after a newer one changes nothing.
fn copy_comes_last<K: Kind<Load = Purses>>(stage: &mut Stage<K>, fate: Fate) {
    stage.next_commit(KEY, fate);
    let first = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.hears(first, applied(1, 5));
    let second = stage.submit(NODE_B, KEY, 2, 7);
    stage.run_for(secs(1));
    stage.hears(second, applied(2, 12));
    stage.run_for(secs(10));
    stage.holds(KEY, &[1, 2]);
}

fn own_first_copy<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let gap = millis(50);
    let hears_second = true;
    is_applied_once(stage, Fate::Twice { gap, hears_second });
}

/// Whatever becomes of its commit, the caller hears how it truly went.
fn is_applied_once<K: Kind<Load = Purses>>(stage: &mut Stage<K>, fate: Fate) {
    stage.next_commit(KEY, fate);
    let caller = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.hears(caller, applied(1, 5));
    stage.holds(KEY, &[1]);
}

fn failed_and_applied<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    is_applied_once(stage, Fate::AnswerBroken);
}

fn lost_answer<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    stage.next_commit(KEY, Fate::AnswerLost);
    let caller = stage.submit(NODE_A, KEY, 1, 5);
    // Its client does not wait so long.
    stage.run_for(millis(100));
    let again = stage.submit(NODE_B, KEY, 1, 5);
    stage.run_for(secs(2));
    stage.hears(caller, applied(1, 5));
    stage.hears(again, applied(1, 5));
    stage.holds(KEY, &[1]);
}

fn lost_request<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    stage.next_commit(KEY, Fate::RequestLost);
    let caller = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(millis(400));
    stage.hears(caller, NOTHING);
    stage.holds(KEY, &[]);
    stage.run_for(secs(1));
    stage.hears(caller, applied(1, 5));
    stage.holds(KEY, &[1]);
}

fn deadline_in_doubt<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    stage.next_commit(KEY, Fate::Late(secs(10)));
    let caller = stage.submit_within(NODE_A, KEY, (1, 5), millis(400));
    hears_doubt_and_then_the_truth(stage, caller, in_doubt(Why::Expired));
}

/// The caller hears that it is in doubt; then its commit lands, and who asks again hears so.
fn hears_doubt_and_then_the_truth<K: Kind<Load = Purses>>(
    stage: &mut Stage<K>,
    caller: Caller,
    doubt: Expected,
) {
    stage.run_for(secs(5));
    stage.hears(caller, doubt);
    stage.holds(KEY, &[]);
    stage.run_for(secs(10));
    stage.holds(KEY, &[1]);
    let again = stage.submit(NODE_B, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.hears(again, applied(1, 5));
}

fn attempts_run_out<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    first_lands_last(stage, Fate::RequestLost, StoreError::TimedOut);
}

/// Of two tries the first is late, and this becomes of the second.
fn first_lands_last<K: Kind<Load = Purses>>(stage: &mut Stage<K>, second: Fate, why: StoreError) {
    stage.next_commit(KEY, Fate::Late(secs(10)));
    stage.next_commit(KEY, second);
    let caller = stage.submit(NODE_A, KEY, 1, 5);
    hears_doubt_and_then_the_truth(stage, caller, in_doubt(why));
}

fn silent_resend<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let gap = secs(2);
    let hears_second = false;
    copy_comes_last(stage, Fate::Twice { gap, hears_second });
}

fn busy_or_refused<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    stage.next_commit(KEY, Fate::Busy);
    let busy = stage.submit(NODE_A, KEY, 1, 5);
    stage.run_for(secs(1));
    stage.hears(busy, not_committed(StoreError::Busy));

    stage.slow_commit_of(NODE_A, KEY, millis(100));
    let loser = stage.submit(NODE_A, KEY, 2, 5);
    let winner = stage.submit(NODE_B, KEY, 3, 7);
    stage.run_for(secs(1));
    stage.hears(winner, applied(1, 7));
    stage.hears(loser, not_committed(Why::Refused));

    let gap = millis(50);
    let hears_second = true;
    stage.next_commit(KEY, Fate::Twice { gap, hears_second });
    let landed = stage.submit(NODE_A, KEY, 4, 1);
    stage.run_for(secs(1));
    stage.hears(landed, applied(2, 8));
    stage.holds(KEY, &[3, 4]);
}

fn landed_before_refused<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let filled = stage.submit(NODE_A, KEY, 1, 10);
    stage.run_for(secs(1));
    stage.hears(filled, applied(1, 10));
    stage.next_commit(KEY, Fate::AnswerLost);
    let emptied = stage.submit(NODE_A, KEY, 2, -10);
    stage.run_for(millis(100));
    // Somebody else moves the record on meanwhile.
    let other = stage.submit(NODE_B, KEY, 3, 4);
    stage.run_for(secs(2));
    stage.hears(other, applied(3, 4));
    stage.hears(emptied, applied(2, 0));
    // Or it is its own first copy that would have it refused.
    let gap = millis(50);
    let hears_second = true;
    stage.next_commit(KEY, Fate::Twice { gap, hears_second });
    let copied = stage.submit(NODE_A, KEY, 4, -4);
    stage.run_for(secs(1));
    stage.hears(copied, applied(4, 0));
    stage.holds(KEY, &[1, 2, 3, 4]);
}

fn doubt_is_kept<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    first_lands_last(stage, Fate::Busy, StoreError::Busy);
}

fn declined_in_doubt<K: Kind<Load = Purses>>(stage: &mut Stage<K>) {
    let ahead = stage.submit(NODE_A, KEY, 1, 5);
    let paid_in = stage.submit(NODE_A, KEY, 2, 50);
    let paid_out = stage.submit(NODE_A, KEY, 3, -50);
    stage.run_for(millis(22));
    stage.next_commit(KEY, Fate::Late(secs(10)));
    stage.next_commit_panics(KEY);
    // Tried apart, the first of them comes to nothing.
    stage.next_commit(KEY, Fate::Busy);
    stage.next_commit(KEY, Fate::Busy);
    stage.run_for(secs(5));
    stage.hears(ahead, applied(1, 5));
    stage.hears(paid_in, in_doubt(StoreError::Busy));
    stage.hears(paid_out, in_doubt(Why::CallPanicked));
    stage.holds(KEY, &[1]);
    stage.run_for(secs(10));
    stage.holds(KEY, &[1, 2, 3]);
    let again = stage.submit(NODE_B, KEY, 3, -50);
    stage.run_for(secs(1));
    stage.hears(again, applied(3, 5));
}
