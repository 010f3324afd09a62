//! Commit, then project: what the callers hear of the view, and what it shows by then.

use ferry_core::{
    Answer, Cause, Class, Durability,
    drive::{Ferry, Submission},
    projected_write::ProjectedWrite,
};
use futures_lite::future::poll_once;

use super::{
    bank::{BEYOND, Deposit, deposit},
    gallery::{BlockingGallery, Gallery},
    host::*,
    mishap::{Mishap, Trouble},
    walls::{BLINDING, Pictures},
    writes::at_once,
};

pub type Curator<S = Gallery> = Ferry<ProjectedWrite<Pictures<S>>>;
type Sent = Submission<Answer<i64, Trouble>, Trouble>;

pub const TRANSIENT: Mishap = Mishap::Fails(Class::Transient);
const PERMANENT: Mishap = Mishap::Fails(Class::Permanent);

type IsExpected = fn(&Cause<Trouble>) -> bool;

pub fn open_curator<H: Host>(host: &H, gallery: &Gallery) -> Curator {
    let builder = host.builder().retry(at_once(4));
    builder
        .projected_write(Pictures::new(), gallery.clone())
        .unwrap()
}

/// The outcome of an input that the view is said to show.
#[track_caller]
pub fn projected(answer: Answer<i64, Trouble>) -> i64 {
    assert_eq!(answer.durability, Durability::Projected);
    answer.outcome
}

/// The outcome of an input that the view is not known to show, and why.
#[track_caller]
pub fn committed(answer: Answer<i64, Trouble>) -> (i64, Cause<Trouble>) {
    let Durability::Committed(cause) = answer.durability else {
        panic!("{answer:?}")
    };
    (answer.outcome, cause)
}

/// Has these go in one batch, behind one of nothing.
async fn together<const N: usize>(
    curator: &Curator,
    gallery: &Gallery,
    room: u64,
    deposits: [Deposit; N],
) -> [Sent; N] {
    gallery.way.before_read.close();
    let reads = gallery.way.before_read.arrived();
    let first = curator.submit(room, deposit(1000, 0)).unwrap();
    gallery.way.before_read.reached(reads + 1).await;
    let batch = deposits.map(|deposit| curator.submit(room, deposit).unwrap());
    gallery.way.before_read.let_through(1);
    projected(first.await.unwrap());
    batch
}

pub fn who_hears_that_it_is_projected_finds_it_in_the_view<H: Host>(host: H) {
    let gallery = Gallery::new();
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let sent: Vec<_> = (1..=50)
            .map(|id| (id, curator.submit(id % 3, deposit(id, 10)).unwrap()))
            .collect();
        for (id, submission) in sent {
            projected(submission.await.unwrap());
            assert!(gallery.walls.shown(id % 3).contains(&id));
        }
        gallery.walls.assert_all_is_shown();
        assert_nothing_is_left(&curator);
        let writes = curator.stats().counters.writes;
        assert_eq!((writes.applied, writes.late), (50, 0));
        assert_eq!(
            (writes.reads, writes.projections),
            (writes.commits, writes.commits)
        );
    });
}

pub fn nobody_is_answered_before_the_view_shows_it<H: Host>(host: H) {
    let gallery = Gallery::new();
    let curator = open_curator(&host, &gallery);
    let way = &gallery.way;
    host.run(async {
        way.before_project.close();
        way.after_project.close();
        let mut submission = curator.submit(7, deposit(1, 10)).unwrap();
        way.before_project.reached(1).await;
        assert!(poll_once(&mut submission).await.is_none());
        assert_eq!(gallery.walls.pending(), [7]);
        way.before_project.open();
        way.after_project.reached(1).await;
        assert!(poll_once(&mut submission).await.is_none());
        way.after_project.open();
        assert_eq!(projected(submission.await.unwrap()), 10);
    });
}

