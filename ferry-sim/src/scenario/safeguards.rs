//! What stories leave out.

use super::Without;
use crate::{
    checkers::Property,
    policy::{
        Dedup, Doubt, Durability, Fence, Front, MarkerOnCommit, Mistake, Order, Places, Placing,
        Policy, ProjectionFence, Reading, Refusal, Resuming, Telling, Versions,
    },
};

/// Something that keeps a property, and how it is to be without it.
pub(super) struct Safeguard {
    name: &'static str,
    lacking: Policy,
}

impl Safeguard {
    const fn of(name: &'static str, lacking: Policy) -> Self {
        Self { name, lacking }
    }

    /// Without it these properties fail in a story, and no others.
    pub(super) const fn fails(self, fails: &'static [Property]) -> Without {
        Without {
            safeguard: self.name,
            policy: self.lacking,
            fails,
        }
    }
}

/// By a driver or a front with this mistake.
const fn mistaken(mistake: Mistake) -> Policy {
    Policy {
        mistake,
        ..Policy::WHOLE
    }
}

const fn with_dedup(dedup: Dedup) -> Policy {
    Policy {
        dedup,
        ..Policy::WHOLE
    }
}

const fn projections_fenced_by(projection_fence: ProjectionFence) -> Policy {
    Policy {
        projection_fence,
        ..Policy::WHOLE
    }
}

const fn resumed_by(resuming: Resuming) -> Policy {
    Policy {
        resuming,
        ..Policy::WHOLE
    }
}

const fn placed(placing: Placing) -> Policy {
    Policy {
        placing,
        ..Policy::WHOLE
    }
}

const fn behind(front: Front) -> Policy {
    Policy {
        front,
        ..Policy::WHOLE
    }
}

const fn in_doubt_is(doubt: Doubt) -> Policy {
    Policy {
        doubt,
        ..Policy::WHOLE
    }
}

const fn versioned(versions: Versions) -> Policy {
    Policy {
        versions,
        ..Policy::WHOLE
    }
}

pub(super) const COMMIT_FENCE: Safeguard = Safeguard::of(
    "the fence of a commit",
    Policy {
        fence: Fence::Ignored,
        ..Policy::WHOLE
    },
);
pub(super) const READ_AFTER_REFUSAL: Safeguard = Safeguard::of(
    "another read after a refusal",
    mistaken(Mistake::FoldedOnFirst),
);
pub(super) const DOUBT_OF_A_REFUSAL: Safeguard = Safeguard::of(
    "doubt of a refusal",
    Policy {
        refusal: Refusal::TakenForProof,
        ..Policy::WHOLE
    },
);
pub(super) const IN_DOUBT_NOT_FAILED: Safeguard =
    Safeguard::of("saying in doubt", in_doubt_is(Doubt::TakenForFailed));
pub(super) const DEDUP: Safeguard = Safeguard::of("dedup", with_dedup(Dedup::Off));
pub(super) const IN_DOUBT_NOT_LANDED: Safeguard =
    Safeguard::of("saying in doubt", in_doubt_is(Doubt::TakenForLanded));
pub(super) const PROOF_OF_NOT_COMMITTED: Safeguard =
    Safeguard::of("proof of what is not committed", mistaken(Mistake::NoProof));
pub(super) const DEDUP_BEFORE_ALL_ELSE: Safeguard =
    Safeguard::of("dedup before all else", with_dedup(Dedup::AfterTheRest));
pub(super) const DEDUP_BEFORE_THE_FENCE: Safeguard = Safeguard::of(
    "dedup before the fence",
    mistaken(Mistake::FenceBeforeDedup),
);
pub(super) const WRITING_BEFORE_ANSWERING: Safeguard = Safeguard::of(
    "a store that writes before it answers",
    Policy {
        durability: Durability::AfterAnswer,
        ..Policy::WHOLE
    },
);
pub(super) const FRESH_READS: Safeguard = Safeguard::of(
    "reads that show every commit",
    Policy {
        reading: Reading::Stale,
        ..Policy::WHOLE
    },
);
pub(super) const VERSIONS_GO_ON: Safeguard = Safeguard::of(
    "versions that go on after a deletion",
    versioned(Versions::Restart),
);
pub(super) const VERSIONS_NO_FINGERPRINTS: Safeguard = Safeguard::of(
    "versions that are no fingerprints",
    versioned(Versions::Fingerprint),
);
pub(super) const STORED_OUTCOMES: Safeguard =
    Safeguard::of("stored outcomes", with_dedup(Dedup::OutcomeForgotten));
