//! What is known of a commit that was not answered, and what callers are told of it.

use core::time::Duration;

use ferry_core::{Fault, Fold, Retry, Step, StepOf};

use crate::{
    deposits::{Account, Accounts, BEYOND, Deposit, Deposits},
    story::{RETRY, Story, by, deposit, down, too_large},
    words::error,
};

const ONCE: Retry = Retry {
    attempts: 1,
    ..RETRY
};

const TWICE: Retry = Retry {
    attempts: 2,
    ..RETRY
};

#[test]
fn a_commit_that_landed_unheard_is_found_by_the_next_read() {
    let mut story = Story::of([deposit(1, 50), deposit(2, 10)]);
    story.reads().commit_lands_unheard().hears(&[]);
    story.sleeps().reads().hears(&["1: 50", "2: 60"]);
    let tally = story.ends();
    assert_eq!((tally.commits, tally.in_doubt), (1, 1));
    assert_eq!((tally.applied, tally.duplicates), (0, 2));
    assert_eq!(story.store.ids(), [1, 2]);
}

#[test]
fn a_late_commit_that_lands_before_the_second_refuses_it_and_is_found() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_goes_adrift();
    story
        .sleeps()
        .reads()
        .the_adrift_lands()
        .commit_is_refused()
        .hears(&[]);
    story.sleeps().reads().hears(&["1: 50"]).ends();
    assert_eq!(story.store.ids(), [1]);
}

#[test]
fn a_late_commit_that_comes_after_the_second_is_kept_out_by_it() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_goes_adrift();
    story.sleeps().reads().commit_lands().hears(&["1: 50"]);
    story.the_adrift_comes_too_late().ends();
    assert_eq!(story.store.ids(), [1]);
}

#[test]
fn a_clean_failure_does_not_make_an_earlier_doubt_forgotten() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_goes_adrift();
    story.sleeps().reads().commit_fails(too_large());
    story.reads().hears(&["1: in doubt, too large"]).ends();
    story.the_adrift_lands();
    assert_eq!(story.store.ids(), [1]);
}

#[test]
fn doubt_outlives_reads_that_fail() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_goes_adrift();
    story
        .sleeps()
        .read_fails(down())
        .sleeps()
        .read_fails(down())
        .sleeps()
        .read_fails(down());
    story.hears(&["1: in doubt, down"]).ends();
    story.the_adrift_lands();
}

#[test]
fn doubt_is_settled_by_a_read_at_another_version_without_the_input() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_goes_adrift();
    story.a_rival_commits(9, 5);
    story.sleeps().reads().commit_fails(too_large());
    story.hears(&["1: not committed, too large"]).ends();
    story.the_adrift_comes_too_late();
    assert_eq!(story.store.ids(), [9]);
}

#[test]
fn a_read_at_the_same_version_settles_nothing() {
    let mut story = Story::of([deposit(1, 50)]);
    story.a_rival_commits(9, 5);
    story.reads().commit_goes_adrift();
    story.sleeps().reads().commit_fails(too_large());
    story.reads().hears(&["1: in doubt, too large"]).ends();
    story.the_adrift_lands();
}

#[test]
fn a_second_doubt_on_a_later_version_is_a_doubt_again() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_goes_adrift();
    story.a_rival_commits(9, 5).the_adrift_comes_too_late();
    story.sleeps().reads().commit_goes_adrift();
    story.sleeps().reads().commit_fails(too_large());
    story.reads().hears(&["1: in doubt, too large"]).ends();
    story.the_adrift_lands();
}

#[test]
fn an_input_that_the_fold_declines_is_not_told_so_while_its_own_try_may_land() {
    // The withdrawal rests on the deposit before it, which leaves the batch.
    let mut story = Story::within([(deposit(1, 50), by(1)), (deposit(2, -50), None)]);
    story.reads().commit_goes_adrift();
    story.sleeps().hears(&["1: in doubt, expired"]);
    story.sleeps().reads().hears(&[]);
    story.the_adrift_lands();
    story.sleeps().reads().hears(&["2: 0"]).ends();
    assert_eq!(story.store.ids(), [1, 2]);
}