pub fn a_projection_that_always_fails_makes_no_input_fail<H: Host>(host: H) {
    // What befalls it, how often it is tried, and what is heard of it.
    let curses: [(_, _, IsExpected); 7] = [
        (TRANSIENT, 4, |cause| {
            *cause == Cause::Store(Trouble("hiccup").into())
        }),
        (PERMANENT, 1, |cause| {
            *cause == Cause::Store(Trouble("will not take it").into())
        }),
        (Mishap::Refused, 4, |cause| *cause == Cause::Refused),
        (Mishap::RequestLost, 4, |cause| {
            *cause == Cause::Store(Trouble("request lost").into())
        }),
        (Mishap::InPart(0), 4, |cause| {
            *cause == Cause::Store(Trouble("hiccup").into())
        }),
        (Mishap::PanicsInTheCall, 1, |cause| {
            matches!(cause, Cause::Panicked(_))
        }),
        (Mishap::PanicsInTheFuture, 1, |cause| {
            matches!(cause, Cause::Panicked(_))
        }),
    ];
    for (curse, tries, is_expected) in curses {
        let gallery = Gallery::new();
        let curator = open_curator(&host, &gallery);
        gallery.is_cursed(7, curse);
        host.run(async {
            for id in 1..=3 {
                let elsewhere = curator.submit(8, deposit(id, 1)).unwrap();
                let (balance, cause) =
                    committed(curator.submit(7, deposit(id, 10)).unwrap().await.unwrap());
                assert_eq!(balance, id as i64 * 10, "{curse:?}");
                assert!(is_expected(&cause), "{curse:?}: {cause:?}");
                assert_eq!(projected(elsewhere.await.unwrap()), id as i64);
                assert_eq!(gallery.calls(7).1, tries * id as usize, "{curse:?}");
            }
            assert_eq!(gallery.walls.pending(), [7]);
            assert_eq!(gallery.walls.shown(7), [0_u64; 0]);
            let writes = curator.stats().counters.writes;
            assert_eq!((writes.applied, writes.failed, writes.late), (6, 0, 3));
            // The next that can be projected pays for all.
            gallery.is_well_again();
            assert_eq!(
                projected(curator.submit(7, deposit(4, 10)).unwrap().await.unwrap()),
                40
            );
            assert_eq!(gallery.walls.shown(7), [1, 2, 3, 4]);
            gallery.walls.assert_all_is_shown();
            assert_nothing_is_left(&curator);
        });
    }
}

pub fn trouble_with_the_view_that_passes_is_not_heard_of<H: Host>(host: H) {
    let troubles = [
        Mishap::Refused,
        TRANSIENT,
        Mishap::Fails(Class::Throttled(None)),
        Mishap::AnswerLost,
        Mishap::RequestLost,
        Mishap::InPart(0),
    ];
    for first in troubles {
        for second in troubles {
            let gallery = Gallery::new();
            let curator = open_curator(&host, &gallery);
            gallery.projections_meet([first, second]);
            host.run(async {
                let pair = [1, 2].map(|id| curator.submit(7, deposit(id, 10)).unwrap());
                let [one, two] = pair;
                assert_eq!(
                    projected(one.await.unwrap()),
                    10,
                    "{first:?}, then {second:?}"
                );
                assert_eq!(
                    projected(two.await.unwrap()),
                    20,
                    "{first:?}, then {second:?}"
                );
                gallery.walls.assert_all_is_shown();
                assert_nothing_is_left(&curator);
            });
        }
    }
}

pub fn an_answer_lost_between_the_two_writes_leaves_no_debt<H: Host>(host: H) {
    let gallery = Gallery::new();
    let curator = open_curator(&host, &gallery);
    gallery.commits_meet([Mishap::AnswerLost]);
    host.run(async {
        // The read after it finds what landed, and what it owes.
        let answer = curator.submit(7, deposit(1, 10)).unwrap().await.unwrap();
        assert_eq!(projected(answer), 10);
        gallery.walls.assert_all_is_shown();
        let writes = curator.stats().counters.writes;
        assert_eq!((writes.commits, writes.projections), (1, 1));
    });
}

