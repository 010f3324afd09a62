//! Safeguards that can be left out on purpose, one at a time, to see that the checkers notice.

use core::time::Duration;

use ferry_core::{Retry, per_key::Limits};

use crate::calls::Carrier;

/// Whether the store holds a commit against the version that it expects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fence {
    /// As it must.
    #[default]
    Checked,
    /// It writes in any case.
    Ignored,
}

/// When a commit is durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Before it is answered.
    #[default]
    BeforeAnswer,
    /// Some time after, or never.
    AfterAnswer,
}

/// What the store's adapter makes of a commit of which it does not know how it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Doubt {
    /// In doubt.
    #[default]
    Told,
    /// Not landed.
    TakenForFailed,
    /// Landed.
    TakenForLanded,
}

/// What the store's adapter makes of a refusal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Refusal {
    /// Refused, which proves nothing yet.
    #[default]
    Told,
    /// Certainly not landed.
    TakenForProof,
}

/// What the store reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reading {
    /// What is there.
    #[default]
    Linearizable,
    /// What was there one commit ago.
    Stale,
}

/// How versions go on after a record was deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Versions {
    /// None ever comes again.
    #[default]
    GoOn,
    /// From the first on.
    Restart,
    /// Equal content has an equal version.
    Fingerprint,
}

/// What the store holds a projection against.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProjectionFence {
    /// Version and marker.
    #[default]
    Both,
    /// The marker alone.
    MarkerAlone,
    /// The version alone.
    VersionAlone,
    /// Whether the record is pending at all, as where the marker is no version but a flag.
    Flag,
    /// Nothing.
    Ignored,
}

/// What a commit does to the marker.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkerOnCommit {
    /// It leaves it as it is stored.
    #[default]
    LeftAsStored,
    /// It writes it as it was read.
    AsItWasRead,
}

/// Which comes first, where view and marker are two writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The view.
    #[default]
    ViewFirst,
    /// The marker.
    MarkerFirst,
}

/// Where an entry goes in a view that is in another store.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Placing {
    /// To its own position, once.
    #[default]
    OwnPosition,
    /// To the end, each time.
    Appended,
    /// In place of all that is there, as of a view that does not know which version it shows.
    Instead,
}

/// Who resumes records that were left pending.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resuming {
    /// Every node sweeps.
    #[default]
    Swept,
    /// Nobody.
    Nobody,
    /// Every node sweeps, and does not see records with an even number of entries.
    BlindForSome,
    /// Every node sweeps what it remembers to have left pending itself, and does not ask the store.
    FromMemory,
    /// Every node sweeps, and tries a key that keeps failing as often as any other.
    AtOnePace,
    /// Every node sweeps, and what it resumes is not held against anything.
    Unfenced,
    /// Every node sweeps, and whoever tells it to resume a key hears what becomes of a resume that was under way by then.
    ToldByOlder,
}

/// When a caller hears that the view shows its input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Telling {
    /// When it does.
    #[default]
    WhenShown,
    /// When it is committed.
    AtCommit,
}

/// How a step knows an input that it has applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dedup {
    /// By its id, and the content is compared; an id that may be forgotten is too old.
    #[default]
    Whole,
    /// By its id alone.
    ContentIgnored,
    /// By the ids that are remembered; one that may be forgotten is new.
    Pruned,
    /// By its id, once the step has found that it could be applied.
    AfterTheRest,
    /// By its id, and it is answered with what the record shows by now.
    OutcomeForgotten,
    /// By the ids that this process has met itself.
    InMemory,
    /// Not at all.
    Off,
}

/// What is in front of the write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Front {
    /// One handle, with one batch in flight for each key.
    #[default]
    OneHandle,
    /// Two in turn, each with a batch of its own in flight.
    TwoHandles,
    /// A handle for each input, which goes alone and at once.
    NoBatches,
    /// Callers that form a batch among themselves, which is carried by a task. No safeguard is left out.
    CarriedByTask,
    /// The same, and the first of them carries it as long as it is there.
    CarriedByCaller,
}

impl Front {
    /// What is left of a handle's bounds where that front is before it, or in its place.
    pub(crate) fn bounds(self, limits: Limits) -> Limits {
        match self {
            Self::OneHandle => limits,
            Self::TwoHandles | Self::NoBatches | Self::CarriedByTask | Self::CarriedByCaller => {
                Limits {
                    max_batch: usize::MAX,
                    max_weight: usize::MAX,
                    max_in_flight: usize::MAX,
                    ..limits
                }
            }
        }
    }
}

/// What becomes of a caller's place in the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Places {
    /// It is returned in any case.
    #[default]
    Returned,
    /// It is returned by those who wait for their answer.
    KeptWhenDropped,
}

