//! What all shards of a handle share, and the way of an input through it.
//!
//! | in the order in which things happen to an input | read |
//! | --- | --- |
//! | `submit` → `board` | `coming.rs` |
//! | `act`: a task is told to carry the batch | `effects.rs` |
//! | `finished` → the answer | `finished.rs` |
//! | `withdraw`, if its caller goes away before | `leaving.rs` |
//! | what ends it all: `close`, `orphan`, `die` | `ending.rs` |

mod coming;
mod effects;
mod ending;
mod finished;
mod leaving;

use alloc::{sync::Arc, vec::Vec};
use core::{hash::BuildHasher, time::Duration};

use super::{
    bound::{Bound, Waiter},
    carries::{Carries, Crew},
    chance::{self, Hasher},
    clock::Alarm,
    closing::Closers,
    observe::Observer,
    pool::Pools,
    room::Place,
    shard::Shard,
    stats::Stats,
    submission::Submission,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst},
};
use crate::{
    Instant,
    per_key::{InvalidLimits, Limits, Rejected},
};

pub(super) use coming::Passenger;
pub(super) use ending::OnDuty;
pub(super) use finished::{Ending, Finished, Next};

pub(super) type SubmissionOf<C> = Submission<<C as Carries>::Answer, <C as Carries>::Error>;
pub(super) type RejectedOf<C> = Rejected<<C as Carries>::Key, <C as Carries>::Input>;

pub(super) struct Shared<C: Carries> {
    pub(super) shards: Vec<Shard<C>>,
    pub(super) slots: Pools<C::Answer, C::Error>,
    /// Inputs waiting or in flight, `max_queueing` at most.
    pub(super) room: Bound<Arc<Waiter<Option<Place<C>>>>>,
    /// Batches in flight, `max_in_flight` at most. Shards stand in its line by their index. A permit
    /// is given back when the batch's callers have their answers.
    pub(super) permits: Bound<usize>,
    pub(super) alarm: Alarm,
    pub(super) crew: Arc<dyn Crew<C>>,
    pub(super) aside: C::Aside,
    pub(super) observer: Observer,
    hasher: Hasher,
    /// How many parked tasks a shard keeps at most.
    idle_max: usize,
    seeds: AtomicU64,
    rejected: AtomicU64,
    /// Whether inputs wait for time to pass, or ever did: for company, or until a deadline.
    is_timed: AtomicBool,
    closed: AtomicBool,
    shards_drained: AtomicUsize,
    /// Callers who are answered outside of any batch: of expired inputs, of resumes.
    answering: AtomicUsize,
    closers: Closers,
    orphaned: AtomicBool,
    dying: AtomicBool,
    /// The runtime is gone, and everyone who waited knows.
    dead: AtomicBool,
}

impl<C: Carries> Shared<C> {
    pub(super) fn new(
        limits: Limits,
        shards: usize,
        seed: u64,
        crew: Arc<dyn Crew<C>>,
        aside: C::Aside,
        observer: Observer,
    ) -> Result<Arc<Self>, InvalidLimits> {
        limits.check()?;
        let hasher = chance::hasher();
        let idle_max = limits.max_in_flight.div_ceil(shards).min(1024);
        Ok(Arc::new_cyclic(|shared| Self {
            shards: (0..shards)
                .map(|index| {
                    // The whole's bounds are kept here, not in each shard.
                    let own = Limits {
                        max_queueing: usize::MAX,
                        ..limits
                    };
                    match Shard::new(index, own, hasher.clone()) {
                        Ok(shard) => shard,
                        Err(_) => unreachable!("checked above"),
                    }
                })
                .collect(),
            slots: Pools::new(shards, shared),
            room: Bound::new(limits.max_queueing),
            permits: Bound::new(limits.max_in_flight),
            alarm: Alarm::default(),
            crew,
            aside,
            observer,
            hasher,
            idle_max,
            // Spread out, so that processes with neighbouring seeds do not share most of theirs.
            seeds: AtomicU64::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            rejected: AtomicU64::new(0),
            is_timed: AtomicBool::new(!limits.linger.is_zero()),
            closed: AtomicBool::new(false),
            shards_drained: AtomicUsize::new(0),
            answering: AtomicUsize::new(0),
            closers: Closers::default(),
            orphaned: AtomicBool::new(false),
            dying: AtomicBool::new(false),
            dead: AtomicBool::new(false),
        }))
    }

    pub(super) fn now(&self) -> Instant {
        self.crew.now()
    }

    /// What time it is, where anything depends on that. Reading the clock is a good part of what a small batch costs.
    fn now_if_it_matters(&self) -> Option<Instant> {
        self.is_timed.load(SeqCst).then(|| self.now())
    }

    pub(super) fn hash(&self, key: &C::Key) -> u64 {
        self.hasher.hash_one(key)
    }

    pub(super) fn shard(&self, hash: u64) -> &Shard<C> {
        // Neither the lowest nor the highest bits: a shard's own table goes by those.
        &self.shards[(hash >> 24) as usize % self.shards.len()]
    }

    /// For a jitter that nobody else has.
    pub(super) fn seed(&self) -> u64 {
        self.seeds.fetch_add(1, SeqCst)
    }

    pub(super) fn stats(&self) -> Stats {
        let now = self.crew.now();
        let mut stats = Stats {
            queueing: self.room.taken(),
            ..Stats::default()
        };
        for shard in &self.shards {
            let state = shard.state.lock();
            let per_key = &state.per_key;
            stats.waiting += per_key.waiting();
            stats.batches_in_flight += per_key.batches_in_flight();
            stats.keys += per_key.keys();
            let wait = per_key
                .oldest_waiting()
                .map_or(Duration::ZERO, |oldest| now - oldest);
            stats.oldest_wait = stats.oldest_wait.max(wait);
            stats.counters.add(&state.counters);
        }
        stats.counters.rejected += self.rejected.load(SeqCst);
        stats
    }
}
