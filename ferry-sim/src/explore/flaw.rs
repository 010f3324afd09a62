//! What can be left out of the store, the fold or the driver of a walk.

/// One safeguard that a walk goes without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flaw {
    /// The store takes any commit.
    NoCommitFence,
    /// `step` applies what it knows already.
    NoDedup,
    /// `step` knows the inputs that its own process has answered, and does not look into the record for others.
    DedupInMemory,
    /// The driver takes a commit that is in doubt for one that failed.
    DoubtTakenForFailed,
    /// The driver takes a commit that is in doubt for one that landed.
    DoubtTakenForLanded,
    /// The driver takes a projection that is in doubt for one that landed.
    ProjectionDoubtTakenForLanded,
    /// The driver does not give a batch back when its round trip is over.
    BatchKept,
    /// The driver tells a caller "not committed" where the write says that it is in doubt.
    DoubtNotTold,
    /// The driver tells callers their outcomes when it sends the commit.
    AnswerBeforeDurable,
    /// The driver hands the inputs that wait to the batching machine newest first.
    NewestFirst,
    /// Every commit of the store gives the same version.
    VersionComesAgain,
    /// The store takes any projection.
    NoProjectFence,
    /// The store takes any projection of a resume.
    NoResumeFence,
    /// The store asks a projection for the marker, and not for the version.
    FenceOnMarkerAlone,
    /// The store asks a projection for the version, and not for the marker.
    FenceOnVersionAlone,
    /// The store asks of a projection that something is pending, and for no version.
    MarkerAsFlag,
    /// A commit writes the marker as it was read.
    CommitWritesMarker,
    /// The marker moves in a write before that of the view.
    MarkerBeforeView,
    /// The driver tells callers that the view shows their outcome when the commit has landed.
    ProjectedAtCommit,
    /// The driver tells the callers of inputs that it finds in the record that the view shows their outcome.
    ProjectedIfKnown,
    /// What a process leaves pending, nobody resumes.
    NoResume,
}