#[test]
fn an_input_that_the_fold_declines_is_told_so_once_its_own_try_cannot_land() {
    let mut story = Story::within([(deposit(1, 50), by(1)), (deposit(2, -50), None)]);
    story.reads().commit_goes_adrift();
    story.sleeps().hears(&["1: in doubt, expired"]);
    story.sleeps().reads().hears(&[]);
    story.a_rival_commits(9, 5);
    story
        .sleeps()
        .reads()
        .hears(&[&format!("2: {BEYOND}")])
        .ends();
    story.the_adrift_comes_too_late();
}

#[test]
fn an_input_that_the_fold_declines_to_the_end_while_its_own_try_may_land_is_in_doubt() {
    let mut story = Story::within([(deposit(1, 50), by(1)), (deposit(2, -50), None)]);
    story.reads().commit_goes_adrift();
    story.sleeps().hears(&["1: in doubt, expired"]);
    story.sleeps().reads().sleeps().reads().sleeps().reads();
    story.hears(&["2: in doubt, timed out"]).ends();
    story.the_adrift_lands();
    assert_eq!(story.store.ids(), [1, 2]);
}

#[test]
fn an_input_that_fails_while_its_twin_goes_on_is_in_doubt() {
    let mut story = Story::of([deposit(1, 50), deposit(1, 50)]);
    story
        .reads()
        .wants_to_commit(&[1])
        .commit_fails(too_large());
    // Apart: the first alone, then the second, which is then an input like any other.
    story
        .reads()
        .commit_fails(too_large())
        .hears(&["1: in doubt, too large"]);
    story.reads().commit_lands().hears(&["1: 50"]).ends();
}

#[test]
fn when_the_last_of_twins_fails_nothing_is_in_doubt() {
    let mut story = Story::of([deposit(1, 50), deposit(1, 50)]);
    story.reads().commit_fails(too_large());
    story
        .reads()
        .commit_fails(too_large())
        .hears(&["1: in doubt, too large"]);
    story
        .reads()
        .commit_fails(too_large())
        .hears(&["1: not committed, too large"])
        .ends();
}

#[test]
fn twins_whose_commit_failed_for_certain_are_both_known_not_to_be_committed() {
    let mut story = Story::retrying(ONCE, [deposit(1, 50), deposit(1, 50)]);
    story.reads().commit_fails(down());
    story
        .hears(&["1: not committed, down", "1: not committed, down"])
        .ends();
}

#[test]
fn twins_whose_commit_failed_are_both_known_not_to_be_committed_when_the_next_read_fails() {
    let twice = Retry {
        attempts: 2,
        ..RETRY
    };
    let mut story = Story::retrying(twice, [deposit(1, 50), deposit(1, 50)]);
    story.reads().commit_fails(down()).hears(&[]);
    story.sleeps().read_fails(down());
    story
        .hears(&["1: not committed, down", "1: not committed, down"])
        .ends();
}

#[test]
fn twins_whose_commit_is_in_doubt_are_both_in_doubt() {
    let mut story = Story::retrying(ONCE, [deposit(1, 50), deposit(1, 50)]);
    story.reads().commit_goes_adrift();
    story
        .read_fails(down())
        .hears(&["1: in doubt, down", "1: in doubt, down"])
        .ends();
}

#[test]
fn a_duplicate_behind_an_input_that_failed_hears_its_outcome_from_one_more_read() {
    let mut story = Story::retrying(ONCE, [deposit(1, 50), deposit(9, 5)]);
    story.a_rival_commits(9, 5);
    story.reads().hears(&[]).commit_fails(down());
    story
        .reads()
        .hears(&["1: not committed, down"])
        .reads_for(&[9])
        .hears(&["9: 5"])
        .ends();
}

#[test]
fn a_duplicate_keeps_its_twins_doubt_after_the_twin_has_left() {
    let mut story = Story::within([(deposit(1, 50), by(1)), (deposit(1, 50), None)]);
    story.reads().commit_goes_adrift();
    story.sleeps().hears(&["1: in doubt, expired"]);
    story
        .sleeps()
        .reads()
        .wants_to_commit(&[1])
        .commit_fails(too_large());
    story.reads().hears(&["1: in doubt, too large"]).ends();
    story.the_adrift_lands();
    assert_eq!(story.store.ids(), [1]);
}

