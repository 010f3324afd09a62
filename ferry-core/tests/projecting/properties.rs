//! Any fleet on any behaviour of the store, judged by the store's true log; and the same fleets on stores
//! and drivers that do not keep the contract, which the same judge finds out.

use std::collections::{BTreeMap, BTreeSet};

use quickcheck::QuickCheck;

use crate::{
    fleet::{Fleet, Met, Telling},
    judge::Property,
    schedule::Schedule,
    store::Flaw,
};

#[test]
fn whatever_happens_every_answer_is_true_and_every_view_in_step_and_whole_in_the_end() {
    fn property(schedule: Schedule) {
        let run = Fleet::run(schedule, None, Telling::WhenItIsKnown);
        assert!(run.breaches.is_empty(), "{:#?}", run.breaches);
    }
    QuickCheck::new()
        .tests(3000)
        .quickcheck(property as fn(Schedule));
}

#[test]
fn where_a_process_is_alone_and_the_store_behaves_nobody_is_late() {
    fn property(schedule: Schedule) {
        let alone = Schedule {
            jobs: schedule.jobs.into_iter().take(1).collect(),
            turns: vec![],
            ..schedule
        };
        let run = Fleet::run(alone, None, Telling::WhenItIsKnown);
        assert!(run.breaches.is_empty(), "{:#?}", run.breaches);
        let late = run.met.get(&Met::AnsweredCommitted);
        assert_eq!(late, None, "answered as committed");
    }
    QuickCheck::new()
        .tests(1000)
        .quickcheck(property as fn(Schedule));
}

#[test]
fn fleets_meet_with_everything() {
    let mut met = BTreeMap::new();
    for number in 0..300 {
        let run = Fleet::run(Schedule::numbered(number), None, Telling::WhenItIsKnown);
        for (what, times) in run.met {
            *met.entry(what).or_insert(0) += times;
        }
    }
    let least = [
        Met::AnsweredProjected,
        Met::AnsweredCommitted,
        Met::AnsweredFailed,
        Met::ProjectionLanded,
        Met::ProjectionLandedInPart,
        Met::ProjectionRefused,
        Met::LateCommitLanded,
        Met::LateProjectionLanded,
        Met::LateProjectionKeptOut,
        Met::DiedWithItsRecordPending,
        Met::ResumedBesideOthers,
        Met::CommitBehindAMovedMarker,
    ];
    for what in least {
        let times = met.get(&what).copied().unwrap_or(0);
        assert!(times >= 20, "{what:?}: {times} times\n{met:#?}");
    }
}

/// What the judge finds in the first of these fleets, on a store or a driver like this.
fn found(flaw: Option<Flaw>, telling: Telling) -> BTreeSet<Property> {
    let mut found = BTreeSet::new();
    for number in 0..200 {
        let run = Fleet::run(Schedule::numbered(number), flaw, telling);
        assert!(
            run.breaches.is_empty() || run.flawed > 0 || flaw.is_none(),
            "{number}: {:#?}",
            run.breaches
        );
        found.extend(run.breaches.iter().map(|breach| breach.property));
    }
    found
}

#[track_caller]
fn is_found_out(flaw: Flaw, by: Property) {
    let found = found(Some(flaw), Telling::WhenItIsKnown);
    assert!(found.contains(&by), "{found:?}");
}

#[test]
fn a_store_without_a_fence_on_its_projections_is_found_out() {
    is_found_out(Flaw::NoFence, Property::ViewInStep);
}

#[test]
fn a_fence_on_the_marker_alone_is_found_out() {
    is_found_out(Flaw::FenceOnMarkerAlone, Property::Projected);
}

#[test]
fn a_fence_on_the_version_alone_is_found_out() {
    is_found_out(Flaw::FenceOnVersionAlone, Property::ViewInStep);
}

#[test]
fn a_marker_that_is_a_flag_is_found_out() {
    is_found_out(Flaw::MarkerAsFlag, Property::Projected);
}

#[test]
fn a_commit_that_moves_the_marker_backwards_is_found_out() {
    is_found_out(Flaw::CommitWritesMarker, Property::ViewInStep);
}

#[test]
fn a_marker_that_moves_before_the_view_is_found_out() {
    is_found_out(Flaw::MarkerBeforeView, Property::Projected);
}

#[test]
fn a_driver_that_says_projected_at_the_commit_is_found_out() {
    let found = found(None, Telling::AtTheCommit);
    assert_eq!(found, BTreeSet::from([Property::AnswersTrue]));
}
