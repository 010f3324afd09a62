//! Simulations that lack one safeguard each: the property that it keeps must be seen to fail.

use crate::{
    built_in::BuiltIn,
    checkers::Property,
    points::Whose,
    policy::{
        Dedup, Doubt, Durability, Fence, Front, MarkerOnCommit, Mistake, Order, Places, Placing,
        Policy, ProjectionFence, Reading, Refusal, Resuming, Settings, Telling, Versions,
    },
    simulation::Report,
};

/// A simulation that lacks one safeguard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mutant {
    /// What it lacks, in words.
    pub name: &'static str,
    /// The property that fails without it.
    pub fails: Property,
    /// In which simulation.
    pub of: Whose,
    /// By which of the [policies](crate::policy).
    pub left_out_by: &'static str,
    /// How many keys it takes for it to show often enough.
    pub(crate) keys: u32,
    pub(crate) policy: Policy,
}

/// How a mutant was caught.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Caught {
    /// How many seeds it took.
    pub seeds: u64,
    /// What was seen in the last of them.
    pub report: Report,
}

macro_rules! mutants {
    ($($name:literal: $property:ident in $whose:ident $(with $keys:literal key)?, $safeguard:ident: $left_out:expr;)*) => {
        /// All of them.
        pub const ALL: &[Mutant] = &[$(Mutant {
            name: $name,
            fails: Property::$property,
            of: Whose::$whose,
            left_out_by: stringify!($left_out),
            keys: [$($keys,)? 8][0],
            policy: Policy { $safeguard: $left_out, ..Policy::WHOLE },
        },)*];
    };
}

mutants! {
    // The store, and its adapter.
    "no fence on commit": NothingLost in Fenced, fence: Fence::Ignored;
    "answer before durable": NothingLost in Fenced, durability: Durability::AfterAnswer;
    "answer from a stale read": TrueAnswers in Fenced, reading: Reading::Stale;
    "version restarts on delete": TrueAnswers in Fenced with 1 key, versions: Versions::Restart;
    "in doubt treated as failed": TrueAnswers in Fenced, doubt: Doubt::TakenForFailed;
    "in doubt treated as landed": NothingLost in Fenced, doubt: Doubt::TakenForLanded;
    "a refusal taken for proof": TrueAnswers in Fenced, refusal: Refusal::TakenForProof;
    // The fold.
    "dedup off": AppliedOnce in Fenced, dedup: Dedup::Off;
    "ids in memory": AppliedOnce in Fenced, dedup: Dedup::InMemory;
    "ids pruned too soon": AppliedOnce in Fenced, dedup: Dedup::Pruned;
    "dedup after the business rules": TrueAnswers in Fenced, dedup: Dedup::AfterTheRest;
    "a duplicate's answer lacks what the first had": TrueAnswers in Fenced, dedup: Dedup::OutcomeForgotten;
    "content of a repeated id ignored": TrueAnswers in Fenced, dedup: Dedup::ContentIgnored;
    // The driver.
    "dedup against the store only": AppliedOnce in Fenced, mistake: Mistake::TwinsApplied;
    "dedup after the fence": TrueAnswers in Fenced, mistake: Mistake::FenceBeforeDedup;
    "\"not committed\" without proof": TrueAnswers in Fenced, mistake: Mistake::NoProof;
    "re-fold on the state first read": NothingLost in Fenced, mistake: Mistake::FoldedOnFirst;
    "no wake after a refusal": Answered in Fenced, mistake: Mistake::NotWoken;
    "a panic of `step` not caught": NoHarm in Fenced, mistake: Mistake::PanicNotCaught;
    "no split on poison": NoHarm in Fenced, mistake: Mistake::NotSplit;
    "no jitter": BoundedWork in Fenced, mistake: Mistake::NoJitter;
    "no backoff": BoundedWork in Fenced, mistake: Mistake::NoBackoff;
    "retries without end": BoundedWork in Fenced, mistake: Mistake::NoEnd;
    "ids not named in a read": AppliedOnce in Fenced, mistake: Mistake::IdsUnnamed;
    "second half of a split batch not tried": NoHarm in Fenced, mistake: Mistake::SecondHalfLeft;
    "declined and applied late": InOrder in Fenced, mistake: Mistake::LateApplied;
    "declined while a commit may still land": TrueAnswers in Fenced, mistake: Mistake::DeclinedInDoubt;
    "twin of what has landed called not committed": TrueAnswers in Fenced, mistake: Mistake::TwinsForgotten;
    // What is in front of it.
    "two batches in flight per key": InOrder in Fenced, front: Front::TwoHandles;
    "batcher bypassed": InOrder in Fenced, front: Front::NoBatches;
    "caller's drop cancels the commit": Answered in Fenced, front: Front::CarriedByCaller;
    "place not returned on drop": NoLeaks in Fenced, places: Places::KeptWhenDropped;
    // Its settings.
    "linger ignored": NoLeaks in Fenced, settings: Settings::LingerIgnored;
    "linger doubled": Answered in Fenced, settings: Settings::LingerDoubled;
    "deadlines late": Answered in Fenced, settings: Settings::DeadlinesLate;
    "retries beyond their time": BoundedWork in Fenced, settings: Settings::TotalIgnored;
    "room for one input too many": NoLeaks in Fenced, settings: Settings::OneTooMany;
    "room for one input too few": TrueAnswers in Fenced, settings: Settings::OneTooFew;
    "one key takes all the room": NoLeaks in Fenced, settings: Settings::NoBoundOfAKey;
    // The projection.
    "no fence on project": ViewForward in Projected, projection_fence: ProjectionFence::Ignored;
    "project fenced on the marker alone": ViewForward in Projected, projection_fence: ProjectionFence::MarkerAlone;
    "project fenced on the version alone": ViewForward in Projected, projection_fence: ProjectionFence::VersionAlone;
    "marker as a flag": ViewForward in Projected, projection_fence: ProjectionFence::Flag;
    "marker moved backwards by a commit": ViewForward in Projected, marker_on_commit: MarkerOnCommit::AsItWasRead;
    "marker moved before the view is durable": ViewForward in Projected, order: Order::MarkerFirst;
    "view without positions": ViewForward in Projected, placing: Placing::Appended;
    "view without a version": ViewForward in Projected, placing: Placing::Instead;
    "`Projected` said at commit": TrueAnswers in Projected, telling: Telling::AtCommit;
    // Resumes and sweeps.
    "no resume at all": Projected in Projected, resuming: Resuming::Nobody;
    "no fence on resume": ViewForward in Projected, resuming: Resuming::Unfenced;
    "resume trusts memory": Projected in Projected, resuming: Resuming::FromMemory;
    "sweeper blind for some records": Projected in Projected, resuming: Resuming::BlindForSome;
    "resume told by an older one": TrueAnswers in Projected, resuming: Resuming::ToldByOlder;
    "sweeper that resumes all at once": BoundedWork in Projected, settings: Settings::AllAtOnce;
    "sweeper without a growing pause": BoundedWork in Projected, resuming: Resuming::AtOnePace;
}