#[test]
fn a_duplicate_split_from_its_twin_shares_the_twins_doubt() {
    let mut story = Story::of([deposit(1, 50), deposit(1, 50)]);
    story.reads().commit_fails(too_large());
    story.reads().commit_goes_adrift();
    story
        .sleeps()
        .reads()
        .commit_fails(too_large())
        .reads()
        .hears(&["1: in doubt, too large"]);
    story
        .reads()
        .commit_fails(too_large())
        .reads()
        .hears(&["1: in doubt, too large"])
        .ends();
    story.the_adrift_lands();
}

#[test]
fn a_duplicate_that_expires_while_its_twins_commit_may_be_repeated_is_in_doubt() {
    let mut story = Story::within([(deposit(1, 50), None), (deposit(1, 50), by(1))]);
    story.reads().commit_fails(down());
    story.sleeps().hears(&["1: in doubt, expired"]);
    story
        .sleeps()
        .reads()
        .commit_lands()
        .hears(&["1: 50"])
        .ends();
}

#[test]
fn a_refusal_may_come_from_the_commits_own_first_copy_and_the_next_read_finds_it() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_is_refused_by_its_own_copy();
    story.sleeps().reads().hears(&["1: 50"]).ends();
    assert_eq!(story.store.ids(), [1]);
}

#[test]
fn an_input_that_expires_between_a_refusal_and_the_read_after_it_is_in_doubt() {
    let mut story = Story::within([(deposit(1, 50), by(1))]);
    story
        .takes(Duration::from_millis(2))
        .reads()
        .commit_is_refused_by_its_own_copy();
    story.sleeps().hears(&["1: in doubt, expired"]).ends();
    assert_eq!(story.store.ids(), [1]);
}

#[test]
fn a_panic_in_the_stores_commit_leaves_doubt() {
    let mut story = Story::of([deposit(1, 50)]);
    story
        .reads()
        .commit_panics()
        .reads()
        .hears(&["1: in doubt, panicked in commit"])
        .ends();
    story.the_adrift_lands();
}

#[test]
fn after_a_panic_in_the_stores_commit_the_inputs_are_tried_apart() {
    let mut story = Story::of([deposit(1, 50), deposit(2, 10)]);
    story.reads().wants_to_commit(&[1, 2]).commit_panics();
    story.reads().wants_to_commit(&[1]).commit_panics();
    story.reads().hears(&["1: in doubt, panicked in commit"]);
    story
        .reads()
        .wants_to_commit(&[2])
        .commit_lands()
        .hears(&["2: 10"])
        .ends();
    story.the_adrift_comes_too_late();
}

#[test]
fn a_permanent_failure_of_the_halves_keeps_the_doubt_of_the_whole() {
    let mut story = Story::of([deposit(1, 50), deposit(2, 10)]);
    story.reads().commit_goes_adrift();
    story.sleeps().reads().commit_fails(too_large());
    story
        .reads()
        .commit_fails(too_large())
        .reads()
        .hears(&["1: in doubt, too large"]);
    story
        .reads()
        .commit_fails(too_large())
        .reads()
        .hears(&["2: in doubt, too large"])
        .ends();
    story.the_adrift_lands();
    assert_eq!(story.store.ids(), [1, 2]);
}

#[test]
fn twins_parted_before_they_were_ever_folded_share_their_doubt() {
    let mut story = Story::of([deposit(1, 50), deposit(1, 50)]);
    story.read_fails(Fault::permanent(error("malformed id")));
    story.reads().commit_goes_adrift();
    story
        .sleeps()
        .reads()
        .commit_fails(too_large())
        .reads()
        .hears(&["1: in doubt, too large"]);
    story
        .reads()
        .commit_fails(too_large())
        .reads()
        .hears(&["1: in doubt, too large"])
        .ends();
    story.the_adrift_lands();
}

#[test]
fn a_twin_parted_before_it_was_ever_folded_may_be_stored_once_the_other_landed() {
    let mut story = Story::within([(deposit(1, 50), None), (deposit(1, 50), by(1))]);
    story.read_fails(Fault::permanent(error("malformed id")));
    story.reads().takes(Duration::from_millis(2)).commit_lands();
    story.hears(&["1: 50", "1: in doubt, expired"]).ends();
}

// ---- the read after the last try ----------------------------------------------------------------