pub fn what_is_sent_again_pays_the_debt_that_it_finds<H: Host>(host: H) {
    let gallery = Gallery::new();
    let curator = open_curator(&host, &gallery);
    host.run(async {
        gallery.projections_meet([PERMANENT; 3]);
        committed(curator.submit(7, deposit(1, 10)).unwrap().await.unwrap());
        // The same again, and one that is declined: both rest on a record that is pending.
        let again = curator.submit(7, deposit(1, 10)).unwrap().await.unwrap();
        assert_eq!(committed(again).0, 10);
        let beyond = curator.submit(7, deposit(2, -50)).unwrap().await.unwrap();
        assert_eq!(committed(beyond).0, BEYOND);
        let again = curator.submit(7, deposit(1, 10)).unwrap().await.unwrap();
        assert_eq!(projected(again), 10);
        assert_eq!(gallery.walls.shown(7), [1]);
        // Now that it is paid, they cost a read.
        let before = curator.stats().counters.writes;
        for (id, cents) in [(1, 10), (2, -50)] {
            projected(
                curator
                    .submit(7, deposit(id, cents))
                    .unwrap()
                    .await
                    .unwrap(),
            );
        }
        let writes = curator.stats().counters.writes;
        assert_eq!(writes.reads, before.reads + 2);
        assert_eq!((writes.commits, writes.projections), (1, 4));
    });
}

pub fn those_whom_a_part_shows_do_not_wait_for_the_rest<H: Host>(host: H) {
    let gallery = Gallery::new();
    let curator = open_curator(&host, &gallery);
    let way = &gallery.way;
    host.run(async {
        let batch = together(&curator, &gallery, 7, [1, 2, 3].map(|id| deposit(id, 10))).await;
        gallery.projections_meet([Mishap::InPart(1)]);
        way.before_project.close();
        way.before_read.open();
        way.before_project.reached(2).await;
        let [one, mut two, mut three] = batch;
        way.before_project.let_through(1);
        assert_eq!(projected(one.await.unwrap()), 10);
        way.before_project.reached(3).await;
        assert!(poll_once(&mut two).await.is_none());
        assert!(poll_once(&mut three).await.is_none());
        way.before_project.open();
        assert_eq!(projected(two.await.unwrap()), 20);
        assert_eq!(projected(three.await.unwrap()), 30);
        assert_eq!(gallery.walls.shown(7), [1000, 1, 2, 3]);

        // The rest may never come: it is said of those alone.
        let [four, five] = together(&curator, &gallery, 8, [4, 5].map(|id| deposit(id, 10))).await;
        gallery.projections_meet([Mishap::InPart(1), PERMANENT]);
        way.before_read.open();
        assert_eq!(projected(four.await.unwrap()), 10);
        assert_eq!(committed(five.await.unwrap()).0, 20);
        assert_eq!(curator.stats().counters.writes.late, 1);
    });
}

pub fn a_caller_who_goes_leaves_no_debt<H: Host>(host: H) {
    for stage in 0..4 {
        let gallery = Gallery::new();
        let curator = open_curator(&host, &gallery);
        let way = &gallery.way;
        let gates = [
            &way.before_read,
            &way.before_commit,
            &way.before_project,
            &way.after_project,
        ];
        host.run(async {
            gates[stage].close();
            let mut submission = curator.submit(7, deposit(1, 10)).unwrap();
            gates[stage].reached(1).await;
            assert!(poll_once(&mut submission).await.is_none());
            drop(submission);
            gates[stage].open();
            curator.close().await;
            assert_eq!(gallery.walls.shown(7), [1], "gone at stage {stage}");
            gallery.walls.assert_all_is_shown();
            assert_nothing_is_left(&curator);
        });
    }
}

pub fn a_panic_of_the_look_at_a_record_costs_its_view_alone<H: Host>(host: H) {
    let gallery = Gallery::new();
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let blinding = curator
            .submit(7, deposit(1, BLINDING))
            .unwrap()
            .await
            .unwrap();
        let (balance, cause) = committed(blinding);
        assert_eq!(balance, BLINDING);
        assert!(matches!(cause, Cause::Panicked(_)), "{cause:?}");
        assert_eq!(
            projected(curator.submit(8, deposit(1, 1)).unwrap().await.unwrap()),
            1
        );
        assert_eq!(
            projected(curator.submit(7, deposit(2, 1)).unwrap().await.unwrap()),
            BLINDING + 1
        );
        assert_eq!(gallery.walls.shown(7), [1, 2]);
        assert_nothing_is_left(&curator);
    });
}

