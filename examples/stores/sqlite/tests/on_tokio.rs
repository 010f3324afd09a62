//! Commit, then project, by handles on Tokio that share a file: whatever dies, fails, is slow or comes
//! late, every view ends up showing exactly what its account's entries say, each of them once.

mod common;
mod node;
mod staged;

use std::{sync::mpsc, time::Duration};

use common::{File, poll_once};
use ferry_core::{
    Cause, Class,
    drive::{ResumeError, Schedule},
    projected_write::resume::Resumed,
};
use node::{
    wait,
    way::{Held, Mishap, Stop},
};
use staged::{
    Branch, MISMATCH, NOT_COVERED, Trouble, all_is_shown, assert_left_in_doubt, books, committed,
    projected,
};

const PERMANENT: Mishap = Mishap::Fails(Class::Permanent);
const TRANSIENT: Mishap = Mishap::Fails(Class::Transient);

impl Branch {
    #[track_caller]
    fn resume(&self, account: &str) -> Resumed {
        wait(self.node.resume(&account.to_owned())).expect("resumes")
    }

    /// Leaves a debt: an entry that nobody has projected.
    #[track_caller]
    fn owe(&self, account: &str, id: &str) {
        self.way.meets(Stop::Before, PERMANENT);
        committed(self.post(account, id));
    }
}

/// Leaves a debt, and nobody who knows of it.
fn owed_by_the_dead(file: &File, account: &str, id: &str) {
    let dead = Branch::open(file);
    let mut held = dead.way.hold(Stop::Before);
    let sent = dead.post(account, id);
    held.is_reached();
    dead.dies();
    assert_left_in_doubt(sent);
}

#[test]
fn what_a_process_left_that_died_between_its_two_writes_another_finishes() {
    for (stop, left) in [
        (Stop::Before, Resumed::Projected),
        // Between the second write and the answer to it: nothing is left to be done.
        (Stop::After, Resumed::NothingPending),
    ] {
        let file = File::new();
        let dead = Branch::open(&file);
        projected(dead.post("a", "1"));
        let mut held = dead.way.hold(stop);
        let sent = dead.post("a", "2");
        held.is_reached();
        dead.dies();
        assert_left_in_doubt(sent);

        let other = Branch::open(&file);
        let is_owed = left == Resumed::Projected;
        assert_eq!(other.pending().len(), usize::from(is_owed));
        assert_eq!(other.shown("a").len(), if is_owed { 1 } else { 2 });
        assert_eq!(other.resume("a"), left);
        assert_eq!(other.resume("a"), Resumed::NothingPending);
        assert_eq!(all_is_shown(&file), books([("a", "1 2")]));
        other.closes();
    }
}

#[test]
fn who_sends_again_elsewhere_hears_projected_when_the_view_shows_it_and_not_before() {
    let file = File::new();
    owed_by_the_dead(&file, "a", "1");

    let other = Branch::open(&file);
    let (mut before, mut after) = (other.way.hold(Stop::Before), other.way.hold(Stop::After));
    let mut again = other.post("a", "1");
    before.is_reached();
    assert!(poll_once(&mut again).is_pending());
    assert_eq!(other.pending(), ["a"]);
    before.go_on();
    after.is_reached();
    assert!(poll_once(&mut again).is_pending());
    assert_eq!(other.shown("a"), ["1"]);
    after.go_on();
    assert_eq!(projected(again), "balance 1");
    assert_eq!(all_is_shown(&file), books([("a", "1")]));
    other.closes();
}

#[test]
fn a_later_success_clears_no_earlier_debt_and_its_projection_pays_both() {
    let file = File::new();
    let one = Branch::open(&file);
    projected(one.post("a", "1"));
    one.owe("a", "2");

    // On another handle, which knows nothing of the debt but what the record says.
    let other = Branch::open(&file);
    let mut held = other.way.hold(Stop::Before);
    let later = other.post("a", "3");
    held.is_reached();
    assert_eq!(
        (other.pending(), other.shown("a")),
        (vec!["a".into()], vec!["1".into()])
    );
    held.meets(PERMANENT);
    assert_eq!(committed(later), "balance 3");
    assert_eq!(
        (other.pending(), other.shown("a")),
        (vec!["a".into()], vec!["1".into()])
    );

    assert_eq!(projected(other.post("a", "4")), "balance 4");
    assert_eq!(all_is_shown(&file), books([("a", "1 2 3 4")]));
    one.closes();
    other.closes();
}

