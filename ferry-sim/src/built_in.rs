//! The simulations on the workload that is built in, whole or without one safeguard.

use ferry_core::Instant;

use crate::{
    checkers::Property,
    event::Event,
    mutants::Mutant,
    points::Whose,
    policy::{Mistake, Policy},
    purses::Purses,
    shrink::{Progress, Shrunk},
    simulation::{
        ByHandWriterSimulation, FencedWriterSimulation, ProjectedWriterSimulation, Report,
    },
    swarm::Size,
    tape::Choices,
};

/// A simulation on [`Purses`]: where which of them it is is known only as the program runs. Each method is that of the
/// simulation.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "those that there are")]
pub enum BuiltIn {
    Fenced(FencedWriterSimulation),
    Projected(ProjectedWriterSimulation),
    ByHand(ByHandWriterSimulation),
}

macro_rules! each {
    ($self:expr, $simulation:ident => $does:expr) => {
        match $self {
            BuiltIn::Fenced($simulation) => $does,
            BuiltIn::Projected($simulation) => $does,
            BuiltIn::ByHand($simulation) => $does,
        }
    };
}

impl BuiltIn {
    /// With every safeguard, or without the one that a mutant lacks.
    #[must_use]
    pub fn of(whose: Whose, without: Option<&Mutant>) -> Self {
        let policy = without.map_or(Policy::WHOLE, |mutant| mutant.policy);
        let workload = Purses::with(policy.dedup);
        let size = without.map_or(Size::default(), |mutant| Size {
            keys: mutant.keys,
            ..Size::default()
        });
        match whose {
            Whose::Fenced if policy.mistake != Mistake::None => {
                Self::ByHand(ByHandWriterSimulation {
                    workload,
                    size,
                    policy,
                })
            }
            Whose::Fenced => Self::Fenced(FencedWriterSimulation {
                workload,
                size,
                policy,
            }),
            Whose::Projected => Self::Projected(ProjectedWriterSimulation {
                workload,
                size,
                policy,
            }),
        }
    }

    /// The same of another size: one or more of everything.
    #[must_use]
    pub fn sized(mut self, size: Size) -> Self {
        each!(&mut self, simulation => simulation.size = size);
        self
    }

    /// Runs a seed.
    ///
    /// # Panics
    ///
    /// If the [size](Self::sized) has none of something: as [`Unusable`](crate::Unusable) says.
    #[must_use]
    pub fn run(&self, seed: u64) -> Report {
        each!(self, simulation => simulation.run(seed))
    }

    /// Runs a seed twice, and holds the second run against the first, event by event.
    ///
    /// # Panics
    ///
    /// If the [size](Self::sized) has none of something: as [`Unusable`](crate::Unusable) says.
    #[must_use]
    pub fn run_twice(&self, seed: u64) -> Report {
        each!(self, simulation => simulation.run_twice(seed))
    }

    /// Runs a seed, and tells all its events.
    ///
    /// # Panics
    ///
    /// If the [size](Self::sized) has none of something: as [`Unusable`](crate::Unusable) says.
    #[must_use]
    pub fn replay(&self, seed: u64) -> (Report, Vec<(Instant, Event)>) {
        each!(self, simulation => simulation.replay(seed))
    }

    /// Runs a seed, and gives all that it draws.
    ///
    /// # Panics
    ///
    /// If the [size](Self::sized) has none of something: as [`Unusable`](crate::Unusable) says.
    #[must_use]
    pub fn record(&self, seed: u64) -> (Report, Choices) {
        each!(self, simulation => simulation.record(seed))
    }

    /// Runs what was drawn in a seed, or what is left of that, and tells all its events.
    ///
    /// # Panics
    ///
    /// If the [size](Self::sized) has none of something: as [`Unusable`](crate::Unusable) says.
    #[must_use]
    pub fn replay_choices(&self, seed: u64, choices: &Choices) -> (Report, Vec<(Instant, Event)>) {
        each!(self, simulation => simulation.replay_choices(seed, choices))
    }

    /// Looks for a much smaller run than this seed's that violates the same property, in at most so many runs.
    /// `None` where this seed does not violate it in a run by itself.
    ///
    /// # Panics
    ///
    /// If the [size](Self::sized) has none of something: as [`Unusable`](crate::Unusable) says.
    pub fn shrink(
        &self,
        seed: u64,
        property: Property,
        runs_max: u64,
        progress: impl FnMut(Progress),
    ) -> Option<Shrunk> {
        each!(self, simulation => simulation.shrink(seed, property, runs_max, progress))
    }
}
