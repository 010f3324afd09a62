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
    /// Without it these properties fail in a story, and no others.
    pub(super) const fn fails(self, fails: &'static [Property]) -> Without {
        Without {
            safeguard: self.name,
            policy: self.lacking,
            fails,
        }
    }
}

/// Each with what it is called, and where the policy is otherwise without it.
macro_rules! safeguards {
    ($($safeguard:ident: $name:literal, $part:ident = $lacking:expr;)*) => {
        $(pub(super) const $safeguard: Safeguard = Safeguard {
            name: $name,
            lacking: Policy {
                $part: $lacking,
                ..Policy::WHOLE
            },
        };)*
    };
}

safeguards! {
    COMMIT_FENCE: "the fence of a commit", fence = Fence::Ignored;
    READ_AFTER_REFUSAL: "another read after a refusal", mistake = Mistake::FoldedOnFirst;
    DOUBT_OF_A_REFUSAL: "doubt of a refusal", refusal = Refusal::TakenForProof;
    IN_DOUBT_NOT_FAILED: "saying in doubt", doubt = Doubt::TakenForFailed;
    DEDUP: "dedup", dedup = Dedup::Off;
    IN_DOUBT_NOT_LANDED: "saying in doubt", doubt = Doubt::TakenForLanded;
    PROOF_OF_NOT_COMMITTED: "proof of what is not committed", mistake = Mistake::NoProof;
    WAITING_FOR_OWN_COMMIT: "waiting for what may still land", mistake = Mistake::DeclinedInDoubt;
    MEMORY_OF_THE_DECLINED: "memory of who was declined", mistake = Mistake::LateApplied;
    DOUBT_OF_TWINS: "doubt of twins that were parted", mistake = Mistake::TwinsForgotten;
    DEDUP_BEFORE_ALL_ELSE: "dedup before all else", dedup = Dedup::AfterTheRest;
    DEDUP_BEFORE_THE_FENCE: "dedup before the fence", mistake = Mistake::FenceBeforeDedup;
    WRITING_BEFORE_ANSWERING: "a store that writes before it answers", durability = Durability::AfterAnswer;
    FRESH_READS: "reads that show every commit", reading = Reading::Stale;
    VERSIONS_GO_ON: "versions that go on after a deletion", versions = Versions::Restart;
    VERSIONS_NO_FINGERPRINTS: "versions that are no fingerprints", versions = Versions::Fingerprint;
    STORED_OUTCOMES: "stored outcomes", dedup = Dedup::OutcomeForgotten;
    DEDUP_IN_BATCH: "dedup within a batch", mistake = Mistake::TwinsApplied;
    CONTENT_LOOKED_AT: "a look at the content", dedup = Dedup::ContentIgnored;
    BOUND_OF_FORGETTING: "the bound of what is forgotten", dedup = Dedup::Pruned;
    IDS_IN_RECORD: "ids in the record", dedup = Dedup::InMemory;
    COMMITS_OUTLIVE_CALLERS: "commits that outlive their callers", front = Front::CarriedByCaller;
    PLACES_COME_BACK: "places that come back", places = Places::KeptWhenDropped;
    TIMER_AFTER_REFUSAL: "a timer after a refusal", mistake = Mistake::NotWoken;
    GUARD_AROUND_STEP: "a guard around `step`", mistake = Mistake::PanicNotCaught;
    SPLITTING: "splitting", mistake = Mistake::NotSplit;
    BATCHES: "batches", front = Front::NoBatches;
    ONE_BATCH_IN_FLIGHT: "one batch of a key in flight", front = Front::TwoHandles;
    JITTER: "jitter", mistake = Mistake::NoJitter;
    PAUSES: "pauses", mistake = Mistake::NoBackoff;
    END_OF_ATTEMPTS: "an end of attempts", mistake = Mistake::NoEnd;
    VERSION_IN_PROJECTION_FENCE: "the version in a projection's fence", projection_fence = ProjectionFence::MarkerAlone;
    MARKER_IS_NO_FLAG: "a version for a marker, and not a flag", projection_fence = ProjectionFence::Flag;
    MARKER_IN_PROJECTION_FENCE: "the marker in a projection's fence", projection_fence = ProjectionFence::VersionAlone;
    PROJECTION_FENCE: "the fence of a projection", projection_fence = ProjectionFence::Ignored;
    VERSION_IN_VIEW: "a version in the view", placing = Placing::Instead;
    POSITIONS_IN_VIEW: "positions in the view", placing = Placing::Appended;
    VIEW_BEFORE_MARKER: "the order of view and marker", order = Order::MarkerFirst;
    MARKER_LEFT_ALONE: "a marker that commits leave alone", marker_on_commit = MarkerOnCommit::AsItWasRead;
    WAITING_FOR_VIEW: "waiting for the view", telling = Telling::AtCommit;
    STORE_KNOWS: "the store as the one that knows", resuming = Resuming::FromMemory;
    SOMEBODY_RESUMES: "anybody who resumes", resuming = Resuming::Nobody;
    QUERY_FINDS_ALL: "a query that finds all", resuming = Resuming::BlindForSome;
    RESUME_FENCE: "the fence of a resume", resuming = Resuming::Unfenced;
}
