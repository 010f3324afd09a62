//! The view in another store than its record: what keeps the two in step, and what happens without it.
//!
//! The store itself is in `apart/mod.rs`.

mod apart;
mod node;

use std::sync::Arc;

use apart::{
    Trouble, TwoFiles,
    careless::{AnyPosition, AnyVersion, Careless, MarkerFirst, Policy},
    files::{Files, Statement, shows},
    postings::{Accounts, Outcome, Posting, Postings},
};
use ferry_core::{
    Answer, Cause, Class, Durability,
    drive::{BlockingProjectedStore, Submission},
    projected_write::resume::Resumed,
};
use node::{
    Node, wait,
    way::{Mishap, Stop, Way},
};

const PERMANENT: Mishap = Mishap::Fails(Class::Permanent);

/// One of the processes that serve the accounts.
struct Branch<S: Accounts = TwoFiles> {
    node: Node<Postings<S>>,
    way: Arc<Way>,
}

type Sent = Submission<Answer<Outcome, Trouble>, Trouble>;

impl Branch {
    fn open(files: &Files) -> Self {
        Self::with(files, 4, |store| store)
    }
}

impl<P: Policy> Branch<Careless<P>> {
    fn careless(files: &Files) -> Self {
        Self::with(files, 4, Careless::new)
    }
}

impl<S: Accounts> Branch<S> {
    fn with(files: &Files, attempts: u32, store: impl FnOnce(TwoFiles) -> S) -> Self
    where
        S: BlockingProjectedStore<View = Vec<String>>,
    {
        let way = Arc::default();
        let store = store(files.open(&way));
        let node = Node::start(attempts, |builder| {
            builder.projected_write_blocking(Postings::new(), store)
        });
        Self { node, way }
    }

    fn post(&self, account: &str, id: &str, amount: i64) -> Sent {
        let id = id.to_owned();
        let sent = self.node.submit(account.to_owned(), Posting { id, amount });
        sent.expect("there is room")
    }

    #[track_caller]
    fn resume(&self, account: &str) -> Resumed {
        wait(self.node.resume(&account.to_owned())).expect("resumes")
    }

    /// Dies in the middle of what it does; nobody is left to answer.
    fn dies(self, _unheard: Sent) {
        drop(self.node);
    }
}

/// What became of a posting that the view shows.
#[track_caller]
fn projected(sent: Sent) -> Outcome {
    let answer = wait(sent).expect("is durable");
    assert!(answer.durability.is_projected(), "{answer:?}");
    answer.outcome
}

/// What became of a posting that the view is not known to show, and why.
#[track_caller]
fn committed(sent: Sent) -> (Outcome, Cause<Trouble>) {
    let answer = wait(sent).expect("is durable");
    let Durability::Committed(cause) = answer.durability else {
        panic!("{answer:?}");
    };
    (answer.outcome, cause)
}

#[test]
fn two_handles_under_load_have_the_view_take_each_entry_once() {
    const ACCOUNTS: [&str; 3] = ["a", "b", "c"];
    const EACH: i64 = 60;
    let files = Files::new();
    let both = [(); 2].map(|()| Branch::with(&files, 1000, |store| store));
    let mut sent = Vec::new();
    for n in 1..=EACH {
        for branch in &both {
            if n % 10 == 0 {
                branch.way.meets(Stop::Between, Mishap::InDoubt);
                branch.way.meets(Stop::Between, Mishap::Panics);
            }
            // Every posting goes to both.
            sent.extend(ACCOUNTS.map(|account| branch.post(account, &n.to_string(), n)));
        }
    }
    let answers = sent.into_iter().map(|sent| wait(sent).expect("is durable"));
    let late = answers.filter(|answer| !answer.durability.is_projected());
    // Only where the process had to give up by a panic.
    let late = late.collect::<Vec<_>>();
    let is_panic =
        |cause: &Durability<_>| matches!(cause, Durability::Committed(Cause::Panicked(_)));
    assert!(
        late.iter().all(|answer| is_panic(&answer.durability)),
        "{late:?}"
    );

    let report = wait(both[0].node.sweep(files.pending()));
    assert_eq!(report.still_pending, 0, "{report:?}");
    for account in ACCOUNTS {
        assert_eq!(files.all_is_shown(account).len(), EACH as usize);
        assert_eq!(files.shown(account), shows(EACH, EACH * (EACH + 1) / 2));
    }
    both.into_iter().for_each(|branch| branch.node.stop());
}