#[test]
fn a_last_commit_that_landed_unheard_is_answered_with_its_outcome() {
    let mut story = Story::retrying(ONCE, [deposit(1, 50), deposit(2, 10)]);
    story.reads().commit_lands_unheard().hears(&[]);
    story.reads_for(&[1, 2]).hears(&["1: 50", "2: 60"]);
    let tally = story.ends();
    assert_eq!((tally.reads, tally.commits, tally.retries), (2, 1, 0));
    assert_eq!((tally.in_doubt, tally.duplicates, tally.failed), (1, 2, 0));
}

#[test]
fn a_last_commit_that_cannot_land_any_more_is_proved_not_to_have() {
    let mut story = Story::retrying(ONCE, [deposit(1, 50)]);
    story.reads().commit_goes_adrift().a_rival_commits(9, 5);
    story.reads().hears(&["1: not committed, timed out"]).ends();
    story.the_adrift_comes_too_late();
}

#[test]
fn a_last_commit_that_may_still_land_is_in_doubt() {
    let mut story = Story::retrying(ONCE, [deposit(1, 50)]);
    story.reads().commit_goes_adrift();
    story.reads().hears(&["1: in doubt, timed out"]).ends();
    story.the_adrift_lands();
}

#[test]
fn a_last_commit_that_no_read_explains_is_in_doubt() {
    type Reads = fn(&mut Story) -> &mut Story;
    let unread: [(Reads, &str); 3] = [
        (|story| story.read_fails(down()), "down"),
        (|story| story.read_fails(too_large()), "too large"),
        (Story::read_panics, "panicked in read"),
    ];
    for (read, cause) in unread {
        let mut story = Story::retrying(ONCE, [deposit(1, 50), deposit(2, 10)]);
        story.reads().commit_lands_unheard();
        let heard = [1, 2].map(|id| format!("{id}: in doubt, {cause}"));
        read(&mut story).hears(&heard.each_ref().map(String::as_str));
        let tally = story.ends();
        assert_eq!((tally.reads, tally.faults, tally.splits), (2, 1, 0));
    }
}

#[test]
fn the_read_after_the_last_try_is_not_tried_again() {
    // A panic is the last try, however many are left.
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_panics().read_fails(down());
    story.hears(&["1: in doubt, down"]).ends();
    story.the_adrift_lands();
}

#[test]
fn a_last_try_that_failed_for_certain_is_read_after_for_an_earlier_one() {
    let mut story = Story::retrying(TWICE, [deposit(1, 50)]);
    story.reads().commit_goes_adrift();
    story.sleeps().reads().the_adrift_lands();
    story.commit_fails(down()).hears(&[]);
    story.reads().hears(&["1: 50"]).ends();
}

#[test]
fn a_last_try_that_left_nothing_open_is_not_read_after() {
    let mut story = Story::retrying(TWICE, [deposit(1, 50), deposit(2, 10)]);
    story.reads().commit_goes_adrift().a_rival_commits(9, 5);
    story.sleeps().reads().commit_fails(down());
    story.hears(&["1: not committed, down", "2: not committed, down"]);
    assert_eq!(story.ends().reads, 2);
}

#[test]
fn when_the_time_is_used_up_one_more_read_tells_what_landed() {
    let ms = Duration::from_millis(1);
    let retry = Retry { total: ms, ..RETRY };
    let mut story = Story::retrying(retry, [deposit(1, 50)]);
    story.takes(2 * ms).reads().commit_lands_unheard();
    story.hears(&[]).reads().hears(&["1: 50"]).ends();
}

#[test]
fn an_input_that_expires_during_its_last_commit_hears_what_the_read_finds() {
    let mut story = Story::with(Deposits, ONCE, [(deposit(1, 50), by(1))]);
    story
        .takes(Duration::from_millis(2))
        .reads()
        .commit_lands_unheard()
        .reads()
        .hears(&["1: 50"]);
    assert_eq!(story.ends().expired, 0);
}

#[test]
fn the_read_after_the_last_try_starts_no_other() {
    // The second is declined for the first, and would be applied without it.
    let mut story = Story::retrying(ONCE, [deposit(1, -5), deposit(2, -5)]);
    story.a_rival_commits(9, 5);
    story.reads().wants_to_commit(&[1]).commit_goes_adrift();
    story.reads().hears(&["1: in doubt, timed out"]);
    story
        .reads_for(&[2])
        .hears(&["2: not committed, timed out"]);
    let tally = story.ends();
    assert_eq!((tally.reads, tally.commits), (3, 1));
}

