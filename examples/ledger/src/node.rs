//! One node: a Ferry handle with a runtime and connections of its own, as a process would have.

use std::{
    ops::{Add, AddAssign},
    time::Duration,
};

use anyhow::{Context, Result};
use ferry_tokio::{AnswerOf, Builder, Ferry, ProjectedWrite, Schedule, Sweeper};
use tokio::{
    runtime::{self, Runtime},
    task::spawn_blocking,
    time::{Instant, sleep},
};

use crate::{
    fold::{Ledger, Posting},
    place::Place,
    store::{Store, StoreError},
};

/// Ferry's handle, for this ledger.
pub type Handle = Ferry<ProjectedWrite<Ledger>>;

/// The answer to come to one input.
pub type Submission = ferry_tokio::Submission<AnswerOf<Ledger>, StoreError>;

/// The most inputs in one batch.
const BATCH_MAX: usize = 512;
/// The most inputs that a node holds at a time.
const QUEUEING_MAX: usize = 20_000;

/// How long a node's tasks may take to end, once they have nothing left to do.
const CLOSE_MAX: Duration = Duration::from_secs(5);

/// How often a node looks for statements that are late.
const SWEEP_EVERY: Duration = Duration::from_secs(1);
/// How many of them it takes up at once.
const SWEEP_MAX: usize = 1000;

/// How long it may take until a node stands between the writes of what it was given last.
const STRAND_MAX: Duration = Duration::from_secs(5);
/// How often it is looked whether it does.
const LOOK_EVERY: Duration = Duration::from_millis(1);

/// One node on the ledger.
#[derive(Debug)]
pub struct Node {
    /// `None` where it is not to finish what others left.
    sweeper: Option<Sweeper>,
    handle: Handle,
    store: Store,
    runtime: Runtime,
}

/// What a node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Duties {
    /// It writes, and finishes the statements that other nodes left late.
    Sweeping,
    /// It writes.
    WritingOnly,
}

fn sweeper(handle: &Handle, store: &Store) -> Result<Sweeper> {
    let schedule = Schedule {
        every: SWEEP_EVERY,
        ..Schedule::default()
    };
    let store = store.clone();
    let late = move || {
        let store = store.clone();
        async move { store.pending_after("", SWEEP_MAX).await }
    };
    Ok(handle.sweeper(schedule, late)?)
}

/// What one or several nodes did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Batches {
    /// Batches carried to their end.
    pub count: u64,
    /// The inputs in them.
    pub inputs: u64,
    /// The most inputs that one of them had.
    pub largest: u64,
    /// Commits that the store refused, since another node had changed the account.
    pub refused: u64,
    /// Projections of statements that were tried.
    pub projections: u64,
    /// Late statements that a sweep looked after.
    pub resumes: u64,
    /// Syncs of the disk, each for the commits of many accounts.
    pub syncs: u64,
}

impl Node {
    /// A node on the ledger at `place`, which is made if it is not there. `seed` spreads its retries.
    ///
    /// # Errors
    ///
    /// The ledger cannot be opened, or no thread can be had.
    pub async fn open(place: &Place, seed: u64, duties: Duties) -> Result<Self> {
        let place = place.clone();
        let opened = spawn_blocking(move || Self::start(&place, seed, duties));
        opened.await.context("opening a node panicked")?
    }

    fn start(place: &Place, seed: u64, duties: Duties) -> Result<Self> {
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .thread_name("ledger-node")
            .build()
            .context("cannot start the thread of a node")?;
        let store = runtime.block_on(Store::open(place))?;
        let entered = runtime.enter();
        let handle = Builder::new()
            .max_queueing(QUEUEING_MAX)
            .max_batch(BATCH_MAX)
            .seed(seed)
            .projected_write(Ledger, store.clone())?;
        let sweeper = match duties {
            Duties::Sweeping => Some(sweeper(&handle, &store)?),
            Duties::WritingOnly => None,
        };
        drop(entered);
        Ok(Self {
            sweeper,
            handle,
            store,
            runtime,
        })
    }

    /// Its handle.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Its store.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Drops the node as a crash would, with all that it has under way: nobody hears an answer any
    /// more, and what the store was already asked to write may still land.
    pub fn crash(self) -> Batches {
        let batches = Batches::of(&self);
        self.runtime.shutdown_background();
        batches
    }

    /// Drops the node between the two writes of these postings, each to an account of its own.
    pub async fn strand(self, postings: &[(String, Posting)]) -> Batches {
        self.store.between().bar();
        let submitted: Vec<_> = postings
            .iter()
            .filter_map(|(account, posting)| {
                self.handle.submit(account.clone(), posting.clone()).ok()
            })
            .collect();
        let give_up = Instant::now() + STRAND_MAX;
        while self.store.between().held() < submitted.len() && Instant::now() < give_up {
            sleep(LOOK_EVERY).await;
        }
        self.crash()
    }

    /// Finishes what was accepted, then ends the node.
    pub async fn close(mut self) -> Batches {
        if let Some(sweeper) = self.sweeper.take() {
            sweeper.close().await;
        }
        self.handle.close().await;
        let batches = Batches::of(&self);
        let Self {
            sweeper: _,
            handle,
            store,
            runtime,
        } = self;
        drop(handle);
        let closed = spawn_blocking(move || {
            // Its tasks hold the store too; once they are gone, this is the last to close it.
            runtime.shutdown_timeout(CLOSE_MAX);
            store.close();
        });
        // A panic there is told by the panic hook, and what was accepted is answered already.
        let _panicked = closed.await;
        batches
    }
}

impl Batches {
    fn of(node: &Node) -> Self {
        let counters = node.handle.stats().counters;
        Self {
            count: counters.batches,
            inputs: counters.batched,
            largest: counters.largest_batch,
            refused: counters.writes.refused,
            projections: counters.writes.projections,
            resumes: counters.resumes,
            syncs: node.store.syncs().unwrap_or(0),
        }
    }

    /// The mean number of inputs in a batch; zero if there was none.
    #[must_use]
    pub fn mean(self) -> f64 {
        self.inputs as f64 / self.count.max(1) as f64
    }
}

impl Add for Batches {
    type Output = Self;

    fn add(mut self, other: Self) -> Self {
        self += other;
        self
    }
}

impl AddAssign for Batches {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.inputs += other.inputs;
        self.largest = self.largest.max(other.largest);
        self.refused += other.refused;
        self.projections += other.projections;
        self.resumes += other.resumes;
        self.syncs += other.syncs;
    }
}