#[test]
fn what_stops_between_the_view_and_the_marker_is_projected_again_and_nothing_counted_twice() {
    // `None`: the process dies there.
    for end in [Some(Mishap::InDoubt), Some(Mishap::Panics), None] {
        let files = Files::new();
        let one = Branch::open(&files);
        assert_eq!(projected(one.post("a", "1", 10)), Outcome::Balance(10));
        let mut held = one.way.hold(Stop::Between);
        let sent = one.post("a", "2", 5);
        held.is_reached();
        // The view is ahead of the marker.
        assert_eq!(files.shown("a"), shows(2, 15));
        assert_eq!(files.pending(), ["a"]);

        let other = Branch::open(&files);
        match end {
            None => {
                one.dies(sent);
                assert_eq!(other.resume("a"), Resumed::Projected);
            }
            Some(Mishap::Panics) => {
                held.meets(Mishap::Panics);
                let (outcome, cause) = committed(sent);
                assert_eq!(outcome, Outcome::Balance(15));
                assert!(matches!(cause, Cause::Panicked(_)), "{cause:?}");
                assert_eq!(other.resume("a"), Resumed::Projected);
            }
            Some(mishap) => {
                held.meets(mishap);
                assert_eq!(projected(sent), Outcome::Balance(15));
                assert_eq!(one.node.projections(), (3, 1));
            }
        }
        assert_eq!(other.resume("a"), Resumed::NothingPending);
        assert_eq!(files.all_is_shown("a"), ["1", "2"]);
        assert_eq!(projected(other.post("a", "3", 1)), Outcome::Balance(16));
        assert_eq!(files.all_is_shown("a"), ["1", "2", "3"]);
        other.node.stop();
    }
}

#[test]
fn where_the_marker_cannot_be_moved_the_view_is_offered_the_same_again_and_counts_it_once() {
    let files = Files::new();
    let branch = Branch::open(&files);
    let stuck = "
        CREATE TRIGGER stuck BEFORE UPDATE OF marker ON record
        BEGIN SELECT RAISE(ABORT, 'it is stuck'); END;";
    files.records().execute_batch(stuck).expect("sticks");
    let (outcome, cause) = committed(branch.post("a", "1", 10));
    assert_eq!(outcome, Outcome::Balance(10));
    assert!(cause.to_string().contains("it is stuck"), "{cause}");
    assert_eq!(branch.node.projections(), (4, 4));
    assert_eq!(
        (files.pending(), files.shown("a")),
        (vec!["a".into()], shows(1, 10))
    );

    files
        .records()
        .execute_batch("DROP TRIGGER stuck")
        .expect("drops it");
    assert_eq!(branch.resume("a"), Resumed::Projected);
    assert_eq!(files.all_is_shown("a"), ["1"]);
    branch.node.stop();
}

#[test]
fn an_old_projection_that_comes_to_the_view_late_changes_nothing() {
    let files = Files::new();
    let (slow, other) = (Branch::open(&files), Branch::open(&files));
    let mut held = slow.way.hold(Stop::Before);
    let early = slow.post("a", "1", 10);
    // It has the entry in its hands.
    held.is_reached();
    assert_eq!(projected(other.post("a", "2", 5)), Outcome::Balance(15));
    assert_eq!(files.all_is_shown("a"), ["1", "2"]);

    held.go_on();
    assert_eq!(projected(early), Outcome::Balance(10));
    assert_eq!(slow.node.projections(), (1, 1));
    assert_eq!(files.all_is_shown("a"), ["1", "2"]);
    assert_eq!(files.shown("a"), shows(2, 15));
    slow.node.stop();
    other.node.stop();
}

#[test]
fn an_old_projection_that_comes_to_the_marker_late_clears_no_newer_debt() {
    let files = Files::new();
    let (slow, other) = (Branch::open(&files), Branch::open(&files));
    let (mut held, mut again) = (slow.way.hold(Stop::Between), slow.way.hold(Stop::Between));
    let early = slow.post("a", "1", 10);
    held.is_reached();
    other.way.meets(Stop::Before, PERMANENT);
    assert_eq!(committed(other.post("a", "2", 5)).0, Outcome::Balance(15));

    held.go_on();
    // It was refused, has read again, and is on its way to the marker once more.
    again.is_reached();
    assert_eq!(
        (files.pending(), files.shown("a")),
        (vec!["a".into()], shows(2, 15))
    );
    again.go_on();
    assert_eq!(projected(early), Outcome::Balance(10));
    assert_eq!(slow.node.projections(), (2, 1));
    assert_eq!(files.all_is_shown("a"), ["1", "2"]);
    slow.node.stop();
    other.node.stop();
}

