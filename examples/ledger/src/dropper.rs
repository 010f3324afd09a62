//! Dropping nodes while they write, as crashes would.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result};
use indicatif::ProgressBar;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tokio::{
    task::{JoinHandle, spawn_blocking},
    time::sleep,
};

use crate::{fleet::Fleet, options::Simulation};

/// How often a node is dropped in the course of a run, for each node that there is.
const DROPS_PER_NODE: u32 = 3;
/// How often it is looked whether it is time.
const LOOK_EVERY: Duration = Duration::from_micros(500);

/// Drops nodes at even distances over a run, each while it is writing.
#[derive(Debug)]
pub struct Dropper {
    over: Arc<AtomicBool>,
    task: JoinHandle<Drops>,
}

/// The nodes that were dropped.
#[derive(Debug, Default)]
pub struct Drops {
    /// How many.
    pub count: u32,
    /// Why one of them was not replaced at once.
    pub trouble: Option<anyhow::Error>,
}

impl Dropper {
    /// Starts to drop nodes of a fleet, as the run progresses.
    ///
    /// # Panics
    ///
    /// Outside a Tokio runtime.
    #[must_use]
    pub fn start(simulation: &Simulation, fleet: &Arc<Fleet>, progress: &ProgressBar) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let run = Run {
            fleet: Arc::clone(fleet),
            progress: progress.clone(),
            over: Arc::clone(&over),
            random: Xoshiro256PlusPlus::seed_from_u64(!simulation.seed),
            drops: Drops::default(),
        };
        Self {
            over,
            task: tokio::spawn(run.run(simulation.clone())),
        }
    }

    /// Stops dropping them.
    ///
    /// # Panics
    ///
    /// If dropping a node has panicked.
    pub async fn stop(self) -> Drops {
        self.over.store(true, Ordering::Relaxed);
        self.task.await.expect("dropping a node does not panic")
    }
}

struct Run {
    fleet: Arc<Fleet>,
    progress: ProgressBar,
    over: Arc<AtomicBool>,
    random: Xoshiro256PlusPlus,
    drops: Drops,
}

impl Run {
    async fn run(mut self, simulation: Simulation) -> Drops {
        let drops = u64::from(DROPS_PER_NODE * simulation.nodes);
        for drop in 1..=drops {
            let due = u64::from(simulation.inputs) * drop / (drops + 1);
            let node = self.random.random_range(0..simulation.nodes);
            while !self.is_over()
                && (self.progress.position() < due || !self.fleet.is_writing(node))
            {
                sleep(LOOK_EVERY).await;
            }
            if self.is_over() {
                break;
            }
            self.drops.count += 1;
            while let Err(trouble) = self.replace(node).await {
                self.drops.trouble = Some(trouble);
                if self.is_over() {
                    break;
                }
            }
        }
        self.drops
    }

    async fn replace(&mut self, node: u32) -> Result<()> {
        let (fleet, seed) = (Arc::clone(&self.fleet), self.random.random());
        let replaced = spawn_blocking(move || fleet.replace(node, seed)).await;
        replaced.context("replacing a node panicked")?
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}
