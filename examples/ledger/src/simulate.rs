//! The simulation: many clients, several nodes, one ledger.

use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use indicatif::ProgressBar;
use tokio::task::JoinSet;

use crate::{
    answers::{Answers, Heard, Sent},
    client::Client,
    dropper::{Dropper, Drops},
    fleet::Fleet,
    fold::Posting,
    member::Life,
    node::{Batches, Duties, Node},
    options::Simulation,
    place::Place,
    stop::Stop,
    tally::Tally,
    workload::{Workload, account_name, posting},
};

/// To how many accounts at most a last posting is left between its two writes.
const STRANDED_MAX: u32 = 12;

/// What happened in a simulation.
#[derive(Debug)]
pub struct Simulated {
    /// What the clients sent and heard.
    pub answers: Answers,
    /// What became of their requests.
    pub tally: Tally,
    /// What the nodes did.
    pub batches: Batches,
    /// The nodes that were dropped.
    pub drops: Drops,
}

/// Runs a simulation on a ledger until all clients are done, or the user asks to finish.
///
/// # Errors
///
/// A node cannot be opened, or the machine gives no random number to name the run with.
pub async fn simulate(
    simulation: &Simulation,
    place: &Place,
    progress: &ProgressBar,
    stop: &Stop,
) -> Result<Simulated> {
    let life = match simulation {
        Simulation {
            processes: true, ..
        } => Life::Apart,
        // Where it is to be seen what crashes leave, nobody tidies up after them.
        Simulation {
            crash_between: true,
            ..
        } => Life::Here(Duties::WritingOnly),
        _ => Life::Here(Duties::Sweeping),
    };
    let Simulation { nodes, seed, .. } = *simulation;
    let fleet = Arc::new(Fleet::open(place, nodes, seed, life).await?);
    let run: Arc<str> = name_of_run()?.into();

    let dropper = Dropper::start(simulation, &fleet, progress);
    let mut clients = JoinSet::new();
    for workload in Workload::all(simulation) {
        let (number, progress) = (workload.client(), progress.clone());
        let client = Client::new(Arc::clone(&fleet), workload);
        let client = client.run(Arc::clone(&run), stop.clone(), move || progress.inc(1));
        clients.spawn(async move { (number, client.await) });
    }
    let mut answers = Answers {
        run: run.to_string(),
        clients: vec![Vec::new(); simulation.clients as usize],
    };
    let mut tally = Tally::default();
    while let Some(client) = clients.join_next().await {
        let (number, (sent, of_client)) = client.context("a client panicked")?;
        answers.clients[number as usize] = sent;
        tally += of_client;
    }
    let drops = dropper.stop().await;
    let fleet = Arc::into_inner(fleet).ok_or_else(|| anyhow!("a client outlived its run"))?;
    let batches = match simulation.crash_between {
        true => {
            let (postings, sent) = last_postings(simulation, &run);
            answers.clients.push(sent);
            fleet.strand(&postings).await
        }
        false => {
            let batches = fleet.close().await;
            let finished = finish_statements(place, seed).await;
            batches
                + finished.context(
                    "the run is over, and what it left late cannot be finished; once the ledger can be \
                     written again, `ledger sweep` does it, and `ledger audit` checks it",
                )?
        }
    };
    Ok(Simulated {
        answers,
        tally,
        batches,
        drops,
    })
}

/// A last posting to each of a few accounts, from a client that goes with its nodes.
fn last_postings(simulation: &Simulation, run: &str) -> (Vec<(String, Posting)>, Vec<Sent>) {
    let accounts = 0..simulation.accounts.min(STRANDED_MAX);
    let posted = accounts.map(|account| {
        let sent = Sent {
            account,
            amount: 1,
            heard: Heard::Gone,
        };
        let posting = posting(run, simulation.clients, account, sent.amount);
        ((account_name(account), posting), sent)
    });
    posted.unzip()
}

/// What a node left late that was dropped at the very end, no sweeper has come by for.
async fn finish_statements(place: &Place, seed: u64) -> Result<Batches> {
    let node = Node::open(place, seed, Duties::WritingOnly).await?;
    let late = node.store().pending().await?;
    node.handle().sweep(late).await;
    Ok(node.close().await)
}

/// What the ids of a run begin with. Not drawn from the seed: a second run on the same file with the
/// same seed, or another one at the same time, has inputs of its own.
fn name_of_run() -> Result<String> {
    let number = getrandom::u64().context("the machine gives no random number")?;
    Ok(format!("{number:016x}"))
}