pub(super) const DEDUP_IN_BATCH: Safeguard =
    Safeguard::of("dedup within a batch", mistaken(Mistake::TwinsApplied));
pub(super) const CONTENT_LOOKED_AT: Safeguard =
    Safeguard::of("a look at the content", with_dedup(Dedup::ContentIgnored));
pub(super) const BOUND_OF_FORGETTING: Safeguard =
    Safeguard::of("the bound of what is forgotten", with_dedup(Dedup::Pruned));
pub(super) const IDS_IN_RECORD: Safeguard =
    Safeguard::of("ids in the record", with_dedup(Dedup::InMemory));
pub(super) const COMMITS_OUTLIVE_CALLERS: Safeguard = Safeguard::of(
    "commits that outlive their callers",
    behind(Front::CarriedByCaller),
);
pub(super) const PLACES_COME_BACK: Safeguard = Safeguard::of(
    "places that come back",
    Policy {
        places: Places::KeptWhenDropped,
        ..Policy::WHOLE
    },
);
pub(super) const TIMER_AFTER_REFUSAL: Safeguard =
    Safeguard::of("a timer after a refusal", mistaken(Mistake::NotWoken));
pub(super) const GUARD_AROUND_STEP: Safeguard =
    Safeguard::of("a guard around `step`", mistaken(Mistake::PanicNotCaught));
pub(super) const SPLITTING: Safeguard = Safeguard::of("splitting", mistaken(Mistake::NotSplit));
pub(super) const BATCHES: Safeguard = Safeguard::of("batches", behind(Front::NoBatches));
pub(super) const ONE_BATCH_IN_FLIGHT: Safeguard =
    Safeguard::of("one batch of a key in flight", behind(Front::TwoHandles));
pub(super) const JITTER: Safeguard = Safeguard::of("jitter", mistaken(Mistake::NoJitter));
pub(super) const PAUSES: Safeguard = Safeguard::of("pauses", mistaken(Mistake::NoBackoff));
pub(super) const END_OF_ATTEMPTS: Safeguard =
    Safeguard::of("an end of attempts", mistaken(Mistake::NoEnd));
pub(super) const VERSION_IN_PROJECTION_FENCE: Safeguard = Safeguard::of(
    "the version in a projection's fence",
    projections_fenced_by(ProjectionFence::MarkerAlone),
);
pub(super) const MARKER_IS_NO_FLAG: Safeguard = Safeguard::of(
    "a version for a marker, and not a flag",
    projections_fenced_by(ProjectionFence::Flag),
);
pub(super) const MARKER_IN_PROJECTION_FENCE: Safeguard = Safeguard::of(
    "the marker in a projection's fence",
    projections_fenced_by(ProjectionFence::VersionAlone),
);
pub(super) const PROJECTION_FENCE: Safeguard = Safeguard::of(
    "the fence of a projection",
    projections_fenced_by(ProjectionFence::Ignored),
);
pub(super) const VERSION_IN_VIEW: Safeguard =
    Safeguard::of("a version in the view", placed(Placing::Instead));
pub(super) const POSITIONS_IN_VIEW: Safeguard =
    Safeguard::of("positions in the view", placed(Placing::Appended));
pub(super) const VIEW_BEFORE_MARKER: Safeguard = Safeguard::of(
    "the order of view and marker",
    Policy {
        order: Order::MarkerFirst,
        ..Policy::WHOLE
    },
);
pub(super) const MARKER_LEFT_ALONE: Safeguard = Safeguard::of(
    "a marker that commits leave alone",
    Policy {
        marker_on_commit: MarkerOnCommit::AsItWasRead,
        ..Policy::WHOLE
    },
);
pub(super) const WAITING_FOR_VIEW: Safeguard = Safeguard::of(
    "waiting for the view",
    Policy {
        telling: Telling::AtCommit,
        ..Policy::WHOLE
    },
);
pub(super) const STORE_KNOWS: Safeguard = Safeguard::of(
    "the store as the one that knows",
    resumed_by(Resuming::FromMemory),
);
pub(super) const SOMEBODY_RESUMES: Safeguard =
    Safeguard::of("anybody who resumes", resumed_by(Resuming::Nobody));
pub(super) const QUERY_FINDS_ALL: Safeguard =
    Safeguard::of("a query that finds all", resumed_by(Resuming::BlindForSome));
pub(super) const RESUME_FENCE: Safeguard =
    Safeguard::of("the fence of a resume", resumed_by(Resuming::Unfenced));