#[test]
fn a_slow_projection_does_not_clear_what_a_newer_commit_owes() {
    let file = File::new();
    let (slow, other) = (Branch::open(&file), Branch::open(&file));
    let (mut first, mut second) = (slow.way.hold(Stop::Before), slow.way.hold(Stop::Before));
    let early = slow.post("a", "1");
    first.is_reached();
    other.owe("a", "2");

    first.go_on();
    // It was refused, and has read what there is now.
    second.is_reached();
    assert_eq!(
        (slow.pending(), slow.shown("a").len()),
        (vec!["a".into()], 0)
    );
    second.go_on();
    assert_eq!(projected(early), "balance 1");
    assert_eq!(slow.node.projections(), (2, 1));
    assert_eq!(all_is_shown(&file), books([("a", "1 2")]));
    slow.closes();
    other.closes();
}

#[test]
fn an_older_projection_that_comes_last_changes_nothing() {
    let file = File::new();
    let (slow, other) = (Branch::open(&file), Branch::open(&file));
    let mut held = slow.way.hold(Stop::Before);
    let early = slow.post("a", "1");
    held.is_reached();
    assert_eq!(projected(other.post("a", "2")), "balance 2");
    let shown = all_is_shown(&file);

    held.go_on();
    assert_eq!(projected(early), "balance 1");
    assert_eq!(slow.node.projections(), (1, 1));
    assert_eq!(all_is_shown(&file), shown);
    assert_eq!(shown, books([("a", "1 2")]));
    slow.closes();
    other.closes();
}

#[test]
fn of_two_who_resume_at_once_one_projects_and_both_are_told_so() {
    let file = File::new();
    owed_by_the_dead(&file, "a", "1");

    let both = [Branch::open(&file), Branch::open(&file)];
    let mut held = both.each_ref().map(|branch| branch.way.hold(Stop::Before));
    let resuming = both
        .each_ref()
        .map(|branch| branch.node.resume(&"a".to_owned()));
    // Both have read the debt.
    held.iter_mut().for_each(Held::is_reached);
    held.into_iter().for_each(Held::go_on);
    for resumed in resuming {
        assert_eq!(wait(resumed).expect("resumes"), Resumed::Projected);
    }
    let failed: u64 = both.iter().map(|branch| branch.node.projections().1).sum();
    assert_eq!(failed, 1, "the view was written twice, or by neither");
    assert_eq!(all_is_shown(&file), books([("a", "1")]));
    both.into_iter().for_each(Branch::closes);
}

#[test]
fn a_resumer_beside_a_live_writer_takes_nothing_in_twice() {
    const ROUNDS: usize = 40;
    let file = File::new();
    let writer = Branch::that_tries(&file, 1000);
    let resumer = Branch::that_tries(&file, 1000);
    let account = "a".to_owned();
    for round in 0..ROUNDS {
        let id = |n: usize| format!("{round}-{n}");
        match round % 4 {
            // The resumer is faster with what the writer has just committed.
            0 => {
                let mut held = writer.way.hold(Stop::Before);
                let sent = writer.post("a", &id(0));
                held.is_reached();
                assert_eq!(resumer.resume("a"), Resumed::Projected);
                held.go_on();
                projected(sent);
            }
            // The writer commits and projects under the hands of the resumer.
            1 => {
                writer.owe("a", &id(0));
                let mut held = resumer.way.hold(Stop::Before);
                let resuming = resumer.node.resume(&account);
                held.is_reached();
                projected(writer.post("a", &id(1)));
                held.go_on();
                assert_eq!(wait(resuming).expect("resumes"), Resumed::Projected);
            }
            // The writer commits what the resumer does not see, and does not project it.
            2 => {
                writer.owe("a", &id(0));
                let (mut held, mut again) = (
                    resumer.way.hold(Stop::Before),
                    resumer.way.hold(Stop::Before),
                );
                let resuming = resumer.node.resume(&account);
                held.is_reached();
                writer.owe("a", &id(1));
                held.go_on();
                again.is_reached();
                assert_eq!(resumer.pending(), ["a"]);
                again.go_on();
                assert_eq!(wait(resuming).expect("resumes"), Resumed::Projected);
            }
            // As it comes.
            _ => {
                let sent = [0, 1, 2].map(|n| writer.post("a", &id(n)));
                let resuming = [(); 3].map(|()| resumer.node.resume(&account));
                for sent in sent {
                    projected(sent);
                }
                for resumed in resuming {
                    wait(resumed).expect("resumes");
                }
            }
        }
    }
    let shown = &all_is_shown(&file)["a"];
    assert_eq!(shown.len(), ROUNDS / 4 * (1 + 2 + 2 + 3));
    assert!(resumer.node.projections().1 >= ROUNDS as u64 / 2);
    writer.closes();
    resumer.closes();
}

