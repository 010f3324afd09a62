//! The projection alone: what it says it did, who shares it, and how it ends.

use std::{future::Future, sync::Arc, time::Duration};

use ferry_core::{
    Cause, Class, Retry,
    drive::{ResumeError, Runtime},
    projected_write::resume::Resumed,
};
use futures_lite::future::{block_on, poll_once, yield_now};

use super::{
    bank::deposit,
    gallery::{BlockingGallery, Gallery, Numbered},
    host::*,
    mishap::{Mishap, Trouble},
    projecting::{Curator, open_curator, projected},
    walls::{BLINDING, Pictures},
    writes::at_once,
};

const TRANSIENT: Mishap = Mishap::Fails(Class::Transient);
const PERMANENT: Mishap = Mishap::Fails(Class::Permanent);

type Told = Result<Resumed, ResumeError<Trouble>>;

/// Owes a deposit of this id in room 7.
pub fn owing(id: u64) -> Gallery {
    let gallery = Gallery::new();
    gallery.walls.owe(7, deposit(id, 10));
    gallery
}

#[track_caller]
fn assert_panicked(told: Told) {
    assert!(
        matches!(told, Err(ResumeError::StillPending(Cause::Panicked(_)))),
        "{told:?}"
    );
}

#[track_caller]
fn assert_abandoned(told: Told) {
    assert_eq!(told, Err(ResumeError::StillPending(Cause::Abandoned)));
}

/// The way of one key through all that a resume can say.
async fn tell_all<F, Fut>(gallery: &Gallery, resume: F)
where
    F: Fn(u64) -> Fut,
    Fut: Future<Output = Told>,
{
    assert_eq!(resume(7).await, Ok(Resumed::NothingPending), "no record");
    gallery.walls.owe(7, deposit(1, 10));
    gallery.walls.owe(7, deposit(2, 10));
    assert_eq!(resume(7).await, Ok(Resumed::Projected));
    assert_eq!(gallery.walls.shown(7), [1, 2]);
    assert_eq!(resume(7).await, Ok(Resumed::NothingPending));

    gallery.walls.owe(7, deposit(3, 10));
    gallery.is_cursed(7, TRANSIENT);
    let hiccup = Cause::Store(Trouble("hiccup").into());
    assert_eq!(
        resume(7).await,
        Err(ResumeError::StillPending(hiccup.clone()))
    );
    gallery.is_cursed(7, Mishap::Refused);
    assert_eq!(
        resume(7).await,
        Err(ResumeError::StillPending(Cause::Refused))
    );
    assert_eq!(gallery.walls.pending(), [7]);
    gallery.is_well_again();
    gallery.reads_meet([TRANSIENT; 4]);
    assert_eq!(resume(7).await, Err(ResumeError::StillPending(hiccup)));
    gallery.reads_meet([TRANSIENT; 1]);
    gallery.projections_meet([Mishap::AnswerLost]);
    assert_eq!(resume(7).await, Ok(Resumed::Projected));
    gallery.walls.assert_all_is_shown();
}

pub fn a_resume_says_what_it_did<H: Host>(host: H) {
    let gallery = Gallery::new();
    let curator = open_curator(&host, &gallery);
    host.run(async {
        tell_all(&gallery, |room| curator.resume(&room)).await;
        let counters = curator.stats().counters;
        assert_eq!(counters.resumes, 7);
        // 1, 1, 1, then 4 times 4 with one more look after the refusals, and 3 to the end.
        assert_eq!(
            (counters.writes.reads, counters.writes.projections),
            (19, 10)
        );
        curator.close().await;
        let reads = gallery.calls(7).0;
        assert_eq!(curator.resume(&7).await, Err(ResumeError::Closed));
        assert_eq!(gallery.calls(7).0, reads);
    });
}

pub fn a_resume_in_a_store_that_blocks_says_what_it_did<H: Host>(host: H) {
    let gallery = Gallery::new();
    let builder = host.builder().retry(at_once(4));
    let curator: Curator<BlockingGallery> = builder
        .projected_write_blocking(Pictures::new(), BlockingGallery(gallery.clone()))
        .unwrap();
    host.run(async {
        tell_all(&gallery, |room| curator.resume(&room)).await;
        gallery.walls.owe(7, deposit(4, 10));
        gallery.projections_meet([Mishap::PanicsInTheFuture]);
        assert_panicked(curator.resume(&7).await);
        assert_eq!(curator.resume(&7).await, Ok(Resumed::Projected));
        curator.close().await;
        assert_eq!(curator.resume(&7).await, Err(ResumeError::Closed));
    });
}

