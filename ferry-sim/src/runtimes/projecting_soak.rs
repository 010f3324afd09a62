//! Several nodes on one store, each of which dies in the middle of what it does; then an account of all
//! that anybody heard.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use ferry_core::{
    Answer, Durability, Failure,
    drive::{Runtime, Schedule},
};
use futures_lite::future::{poll_once, yield_now};

use super::{
    bank::deposit,
    gallery::Gallery,
    host::*,
    mishap::Trouble,
    projecting::{Curator, open_curator},
    sweepers::sweep_walls,
    walls::{Pictures, Walls},
    writes::at_once,
};

const NODES: u64 = 3;
const LIVES: u64 = 4;
const CALLERS: u64 = 3;
const OPERATIONS: u64 = 60;
const ROOMS: u64 = 5;
const IDS: u64 = NODES * LIVES * CALLERS * OPERATIONS;

/// What the callers of one life heard.
#[derive(Default)]
struct Heard {
    durable: BTreeSet<u64>,
    not_committed: BTreeSet<u64>,
}

/// How often each was sent.
type Sent = Arc<Mutex<BTreeMap<u64, u32>>>;

/// One who uses a node.
struct Visitor<R> {
    curator: Curator,
    walls: Arc<Walls>,
    runtime: R,
    rng: fastrand::Rng,
    first_id: u64,
    sent: Sent,
    heard: Heard,
}

impl<R: Runtime> Visitor<R> {
    async fn carry_on(mut self) -> Heard {
        for n in 0..OPERATIONS {
            match self.rng.u8(..20) {
                0 => self.sweep().await,
                1..4 => self.resume().await,
                4..6 => {
                    let id = self.rng.u64(..IDS);
                    self.submit(id).await;
                }
                _ => self.submit(self.first_id + n).await,
            }
            if self.rng.u8(..) < 60 {
                yield_now().await;
            }
        }
        self.heard
    }

    async fn submit(&mut self, id: u64) {
        let room = id % ROOMS;
        *self.sent.lock().unwrap().entry(id).or_default() += 1;
        let deposit = deposit(id, 1 + id as i64 % 7);
        let sent = match self.rng.u8(..4) {
            0 => {
                let within = Duration::from_micros(self.rng.u64(..2000));
                self.curator.submit_within(room, deposit, within)
            }
            _ => self.curator.submit(room, deposit),
        };
        let Ok(mut submission) = sent else {
            return;
        };
        let answer = match self.rng.u8(..4) {
            0 => {
                self.runtime.sleep(Duration::from_micros(300)).await;
                match poll_once(&mut submission).await {
                    Some(answer) => answer,
                    None => return,
                }
            }
            _ => submission.await,
        };
        self.hear(room, id, answer);
    }

    fn hear(&mut self, room: u64, id: u64, answer: Result<Answer<i64, Trouble>, Failure<Trouble>>) {
        match answer {
            Ok(Answer { durability, .. }) => {
                self.heard.durable.insert(id);
                if durability == Durability::Projected {
                    assert!(self.walls.shown(room).contains(&id), "{id} is not shown");
                }
            }
            Err(Failure::NotCommitted(_)) => {
                self.heard.not_committed.insert(id);
            }
            Err(Failure::InDoubt(_)) => {}
        }
    }

    async fn resume(&mut self) {
        let room = self.rng.u64(..ROOMS);
        let before = self.walls.applied(room);
        let mut resume = Box::pin(self.curator.resume(&room));
        let told = match self.rng.bool() {
            true => poll_once(&mut resume).await,
            false => Some(resume.await),
        };
        if let Some(Ok(_)) = told {
            let shown = self.walls.shown(room);
            assert!(shown.starts_with(&before), "{room} is not shown as it was");
        }
    }