#[test]
fn those_whom_the_view_takes_hear_so_and_the_rest_why_not() {
    let files = Files::new();
    let branch = Branch::open(&files);
    let mut held = branch.way.hold(Stop::Before);
    let first = branch.post("a", "1", 1);
    held.is_reached();
    // These wait for the first, so they go together.
    let [taken, objected, behind] =
        [("2", 2), ("3", 13), ("4", 4)].map(|(id, amount)| branch.post("a", id, amount));
    let rule = "
        CREATE TRIGGER no_thirteen BEFORE UPDATE ON statement WHEN new.balance - old.balance = 13
        BEGIN SELECT RAISE(ABORT, 'not a thirteen'); END;";
    files.views().execute_batch(rule).expect("rules");
    held.go_on();

    assert_eq!(projected(first), Outcome::Balance(1));
    assert_eq!(projected(taken), Outcome::Balance(3));
    for (sent, balance) in [(objected, 16), (behind, 20)] {
        let (outcome, cause) = committed(sent);
        assert_eq!(outcome, Outcome::Balance(balance));
        assert!(cause.to_string().contains("not a thirteen"), "{cause}");
    }
    assert_eq!(branch.node.stats().counters.largest_batch, 3);
    assert_eq!(
        (files.pending(), files.shown("a")),
        (vec!["a".into()], shows(2, 3))
    );

    // Whoever comes now hears by what the view includes: one that was taken, one that was not, one that
    // has left no entry to go by.
    assert_eq!(projected(branch.post("a", "2", 2)), Outcome::Balance(3));
    assert_eq!(committed(branch.post("a", "3", 13)).0, Outcome::Balance(16));
    assert_eq!(
        committed(branch.post("a", "5", -100)).0,
        Outcome::NotCovered
    );
    assert_eq!(committed(branch.post("a", "6", 6)).0, Outcome::Balance(26));
    assert_eq!(projected(branch.post("b", "1", 1)), Outcome::Balance(1));
    assert_eq!(
        (files.pending(), files.shown("a")),
        (vec!["a".into()], shows(2, 3))
    );

    files
        .views()
        .execute_batch("DROP TRIGGER no_thirteen")
        .expect("drops it");
    assert_eq!(branch.resume("a"), Resumed::Projected);
    assert_eq!(files.all_is_shown("a"), ["1", "2", "3", "4", "6"]);
    branch.node.stop();
}

#[test]
fn a_view_that_was_taken_back_is_told_of_and_made_anew_on_request() {
    let files = Files::new();
    let branch = Branch::open(&files);
    projected(branch.post("a", "1", 10));
    files
        .views()
        .execute("DELETE FROM statement", [])
        .expect("deletes");
    let (_, cause) = committed(branch.post("a", "2", 5));
    assert!(
        matches!(&cause, Cause::Store(error) if matches!(**error, Trouble::TakenBack { position: 0 })),
        "{cause:?}"
    );
    assert_eq!(
        (files.pending(), files.shown("a")),
        (vec!["a".into()], shows(0, 0))
    );

    files
        .records()
        .execute("UPDATE record SET marker = 0", [])
        .expect("updates");
    assert_eq!(branch.resume("a"), Resumed::Projected);
    assert_eq!(files.all_is_shown("a"), ["1", "2"]);
    branch.node.stop();
}

#[test]
fn were_the_marker_moved_first_a_crash_would_lose_entries_that_nobody_owes() {
    let files = Files::new();
    let dead = Branch::<Careless<MarkerFirst>>::careless(&files);
    projected(dead.post("a", "1", 10));
    let mut held = dead.way.hold(Stop::Between);
    let sent = dead.post("a", "2", 5);
    held.is_reached();
    dead.dies(sent);

    let other = Branch::open(&files);
    assert_eq!(files.pending(), [""; 0]);
    assert_eq!(other.resume("a"), Resumed::NothingPending);
    assert_eq!(projected(other.post("a", "2", 5)), Outcome::Balance(15));
    assert_eq!(files.damage(), [("a".into(), shows(1, 10), shows(2, 15))]);
    other.node.stop();
}

#[test]
fn were_entries_taken_at_any_position_a_crash_would_count_them_twice() {
    let files = Files::new();
    let dead = Branch::<Careless<AnyPosition>>::careless(&files);
    projected(dead.post("a", "1", 10));
    let mut held = dead.way.hold(Stop::Between);
    let sent = dead.post("a", "2", 5);
    held.is_reached();
    dead.dies(sent);

    let other = Branch::<Careless<AnyPosition>>::careless(&files);
    assert_eq!(other.resume("a"), Resumed::Projected);
    let twice = Statement {
        count: 3,
        ..shows(2, 20)
    };
    assert_eq!(files.damage(), [("a".into(), twice, shows(2, 15))]);
    other.node.stop();
}

#[test]
fn were_the_marker_not_compared_an_old_projection_would_clear_a_newer_debt() {
    let files = Files::new();
    let slow = Branch::<Careless<AnyVersion>>::careless(&files);
    let mut held = slow.way.hold(Stop::Between);
    let early = slow.post("a", "1", 10);
    held.is_reached();
    let other = Branch::open(&files);
    other.way.meets(Stop::Before, PERMANENT);
    committed(other.post("a", "2", 5));

    held.go_on();
    projected(early);
    assert_eq!(files.pending(), [""; 0]);
    assert_eq!(other.resume("a"), Resumed::NothingPending);
    assert_eq!(files.damage(), [("a".into(), shows(1, 10), shows(2, 15))]);
    slow.node.stop();
    other.node.stop();
}