pub fn keys_are_resumed_beside_each_other<H: Host>(host: H) {
    let gallery = Gallery::new();
    let curator = open_curator(&host, &gallery);
    host.run(async {
        gallery.way.before_project.close();
        let all: Vec<_> = (0..20)
            .map(|room| {
                gallery.walls.owe(room, deposit(1, 10));
                curator.resume(&room)
            })
            .collect();
        gallery.way.before_project.reached(20).await;
        gallery.way.before_project.open();
        for resume in all {
            assert_eq!(resume.await, Ok(Resumed::Projected));
        }
        gallery.walls.assert_all_is_shown();
    });
}

pub fn a_run_goes_to_its_end_whoever_goes<H: Host>(host: H) {
    for stage in 0..4 {
        let gallery = owing(1);
        let curator = open_curator(&host, &gallery);
        let way = &gallery.way;
        let gates = [
            &way.before_read,
            &way.after_read,
            &way.before_project,
            &way.after_project,
        ];
        host.run(async {
            gates[stage].close();
            let mut first = Box::pin(curator.resume(&7));
            assert!(poll_once(&mut first).await.is_none());
            gates[stage].reached(1).await;
            drop(first);
            drop(curator.resume(&7));
            let third = curator.resume(&7);
            gates[stage].open();
            curator.close().await;
            assert_eq!(gallery.walls.shown(7), [1], "gone at stage {stage}");
            assert_eq!(poll_once(third).await, Some(Ok(Resumed::NothingPending)));
        });
    }
}

pub fn the_end_waits_for_runs_under_way<H: Host>(host: H) {
    let gallery = owing(1);
    let curator = open_curator(&host, &gallery);
    let way = &gallery.way;
    host.run(async {
        way.before_read.close();
        way.before_project.close();
        let first = curator.resume(&7);
        way.before_read.reached(1).await;
        let behind = curator.resume(&7);
        let mut closing = Box::pin(curator.close());
        assert!(poll_once(&mut closing).await.is_none());
        assert_eq!(curator.resume(&7).await, Err(ResumeError::Closed));
        assert_eq!(curator.resume(&8).await, Err(ResumeError::Closed));
        way.before_read.let_through(1);
        way.before_project.reached(1).await;
        assert!(poll_once(&mut closing).await.is_none());
        way.before_project.open();
        assert_eq!(first.await, Ok(Resumed::Projected));
        // The pass for the one who came behind.
        way.before_read.reached(2).await;
        assert!(poll_once(&mut closing).await.is_none());
        way.before_read.open();
        closing.await;
        assert_eq!(poll_once(behind).await, Some(Ok(Resumed::NothingPending)));
    });
}

pub fn a_run_outlives_the_last_handle_and_then_nothing_is_left<H: Host>(host: H) {
    let gallery = owing(1);
    let curator = open_curator(&host, &gallery);
    let (walls, way) = (Arc::downgrade(&gallery.walls), gallery.way.clone());
    host.run(async {
        way.before_project.close();
        let resume = curator.resume(&7);
        way.before_project.reached(1).await;
        drop(curator);
        drop(gallery);
        way.before_project.open();
        assert_eq!(resume.await, Ok(Resumed::Projected));
        while walls.strong_count() > 0 {
            yield_now().await;
        }
    });
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Counted(Arc<u64>);

impl Numbered for Counted {
    fn number(&self) -> u64 {
        *self.0
    }
}

pub fn a_key_that_was_resumed_is_forgotten<H: Host>(host: H) {
    let gallery = Gallery::<Counted>::new();
    gallery.walls.owe(7, deposit(1, 10));
    let builder = host.builder();
    let curator = builder.projected_write(Pictures::new(), gallery).unwrap();
    let key = Counted(Arc::new(7));
    host.run(async {
        for _ in 0..3 {
            let _heard = curator.resume(&key).await.unwrap();
            while Arc::strong_count(&key.0) > 1 {
                yield_now().await;
            }
        }
    });
}

pub fn beside_live_batches_and_other_handles_everything_is_shown_once<H: Host>(host: H) {
    let first: Gallery = Gallery::new();
    let handles: Vec<_> = (0..3)
        .map(|_| {
            let builder = host.builder().retry(at_once(1000)).max_batch(3);
            let gallery = Gallery::on(first.walls.clone());
            builder.projected_write(Pictures::new(), gallery).unwrap()
        })
        .collect();
    host.run(async {
        let mut rng = fastrand::Rng::with_seed(7);
        let (mut sent, mut asked) = (Vec::new(), Vec::new());
        for id in 0..300 {
            let room = id % 2;
            let curator = &handles[rng.usize(..3)];
            sent.push(curator.submit(room, deposit(id, 1)).unwrap());
            let curator = &handles[rng.usize(..3)];
            asked.push(curator.resume(&room));
            if rng.u8(..) < 80 {
                yield_now().await;
            }
        }
        for submission in sent {
            projected(submission.await.unwrap());
        }
        for resume in asked {
            resume.await.unwrap();
        }
        first.walls.assert_all_is_shown();
        for curator in &handles {
            curator.close().await;
            assert_nothing_is_left(curator);
        }
    });
}

pub fn user_code_that_panics_is_heard_of_and_the_handle_goes_on<H: Host>(host: H) {
    let gallery = owing(1);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let tells = async |told: fn(&Gallery)| {
            told(&gallery);
            assert_panicked(curator.resume(&7).await);
            // The same handle, the same key.
            let _heard = curator.resume(&8).await.unwrap();
        };
        tells(|gallery| gallery.reads_meet([Mishap::PanicsInTheCall])).await;
        tells(|gallery| gallery.reads_meet([Mishap::PanicsInTheFuture])).await;
        tells(|gallery| gallery.projections_meet([Mishap::PanicsInTheCall])).await;
        tells(|gallery| gallery.projections_meet([Mishap::PanicsInTheFuture])).await;
        assert_eq!(gallery.walls.pending(), [7]);
        // It has landed, and one more look finds out.
        gallery.projections_meet([Mishap::PanicsAfterLanding]);
        assert_eq!(curator.resume(&7).await, Ok(Resumed::Projected));
        assert_eq!(curator.resume(&7).await, Ok(Resumed::NothingPending));
        tells(|gallery| gallery.walls.owe(7, deposit(2, BLINDING - 10))).await;
        gallery.walls.owe(7, deposit(3, 1));
        assert_eq!(curator.resume(&7).await, Ok(Resumed::Projected));
        gallery.walls.assert_all_is_shown();
        projected(curator.submit(7, deposit(4, 1)).unwrap().await.unwrap());
        curator.close().await;
        assert_nothing_is_left(&curator);
    });
}

