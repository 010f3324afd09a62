//! The two simulations.

use core::time::Duration;
use std::sync::Arc;

use ferry_core::{Instant, drive::Runtime};

use crate::{
    chance::Streams,
    checkers::{Property, Violation, judge},
    event::Event,
    executor::{Executor, Halt},
    fleet::{client, sweeps, weather},
    history::History,
    kind::{Fenced, Kind, Projected},
    points::{Point, Points, Whose},
    policy::Policy,
    purses::Purses,
    shrink::{Progress, Shrunk, shrink},
    store::Layout,
    swarm::{Draws, Size},
    tape::{Choices, Tape},
    trace::{Difference, Keep, Trace},
    usable,
    weak::ByHand,
    workload::{ProjectedWorkload, Workload},
    world::World,
};

/// How long after the healing everyone is answered, and everything projected.
const HEALTHY_MAX: Duration = Duration::from_secs(60);

/// How long after that nothing moves any more, even at a key that is broken for good: there, one batch after the other
/// is tried until its time is up.
const QUIET_MAX: Duration = Duration::from_secs(6 * 3_600);

/// How much longer than twice the whole run one may be that is to be smaller.
const POLLS_MORE: u64 = 10_000;

/// How long a run may be that is played from choices.
const POLLS_MAX: u64 = 2_000_000;

/// Several nodes, each with a real handle on [`FoldWrite`](ferry_core::fold_write::FoldWrite), one store, and clients
/// that send the same input again until they are answered.
#[derive(Clone, Debug)]
pub struct FencedWriterSimulation<W = Purses> {
    /// What they do.
    pub workload: W,
    /// How large it is.
    pub size: Size,
    /// Which safeguards it has; all unless it is said otherwise.
    pub policy: Policy,
}

/// The same on [`ProjectedWrite`](ferry_core::projected_write::ProjectedWrite), with a view for each record, a sweeper on
/// each node, and somebody who resumes keys now and then.
#[derive(Clone, Debug)]
pub struct ProjectedWriterSimulation<W = Purses> {
    /// What they do.
    pub workload: W,
    /// How large it is.
    pub size: Size,
    /// Which safeguards it has; all unless it is said otherwise.
    pub policy: Policy,
}

/// The fenced write with a driver that is written by hand in place of the real one. It is as sound, and mistakes can be
/// made in it: to see that they are noticed.
#[derive(Clone, Debug)]
pub struct ByHandWriterSimulation<W = Purses> {
    /// What they do.
    pub workload: W,
    /// How large it is.
    pub size: Size,
    /// Which safeguards it has; all unless it is said otherwise.
    pub policy: Policy,
}

/// What came of one seed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Which seed it was.
    pub seed: u64,
    /// What was wrong; empty where nothing was.
    pub violations: Vec<Violation>,
    /// What happened, how often.
    pub points: Points,
    /// How often a safeguard that was left out made a difference.
    pub weakened: u64,
    /// The hash of all events with their moments: the same as long as the seed gives the same run.
    pub hash: u64,
    /// How many events there were, the executor's own among them.
    pub events: usize,
}

/// All that a run leaves behind.
pub(crate) struct Lived<W: Workload> {
    pub(crate) report: Report,
    pub(crate) kept: Keep,
    /// As it was drawn.
    pub(crate) load: W,
    pub(crate) history: History<W>,
    /// Whether views are in a store of their own.
    pub(crate) is_apart: bool,
}

impl Report {
    /// Whether this property was violated.
    #[must_use]
    pub fn violates(&self, property: Property) -> bool {
        let mut violations = self.violations.iter();
        violations.any(|violation| violation.property() == property)
    }
}

