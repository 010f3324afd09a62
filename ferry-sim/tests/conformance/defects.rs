//! The kit passes a store that keeps the contract, and each of its checks fails where it should.

use std::{collections::BTreeSet, fmt::Write};

use expect_test::expect;
use ferry_sim::conformance::{
    self, CheckResult, Checked,
    reference::{BrokenStore, Defect, Journals, ReferenceStore},
};
use futures_lite::future::block_on;

/// Every check, each on a store of its own.
fn check(defect: Defect) -> Vec<Checked> {
    let store_checks = conformance::store_checks().into_iter();
    let checks = store_checks.chain(conformance::projection_checks());
    checks
        .map(|check| block_on(check.run(&Journals::<BrokenStore>::with(defect))))
        .collect()
}

#[test]
fn a_store_that_keeps_the_contract_passes() {
    let subject = Journals::<ReferenceStore>::default();
    let report = block_on(conformance::check_projected_store(&subject));
    report.assert_held();
    assert_eq!(report.skipped().count(), 0);
    assert!(report.checks.len() > 30);
}

#[test]
fn each_defect_breaks_the_check_that_is_there_for_it() {
    let mut told = String::new();
    for defect in Defect::ALL {
        let checked = check(defect);
        let broken: Vec<_> = checked
            .iter()
            .filter(|checked| checked.is_broken())
            .map(|checked| checked.name)
            .collect();
        assert!(
            broken.contains(&defect.breaks()),
            "{defect:?} breaks {broken:?}"
        );
        let others: Vec<_> = broken
            .into_iter()
            .filter(|name| *name != defect.breaks())
            .collect();
        write!(told, "{defect:?}: {}", defect.breaks()).expect("writes");
        if !others.is_empty() {
            write!(told, "; also {}", others.join(" ")).expect("writes");
        }
        told.push('\n');
    }
    expect![[r#"
        ReadsFromCache: read_after_commit; also reads_beside_commits keys_at_once commit_owes projection_pays marker_backwards
        AnswersGuessedVersion: answered_version; also old_versions refused_leaves_nothing projection_pays projection_keeps_version
        LostWithHandle: new_handle
        CommitUnfenced: stale_version; also late_commit old_versions created_again update_race delivered_twice refused_leaves_nothing goes_on_when_refused no_half_is_read
        ZeroRowsLanded: zero_rows; also create_race update_race delivered_twice
        RefusalIsPermanent: refusal; also create_race update_race delivered_twice
        FenceForgets: late_commit; also old_versions created_again
        VersionWraps: no_version_twice; also old_versions created_again
        VersionIsCut: old_versions
        VersionIsText: old_versions; also created_again update_race
        AbsenceUnfenced: absence_is_a_version; also late_commit absent_again create_race delivered_twice refused_leaves_nothing goes_on_when_refused no_half_is_read
        UpdateCreates: absence_is_a_version
        VersionRestarts: created_again; also projection_created_again
        VersionIsFingerprint: created_again
        DeleteLeavesNothing: absent_again
        CreateInTwoSteps: create_race
        UpdateInTwoSteps: update_race
        RepeatIsPermanent: delivered_twice
        RepeatLands: delivered_twice
        LongBatchIsCut: batch_is_whole; also full_batch long_debt
        RefusalLeavesEntries: refused_leaves_nothing; also no_half_is_read
        RefusalKeepsSnapshot: goes_on_when_refused
        HalfIsSeen: no_half_is_read
        RefusalIsSeen: no_half_is_read
        ReadsOldSnapshot: reads_beside_commits; also no_half_is_read dropped_commit
        ReadIsTorn: no_half_is_read
        DropLeavesHalf: dropped_commit
        DropKeepsLock: dropped_commit
        DroppedReadKeepsLock: dropped_read
        ForgetsIds: known_ids; also full_batch
        OutcomesFade: known_ids; also full_batch
        KeysShareVersion: keys_apart; also created_again projections_apart
        KeysShareIds: keys_apart; also absence_is_a_version create_race update_race delivered_twice no_half_is_read dropped_commit keys_at_once projections_apart dropped_projection projection_race projection_meets_commit
        KeysShareAPage: keys_at_once
        FullBatchIsCut: full_batch; also long_debt
        ManyIdsAreCut: full_batch
        LargeIsCut: large_record
        LargeIsRefused: large_record
        CommitMovesMarker: commit_owes; also projection_pays projections_apart long_debt pending_is_found projected_twice older_projection late_projection marker_backwards projection_created_again dropped_projection projection_race projection_meets_commit
        QueryMisses: pending_is_found
        ProjectSkipsView: projection_pays; also projections_apart long_debt projected_twice older_projection late_projection marker_backwards dropped_projection projection_race projection_meets_commit
        ProjectLeavesMarker: projection_pays; also commit_owes projections_apart long_debt pending_is_found projected_twice older_projection late_projection marker_backwards projection_keeps_version projection_created_again dropped_projection projection_race projection_meets_commit
        ProjectsBackwards: projection_pays; also projections_apart long_debt older_projection late_projection dropped_projection projection_race projection_meets_commit
        ViewGoesById: projection_pays; also projections_apart
        ProjectPaysAll: projections_apart
        ProjectsNamesakes: projections_apart; also dropped_projection projection_race projection_meets_commit
        LongDebtIsCut: long_debt
        PartSaysTooMuch: long_debt
        FencedOnVersionAlone: projected_twice; also marker_backwards projection_race
        FencedOnMarkerAlone: older_projection
        MarkerIsAFlag: older_projection; also marker_backwards projection_created_again projection_meets_commit
        ProjectUnfenced: late_projection; also projected_twice older_projection marker_backwards projection_created_again projection_race
        ViewIsOverwritten: late_projection
        CommitRestoresMarker: marker_backwards; also projection_meets_commit
        ProjectChangesVersion: projection_keeps_version; also projection_pays projected_twice older_projection late_projection marker_backwards dropped_projection projection_meets_commit
        FencedOnCount: projection_created_again
        MarkerBeforeView: dropped_projection
        ProjectInTwoSteps: projection_race
        ProjectWritesBack: projection_meets_commit; also projection_race
    "#]].assert_eq(&told);
}

#[test]
fn no_check_is_without_a_defect_that_breaks_it() {
    let named: BTreeSet<_> = Defect::ALL.map(Defect::breaks).into();
    let subject = Journals::<ReferenceStore>::default();
    let report = block_on(conformance::check_projected_store(&subject));
    let checks: BTreeSet<_> = report.checks.iter().map(|checked| checked.name).collect();
    assert_eq!(checks, named);
    assert!(
        report
            .checks
            .iter()
            .all(|checked| checked.result == CheckResult::Held)
    );
}