#[test]
fn a_commit_of_one_input_that_panicked_after_it_landed_is_answered_with_its_outcome() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_panics().hears(&[]);
    story.the_adrift_lands().reads().hears(&["1: 50"]);
    assert_eq!(story.ends().commits, 1);
}

#[test]
fn a_commit_of_one_input_that_panicked_and_cannot_land_any_more_is_proved_not_to_have() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_panics().a_rival_commits(9, 5);
    story
        .reads()
        .hears(&["1: not committed, panicked in commit"])
        .ends();
    story.the_adrift_comes_too_late();
}

#[test]
fn an_input_that_did_not_land_is_in_doubt_while_its_twin_goes_on() {
    let mut story = Story::retrying(ONCE, [deposit(1, 50), deposit(1, 50)]);
    story.reads().commit_fails(too_large());
    story.reads().a_rival_commits(9, 5).commit_is_refused();
    story.reads_for(&[1]).hears(&["1: in doubt, refused"]);
    story.reads().commit_lands().hears(&["1: 55"]).ends();
}

#[test]
fn after_the_last_refusal_one_more_read_tells_what_landed() {
    let mut story = Story::retrying(ONCE, [deposit(1, 50)]);
    story.reads().commit_is_refused_by_its_own_copy();
    story.hears(&[]).reads().hears(&["1: 50"]).ends();
}

#[test]
fn after_the_last_refusal_one_more_read_proves_what_did_not_land() {
    let mut story = Story::retrying(ONCE, [deposit(1, 50), deposit(9, 5)]);
    story.reads().a_rival_commits(9, 5).commit_is_refused();
    story
        .reads()
        .hears(&["1: not committed, refused"])
        .reads_for(&[9])
        .hears(&["9: 5"])
        .ends();
    assert_eq!(story.store.ids(), [9]);
}

#[test]
fn a_last_refusal_that_no_read_explains_leaves_doubt() {
    let mut story = Story::retrying(ONCE, [deposit(1, 50)]);
    story.reads().commit_is_refused_by_its_own_copy();
    story
        .read_fails(down())
        .hears(&["1: in doubt, down"])
        .ends();
    assert_eq!(story.store.ids(), [1]);
}

/// A fold that remembers no id below 10.
struct Forgetful;

impl Fold for Forgetful {
    type Schema = Accounts;
    type Input = Deposit;
    type Outcome = i64;

    fn id(&self, deposit: &Deposit) -> u64 {
        deposit.id
    }

    fn empty(&self, account: &u64) -> Account {
        Deposits.empty(account)
    }

    fn step(&self, account: &mut Account, deposit: &Deposit) -> StepOf<Self> {
        if deposit.id < 10 {
            return Step::TooOld(-3);
        }
        Deposits.step(account, deposit)
    }
}

fn one_of_them_too_old() -> Story<Forgetful> {
    let deposits = [(deposit(20, 50), None), (deposit(3, 5), None)];
    Story::with(Forgetful, ONCE, deposits)
}

#[test]
fn an_input_too_old_to_be_remembered_is_never_called_not_committed() {
    let mut story = one_of_them_too_old();
    story.reads().wants_to_commit(&[20]).commit_fails(down());
    story
        .read_fails(down())
        .hears(&["20: not committed, down", "3: in doubt, down"])
        .ends();
}

#[test]
fn an_input_too_old_to_be_remembered_hears_so_when_the_others_have_failed() {
    let mut story = one_of_them_too_old();
    story.reads().commit_fails(down());
    story.reads().hears(&["20: not committed, down"]);
    story.reads_for(&[3]).hears(&["3: -3"]).ends();
}

#[test]
fn a_doubt_is_not_blamed_on_what_another_input_failed_on() {
    // The withdrawal rests on the deposit before it, which no record will take.
    let mut story = Story::of([deposit(1, 50), deposit(2, -50)]);
    story.reads().commit_goes_adrift();
    story.sleeps().reads().commit_fails(too_large());
    story.reads().commit_fails(too_large());
    story.reads().hears(&["1: in doubt, too large"]);
    story.reads().sleeps().reads().sleeps().reads().sleeps();
    story.reads().hears(&["2: in doubt, timed out"]).ends();
    story.the_adrift_lands();
}
