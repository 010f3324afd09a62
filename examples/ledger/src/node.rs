//! One node: a Ferry handle with a runtime and connections of its own, as a process would have.

use std::{ops::AddAssign, path::Path, time::Duration};

use anyhow::{Context, Result};
use ferry_sqlite::SqliteError;
use ferry_tokio::{Builder, Ferry, FoldWrite};
use tokio::{
    runtime::{self, Runtime},
    task::spawn_blocking,
};

use crate::fold::{Ledger, Outcome, Store};

/// Ferry's handle, for this ledger.
pub type Handle = Ferry<FoldWrite<Ledger>>;

/// The answer to come to one input.
pub type Submission = ferry_tokio::Submission<Outcome, SqliteError>;

/// The most inputs in one batch.
const BATCH_MAX: usize = 512;
/// The most inputs that a node holds at a time.
const QUEUEING_MAX: usize = 20_000;

/// How long a node's tasks may take to end, once they have nothing left to do.
const CLOSE_MAX: Duration = Duration::from_secs(5);

/// One node on the file.
#[derive(Debug)]
pub struct Node {
    handle: Handle,
    store: Store,
    runtime: Runtime,
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
    /// Syncs of the disk, each for the commits of many accounts.
    pub syncs: u64,
}

impl Node {
    /// A node on `file`, which is made if it is not there. `seed` spreads its retries. Blocks.
    ///
    /// # Errors
    ///
    /// The file cannot be opened, or no thread can be had.
    pub fn open(file: &Path, seed: u64) -> Result<Self> {
        let store = Store::open(file)?;
        let runtime = runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_time()
            .thread_name("ledger-node")
            .build()
            .context("cannot start the thread of a node")?;
        let entered = runtime.enter();
        let handle = Builder::new()
            .max_queueing(QUEUEING_MAX)
            .max_batch(BATCH_MAX)
            .seed(seed)
            .fold_write(Ledger, store.clone())?;
        drop(entered);
        Ok(Self {
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

    /// Finishes what was accepted, then ends the node.
    pub async fn close(self) -> Batches {
        self.handle.close().await;
        let batches = Batches::of(&self);
        let Self {
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
            syncs: node.store.stats().transactions,
        }
    }

    /// The mean number of inputs in a batch; zero if there was none.
    #[must_use]
    pub fn mean(self) -> f64 {
        self.inputs as f64 / self.count.max(1) as f64
    }
}

impl AddAssign for Batches {
    fn add_assign(&mut self, other: Self) {
        self.count += other.count;
        self.inputs += other.inputs;
        self.largest = self.largest.max(other.largest);
        self.refused += other.refused;
        self.syncs += other.syncs;
    }
}