#[test]
fn a_projection_whose_answer_was_lost_is_not_made_again() {
    let file = File::new();
    let one = Branch::open(&file);
    one.way.meets(Stop::After, Mishap::InDoubt);
    assert_eq!(projected(one.post("a", "1")), "balance 1");
    assert_eq!(one.node.projections(), (1, 1));
    assert_eq!(all_is_shown(&file), books([("a", "1")]));

    // And the same where a newer commit comes before it finds out.
    let other = Branch::open(&file);
    let mut held = one.way.hold(Stop::After);
    let early = one.post("a", "2");
    held.is_reached();
    other.owe("a", "3");
    held.meets(Mishap::InDoubt);
    assert_eq!(projected(early), "balance 2");
    assert_eq!(one.node.projections(), (3, 2));
    assert_eq!(all_is_shown(&file), books([("a", "1 2 3")]));
    one.closes();
    other.closes();
}

#[test]
fn where_no_projection_goes_through_commits_go_on_and_later_a_sweep_finishes_all() {
    // For how long it is tried differs, and nothing else.
    for (class, tries) in [(Class::Transient, 4), (Class::Permanent, 1)] {
        let file = File::new();
        let branch = Branch::open(&file);
        for account in ["a", "b"] {
            branch.way.curse(account, class);
        }
        for n in 1..=3 {
            let id = n.to_string();
            let elsewhere = branch.post("z", &id);
            for account in ["a", "b"] {
                // It hears why: `committed` looks.
                assert_eq!(committed(branch.post(account, &id)), format!("balance {n}"));
            }
            assert_eq!(projected(elsewhere), format!("balance {n}"));
        }
        let writes = branch.node.stats().counters.writes;
        assert_eq!((writes.applied, writes.failed, writes.late), (9, 0, 6));
        assert_eq!(branch.node.projections(), (3 + 6 * tries, 6 * tries));
        assert_eq!(branch.pending(), ["a", "b"]);
        assert_eq!((branch.shown("a").len(), branch.shown("z").len()), (0, 3));

        let report = wait(branch.node.sweep(branch.pending()));
        assert_eq!((report.projected, report.still_pending), (0, 2));
        let resumed = wait(branch.node.resume(&"a".to_owned()));
        assert!(
            matches!(&resumed, Err(ResumeError::StillPending(Cause::Store(error)))
                if matches!(**error, Trouble::Planned(_))),
            "{resumed:?}"
        );

        branch.way.heals();
        let report = wait(branch.node.sweep(branch.pending()));
        assert_eq!((report.projected, report.still_pending), (2, 0));
        let all = books(["a", "b", "z"].map(|account| (account, "1 2 3")));
        assert_eq!(all_is_shown(&file), all);
        branch.closes();
    }
}

