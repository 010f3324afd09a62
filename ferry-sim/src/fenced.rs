//! The simulation of the fenced write.

use core::time::Duration;

use ferry_core::Instant;

use crate::{
    chance::Streams,
    check::{Property, Violation, check},
    event::Event,
    executor::Executor,
    fleet::{client, weather},
    history::History,
    points::{Point, Points},
    policy::Policy,
    swarm::{Draws, Size},
    trace::{Keep, Trace},
    world::World,
};

/// How long after the healing everyone is answered, and everything quiet.
const HEALTHY_MAX: Duration = Duration::from_secs(60);

/// Several nodes, each with a real handle on [`FoldWrite`](ferry_core::fold_write::FoldWrite), one store, and clients
/// that send the same input again until they are answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FencedWriterSimulation {
    /// How large it is.
    pub size: Size,
    /// Which safeguards it has; all unless it is said otherwise.
    pub policy: Policy,
}

/// What came of one seed.
#[derive(Clone, Debug)]
pub struct Report {
    /// Of which.
    pub seed: u64,
    /// What was wrong; empty where nothing was.
    pub violations: Vec<Violation>,
    /// What happened, how often.
    pub points: Points,
    /// How often a safeguard that was left out made a difference.
    pub weakened: u64,
    /// The hash of all events.
    pub hash: u64,
    /// How many events there were.
    pub events: usize,
}

impl Report {
    /// Whether this property was violated.
    #[must_use]
    pub fn violates(&self, property: Property) -> bool {
        let mut violations = self.violations.iter();
        violations.any(|violation| violation.property() == property)
    }
}

impl FencedWriterSimulation {
    /// Runs a seed.
    #[must_use]
    pub fn run(&self, seed: u64) -> Report {
        self.keeping(seed, Keep::Nothing).0
    }

    /// Runs a seed twice, and holds the second run against the first, event by event.
    #[must_use]
    pub fn run_twice(&self, seed: u64) -> Report {
        let (_, kept) = self.keeping(seed, Keep::Hashes(Vec::new()));
        let Keep::Hashes(hashes) = kept else {
            unreachable!("it keeps what it was told to keep")
        };
        let first = None;
        let (mut report, kept) = self.keeping(seed, Keep::Against { hashes, first });
        let Keep::Against { first, .. } = kept else {
            unreachable!("it keeps what it was told to keep")
        };
        report.violations.extend(first.map(Violation::Diverged));
        report
    }

    /// Runs a seed, and tells all its events.
    #[must_use]
    pub fn replay(&self, seed: u64) -> (Report, Vec<(Instant, Event)>) {
        match self.keeping(seed, Keep::Events(Vec::new())) {
            (report, Keep::Events(events)) => (report, events),
            (_, Keep::Nothing | Keep::Hashes(_) | Keep::Against { .. }) => {
                unreachable!("it keeps what it was told to keep")
            }
        }
    }

    fn keeping(&self, seed: u64, keep: Keep) -> (Report, Keep) {
        let Streams {
            mut workload,
            faults,
            jitter,
            schedule,
        } = Streams::of(seed);
        let draws = Draws::of(self.size, &mut workload);
        let executor = Executor::with(schedule, Trace::new(keep));
        let world = World::new(executor.process(), draws, self.policy, faults, jitter);
        (0..self.size.nodes).for_each(|node| world.start(node));
        client::begin(&world, &mut workload);
        weather::brew(&world, &mut workload);
        let history = live(&executor, &world);
        let report = Report {
            seed,
            violations: check(&history),
            points: world.lock().points.clone(),
            weakened: world.weakened.times(),
            hash: 0,
            events: 0,
        };
        let (hash, events, keep) = executor.end().end();
        let report = Report {
            hash,
            events,
            ..report
        };
        (report, keep)
    }
}

/// Lets the world live, first with its faults and then without, and gathers what it leaves behind.
fn live(executor: &Executor, world: &std::sync::Arc<World>) -> History {
    let sick = Instant::EPOCH + world.draws.size.duration;
    let _time_up = executor.run_until(sick);
    weather::heal(world);
    let mut end = sick + HEALTHY_MAX;
    let halt = executor.run_until(end);
    let unanswered = world.lock().waiting.values().copied().collect();
    let duplicates = world
        .stats()
        .iter()
        .map(|(_, stats)| stats.counters.writes.duplicates)
        .sum();
    end = end + HEALTHY_MAX;
    let nodes = world.close(|| {
        let _quiet = executor.run_until(end);
    });
    let mut state = world.lock();
    state.points.met_times(Point::Duplicate, duplicates);
    let records = state.table.purses();
    History {
        records,
        unanswered,
        halt: Some(halt),
        nodes,
        ..core::mem::take(&mut state.history)
    }
}
