//! Walks without one safeguard each: the property that it keeps must be seen to fail.

use crate::checkers::Property;

use super::{
    flaw::Flaw,
    scope::{InvalidScope, Scope},
    walk::{Progress, Report, Sought, walk_to},
};

/// A walk without one safeguard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Mutant {
    /// What it is called in arguments.
    pub name: &'static str,
    /// What it goes without.
    pub(super) flaw: Flaw,
    /// The property that fails without it.
    pub fails: Property,
}

const fn mutant(name: &'static str, flaw: Flaw, fails: Property) -> Mutant {
    Mutant { name, flaw, fails }
}

/// All of them.
pub const MUTANTS: &[Mutant] = &[
    mutant(
        "no-commit-fence",
        Flaw::NoCommitFence,
        Property::NothingLost,
    ),
    mutant("no-dedup", Flaw::NoDedup, Property::AppliedOnce),
    mutant(
        "dedup-in-memory",
        Flaw::DedupInMemory,
        Property::AppliedOnce,
    ),
    mutant(
        "version-comes-again",
        Flaw::VersionComesAgain,
        Property::AppliedOnce,
    ),
    mutant(
        "doubt-taken-for-failed",
        Flaw::DoubtTakenForFailed,
        Property::TrueAnswers,
    ),
    mutant(
        "doubt-taken-for-landed",
        Flaw::DoubtTakenForLanded,
        Property::NothingLost,
    ),
    mutant(
        "projection-doubt-taken-for-landed",
        Flaw::ProjectionDoubtTakenForLanded,
        Property::TrueAnswers,
    ),
    mutant("batch-kept", Flaw::BatchKept, Property::Answered),
    mutant("doubt-not-told", Flaw::DoubtNotTold, Property::TrueAnswers),
    mutant(
        "answer-before-durable",
        Flaw::AnswerBeforeDurable,
        Property::NothingLost,
    ),
    mutant("newest-first", Flaw::NewestFirst, Property::InOrder),
    mutant(
        "no-project-fence",
        Flaw::NoProjectFence,
        Property::ViewForward,
    ),
    mutant(
        "no-resume-fence",
        Flaw::NoResumeFence,
        Property::ViewForward,
    ),
    mutant(
        "fence-on-marker-alone",
        Flaw::FenceOnMarkerAlone,
        Property::ViewForward,
    ),
    mutant(
        "fence-on-version-alone",
        Flaw::FenceOnVersionAlone,
        Property::ViewForward,
    ),
    mutant("marker-as-flag", Flaw::MarkerAsFlag, Property::ViewForward),
    mutant(
        "commit-writes-marker",
        Flaw::CommitWritesMarker,
        Property::ViewForward,
    ),
    mutant(
        "marker-before-view",
        Flaw::MarkerBeforeView,
        Property::ViewForward,
    ),
    mutant(
        "projected-at-commit",
        Flaw::ProjectedAtCommit,
        Property::TrueAnswers,
    ),
    mutant(
        "projected-if-known",
        Flaw::ProjectedIfKnown,
        Property::TrueAnswers,
    ),
    mutant("no-resume", Flaw::NoResume, Property::Projected),
];

impl Mutant {
    /// The one with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        MUTANTS.iter().find(|mutant| mutant.name == name)
    }

    /// Walks until it is caught: what it goes without made a difference, and the very property failed that it keeps.
    /// The report's `found` is `None` if it was not. `told` hears now and then how far the walk has come.
    ///
    /// # Errors
    ///
    /// When a bound of the scope is out of range.
    pub fn walk(&self, scope: Scope, told: impl FnMut(Progress)) -> Result<Report, InvalidScope> {
        walk_to(scope, Sought::Caught(*self), told)
    }
}