pub fn a_projection_overtaken_by_another_nodes_is_still_true<H: Host>(host: H) {
    let (here, walls) = (Gallery::new(), |gallery: &Gallery| gallery.walls.clone());
    let there = Gallery::on(walls(&here));
    let (one, other) = (open_curator(&host, &here), open_curator(&host, &there));
    host.run(async {
        here.way.before_project.close();
        let slow = one.submit(7, deposit(1, 10)).unwrap();
        here.way.before_project.reached(1).await;
        // A newer commit, whose projection fails: the debt is now of both.
        there.projections_meet([PERMANENT]);
        committed(other.submit(7, deposit(2, 5)).unwrap().await.unwrap());
        here.way.before_project.let_through(1);
        here.way.before_project.reached(2).await;
        assert_eq!(
            here.walls.pending(),
            [7],
            "an old projection has cleared a newer debt"
        );
        // And now one that is paid: nothing is left to be done here.
        assert_eq!(
            projected(other.submit(7, deposit(3, 5)).unwrap().await.unwrap()),
            20
        );
        here.way.before_project.open();
        assert_eq!(projected(slow.await.unwrap()), 10);
        assert_eq!(here.walls.shown(7), [1, 2, 3]);
        here.walls.assert_all_is_shown();
    });
}

fn open_blocking<H: Host>(host: &H, gallery: &Gallery) -> Curator<BlockingGallery> {
    let builder = host.builder().retry(at_once(4));
    let gallery = BlockingGallery(gallery.clone());
    builder
        .projected_write_blocking(Pictures::new(), gallery)
        .unwrap()
}

pub fn a_store_that_blocks_projects_too<H: Host>(host: H) {
    let gallery = Gallery::new();
    let curator = open_blocking(&host, &gallery);
    host.run(async {
        gallery.way.before_project.close();
        let all: Vec<_> = (0..4)
            .map(|room| curator.submit(room, deposit(room, 10)).unwrap())
            .collect();
        // All four block at once, and this goes on meanwhile.
        gallery.way.before_project.reached(4).await;
        gallery.way.before_project.open();
        for submission in all {
            assert_eq!(projected(submission.await.unwrap()), 10);
        }
        gallery.projections_meet([TRANSIENT, Mishap::AnswerLost]);
        assert_eq!(
            projected(curator.submit(7, deposit(1, 10)).unwrap().await.unwrap()),
            10
        );
        gallery.projections_meet([Mishap::PanicsAfterLanding]);
        // It has landed, and one more look finds out.
        assert_eq!(
            projected(curator.submit(7, deposit(2, 10)).unwrap().await.unwrap()),
            20
        );
        gallery.walls.assert_all_is_shown();
        assert_nothing_is_left(&curator);
    });
}

pub fn a_runtime_that_goes_between_the_two_writes_leaves_the_debt_to_another<H: ShutsDown>(_: H) {
    for stage in 0..2 {
        let host = H::start();
        let gallery = Gallery::new();
        let curator = open_curator(&host, &gallery);
        let gate = [&gallery.way.before_project, &gallery.way.after_project][stage];
        gate.close();
        let submission = curator.submit(7, deposit(1, 10)).unwrap();
        host.run(gate.reached(1));
        host.shut_down();
        assert!(
            futures_lite::future::block_on(submission)
                .unwrap_err()
                .is_in_doubt()
        );

        let host = H::start();
        let there = Gallery::on(gallery.walls.clone());
        let curator = open_curator(&host, &there);
        host.run(async {
            assert_eq!(
                projected(curator.submit(7, deposit(1, 10)).unwrap().await.unwrap()),
                10
            );
            there.walls.assert_all_is_shown();
        });
    }
}