macro_rules! runs {
    ($simulation:ident, $workload:ident, $kind:ident) => {
        impl Default for $simulation {
            /// The workload that is built in.
            fn default() -> Self {
                Self::of(Purses::default())
            }
        }

        impl<W: $workload> $simulation<W> {
            /// Of this workload, with the default size and every safeguard.
            #[must_use]
            pub fn of(workload: W) -> Self {
                let (size, policy) = (Size::default(), Policy::WHOLE);
                Self {
                    workload,
                    size,
                    policy,
                }
            }

            /// Runs a seed.
            ///
            /// # Panics
            ///
            /// If the size has none of something: as [`Unusable`](crate::Unusable) says. And where the workload does.
            #[must_use]
            pub fn run(&self, seed: u64) -> Report {
                self.keeping(seed, None, Keep::Nothing).0
            }

            /// Runs a seed twice, and holds the second run against the first, event by event.
            ///
            /// # Panics
            ///
            /// If the size has none of something: as [`Unusable`](crate::Unusable) says. And where the workload does.
            #[must_use]
            pub fn run_twice(&self, seed: u64) -> Report {
                twice(|keep| self.keeping(seed, None, keep))
            }

            /// Runs a seed, and tells all its events.
            ///
            /// # Panics
            ///
            /// If the size has none of something: as [`Unusable`](crate::Unusable) says. And where the workload does.
            #[must_use]
            pub fn replay(&self, seed: u64) -> (Report, Vec<(Instant, Event)>) {
                told(|keep| self.keeping(seed, None, keep))
            }

            /// Runs a seed, and gives all that it draws.
            ///
            /// # Panics
            ///
            /// If the size has none of something: as [`Unusable`](crate::Unusable) says. And where the workload does.
            #[must_use]
            pub fn record(&self, seed: u64) -> (Report, Choices) {
                let tape = Tape::recording();
                let (report, _) = self.keeping(seed, Some(&tape), Keep::Nothing);
                (report, tape.choices())
            }

            /// Runs what was drawn in a seed, or what is left of that, and tells all its events. It ends after two million polls
            /// of tasks: with few choices left it may go on without an end.
            ///
            /// # Panics
            ///
            /// If the size has none of something: as [`Unusable`](crate::Unusable) says. And where the workload does.
            #[must_use]
            pub fn replay_choices(
                &self,
                seed: u64,
                choices: &Choices,
            ) -> (Report, Vec<(Instant, Event)>) {
                let tape = Tape::playing(choices.clone(), POLLS_MAX);
                told(|keep| self.keeping(seed, Some(&tape), keep))
            }

            /// Looks for a much smaller run than this seed's that violates the same property, in at most so many runs.
            /// `None` where this seed does not violate it in a run by itself. `progress` is told after each run.
            ///
            /// # Panics
            ///
            /// If the size has none of something: as [`Unusable`](crate::Unusable) says. And where the workload does.
            pub fn shrink(
                &self,
                seed: u64,
                property: Property,
                runs_max: u64,
                progress: impl FnMut(Progress),
            ) -> Option<Shrunk> {
                shrunk(seed, property, runs_max, progress, |tape| {
                    self.keeping(seed, Some(tape), Keep::Nothing).0
                })
            }

            fn keeping(&self, seed: u64, tape: Option<&Tape>, keep: Keep) -> (Report, Keep) {
                let lived =
                    run::<$kind<W>>(&self.workload, self.size, self.policy, seed, tape, keep);
                (lived.report, lived.kept)
            }
        }
    };
}

runs!(FencedWriterSimulation, Workload, Fenced);
runs!(ProjectedWriterSimulation, ProjectedWorkload, Projected);
runs!(ByHandWriterSimulation, Workload, ByHand);

fn twice(run: impl Fn(Keep) -> (Report, Keep)) -> Report {
    let (before, kept) = run(Keep::Hashes(Vec::new()));
    let Keep::Hashes(hashes) = kept else {
        unreachable!("it keeps what it was told to keep")
    };
    let first = None;
    let (mut report, kept) = run(Keep::Against { hashes, first });
    let Keep::Against { first, .. } = kept else {
        unreachable!("it keeps what it was told to keep")
    };
    let differs = before.violations != report.violations || before.points != report.points;
    let found = || Difference {
        same: report.events,
        then: None,
    };
    let first = first.or_else(|| differs.then(found));
    report
        .violations
        .extend(first.map(Box::new).map(Violation::Diverged));
    report
}

fn shrunk(
    seed: u64,
    property: Property,
    runs_max: u64,
    progress: impl FnMut(Progress),
    run: impl Fn(&Tape) -> Report,
) -> Option<Shrunk> {
    let tape = Tape::recording();
    let mut report = run(&tape);
    if !report.violates(property) {
        return None;
    }
    let whole = tape.choices();
    let choices_before = whole.len();
    let polls_max = 2 * report.events as u64 + POLLS_MORE;
    let attempt = |choices| {
        let tape = Tape::playing(choices, polls_max);
        let attempted = run(&tape);
        let is_whole = (attempted.events as u64) < polls_max;
        (is_whole && attempted.violates(property)).then(|| tape.choices())
    };
    let (choices, runs) = shrink(whole, runs_max, attempt, progress);
    report = run(&Tape::playing(choices.clone(), POLLS_MAX));
    Some(Shrunk {
        choices,
        report: Report { seed, ..report },
        property,
        choices_before,
        runs,
    })
}

