//! Dropping nodes while they write, as crashes would.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use indicatif::ProgressBar;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use tokio::{task::JoinHandle, time::sleep};

use crate::{fleet::Fleet, options::Simulation};

/// How often a node is dropped in the course of a run, for each node that there is.
const DROPS_PER_NODE: u32 = 3;
/// How often it is looked whether it is time.
const LOOK_EVERY: Duration = Duration::from_micros(500);

/// Drops nodes at even distances over a run, each while it is writing; or, if the run asks for it, when it
/// has committed and not yet projected.
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
            if simulation.crash_between {
                self.fleet.hold_between(node);
                while !self.is_over() && !self.fleet.is_held_between(node) {
                    sleep(LOOK_EVERY).await;
                }
            }
            self.drops.count += 1;
            // Also when the run is over: a node that is held would never come to its end.
            let seed = self.random.random();
            while let Err(trouble) = self.fleet.replace(node, seed).await {
                self.drops.trouble = Some(trouble);
                if self.is_over() {
                    break;
                }
            }
        }
        self.drops
    }

    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }
}
