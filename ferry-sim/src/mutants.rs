//! Simulations that lack one safeguard each: the property that it keeps must be seen to fail.

use crate::{
    check::Property,
    fenced::{FencedWriterSimulation, Report},
    policy::{Dedup, Doubt, Durability, Fence, Policy, Reading, Refusal},
};

/// A simulation that lacks one safeguard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mutant {
    /// What it lacks, in words.
    pub name: &'static str,
    /// The property that fails without it.
    pub fails: Property,
    policy: Policy,
}

/// How a mutant was caught.
#[derive(Clone, Debug)]
pub struct Caught {
    /// How many seeds it took.
    pub seeds: u64,
    /// What was seen in the last of them.
    pub report: Report,
}

const WHOLE: Policy = Policy {
    fence: Fence::Checked,
    durability: Durability::BeforeAnswer,
    doubt: Doubt::Told,
    refusal: Refusal::Told,
    reading: Reading::Linearizable,
    dedup: Dedup::Whole,
};

/// All of them.
pub const ALL: &[Mutant] = &[
    Mutant {
        name: "no fence on commit",
        fails: Property::NothingLost,
        policy: Policy {
            fence: Fence::Ignored,
            ..WHOLE
        },
    },
    Mutant {
        name: "dedup off",
        fails: Property::AppliedOnce,
        policy: Policy {
            dedup: Dedup::Off,
            ..WHOLE
        },
    },
    Mutant {
        name: "content of a repeated id ignored",
        fails: Property::TrueAnswers,
        policy: Policy {
            dedup: Dedup::ContentIgnored,
            ..WHOLE
        },
    },
    Mutant {
        name: "in doubt treated as failed",
        fails: Property::TrueAnswers,
        policy: Policy {
            doubt: Doubt::TakenForFailed,
            ..WHOLE
        },
    },
    Mutant {
        name: "in doubt treated as landed",
        fails: Property::NothingLost,
        policy: Policy {
            doubt: Doubt::TakenForLanded,
            ..WHOLE
        },
    },
    Mutant {
        name: "a refusal taken for proof",
        fails: Property::TrueAnswers,
        policy: Policy {
            refusal: Refusal::TakenForProof,
            ..WHOLE
        },
    },
    Mutant {
        name: "answer before durable",
        fails: Property::NothingLost,
        policy: Policy {
            durability: Durability::AfterAnswer,
            ..WHOLE
        },
    },
    Mutant {
        name: "answer from a stale read",
        fails: Property::TrueAnswers,
        policy: Policy {
            reading: Reading::Stale,
            ..WHOLE
        },
    },
];

impl Mutant {
    /// Runs seeds from `first` on until it is caught, and at most so many: the safeguard made a difference, and
    /// the property that it keeps failed.
    #[must_use]
    pub fn caught_within(&self, first: u64, seeds: u64) -> Option<Caught> {
        let simulation = FencedWriterSimulation {
            policy: self.policy,
            ..FencedWriterSimulation::default()
        };
        (1..=seeds).find_map(|seeds| {
            let report = simulation.run(first + seeds - 1);
            let is_caught = report.weakened > 0 && report.violates(self.fails);
            is_caught.then_some(Caught { seeds, report })
        })
    }
}
