//! The same kind of work on the same disk, in batches and one write at a time.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use ferry_tokio::{Commit, Fold, ProjectedStore as _, Record, Step, Store as _};
use tokio::task::JoinSet;

use crate::{
    fold::{Ledger, Posting},
    node::{Duties, Handle, Node},
    options::Simulation,
    scratch::Scratch,
    stop::Stop,
    store::Store,
    workload::{Task, Workload, account_name, posting},
};

/// How often the two take turns. Disks change their speed from one second to the next, so that only
/// short turns, close together, can be compared.
const ROUNDS: u32 = 5;
/// How long each turn is at most; what is under way then is finished.
const TURN_MAX: Duration = Duration::from_millis(400);
/// How long each turn is for every input of the simulation: a small one is compared in short turns.
const TURN_PER_INPUT: Duration = Duration::from_micros(20);

/// How far each of the two came.
#[derive(Clone, Copy, Debug, Default)]
pub struct Comparison {
    /// With Ferry.
    pub batched: Pace,
    /// Each input on its own: a read, a commit and a projection, each of these with its sync.
    pub alone: Pace,
}

/// So many inputs in so much time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// Inputs answered.
    pub inputs: u64,
    /// How long that took.
    pub time: Duration,
}

impl Comparison {
    /// How many inputs went in batches in the time of one alone.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.batched.per_second() / self.alone.per_second()
    }
}

impl Pace {
    fn per_second(self) -> f64 {
        self.inputs as f64 / self.time.as_secs_f64()
    }

    fn add(&mut self, inputs: u64, begin: Instant) {
        self.inputs += inputs;
        self.time += begin.elapsed();
    }
}

/// Lets the two take turns, each on a ledger of its own in `scratch`, which is removed afterwards.
/// `None` if the user asks to finish meanwhile.
///
/// # Errors
///
/// The ledgers cannot be made or written.
pub async fn compare(
    simulation: &Simulation,
    scratch: Scratch,
    stop: &Stop,
) -> Result<Option<Comparison>> {
    let compared = take_turns(simulation, &scratch, stop).await;
    scratch.remove().await?;
    compared
}

async fn take_turns(
    simulation: &Simulation,
    scratch: &Scratch,
    stop: &Stop,
) -> Result<Option<Comparison>> {
    let (batched, alone) = (scratch.place("batched"), scratch.place("alone"));
    let node = Node::open(&batched, simulation.seed, Duties::WritingOnly).await?;
    let store = Store::open(&alone).await?;
    let turn = (TURN_PER_INPUT * simulation.inputs).min(TURN_MAX);
    // The simulation's own inputs, and more of the same kind where a fast disk gets further.
    let simulation = Simulation {
        inputs: u32::MAX,
        ..simulation.clone()
    };
    let mut batched: Vec<_> = Workload::all(&simulation)
        .into_iter()
        .map(Poster::new)
        .collect();
    let mut alone = batched.clone();
    let mut comparison = Comparison::default();
    for _ in 0..ROUNDS {
        if stop.is_asked() {
            return Ok(None);
        }
        let begin = Instant::now();
        let inputs = in_batches(node.handle(), &mut batched, begin + turn).await?;
        comparison.batched.add(inputs, begin);
        let begin = Instant::now();
        let inputs = one_by_one(&store, &mut alone, begin + turn).await?;
        comparison.alone.add(inputs, begin);
    }
    node.close().await;
    store.close();
    Ok(Some(comparison))
}

/// A client without the trouble: nothing times out here, and nothing is repeated.
#[derive(Clone)]
struct Poster {
    workload: Workload,
    sent: u32,
}

impl Poster {
    fn new(workload: Workload) -> Self {
        Self { workload, sent: 0 }
    }

    fn next(&mut self) -> Result<(String, Posting)> {
        let Task {
            account, amount, ..
        } = self
            .workload
            .next()
            .ok_or_else(|| anyhow!("the comparison ran out of inputs"))?;
        let posting = posting("c", self.workload.client(), self.sent, amount);
        self.sent += 1;
        Ok((account_name(account), posting))
    }
}

/// All clients at once, through Ferry.
async fn in_batches(handle: &Handle, posters: &mut Vec<Poster>, end: Instant) -> Result<u64> {
    let mut clients = JoinSet::new();
    for mut poster in posters.drain(..) {
        let handle = handle.clone();
        clients.spawn(async move {
            let mut inputs = 0;
            while Instant::now() < end {
                let (account, posting) = poster.next()?;
                handle.submit_when_free(account, posting).await?.await?;
                inputs += 1;
            }
            anyhow::Ok((inputs, poster))
        });
    }
    let mut total = 0;
    while let Some(client) = clients.join_next().await {
        let (inputs, poster) = client.context("a client panicked")??;
        total += inputs;
        posters.push(poster);
    }
    posters.sort_by_key(|poster| poster.workload.client());
    Ok(total)
}

/// The clients in turn, each input with a commit and a projection of its own. They do not go at once, since the file
/// takes one commit at a time, and those that wait for it would only get in each other's way.
async fn one_by_one(store: &Store, posters: &mut [Poster], end: Instant) -> Result<u64> {
    let mut inputs = 0;
    while Instant::now() < end {
        let poster = &mut posters[0];
        let (account, posting) = poster.next()?;
        write_alone(store, &account, &posting).await?;
        inputs += 1;
        posters.rotate_left(1);
    }
    Ok(inputs)
}

async fn write_alone(store: &Store, account: &String, posting: &Posting) -> Result<()> {
    let record = store
        .read(account, std::slice::from_ref(&posting.id))
        .await?;
    let (mut state, version) = match record {
        Some(record) => (record.state, Some(record.version)),
        None => (Ledger.empty(account), None),
    };
    if let Step::Applied(entry, _outcome) = Ledger.step(&mut state, posting) {
        let commit = Commit {
            expected: version.as_ref(),
            state: &state,
            entries: &[entry],
        };
        let version = store.commit(account, commit).await?;
        store.project(account, &Record { state, version }).await?;
    }
    Ok(())
}
