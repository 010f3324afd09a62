//! The safeguards that the walk and the specification go without one by one, and what each is in the simulation. It has to be the
//! same property that fails without it, wherever it is missing; where the specification holds a part of it apart, that part.

use crate::checkers::Property;

/// A safeguard, and under which name it is left out where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Safeguard {
    /// The property that fails without it.
    pub fails: Property,
    /// Of the [simulation](crate::mutants).
    pub mutant: Option<&'static str>,
    /// Of the [walk](crate::explore).
    pub walk: Option<&'static str>,
    /// The configuration in `formal/variants`.
    pub variant: Option<&'static str>,
}

macro_rules! safeguards {
    ($($property:ident: $mutant:tt | $walk:tt | $variant:tt;)*) => {
        /// All of them.
        pub const ALL: &[Safeguard] = &[$(Safeguard {
            fails: Property::$property,
            mutant: safeguards!(@ $mutant),
            walk: safeguards!(@ $walk),
            variant: safeguards!(@ $variant),
        },)*];
    };
    (@ -) => { None };
    (@ $name:literal) => { Some($name) };
}

safeguards! {
    // The store.
    NothingLost: "no fence on commit" | "no-commit-fence" | "FencedWriter_NoFence";
    NothingLost: "answer before durable" | "answer-before-durable" | "FencedWriter_EarlyAnswer";
    TrueAnswers: "answer from a stale read" | - | "FencedWriter_StaleRead";
    TrueAnswers: "version restarts on delete" | - | "FencedWriter_VersionRestarts";
    TrueAnswers: - | - | "FencedWriter_VersionKept";
    AppliedOnce: - | "version-comes-again" | -;
    TrueAnswers: "in doubt treated as failed" | "doubt-taken-for-failed" | "FencedWriter_DoubtIsFailure";
    NothingLost: "in doubt treated as landed" | "doubt-taken-for-landed" | "FencedWriter_DoubtIsLanding";
    TrueAnswers: "a refusal taken for proof" | - | "FencedWriter_RefusalIsProof";
    TrueAnswers: - | - | "FencedWriter_DoubtCleared";
    // The fold.
    AppliedOnce: "dedup off" | "no-dedup" | "FencedWriter_NoDedup";
    AppliedOnce: "ids in memory" | "dedup-in-memory" | "FencedWriter_MemoryDedup";
    AppliedOnce: "ids pruned too soon" | - | "FencedWriter_Forgetful";
    TrueAnswers: "dedup after the business rules" | - | "FencedWriter_DedupLast";
    TrueAnswers: "content of a repeated id ignored" | - | "FencedWriter_ContentIgnored";
    // The driver.
    AppliedOnce: "dedup against the store only" | - | "FencedWriter_TwinsApplied";
    TrueAnswers: "\"not committed\" without proof" | "doubt-not-told" | "FencedWriter_NoProof";
    NothingLost: "re-fold on the state first read" | - | "FencedWriter_FoldedOnFirst";
    Answered: "no wake after a refusal" | - | "FencedWriter_NotWoken";
    Answered: - | "batch-kept" | -;
    InOrder: - | "newest-first" | "FencedWriter_NewestFirst";
    InOrder: "declined and applied late" | - | "FencedWriter_LateApplied";
    InOrder: - | - | "FencedWriter_ForgottenPassed";
    TrueAnswers: - | - | "FencedWriter_DeclinedUnread";
    TrueAnswers: "declined while a commit may still land" | - | "FencedWriter_DeclinedInDoubt";
    TrueAnswers: - | - | "FencedWriter_TwinsUndoubted";
    Answered: - | - | "FencedWriter_RestForgotten";
    Answered: - | - | "FencedWriter_CarriedOn";
    // The projection.
    ViewForward: "no fence on project" | "no-project-fence" | "ProjectedWriter_UnfencedProject";
    ViewForward: "project fenced on the marker alone" | "fence-on-marker-alone" | "ProjectedWriter_MarkerAlone";
    ViewForward: "project fenced on the version alone" | "fence-on-version-alone" | "ProjectedWriter_VersionAlone";
    ViewForward: "marker as a flag" | "marker-as-flag" | "ProjectedWriter_MarkerAsFlag";
    ViewForward: "marker moved backwards by a commit" | "commit-writes-marker" | "ProjectedWriter_MarkerBack";
    ViewForward: - | - | "ProjectedWriter_MarkerBack_apart";
    ViewForward: "marker moved before the view is durable" | "marker-before-view" | "ProjectedWriter_MarkerFirst";
    ViewForward: "view without positions" | - | "ProjectedWriter_Appended";
    ViewForward: "view without a version" | - | "ProjectedWriter_Instead";
    TrueAnswers: "`Projected` said at commit" | "projected-at-commit" | "ProjectedWriter_EarlyProjected";
    NothingLost: "answer before durable" | "answer-before-durable" | "ProjectedWriter_EarlyCommitted";
    TrueAnswers: - | "projected-if-known" | "ProjectedWriter_EarlyDuplicate";
    TrueAnswers: - | - | "ProjectedWriter_RestsOnNothing";
    TrueAnswers: - | - | "ProjectedWriter_NoRestsOnNothing";
    TrueAnswers: - | "projection-doubt-taken-for-landed" | "ProjectedWriter_DoubtIsShown";
    Answered: - | - | "ProjectedWriter_BackForgotten";
    Answered: - | - | "ProjectedWriter_WaitsForOwn";
    // Resumes.
    Projected: "no resume at all" | "no-resume" | "ProjectedWriter_NoResume";
    Projected: - | - | "ProjectedWriter_NoResume_apart";
    // Processes still project what they commit, so that what is pending is resumed by traffic alone.
    Projected: "no resume at all" | "no-resume" | "ProjectedWriter_LazyResume";
    TrueAnswers: - | - | "ProjectedWriter_RefusalIsShown";
    ViewForward: "no fence on resume" | "no-resume-fence" | "ProjectedWriter_UnfencedResume";
}
