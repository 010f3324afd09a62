//! However many ask for a key, one run serves them; each hears of all that was there when it asked.

use std::{
    future::Future,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use ferry_core::{
    Cause, Class, Instant,
    drive::{Builder, ResumeError, Runtime},
    projected_write::resume::Resumed,
};
use futures_lite::future::poll_once;

use super::{
    bank::deposit, gallery::Gallery, host::*, mishap::Mishap, projecting::open_curator,
    reaction::OnWake, resuming::owing, walls::Pictures, writes::at_once,
};

const TRANSIENT: Mishap = Mishap::Fails(Class::Transient);

pub fn those_who_ask_at_once_share_one_run<H: Host>(host: H) {
    let gallery = owing(1);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        gallery.way.before_project.close();
        let first = curator.resume(&7);
        gallery.way.before_project.reached(1).await;
        let others: Vec<_> = (0..50).map(|_| curator.resume(&7)).collect();
        gallery.way.before_project.open();
        assert_eq!(first.await, Ok(Resumed::Projected));
        for other in others {
            assert_eq!(other.await, Ok(Resumed::NothingPending));
        }
        assert_eq!(gallery.calls(7), (2, 1));
        // The next run is another.
        gallery.walls.owe(7, deposit(2, 10));
        assert_eq!(curator.resume(&7).await, Ok(Resumed::Projected));
        assert_eq!(gallery.calls(7), (3, 2));
    });
}

pub fn who_asks_during_the_last_try_has_tries_of_its_own<H: Host>(host: H) {
    let gallery = owing(1);
    let builder = host.builder().retry(at_once(1));
    let curator = builder
        .projected_write(Pictures::new(), gallery.clone())
        .unwrap();
    host.run(async {
        gallery.projections_meet([Mishap::Refused]);
        gallery.way.before_project.close();
        let first = curator.resume(&7);
        gallery.way.before_project.reached(1).await;
        let second = curator.resume(&7);
        gallery.way.before_project.open();
        // The one looks once more how its last try ended; the other is not answered by that.
        assert_eq!(first.await, Err(ResumeError::StillPending(Cause::Refused)));
        assert_eq!(second.await, Ok(Resumed::Projected));
        assert_eq!(gallery.calls(7), (3, 2));
    });
}

pub fn who_asks_after_a_commit_is_answered_by_a_read_that_saw_it<H: Host>(host: H) {
    let gallery = Gallery::new();
    let curator = open_curator(&host, &gallery);
    host.run(async {
        // The one under way has read that nothing is pending.
        gallery.way.after_read.close();
        let before = curator.resume(&7);
        gallery.way.after_read.reached(1).await;
        gallery.walls.owe(7, deposit(1, 10));
        let after = curator.resume(&7);
        gallery.way.after_read.open();
        assert_eq!(after.await, Ok(Resumed::Projected));
        assert_eq!(gallery.walls.shown(7), [1]);
        assert_eq!(before.await, Ok(Resumed::NothingPending));

        // The one under way projects what is not the newest any more.
        gallery.way.before_project.close();
        gallery.walls.owe(7, deposit(2, 10));
        let before = curator.resume(&7);
        gallery.way.before_project.reached(2).await;
        gallery.walls.owe(7, deposit(3, 10));
        let after = curator.resume(&7);
        gallery.way.before_project.open();
        assert_eq!(after.await, Ok(Resumed::Projected));
        assert_eq!(gallery.walls.shown(7), [1, 2, 3]);
        assert_eq!(before.await, Ok(Resumed::Projected));

        // The one under way has projected, and has not heard so yet.
        gallery.way.after_project.close();
        gallery.walls.owe(7, deposit(4, 10));
        let arrived = gallery.way.after_project.arrived();
        let before = curator.resume(&7);
        gallery.way.after_project.reached(arrived + 1).await;
        gallery.walls.owe(7, deposit(5, 10));
        let after = curator.resume(&7);
        gallery.way.after_project.open();
        assert_eq!(after.await, Ok(Resumed::Projected));
        assert_eq!(gallery.walls.shown(7), [1, 2, 3, 4, 5]);
        assert_eq!(before.await, Ok(Resumed::Projected));
    });
}

