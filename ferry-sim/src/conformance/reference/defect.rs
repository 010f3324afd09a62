//! What can be wrong with a store.

/// One thing that is wrong with a [`BrokenStore`](super::BrokenStore): a mistake that a real store has made, or can make.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Defect {
    /// A handle shows what it read before, until it writes.
    ReadsFromCache,
    /// A commit answers a version that it guessed.
    AnswersGuessedVersion,
    /// What a handle committed last goes with it.
    LostWithHandle,
    /// A commit on a version lands whatever the version is.
    CommitUnfenced,
    /// A commit whose condition does not hold says that it landed.
    ZeroRowsLanded,
    /// A commit whose condition does not hold says that it can never land.
    RefusalIsPermanent,
    /// Only the last versions are known as replaced.
    FenceForgets,
    /// The version is counted in a type that wraps.
    VersionWraps,
    /// Versions are compared by their last byte.
    VersionIsCut,
    /// The version is text, and a commit lands on one that is not greater than its own.
    VersionIsText,
    /// A commit that expects no record overwrites one.
    AbsenceUnfenced,
    /// A commit on a version creates a record where there is none.
    UpdateCreates,
    /// Versions begin anew with a record that was deleted.
    VersionRestarts,
    /// The version is a fingerprint of the content.
    VersionIsFingerprint,
    /// A deleted record leaves nothing behind.
    DeleteLeavesNothing,
    /// Looks whether there is a record, and then writes one.
    CreateInTwoSteps,
    /// Compares the version, and then writes.
    UpdateInTwoSteps,
    /// An id that is there is looked for before the version, and told as a fault.
    RepeatIsPermanent,
    /// An id that is there is looked for before the version, and told as landed.
    RepeatLands,
    /// Of a long batch, the last entries are not written.
    LongBatchIsCut,
    /// A commit that is refused leaves entries behind.
    RefusalLeavesEntries,
    /// A handle that was refused reads on from what was there then, until its next commit.
    RefusalKeepsSnapshot,
    /// Entries are there for others before the state is.
    HalfIsSeen,
    /// A commit writes, then looks at the version, and undoes what it wrote where that is another.
    RefusalIsSeen,
    /// While a commit is under way, a read shows the page from before the one that was answered last.
    ReadsOldSnapshot,
    /// A read gives the version a moment after the rest.
    ReadIsTorn,
    /// A commit that is dropped leaves its entries without its state.
    DropLeavesHalf,
    /// A commit that is dropped leaves its key locked.
    DropKeepsLock,
    /// A read that is dropped leaves its key locked.
    DroppedReadKeepsLock,
    /// Ids are forgotten after a while.
    ForgetsIds,
    /// Of old ids it is known that they are there, and not what their callers were told.
    OutcomesFade,
    /// All keys share one version.
    KeysShareVersion,
    /// All keys share their ids.
    KeysShareIds,
    /// A commit writes the other keys as they were when it began.
    KeysShareAPage,
    /// Of hundreds of entries, the last are not written.
    FullBatchIsCut,
    /// Of hundreds of ids that a read is asked about, the last are not looked up.
    ManyIdsAreCut,
    /// What is too long is cut off.
    LargeIsCut,
    /// What is too long is turned away.
    LargeIsRefused,
    /// A commit moves the marker along.
    CommitMovesMarker,
    /// What is pending is looked for among records without a view.
    QueryMisses,
    /// A projection moves the marker and leaves the view.
    ProjectSkipsView,
    /// A projection writes the view and leaves the marker.
    ProjectLeavesMarker,
    /// A projection takes in the last entry first.
    ProjectsBackwards,
    /// The view goes by the ids, and not by the order in which inputs were applied.
    ViewGoesById,
    /// A projection moves the markers of all keys.
    ProjectPaysAll,
    /// A projection takes in entries of other keys that have the same ids.
    ProjectsNamesakes,
    /// Of hundreds of entries that are owed, the last are not projected.
    LongDebtIsCut,
    /// What is owed is projected in parts, and of the first it says that it was all.
    PartSaysTooMuch,
    /// A projection is fenced on the version alone.
    FencedOnVersionAlone,
    /// A projection is fenced on the marker alone.
    FencedOnMarkerAlone,
    /// The marker says whether something is owed, and not what.
    MarkerIsAFlag,
    /// A projection is not fenced.
    ProjectUnfenced,
    /// A projection writes the view, whatever is there, and is fenced only as to the marker.
    ViewIsOverwritten,
    /// A commit writes the marker as it was read.
    CommitRestoresMarker,
    /// A projection changes the version.
    ProjectChangesVersion,
    /// A projection is fenced on how many commits there were since the record was created.
    FencedOnCount,
    /// The marker is moved before the view is written.
    MarkerBeforeView,
    /// A projection compares version and marker, and then writes.
    ProjectInTwoSteps,
    /// A projection writes the record back as it was given.
    ProjectWritesBack,
}

