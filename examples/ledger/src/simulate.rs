//! The simulation: many clients, several nodes, one file.

use std::{path::Path, sync::Arc};

use anyhow::{Context, Result, anyhow};
use indicatif::ProgressBar;
use tokio::task::JoinSet;

use crate::{
    answers::Answers,
    client::Client,
    dropper::{Dropper, Drops},
    fleet::Fleet,
    node::Batches,
    options::Simulation,
    stop::Stop,
    tally::Tally,
    workload::Workload,
};

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

/// Runs a simulation on a file until all clients are done, or the user asks to finish.
///
/// # Errors
///
/// A node cannot be opened, or the machine gives no random number to name the run with.
pub async fn simulate(
    simulation: &Simulation,
    file: &Path,
    progress: &ProgressBar,
    stop: &Stop,
) -> Result<Simulated> {
    let fleet = Arc::new(Fleet::open(file, simulation.nodes, simulation.seed)?);
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
    Ok(Simulated {
        answers,
        tally,
        batches: fleet.close().await,
        drops,
    })
}

/// What the ids of a run begin with. Not drawn from the seed: a second run on the same file with the
/// same seed, or another one at the same time, has inputs of its own.
fn name_of_run() -> Result<String> {
    let number = getrandom::u64().context("the machine gives no random number")?;
    Ok(format!("{number:016x}"))
}
