//! For your own fold and projection: the same simulations, on your workload.
//!
//! Say in a [`Workload`] what your fold is and which inputs it is to get; the rest is here: several nodes with
//! the real driver, a store that fails in every way, clients that send an input again until they are answered, and checkers that
//! hold each answer against what was written. They replay the log with your own fold, so they need to know nothing of your outcomes.
//!
//! ```
//! use ferry_core::{Fold, Schema, Step, StepOf, applied::{Applied, Check, Fingerprint}};
//! use ferry_sim::{Chance, Workload, check};
//!
//! struct Counters;
//!
//! impl Schema for Counters {
//!     type Key = String;
//!     type Id = u64;
//!     type State = Counter;
//!     type Version = u64;
//!     type Entry = u64;
//!     type Error = std::io::Error;
//! }
//!
//! #[derive(Clone)]
//! struct Counter {
//!     count: u64,
//!     applied: Applied<u64, u64>,
//! }
//!
//! #[derive(Clone, Debug)]
//! struct Counting;
//!
//! impl Fold for Counting {
//!     type Schema = Counters;
//!     type Input = u64; // the id
//!     type Outcome = u64; // the count after it
//!
//!     fn id(&self, input: &u64) -> u64 {
//!         *input
//!     }
//!
//!     fn empty(&self, _key: &String) -> Counter {
//!         Counter { count: 0, applied: Applied::new(10_000.try_into().unwrap()) }
//!     }
//!
//!     fn step(&self, counter: &mut Counter, input: &u64) -> StepOf<Self> {
//!         let content = Fingerprint::of(b"");
//!         match counter.applied.check(input, content) {
//!             Check::New => {}
//!             Check::Same(count) => return Step::Already(*count),
//!             Check::Mismatch => return Step::Mismatch(counter.count),
//!             Check::TooOld => return Step::TooOld(counter.count),
//!         }
//!         counter.count += 1;
//!         let recorded = counter.applied.record(*input, content, counter.count);
//!         assert!(recorded.is_ok(), "it is new");
//!         Step::Applied(*input, counter.count)
//!     }
//! }
//!
//! impl Workload for Counting {
//!     type Fold = Self;
//!
//!     fn fold(&self) -> Self {
//!         self.clone()
//!     }
//!
//!     fn key(&self, nth: u32) -> String {
//!         format!("counter {nth}")
//!     }
//!
//!     fn input(&self, nth: u64, _: &mut Chance) -> u64 {
//!         nth
//!     }
//!
//!     fn version(&self, nth: u64) -> u64 {
//!         nth
//!     }
//! }
//!
//! check::fold(Counting).seeds(0..20).run().assert_held();
//! ```

mod telling;

use core::{fmt, ops::Range};
use std::panic::{self, AssertUnwindSafe};

use ferry_core::Instant;

use crate::{
    event::Event,
    points::{Point, Points},
    simulation::{FencedWriterSimulation, ProjectedWriterSimulation, Report},
    swarm::Size,
    usable::{self, Unusable},
    workload::{ProjectedWorkload, Workload},
};

/// In how many runs a failure is made smaller at most.
const SHRINK_RUNS_MAX: u64 = 500;

/// How many seeds are run twice: one in so many.
const TWICE_IN: u64 = 10;

/// In so many seeds some input is applied, if any can be.
const ENOUGH: u64 = 10;

/// A simulation, whatever its workload.
trait Simulation: fmt::Debug {
    fn usable(&self) -> Result<(), Unusable>;
    fn keys(&self) -> Vec<String>;
    fn sized(&mut self, size: Size);
    fn run(&self, seed: u64) -> Report;
    fn run_twice(&self, seed: u64) -> Report;
    fn replay(&self, seed: u64) -> (Report, Vec<(Instant, Event)>);
    fn shrunk(&self, failed: &Report) -> Option<(Report, Vec<(Instant, Event)>)>;
}

macro_rules! simulation {
    ($simulation:ident, $workload:ident) => {
        impl<W: $workload> Simulation for $simulation<W> {
            fn usable(&self) -> Result<(), Unusable> {
                usable::size(self.size)?;
                usable::workload(&self.workload, self.size)
            }

            fn keys(&self) -> Vec<String> {
                let keys = (0..self.size.keys).map(|nth| self.workload.key(nth));
                keys.map(|key| format!("{key:?}")).collect()
            }

            fn sized(&mut self, size: Size) {
                self.size = size;
            }

            fn run(&self, seed: u64) -> Report {
                self.run(seed)
            }

            fn run_twice(&self, seed: u64) -> Report {
                self.run_twice(seed)
            }

            fn replay(&self, seed: u64) -> (Report, Vec<(Instant, Event)>) {
                self.replay(seed)
            }

            fn shrunk(&self, failed: &Report) -> Option<(Report, Vec<(Instant, Event)>)> {
                let (seed, property) = (failed.seed, failed.violations.first()?.property());
                let shrunk = self.shrink(seed, property, SHRINK_RUNS_MAX, |_| ())?;
                Some(self.replay_choices(seed, &shrunk.choices))
            }
        }
    };
}