pub fn who_wants_all_tries_is_not_answered_by_the_one_of_a_sweep<H: Host>(host: H) {
    let gallery = owing(1);
    let curator = open_curator(&host, &gallery);
    let way = &gallery.way;
    host.run(async {
        gallery.projections_meet([TRANSIENT; 3]);
        way.before_read.close();
        let once = curator.sweep([7]).retry(at_once(1));
        let once = in_a_task(&host, async move { once.await });
        way.before_read.reached(1).await;
        // One comes while the sweep's try reads, and one while it projects.
        let first = curator.resume(&7);
        way.before_project.close();
        way.before_read.open();
        way.before_project.reached(1).await;
        let second = curator.resume(&7);
        way.before_project.open();
        let report = once.await;
        assert_eq!((report.projected, report.still_pending), (0, 1));
        assert_eq!(first.await, Ok(Resumed::Projected));
        assert_eq!(second.await, Ok(Resumed::Projected));
        assert_eq!(gallery.calls(7), (4, 4));
    });
}

pub fn a_sweep_may_be_answered_by_a_run_of_many_tries<H: Host>(host: H) {
    let gallery = owing(1);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        gallery.projections_meet([TRANSIENT; 3]);
        gallery.way.before_read.close();
        let resume = curator.resume(&7);
        gallery.way.before_read.reached(1).await;
        let once = curator.sweep([7, 7]).retry(at_once(1));
        let mut once = Box::pin(once.into_future());
        assert!(poll_once(&mut once).await.is_none());
        gallery.way.before_read.open();
        assert_eq!(once.await.projected, 2);
        assert_eq!(resume.await, Ok(Resumed::Projected));
        assert_eq!(gallery.calls(7), (4, 4));
    });
}

pub fn a_run_may_be_asked_for_where_it_is_told<H: Host>(host: H) {
    // From the waker of one who asked, while the others are still to be told.
    let gallery = owing(1);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let (again, is_asked) = tokio::sync::oneshot::channel();
        let asking = OnWake::run({
            let curator = curator.clone();
            move || drop(again.send(curator.resume(&7)))
        });
        let waker = asking.waker();
        gallery.way.before_project.close();
        let mut first = Box::pin(curator.resume(&7));
        let mut cx = std::task::Context::from_waker(&waker);
        assert!(first.as_mut().poll(&mut cx).is_pending());
        gallery.way.before_project.open();
        assert_eq!(is_asked.await.unwrap().await, Ok(Resumed::NothingPending));
        assert_eq!(first.await, Ok(Resumed::Projected));
    });
}

/// A runtime that does something else when it is asked for the time so many times.
#[derive(Clone)]
struct Interrupted<R> {
    runtime: R,
    left: Arc<AtomicUsize>,
    code: Arc<Mutex<Option<Code>>>,
}

type Code = Box<dyn FnOnce() + Send>;

impl<R: Runtime> Runtime for Interrupted<R> {
    fn now(&self) -> Instant {
        let left = self
            .left
            .fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
        if left == Ok(1) {
            let code = self.code.lock().unwrap().take();
            code.into_iter().for_each(|code| code());
        }
        self.runtime.now()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static {
        self.runtime.sleep(duration)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(task);
    }

    fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        self.runtime.spawn_blocking(work)
    }
}

pub fn who_wants_all_tries_gets_them_whenever_it_asks<H: Host>(host: H) {
    // Also when it is decided that the run makes one try, and the run has not begun to read.
    for moment in 1..=8 {
        let gallery = owing(1);
        gallery.projections_meet([TRANSIENT]);
        let runtime = Interrupted {
            runtime: host.runtime(),
            left: Arc::default(),
            code: Arc::default(),
        };
        let builder = Builder::on(runtime.clone()).retry(at_once(2));
        let curator = builder
            .projected_write(Pictures::new(), gallery.clone())
            .unwrap();
        let (asked, is_asked) = tokio::sync::oneshot::channel();
        let asking = {
            let curator = curator.clone();
            move || drop(asked.send(curator.resume(&7)))
        };
        *runtime.code.lock().unwrap() = Some(Box::new(asking));
        runtime.left.store(moment, SeqCst);
        host.run(async {
            let report = curator.sweep([7]).retry(at_once(1)).await;
            assert_eq!(report.taken, 1);
            if runtime.code.lock().unwrap().take().is_none() {
                let _heard = is_asked.await.unwrap().await.unwrap();
                gallery.walls.assert_all_is_shown();
            }
        });
    }
}
