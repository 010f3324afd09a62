//! Simulations that lack one safeguard each: the property that it keeps must be seen to fail.

use crate::{
    built_in::BuiltIn,
    checkers::Property,
    points::Whose,
    policy::{
        Dedup, Doubt, Durability, Fence, MarkerOnCommit, Order, Placing, Policy, ProjectionFence,
        Reading, Refusal, Resuming, Telling, Versions,
    },
    simulation::Report,
};

/// A simulation that lacks one safeguard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// What it lacks, in words.
    pub name: &'static str,
    /// The property that fails without it.
    pub fails: Property,
    /// In which simulation.
    pub of: Whose,
    pub(crate) policy: Policy,
}

/// How a mutant was caught.
#[derive(Clone, Debug)]
pub struct Caught {
    /// How many seeds it took.
    pub seeds: u64,
    /// What was seen in the last of them.
    pub report: Report,
}

const WHOLE: Policy = Policy::WHOLE;

/// All of them.
pub const ALL: &[Mutant] = &[
    Mutant {
        name: "no fence on commit",
        fails: Property::NothingLost,
        of: Whose::Fenced,
        policy: Policy {
            fence: Fence::Ignored,
            ..WHOLE
        },
    },
    Mutant {
        name: "dedup off",
        fails: Property::AppliedOnce,
        of: Whose::Fenced,
        policy: Policy {
            dedup: Dedup::Off,
            ..WHOLE
        },
    },
    Mutant {
        name: "content of a repeated id ignored",
        fails: Property::TrueAnswers,
        of: Whose::Fenced,
        policy: Policy {
            dedup: Dedup::ContentIgnored,
            ..WHOLE
        },
    },
    Mutant {
        name: "in doubt treated as failed",
        fails: Property::TrueAnswers,
        of: Whose::Fenced,
        policy: Policy {
            doubt: Doubt::TakenForFailed,
            ..WHOLE
        },
    },
    Mutant {
        name: "in doubt treated as landed",
        fails: Property::NothingLost,
        of: Whose::Fenced,
        policy: Policy {
            doubt: Doubt::TakenForLanded,
            ..WHOLE
        },
    },
    Mutant {
        name: "a refusal taken for proof",
        fails: Property::TrueAnswers,
        of: Whose::Fenced,
        policy: Policy {
            refusal: Refusal::TakenForProof,
            ..WHOLE
        },
    },
    Mutant {
        name: "answer before durable",
        fails: Property::NothingLost,
        of: Whose::Fenced,
        policy: Policy {
            durability: Durability::AfterAnswer,
            ..WHOLE
        },
    },
    Mutant {
        name: "answer from a stale read",
        fails: Property::TrueAnswers,
        of: Whose::Fenced,
        policy: Policy {
            reading: Reading::Stale,
            ..WHOLE
        },
    },
    Mutant {
        name: "ids pruned too soon",
        fails: Property::AppliedOnce,
        of: Whose::Fenced,
        policy: Policy {
            dedup: Dedup::Pruned,
            ..WHOLE
        },
    },
    Mutant {
        name: "version restarts on delete",
        fails: Property::TrueAnswers,
        of: Whose::Fenced,
        policy: Policy {
            versions: Versions::Restart,
            ..WHOLE
        },
    },
    Mutant {
        name: "no fence on project",
        fails: Property::ViewForward,
        of: Whose::Projected,
        policy: Policy {
            projection_fence: ProjectionFence::Ignored,
            ..WHOLE
        },
    },
    Mutant {
        name: "project fenced on the marker alone",
        fails: Property::ViewForward,
        of: Whose::Projected,
        policy: Policy {
            projection_fence: ProjectionFence::MarkerAlone,
            ..WHOLE
        },
    },
    Mutant {
        name: "project fenced on the version alone",
        fails: Property::ViewForward,
        of: Whose::Projected,
        policy: Policy {
            projection_fence: ProjectionFence::VersionAlone,
            ..WHOLE
        },
    },
    Mutant {
        name: "marker moved backwards by a commit",
        fails: Property::ViewForward,
        of: Whose::Projected,
        policy: Policy {
            marker_on_commit: MarkerOnCommit::AsItWasRead,
            ..WHOLE
        },
    },
    Mutant {
        name: "marker moved before the view is durable",
        fails: Property::ViewForward,
        of: Whose::Projected,
        policy: Policy {
            order: Order::MarkerFirst,
            ..WHOLE
        },
    },
    Mutant {
        name: "view without positions",
        fails: Property::ViewForward,
        of: Whose::Projected,
        policy: Policy {
            placing: Placing::Appended,
            ..WHOLE
        },
    },
    Mutant {
        name: "`Projected` said at commit",
        fails: Property::TrueAnswers,
        of: Whose::Projected,
        policy: Policy {
            telling: Telling::AtCommit,
            ..WHOLE
        },
    },
    Mutant {
        name: "no resume at all",
        fails: Property::Projected,
        of: Whose::Projected,
        policy: Policy {
            resuming: Resuming::Nobody,
            ..WHOLE
        },
    },
    Mutant {
        name: "sweeper blind for some records",
        fails: Property::Projected,
        of: Whose::Projected,
        policy: Policy {
            resuming: Resuming::BlindForSome,
            ..WHOLE
        },
    },
];

impl Mutant {
    /// Runs seeds from `first` on until it is caught, and at most so many: the safeguard made a difference, and
    /// the property that it keeps failed.
    #[must_use]
    pub fn caught_within(&self, first: u64, seeds: u64) -> Option<Caught> {
        (1..=seeds).find_map(|seeds| {
            let report = self.run(first + seeds - 1);
            let is_caught = report.weakened > 0 && report.violates(self.fails);
            is_caught.then_some(Caught { seeds, report })
        })
    }

    /// The simulation without the safeguard.
    #[must_use]
    pub fn simulation(&self) -> BuiltIn {
        BuiltIn::of(self.of, Some(self))
    }

    /// Runs a seed without the safeguard.
    #[must_use]
    pub fn run(&self, seed: u64) -> Report {
        self.simulation().run(seed)
    }

    /// The one with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|mutant| mutant.name == name)
    }
}
