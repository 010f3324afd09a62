//! Sweeping on a schedule: what is found gets done, and one can see whether anybody is at it.

use std::{
    error::Error,
    fmt,
    future::ready,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
    },
    time::Duration,
};

use ferry_core::drive::{InvalidSchedule, Runtime, Schedule, Sweeper, SweeperHealth};
use futures_lite::future::{block_on, yield_now};

use super::{
    bank::deposit,
    gallery::Gallery,
    host::*,
    mishap::{Mishap, Trouble},
    projecting::{Curator, open_curator, projected},
    walls::{BLINDING, Walls},
};

pub const SECOND: Duration = Duration::from_secs(1);
pub const HOUR: Duration = Duration::from_secs(3600);

/// Turn upon turn.
pub fn busily() -> Schedule {
    Schedule {
        every: Duration::from_millis(1),
        pause_max: Duration::from_millis(1),
        ..Schedule::default()
    }
}

/// One turn, and a pause that no test waits for.
pub fn once() -> Schedule {
    Schedule {
        every: HOUR,
        pause_max: HOUR,
        ..Schedule::default()
    }
}

/// Finds what is pending, as an application's query would.
pub fn sweep_walls(curator: &Curator, schedule: Schedule, walls: &Arc<Walls>) -> Sweeper {
    let walls = walls.clone();
    let query = move || ready(Ok::<_, Trouble>(walls.pending()));
    curator.sweeper(schedule, query).unwrap()
}

/// Looks until the sweeper is seen to do so.
pub async fn until<H: Host>(host: &H, sweeper: &Sweeper, sees: impl Fn(&SweeperHealth) -> bool) {
    while !sees(&sweeper.health()) {
        host.runtime().sleep(Duration::from_millis(1)).await;
    }
}

pub fn what_a_handle_left_that_died_is_finished<H: ShutsDown>(host: H) {
    let gallery = Gallery::new();
    {
        let host = H::start();
        let curator = open_curator(&host, &gallery);
        gallery.way.before_project.close();
        let sent: Vec<_> = (0..20)
            .map(|room| curator.submit(room, deposit(room, 1)).unwrap())
            .collect();
        host.run(gallery.way.before_project.reached(20));
        host.shut_down();
        for submission in sent {
            assert!(block_on(submission).unwrap_err().is_in_doubt());
        }
        gallery.way.before_project.open();
    }
    assert_eq!(gallery.walls.pending().len(), 20);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let sweeper = sweep_walls(&curator, busily(), &gallery.walls);
        until(&host, &sweeper, |health| health.turns >= 1).await;
        gallery.walls.assert_all_is_shown();
        // And what comes up later.
        gallery.walls.owe(7, deposit(100, 1));
        while gallery.walls.shown(7) != [7, 100] {
            host.runtime().sleep(Duration::from_millis(1)).await;
        }
        sweeper.close().await;
        projected(curator.submit(7, deposit(101, 1)).unwrap().await.unwrap());
    });
}

pub fn a_schedule_that_makes_no_sense_is_refused<H: Host>(host: H) {
    let curator = open_curator(&host, &Gallery::new());
    let every = SECOND;
    let refused = |schedule: Schedule| {
        let query = || -> std::future::Ready<Result<Vec<u64>, Trouble>> { panic!("it is asked") };
        let refused = curator.sweeper(schedule, query).unwrap_err();
        assert_eq!(schedule.check(), Err(refused));
        refused
    };
    let schedule = Schedule::default();
    assert_eq!(
        refused(Schedule {
            every: Duration::ZERO,
            ..schedule
        }),
        InvalidSchedule::NoPause
    );
    assert_eq!(
        refused(Schedule {
            concurrency: 0,
            ..schedule
        }),
        InvalidSchedule::NoConcurrency
    );
    let pause_max = SECOND / 2;
    assert_eq!(
        refused(Schedule {
            every,
            pause_max,
            ..schedule
        }),
        InvalidSchedule::PauseMaxBelowEvery { every, pause_max }
    );
    assert_eq!(Schedule::default().check(), Ok(()));
    host.run(async { yield_now().await });
}

pub fn a_sweeper_resumes_no_more_keys_at_a_time_than_it_may<H: Host>(host: H) {
    let gallery = Gallery::new();
    (0..40).for_each(|room| gallery.walls.owe(room, deposit(room, 1)));
    let curator = open_curator(&host, &gallery);
    host.run(async {
        gallery.way.before_read.close();
        let schedule = Schedule {
            concurrency: 5,
            ..once()
        };
        let sweeper = sweep_walls(&curator, schedule, &gallery.walls);
        for done in 0..=35 {
            gallery.way.before_read.reached(done + 5).await;
            gallery.way.before_read.let_through(1);
        }
        // It is seen how far the turn has come.
        until(&host, &sweeper, |health| health.pending == 4).await;
        assert_eq!(sweeper.health().turns, 0);
        gallery.way.before_read.open();
        until(&host, &sweeper, |health| health.turns == 1).await;
        assert_eq!(gallery.most_under_way(), 5);
        let health = sweeper.health();
        assert_eq!((health.pending, health.oldest_debt), (0, None));
        gallery.walls.assert_all_is_shown();
        assert_eq!(curator.stats().counters.resumes, 40);
    });
}