simulation!(FencedWriterSimulation, Workload);
simulation!(ProjectedWriterSimulation, ProjectedWorkload);

/// Checks a fold under the fenced write.
pub fn fold<W: Workload>(workload: W) -> Check {
    Check::of(FencedWriterSimulation::of(workload))
}

/// Checks a projection, and its fold with it, under the write that projects.
pub fn projection<W: ProjectedWorkload>(workload: W) -> Check {
    Check::of(ProjectedWriterSimulation::of(workload))
}

/// A check that has not begun.
#[derive(Debug)]
#[must_use = "it does nothing until it is run"]
pub struct Check {
    simulation: Box<dyn Simulation>,
    seeds: Range<u64>,
}

/// What a check came to.
#[derive(Debug)]
#[must_use = "it may have failed"]
#[non_exhaustive]
pub struct Checked {
    /// How many seeds were run.
    pub seeds: u64,
    /// What happened in those in which all held, how often.
    pub points: Points,
    /// Why it ended before all of them were.
    pub failed: Option<Failed>,
}

/// Why a check failed.
///
/// Exhaustive on purpose: there is nothing else that can come of it.
#[derive(Debug)]
pub enum Failed {
    /// Nothing was run: the workload or the size makes no sense.
    Unusable(Unusable),
    /// In this seed something panicked that nobody is to catch: the panic hook has told of it.
    Panicked(u64),
    /// In this seed something was wrong.
    Wrong(Box<Wrong>),
    /// All held, and in none of so many seeds was any input applied: nothing was put to the test. Of fewer than ten seeds that is not
    /// said.
    NothingApplied(u64),
}

/// A seed in which something was wrong.
#[derive(Debug)]
#[non_exhaustive]
pub struct Wrong {
    /// What was wrong in which seed.
    pub report: Report,
    /// All that happened in it.
    pub story: Vec<(Instant, Event)>,
    /// What is left of it where all is left out that does not matter: a run that violates the same property first. `None`
    /// where it went wrong in a second run alone.
    pub smaller: Option<(Report, Vec<(Instant, Event)>)>,
    /// The workload's keys, by their numbers.
    pub keys: Vec<String>,
}

impl Check {
    fn of(simulation: impl Simulation + 'static) -> Self {
        Self {
            simulation: Box::new(simulation),
            seeds: 0..100,
        }
    }

    /// Which seeds. Default the first 100, which take a while in a build without optimisation. More find rarer things.
    pub fn seeds(mut self, seeds: Range<u64>) -> Self {
        self.seeds = seeds;
        self
    }

    /// How large each run is. Default three nodes, eight keys, 200 inputs in five minutes.
    pub fn size(mut self, size: Size) -> Self {
        self.simulation.sized(size);
        self
    }

    /// Runs the seeds, up to the first in which something is wrong. One in ten is run twice, to see that it gives the same run.
    ///
    /// A panic in a seed is caught, and told in what it gives.
    ///
    /// # Panics
    ///
    /// Where the workload does when it is asked for keys, versions and inputs before the first seed.
    pub fn run(self) -> Checked {
        let mut checked = Checked {
            seeds: 0,
            points: Points::default(),
            failed: None,
        };
        let usable = match self.seeds.is_empty() {
            true => Err(Unusable::NoSeeds),
            false => self.simulation.usable(),
        };
        if let Err(unusable) = usable {
            checked.failed = Some(Failed::Unusable(unusable));
            return checked;
        }
        for seed in self.seeds.clone() {
            checked.seeds += 1;
            match self.run_one(seed) {
                Ok(report) => checked.points.add(&report.points),
                Err(failed) => {
                    checked.failed = Some(failed);
                    break;
                }
            }
        }
        let applied = Point::APPLIED.map(|point| checked.points.count(point));
        if checked.failed.is_none() && checked.seeds >= ENOUGH && applied == [0; 3] {
            checked.failed = Some(Failed::NothingApplied(checked.seeds));
        }
        checked
    }

    fn run_one(&self, seed: u64) -> Result<Report, Failed> {
        let is_run_twice = (seed - self.seeds.start) % TWICE_IN == 0;
        let run = AssertUnwindSafe(|| match is_run_twice {
            true => self.simulation.run_twice(seed),
            false => self.simulation.run(seed),
        });
        match panic::catch_unwind(run) {
            Ok(report) if report.violations.is_empty() => Ok(report),
            Ok(report) => Err(Failed::Wrong(Box::new(Wrong {
                smaller: self.simulation.shrunk(&report),
                report,
                story: self.simulation.replay(seed).1,
                keys: self.simulation.keys(),
            }))),
            Err(_told_by_the_hook) => Err(Failed::Panicked(seed)),
        }
    }
}

impl Checked {
    /// Goes on if all held.
    ///
    /// # Panics
    ///
    /// If something did not: with what that was, what led to it, and how to run it again.
    #[track_caller]
    pub fn assert_held(self) {
        if let Some(failed) = self.failed {
            panic!("{failed}");
        }
    }
}