impl Defect {
    /// All of them.
    pub const ALL: [Self; 59] = [
        Self::ReadsFromCache,
        Self::AnswersGuessedVersion,
        Self::LostWithHandle,
        Self::CommitUnfenced,
        Self::ZeroRowsLanded,
        Self::RefusalIsPermanent,
        Self::FenceForgets,
        Self::VersionWraps,
        Self::VersionIsCut,
        Self::VersionIsText,
        Self::AbsenceUnfenced,
        Self::UpdateCreates,
        Self::VersionRestarts,
        Self::VersionIsFingerprint,
        Self::DeleteLeavesNothing,
        Self::CreateInTwoSteps,
        Self::UpdateInTwoSteps,
        Self::RepeatIsPermanent,
        Self::RepeatLands,
        Self::LongBatchIsCut,
        Self::RefusalLeavesEntries,
        Self::RefusalKeepsSnapshot,
        Self::HalfIsSeen,
        Self::RefusalIsSeen,
        Self::ReadsOldSnapshot,
        Self::ReadIsTorn,
        Self::DropLeavesHalf,
        Self::DropKeepsLock,
        Self::DroppedReadKeepsLock,
        Self::ForgetsIds,
        Self::OutcomesFade,
        Self::KeysShareVersion,
        Self::KeysShareIds,
        Self::KeysShareAPage,
        Self::FullBatchIsCut,
        Self::ManyIdsAreCut,
        Self::LargeIsCut,
        Self::LargeIsRefused,
        Self::CommitMovesMarker,
        Self::QueryMisses,
        Self::ProjectSkipsView,
        Self::ProjectLeavesMarker,
        Self::ProjectsBackwards,
        Self::ViewGoesById,
        Self::ProjectPaysAll,
        Self::ProjectsNamesakes,
        Self::LongDebtIsCut,
        Self::PartSaysTooMuch,
        Self::FencedOnVersionAlone,
        Self::FencedOnMarkerAlone,
        Self::MarkerIsAFlag,
        Self::ProjectUnfenced,
        Self::ViewIsOverwritten,
        Self::CommitRestoresMarker,
        Self::ProjectChangesVersion,
        Self::FencedOnCount,
        Self::MarkerBeforeView,
        Self::ProjectInTwoSteps,
        Self::ProjectWritesBack,
    ];

    /// The name of the check that is there for it. Others may break as well: a store without a fence loses races, too.
    pub fn breaks(self) -> &'static str {
        match self {
            Self::ReadsFromCache => "read_after_commit",
            Self::AnswersGuessedVersion => "answered_version",
            Self::LostWithHandle => "new_handle",
            Self::CommitUnfenced => "stale_version",
            Self::ZeroRowsLanded => "zero_rows",
            Self::RefusalIsPermanent => "refusal",
            Self::FenceForgets => "late_commit",
            Self::VersionWraps => "no_version_twice",
            Self::VersionIsCut | Self::VersionIsText => "old_versions",
            Self::AbsenceUnfenced | Self::UpdateCreates => "absence_is_a_version",
            Self::VersionRestarts | Self::VersionIsFingerprint => "created_again",
            Self::DeleteLeavesNothing => "absent_again",
            Self::CreateInTwoSteps => "create_race",
            Self::UpdateInTwoSteps => "update_race",
            Self::RepeatIsPermanent | Self::RepeatLands => "delivered_twice",
            Self::LongBatchIsCut => "batch_is_whole",
            Self::RefusalLeavesEntries => "refused_leaves_nothing",
            Self::RefusalKeepsSnapshot => "goes_on_when_refused",
            Self::HalfIsSeen | Self::RefusalIsSeen | Self::ReadIsTorn => "no_half_is_read",
            Self::ReadsOldSnapshot => "reads_beside_commits",
            Self::DropLeavesHalf | Self::DropKeepsLock => "dropped_commit",
            Self::DroppedReadKeepsLock => "dropped_read",
            Self::ForgetsIds | Self::OutcomesFade => "known_ids",
            Self::KeysShareVersion | Self::KeysShareIds => "keys_apart",
            Self::KeysShareAPage => "keys_at_once",
            Self::FullBatchIsCut | Self::ManyIdsAreCut => "full_batch",
            Self::LargeIsCut | Self::LargeIsRefused => "large_record",
            Self::CommitMovesMarker => "commit_owes",
            Self::QueryMisses => "pending_is_found",
            Self::ProjectSkipsView
            | Self::ProjectLeavesMarker
            | Self::ProjectsBackwards
            | Self::ViewGoesById => "projection_pays",
            Self::ProjectPaysAll | Self::ProjectsNamesakes => "projections_apart",
            Self::LongDebtIsCut | Self::PartSaysTooMuch => "long_debt",
            Self::FencedOnVersionAlone => "projected_twice",
            Self::FencedOnMarkerAlone | Self::MarkerIsAFlag => "older_projection",
            Self::ProjectUnfenced | Self::ViewIsOverwritten => "late_projection",
            Self::CommitRestoresMarker => "marker_backwards",
            Self::ProjectChangesVersion => "projection_keeps_version",
            Self::FencedOnCount => "projection_created_again",
            Self::MarkerBeforeView => "dropped_projection",
            Self::ProjectInTwoSteps => "projection_race",
            Self::ProjectWritesBack => "projection_meets_commit",
        }
    }
}