#[test]
fn trouble_with_the_view_that_passes_is_not_heard_of() {
    let file = File::new();
    let branch = Branch::open(&file);
    for mishap in [TRANSIENT, Mishap::InDoubt, TRANSIENT] {
        branch.way.meets(Stop::Before, mishap);
    }
    assert_eq!(projected(branch.post("a", "1")), "balance 1");
    assert_eq!(branch.node.projections(), (4, 3));
    assert_eq!(all_is_shown(&file), books([("a", "1")]));
    branch.closes();
}

/// Inputs that change nothing, and what is heard of them where "1" has posted 1.
const IDLE: [(&str, i64, &str); 3] = [
    ("1", 1, "balance 1"),
    ("out", -50, NOT_COVERED),
    ("1", 7, MISMATCH),
];

#[test]
fn what_changes_nothing_costs_a_read_where_nothing_is_owed() {
    let file = File::new();
    let branch = Branch::open(&file);
    assert_eq!(
        projected(branch.post_amount("none", "out", -1)),
        NOT_COVERED
    );
    projected(branch.post("a", "1"));
    let before = branch.node.stats().counters.writes;
    for (id, amount, outcome) in IDLE {
        assert_eq!(projected(branch.post_amount("a", id, amount)), outcome);
    }
    let writes = branch.node.stats().counters.writes;
    assert_eq!(writes.reads, before.reads + 3);
    assert_eq!((writes.commits, writes.projections), (1, 1));
    assert_eq!(all_is_shown(&file), books([("a", "1")]));
    branch.closes();
}

#[test]
fn what_changes_nothing_pays_the_debt_that_it_finds_or_hears_that_it_is_owed() {
    for (id, amount, outcome) in IDLE {
        let file = File::new();
        owed_by_the_dead(&file, "a", "1");
        let branch = Branch::open(&file);
        branch.way.meets(Stop::Before, PERMANENT);
        assert_eq!(committed(branch.post_amount("a", id, amount)), outcome);
        assert_eq!(branch.pending(), ["a"]);

        assert_eq!(projected(branch.post_amount("a", id, amount)), outcome);
        let writes = branch.node.stats().counters.writes;
        assert_eq!((writes.commits, writes.projections), (0, 2));
        assert_eq!(all_is_shown(&file), books([("a", "1")]));
        branch.closes();
    }
}

#[test]
fn a_sweeper_finishes_what_a_process_left_that_died() {
    const ACCOUNTS: usize = 20;
    const PAGE: usize = 8;
    let file = File::new();
    let dead = Branch::open(&file);
    let mut held: Vec<_> = (0..ACCOUNTS).map(|_| dead.way.hold(Stop::Before)).collect();
    let sent: Vec<_> = (0..ACCOUNTS)
        .map(|n| dead.post(&format!("{n:02}"), "1"))
        .collect();
    held.iter_mut().for_each(Held::is_reached);
    dead.dies();
    sent.into_iter().for_each(assert_left_in_doubt);

    let other = Branch::open(&file);
    assert_eq!(other.pending().len(), ACCOUNTS);
    other.way.meets(Stop::Before, TRANSIENT);
    let (store, (finds, found)) = (other.store.clone(), mpsc::channel());
    let schedule = Schedule {
        every: Duration::from_millis(1),
        pause_max: Duration::from_millis(1),
        ..Schedule::default()
    };
    let query = move || {
        let (store, finds) = (store.clone(), finds.clone());
        async move {
            let keys = store.pending(PAGE).await?;
            // Nobody counts any more once it has found nothing.
            let _uncounted = finds.send(keys.len());
            Ok::<_, ferry_core::Fault<_>>(keys)
        }
    };
    let sweeper = other.node.sweeper(schedule, query).expect("makes sense");
    // It would go on for ever with debts that do not get fewer.
    let turns = found.iter().take(1000);
    let turns = turns.take_while(|found| *found > 0).count();
    assert!(turns > ACCOUNTS / PAGE, "{turns}");
    wait(sweeper.close());

    let all = (0..ACCOUNTS).map(|n| (format!("{n:02}"), vec!["1".to_owned()]));
    assert_eq!(all_is_shown(&file), all.collect());
    assert_eq!(other.node.projections(), (ACCOUNTS as u64 + 1, 1));
    other.closes();
}