pub fn a_runtime_that_goes_in_mid_run_leaves_nobody_waiting<H: ShutsDown>(_: H) {
    for stage in 0..5 {
        let host = H::start();
        let gallery = owing(1);
        let retry = Retry {
            base: Duration::from_secs(3600),
            cap: Duration::from_secs(3600),
            total: Duration::MAX,
            ..at_once(2)
        };
        let builder = host.builder().retry(retry);
        let curator = builder
            .projected_write(Pictures::new(), gallery.clone())
            .unwrap();
        let way = &gallery.way;
        let gates = [
            &way.before_read,
            &way.after_read,
            &way.before_project,
            &way.after_project,
        ];
        match gates.get(stage) {
            Some(gate) => gate.close(),
            // In mid-pause.
            None => gallery.is_cursed(7, TRANSIENT),
        }
        let reached = gates.get(stage).unwrap_or(&gates[3]);
        let first = curator.resume(&7);
        host.run(reached.reached(1));
        let behind = curator.resume(&7);
        let mut closing = Box::pin(curator.close());
        assert!(block_on(poll_once(&mut closing)).is_none());
        host.shut_down();
        assert_abandoned(block_on(first));
        assert_abandoned(block_on(behind));
        assert_eq!(block_on(curator.resume(&7)), Err(ResumeError::Closed));
        block_on(closing);
    }
}

pub fn a_runtime_that_is_gone_resumes_nothing<H: ShutsDown>(host: H) {
    let gallery = owing(1);
    let curator = open_curator(&host, &gallery);
    host.shut_down();
    assert_abandoned(block_on(curator.resume(&7)));
    assert_eq!(block_on(curator.resume(&7)), Err(ResumeError::Closed));
    block_on(curator.close());
    assert_eq!(gallery.calls(7), (0, 0));
}

pub fn pauses_between_tries_are_the_writes<H: Host>(host: H) {
    let pause = Duration::from_millis(80);
    let gallery = owing(1);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let throttled = Mishap::Fails(Class::Throttled(Some(pause)));
        gallery.projections_meet([throttled, throttled]);
        gallery.reads_meet([throttled]);
        let start = host.now();
        let first = curator.resume(&7);
        host.runtime().sleep(pause / 2).await;
        // One who asks during a pause is served by the next try.
        let second = curator.resume(&7);
        assert_eq!(first.await, Ok(Resumed::Projected));
        assert_eq!(host.now(), start + pause * 3);
        assert_eq!(second.await, Ok(Resumed::Projected));
        assert_eq!(gallery.calls(7), (4, 3));
        gallery.walls.owe(7, deposit(2, 1));
        gallery.projections_meet([PERMANENT]);
        assert!(curator.resume(&7).await.is_err());
        assert_eq!(host.now(), start + pause * 3);
    });
}