impl Mutant {
    /// Runs seeds from `first` on until it is caught, and at most so many: the safeguard made a difference, and
    /// the property that it keeps failed. `None` if it was not. Of seeds there are none beyond `u64::MAX`.
    #[must_use]
    pub fn caught_within(&self, first: u64, seeds: u64) -> Option<Caught> {
        (1..=seeds).find_map(|seeds| {
            let report = self.run(first.checked_add(seeds - 1)?);
            let is_caught = report.weakened > 0 && report.violates(self.fails);
            is_caught.then_some(Caught { seeds, report })
        })
    }

    /// Whether it can make a difference in this simulation. One that views need has none where there are no views, and one
    /// that the driver keeps is left out by a driver written by hand, which there is of the fenced write alone.
    #[must_use]
    pub fn is_for(&self, whose: Whose) -> bool {
        match whose {
            Whose::Fenced => self.of == Whose::Fenced,
            Whose::Projected => self.policy.mistake == Mistake::None,
        }
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

/// A mutant that cannot be written, since it does not compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Impossible {
    /// What it would do.
    pub name: &'static str,
    /// What keeps it from that.
    pub since: &'static str,
    /// Where the compiler is seen to refuse it.
    pub file: &'static str,
    /// What is to be found there, in an example that must not compile.
    pub example: &'static str,
}

const FOLD_WRITE: &str = "ferry-core/src/fold_write/mod.rs";
const PROJECTED_WRITE: &str = "ferry-core/src/projected_write/mod.rs";

/// All that are known of.
pub const IMPOSSIBLE: &[Impossible] = &[
    Impossible {
        name: "a read answered as a commit: landed, and nothing was written",
        since: "a stage takes its own answers and no other",
        file: FOLD_WRITE,
        example: "fn answer_a_read_with_a_commit",
    },
    Impossible {
        name: "a commit answered twice: two outcomes of one try",
        since: "an answer consumes its stage",
        file: FOLD_WRITE,
        example: "fn answer_twice",
    },
    Impossible {
        name: "a fold write that projects",
        since: "its commands have no projection",
        file: FOLD_WRITE,
        example: "fn project",
    },
    Impossible {
        name: "a projection answered as a commit: shown, though the view was not written",
        since: "a stage takes its own answers and no other",
        file: PROJECTED_WRITE,
        example: "fn answer_a_projection_with_a_commit",
    },
    Impossible {
        name: "a commit answered as a projection: durable, though only the view was written",
        since: "a stage takes its own answers and no other",
        file: PROJECTED_WRITE,
        example: "fn answer_a_commit_with_a_projection",
    },
    Impossible {
        name: "a projection answered twice: an entry shown twice",
        since: "an answer consumes its stage",
        file: PROJECTED_WRITE,
        example: "fn answer_twice",
    },
    Impossible {
        name: "contents told apart by so few bytes that two are taken for one",
        since: "a fingerprint takes a digest of sixteen bytes at least",
        file: "ferry-core/src/applied/fingerprint.rs",
        example: "Fingerprint::from_digest([0_u8; 8])",
    },
];