fn told(run: impl Fn(Keep) -> (Report, Keep)) -> (Report, Vec<(Instant, Event)>) {
    match run(Keep::Events(Vec::new())) {
        (report, Keep::Events(events)) => (report, events),
        (_, Keep::Nothing | Keep::Hashes(_) | Keep::Against { .. }) => {
            unreachable!("it keeps what it was told to keep")
        }
    }
}

/// Runs a seed of the workload that is built in, with every safeguard, and gives all that it leaves behind.
pub(crate) fn lived(whose: Whose, seed: u64) -> Lived<Purses> {
    let (load, size, policy) = (Purses::default(), Size::default(), Policy::WHOLE);
    let keep = Keep::Events(Vec::new());
    match whose {
        Whose::Fenced => run::<Fenced<Purses>>(&load, size, policy, seed, None, keep),
        Whose::Projected => run::<Projected<Purses>>(&load, size, policy, seed, None, keep),
    }
}

fn run<K: Kind>(
    load: &K::Load,
    size: Size,
    policy: Policy,
    seed: u64,
    tape: Option<&Tape>,
    keep: Keep,
) -> Lived<K::Load> {
    if let Err(unusable) = usable::size(size) {
        panic!("{unusable}");
    }
    let Streams {
        mut setting,
        mut clients,
        mut weather,
        faults,
        jitter,
        schedule,
    } = Streams::of(seed, tape);
    let draws = Draws::of(size, &mut setting);
    let load = load.drawn(&mut setting);
    let draws = draws.weighed(&load, &mut setting).stormy(&mut setting);
    let weakened_before = load.weakened();
    let polls_max = tape.map_or(u64::MAX, Tape::polls_max);
    let executor = Executor::with(schedule, Trace::new(keep)).at_most(polls_max);
    let process = executor.process();
    let world = World::<K>::new(process, draws, policy, load.clone(), faults, jitter);
    (0..size.nodes).for_each(|node| world.start(node));
    client::begin(&world, &mut clients);
    weather::brew(&world, &mut weather);
    sweeps::begin(&world, &mut weather);
    let history = live(&executor, &world);
    let (violations, shuffled) = judge(&load, &history);
    world.lock().points.met_times(Point::Shuffled, shuffled);
    let report = Report {
        seed,
        violations,
        points: world.lock().points.clone(),
        weakened: world.times_weakened() - weakened_before,
        hash: 0,
        events: 0,
    };
    let (hash, events, kept) = executor.end();
    let report = Report {
        hash,
        events,
        ..report
    };
    Lived {
        report,
        kept,
        load,
        history,
        is_apart: world.draws.layout == Layout::Apart,
    }
}

/// Lets the world live, first with its faults and then without, and gathers what it leaves behind.
fn live<K: Kind>(executor: &Executor, world: &Arc<World<K>>) -> History<K::Load> {
    let end = Instant::EPOCH + world.draws.size.duration;
    let _time_up = executor.run_until(end);
    heal_and_end(executor, world)
}

/// Lets the world live on without faults until it is quiet, and gathers what it leaves behind.
pub(crate) fn heal_and_end<K: Kind>(
    executor: &Executor,
    world: &Arc<World<K>>,
) -> History<K::Load> {
    weather::heal(world);
    let mut end = world.process.now() + HEALTHY_MAX;
    let mut halt = executor.run_until(end);
    let broken = world.draws.broken.key();
    let mut unanswered = world.unanswered(broken);
    let pending = world.lock().table.pending(&world.fold);
    if halt == Halt::TimeUp && unanswered.is_empty() {
        // Sweepers have their timers as long as they are there.
        world.stop_sweeping();
        end = end + QUIET_MAX;
        halt = executor.run_until(end);
        unanswered = world.unanswered(None);
    }
    let stats = world.stats();
    let duplicates = (stats.iter()).map(|(_, stats)| stats.counters.writes.duplicates);
    let duplicates = duplicates.sum();
    drop(stats);
    // Where things still move, they may do so for ever, and it is known already.
    end = end
        + if halt == Halt::Quiet {
            QUIET_MAX
        } else {
            HEALTHY_MAX
        };
    let nodes = world.close(|| {
        let _quiet = executor.run_until(end);
    });
    let mut state = world.lock();
    state.points.met_times(Point::Duplicate, duplicates);
    let records = state.table.states();
    History {
        records,
        has_views: K::IS_PROJECTED,
        pending,
        unanswered,
        broken,
        halt: Some(halt),
        nodes,
        ..core::mem::take(&mut state.history)
    }
}