    async fn sweep(&mut self) {
        let sweep = self.curator.sweep(0..ROOMS).concurrency(2);
        let mut sweep = Box::pin(sweep.retry(at_once(2)).into_future());
        let report = match self.rng.bool() {
            true => poll_once(&mut sweep).await,
            false => Some(sweep.await),
        };
        let Some(report) = report else {
            return;
        };
        let ended = report.projected + report.nothing_pending + report.still_pending;
        assert!(report.taken == ended || report.was_cut_short);
    }
}

/// A node that lives until its first visitor is done, or until all are.
fn live<H: ShutsDown>(walls: &Arc<Walls>, sent: &Sent, seed: u64) -> Heard {
    let host = H::start();
    let gallery = Gallery::on(walls.clone());
    gallery.runs_out_of_luck(seed);
    let builder = host.builder().seed(seed).retry(at_once(3));
    let builder = builder.max_batch(4).max_in_flight(3).shards(2);
    let curator = builder.projected_write(Pictures::new(), gallery).unwrap();
    let heard = host.run(async {
        let schedule = Schedule {
            every: Duration::from_millis(1),
            pause_max: Duration::from_millis(1),
            concurrency: 2,
        };
        let _sweeper = sweep_walls(&curator, schedule, walls);
        let mut visitors: Vec<_> = (0..CALLERS)
            .map(|number| {
                let visitor = Visitor {
                    curator: curator.clone(),
                    walls: walls.clone(),
                    runtime: host.runtime(),
                    rng: fastrand::Rng::with_seed(seed * CALLERS + number),
                    first_id: (seed % (NODES * LIVES) * CALLERS + number) * OPERATIONS,
                    sent: sent.clone(),
                    heard: Heard::default(),
                };
                in_a_task(&host, visitor.carry_on())
            })
            .collect();
        // Those who are cut off hear nothing; what they sent may be anywhere.
        let heard = visitors.remove(0).await;
        if seed % 2 == 0 {
            return heard;
        }
        curator.close().await;
        let mut all = heard;
        for visitor in visitors {
            all.add(visitor.await);
        }
        all
    });
    host.shut_down();
    heard
}

impl Heard {
    fn add(&mut self, other: Self) {
        self.durable.extend(other.durable);
        self.not_committed.extend(other.not_committed);
    }
}

pub fn whatever_dies_everything_is_shown_once_in_the_end<H: ShutsDown>(_: H) {
    for seed in 1..=3 {
        let soaked = catch_unwind(AssertUnwindSafe(|| soak::<H>(seed)));
        assert!(soaked.is_ok(), "the seed was {seed}");
    }
}

fn soak<H: ShutsDown>(seed: u64) {
    let (walls, sent) = (Arc::<Walls>::default(), Sent::default());
    let nodes: Vec<_> = (0..NODES)
        .map(|node| {
            let (walls, sent) = (walls.clone(), sent.clone());
            let lives = (0..LIVES).map(move |life| seed * NODES * LIVES + node * LIVES + life);
            thread::spawn(move || {
                let mut heard = Heard::default();
                for seed in lives {
                    heard.add(live::<H>(&walls, &sent, seed));
                }
                heard
            })
        })
        .collect();
    let mut heard = Heard::default();
    for node in nodes {
        heard.add(node.join().unwrap());
    }

    // The world is well again, and one sweep is enough.
    let host = H::start();
    let curator = open_curator(&host, &Gallery::on(walls.clone()));
    host.run(async {
        let pending = walls.pending();
        let owing = pending.len() as u64;
        let report = curator.sweep(pending).await;
        assert_eq!((report.taken, report.projected), (owing, owing));
        curator.close().await;
    });
    walls.assert_all_is_shown();

    let applied: BTreeSet<_> = (0..ROOMS).flat_map(|room| walls.applied(room)).collect();
    assert!(!applied.is_empty());
    let lost: Vec<_> = heard.durable.difference(&applied).collect();
    assert_eq!(lost, [&0; 0]);
    let sent = sent.lock().unwrap();
    for id in heard.not_committed.iter().filter(|&id| sent[id] == 1) {
        assert!(!applied.contains(id), "{id} was committed after all");
    }
}