/// What a handle makes of its settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Settings {
    /// It keeps to them.
    #[default]
    Kept,
    /// It does not linger.
    LingerIgnored,
    /// It lingers twice as long.
    LingerDoubled,
    /// Its deadlines are a tenth late.
    DeadlinesLate,
    /// Its tries have all the time there is.
    TotalIgnored,
    /// It takes in one input too many.
    OneTooMany,
    /// It takes in one input too few.
    OneTooFew,
    /// It takes in as many of one key as of all.
    NoBoundOfAKey,
    /// It resumes all keys at once that its sweeper finds.
    AllAtOnce,
}

impl Settings {
    pub(crate) fn limits(self, limits: Limits) -> Limits {
        match self {
            Self::LingerIgnored => Limits {
                linger: Duration::ZERO,
                ..limits
            },
            Self::LingerDoubled => Limits {
                linger: limits.linger * 2,
                ..limits
            },
            Self::OneTooMany => Limits {
                max_queueing: limits.max_queueing + 1,
                ..limits
            },
            Self::OneTooFew => Limits {
                max_queueing: (limits.max_queueing - 1).max(1),
                ..limits
            },
            Self::NoBoundOfAKey => Limits {
                max_queueing_per_key: usize::MAX,
                ..limits
            },
            Self::Kept | Self::DeadlinesLate | Self::TotalIgnored | Self::AllAtOnce => limits,
        }
    }

    pub(crate) fn retry(self, retry: Retry) -> Retry {
        if self != Self::TotalIgnored {
            return retry;
        }
        let total = Duration::MAX;
        Retry { total, ..retry }
    }

    pub(crate) fn within(self, within: Duration) -> Duration {
        if self == Self::DeadlinesLate {
            within + within / 10
        } else {
            within
        }
    }

    /// How many keys a sweeper resumes at a time.
    pub(crate) fn at_once(self, keys: usize) -> usize {
        if self == Self::AllAtOnce {
            usize::MAX
        } else {
            keys
        }
    }
}

/// What a driver that is written by hand gets wrong. It takes the place of the real one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mistake {
    /// Nothing.
    #[default]
    None,
    /// It looks whether an input has landed only where the fence lets it in.
    FenceBeforeDedup,
    /// At the end of its attempts it says that nothing was written.
    NoProof,
    /// It leaves out of a batch what the store holds, and not what the batch holds already.
    TwinsApplied,
    /// Refused, it folds again on the state that it read first.
    FoldedOnFirst,
    /// Refused, it sleeps and is not woken.
    NotWoken,
    /// It lets a panic of a step through.
    PanicNotCaught,
    /// It fails a batch that is turned away for good, and does not look for who is at fault.
    NotSplit,
    /// Its pauses are all as long as they can be.
    NoJitter,
    /// It makes none.
    NoBackoff,
    /// It has no end of attempts.
    NoEnd,
    /// It reads without naming the ids.
    IdsUnnamed,
    /// It does not try the second half of a batch that is turned away for good.
    SecondHalfLeft,
    /// It applies an input that it had declined, behind those that came after it.
    LateApplied,
    /// It says that an input is declined while a commit of it may still land.
    DeclinedInDoubt,
    /// It says that an input was not committed whose twin has landed, which was tried apart from it.
    TwinsForgotten,
}

/// All safeguards, each as it must be unless it is said otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the types say it")]
pub struct Policy {
    pub fence: Fence,
    pub durability: Durability,
    pub doubt: Doubt,
    pub refusal: Refusal,
    pub reading: Reading,
    pub versions: Versions,
    pub dedup: Dedup,
    pub projection_fence: ProjectionFence,
    pub marker_on_commit: MarkerOnCommit,
    pub order: Order,
    pub placing: Placing,
    pub resuming: Resuming,
    pub telling: Telling,
    pub front: Front,
    pub places: Places,
    pub settings: Settings,
    pub mistake: Mistake,
}

impl Policy {
    /// Who carries the batches where it is this one's that would. Of what one handle promises nothing is left where there are
    /// two, or something else that takes inputs in.
    pub(crate) fn carrier(&self, carrier: Carrier) -> Carrier {
        let is_one_handle = self.front == Front::OneHandle
            && self.places == Places::Returned
            && self.resuming != Resuming::Unfenced;
        if is_one_handle {
            carrier
        } else {
            Carrier::Others
        }
    }

    /// Every safeguard in place.
    pub const WHOLE: Self = Self {
        fence: Fence::Checked,
        durability: Durability::BeforeAnswer,
        doubt: Doubt::Told,
        refusal: Refusal::Told,
        reading: Reading::Linearizable,
        versions: Versions::GoOn,
        dedup: Dedup::Whole,
        projection_fence: ProjectionFence::Both,
        marker_on_commit: MarkerOnCommit::LeftAsStored,
        order: Order::ViewFirst,
        placing: Placing::OwnPosition,
        resuming: Resuming::Swept,
        telling: Telling::WhenShown,
        front: Front::OneHandle,
        places: Places::Returned,
        settings: Settings::Kept,
        mistake: Mistake::None,
    };
}