pub fn a_key_that_is_found_twice_is_tried_once_and_forgotten_when_it_has_paid<H: Host>(host: H) {
    let gallery = Gallery::new();
    gallery.walls.owe(7, deposit(1, 1));
    gallery.walls.owe(8, deposit(2, 1));
    gallery.is_cursed(8, Mishap::Refused);
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let query = || ready(Ok::<_, Trouble>([7, 8, 7, 8, 9, 7]));
        let schedule = Schedule {
            concurrency: 1,
            ..once()
        };
        let sweeper = curator.sweeper(schedule, query).unwrap();
        until(&host, &sweeper, |health| health.turns == 1).await;
        let calls = [7, 8, 9].map(|room| gallery.calls(room));
        // What was refused is looked at once more.
        assert_eq!(calls, [(1, 1), (2, 1), (1, 0)]);
        // The next turn is far away.
        assert_eq!(sweeper.health().pending, 1);
        assert!(sweeper.health().oldest_debt.is_some());
    });
}

pub fn a_query_that_fails_or_panics_is_seen_and_asked_again<H: Host>(host: H) {
    let gallery = Gallery::new();
    gallery.walls.owe(7, deposit(1, 1));
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let (asked, may_work) = (
            Arc::new(AtomicUsize::new(0)),
            Arc::new(AtomicBool::new(false)),
        );
        let (walls, count, works) = (gallery.walls.clone(), asked.clone(), may_work.clone());
        let query = move || {
            let n = count.fetch_add(1, SeqCst);
            assert!(n % 3 != 1 || works.load(SeqCst), "the query panics");
            let (walls, works) = (walls.clone(), works.clone());
            async move {
                assert!(n % 3 != 2 || works.load(SeqCst), "its future panics");
                match works.load(SeqCst) {
                    true => Ok(walls.pending()),
                    false => Err(Trouble("no connection")),
                }
            }
        };
        let sweeper = curator.sweeper(busily(), query).unwrap();
        let mut told = [false; 3];
        while told != [true; 3] {
            let health = sweeper.health();
            let error = health.query_error.map(|error| error.to_string());
            let what = ["no connection", "the query panics", "its future panics"];
            for (told, what) in told.iter_mut().zip(what) {
                *told |= error.as_ref().is_some_and(|error| error.contains(what));
            }
            assert!(health.is_running);
            assert_eq!((health.turns, health.last_turn), (0, None));
            host.runtime().sleep(Duration::from_micros(100)).await;
        }
        assert_eq!(gallery.walls.pending(), [7]);
        may_work.store(true, SeqCst);
        until(&host, &sweeper, |health| health.turns > 0).await;
        gallery.walls.assert_all_is_shown();
        let health = sweeper.health();
        assert!(health.query_error.is_none());
        assert!(health.last_turn.is_some());
        may_work.store(false, SeqCst);
        until(&host, &sweeper, |health| health.query_error.is_some()).await;
    });
}

pub fn a_look_that_panics_is_a_key_that_fails<H: Host>(host: H) {
    let gallery = Gallery::new();
    gallery.walls.owe(7, deposit(1, BLINDING));
    gallery.walls.owe(8, deposit(2, 1));
    let curator = open_curator(&host, &gallery);
    host.run(async {
        let sweeper = sweep_walls(&curator, busily(), &gallery.walls);
        until(&host, &sweeper, |health| health.turns > 3).await;
        assert_eq!(gallery.walls.pending(), [7]);
        assert_eq!(sweeper.health().pending, 1);
        gallery.walls.owe(7, deposit(3, 1));
        until(&host, &sweeper, |health| health.pending == 0).await;
        gallery.walls.assert_all_is_shown();
    });
}

/// An error that asks how the sweeper is when it is dropped, and then panics.
struct Curious(Arc<Mutex<Option<Sweeper>>>, Arc<AtomicUsize>);

impl Drop for Curious {
    fn drop(&mut self) {
        if let Some(sweeper) = &*self.0.lock().unwrap() {
            assert!(sweeper.health().is_running);
        }
        self.1.fetch_add(1, SeqCst);
        panic!("an error panics");
    }
}

impl fmt::Debug for Curious {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Curious")
    }
}

impl fmt::Display for Curious {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("curious")
    }
}

impl Error for Curious {}

pub fn an_error_of_a_query_may_do_as_it_likes_when_it_is_dropped<H: Host>(host: H) {
    let curator = open_curator(&host, &Gallery::new());
    host.run(async {
        let sweeper = Arc::<Mutex<Option<Sweeper>>>::default();
        let dropped = Arc::<AtomicUsize>::default();
        let (held, count) = (Arc::clone(&sweeper), dropped.clone());
        let mut asked = 0;
        let query = move || {
            asked += 1;
            ready(match asked {
                1..5 => Err(Curious(held.clone(), count.clone())),
                _ => Ok(Vec::new()),
            })
        };
        *sweeper.lock().unwrap() = Some(curator.sweeper(busily(), query).unwrap());
        while dropped.load(SeqCst) < 4 {
            host.runtime().sleep(Duration::from_millis(1)).await;
        }
        let sweeper = sweeper.lock().unwrap().take().unwrap();
        until(&host, &sweeper, |health| health.turns > 0).await;
        assert!(sweeper.health().is_running);
        sweeper.close().await;
    });
}
