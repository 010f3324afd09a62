//! Which points are met by what happens.

use ferry_core::projected_write::resume::Resumed;

use super::{
    account::{Outcome, Submission},
    machine::Verdict,
    points::{Met, Point},
    state::{Actor, Adrift, State},
    store::{Arrival, Logged, Store, Write},
};

/// A write is under way, however it ends.
pub(super) fn sent(state: &State, actor: u8, write: &Write, met: &mut Met) {
    let Write::Projection { version, .. } = write else {
        return;
    };
    let Some(queue) = state.queues.get(usize::from(actor)) else {
        return;
    };
    let mut of_version = (state.store.log.iter()).filter(|logged| logged.version == *version);
    let is_foreign = of_version.all(|logged| !queue.contains(&logged.submission()));
    met.meets_if(is_foreign, Point::ForeignDebt);
}

/// A write has taken effect.
pub(super) fn landed(before: &Store, write: &Write, met: &mut Met) {
    if let Write::Commit { state, entries, .. } = write {
        met.meets_if(
            state.marker != before.marker(),
            Point::CommitBehindMovedMarker,
        );
        met.meets_if(entries.len() > 1, Point::Together);
        let is_again = entries.iter().any(|entry| entry.submission.attempt > 0);
        met.meets_if(is_again, Point::AppliedAgain);
    }
}

/// A write was answered.
pub(super) fn heard(state: &State, write: &Write, arrival: Arrival, met: &mut Met) {
    if arrival != Arrival::Refused {
        return;
    }
    met.meets(match write {
        Write::Commit { .. } => Point::CommitRefused,
        Write::Projection { version, .. } if state.store.version() != Some(*version) => {
            Point::ProjectionRefusedByCommit
        }
        Write::Projection { .. } => Point::ProjectionRefusedByProjection,
    });
    let by_resume = matches!(
        write,
        Write::Projection {
            by_resume: true,
            ..
        }
    );
    met.meets_if(by_resume, Point::ResumeOvertaken);
}

/// A write arrived, and its answer was lost.
pub(super) fn unheard(write: &Write, arrival: Arrival, met: &mut Met) {
    let point = match write {
        Write::Commit { .. } => Point::CommitUnheard,
        Write::Projection { .. } => Point::ProjectionUnheard,
    };
    met.meets_if(arrival != Arrival::Refused, point);
}

/// A write that was adrift has arrived.
pub(super) fn drifted_in(
    state: &State,
    adrift: &Adrift,
    version_before: Option<u8>,
    arrival: Arrival,
    met: &mut Met,
) {
    let is_dead = state.actors[usize::from(adrift.sender)] == Actor::Crashed;
    let is_landed = arrival != Arrival::Refused;
    met.meets(match (&adrift.write, is_landed) {
        (Write::Commit { .. }, true) if is_dead => Point::LateCommitAfterDeath,
        (Write::Commit { .. }, true) if adrift.was_read_after => Point::LateCommitAfterReread,
        (Write::Commit { .. }, true) => Point::LateCommitBeforeReread,
        (Write::Commit { .. }, false) => Point::LateCommitRefused,
        (Write::Projection { .. }, true) if is_dead => Point::LateProjectionAfterDeath,
        (Write::Projection { .. }, true) => Point::LateProjectionLanded,
        (Write::Projection { version, .. }, false) if version_before != Some(*version) => {
            Point::LateProjectionBehindCommit
        }
        (Write::Projection { .. }, false) => Point::LateProjectionBehindProjection,
    });
}

/// Somebody has crashed before it sent this.
pub(super) fn died_before(state: &State, write: &Write, met: &mut Met) {
    met.meets(Point::CrashInHand);
    if let Write::Projection {
        version,
        by_resume: false,
        ..
    } = write
    {
        met.meets_if(state.store.version() == Some(*version), Point::CrashBetween);
    }
}

/// Somebody has crashed when this had arrived.
pub(super) fn died_after(write: &Write, arrival: Arrival, met: &mut Met) {
    let point = match write {
        Write::Commit { .. } => Point::CrashAfterCommit,
        Write::Projection { .. } => Point::CrashAfterProjection,
    };
    met.meets_if(arrival != Arrival::Refused, point);
}

/// A caller hears this.
pub(super) fn told(state: &State, submission: Submission, verdict: Verdict, met: &mut Met) {
    let (point, outcome) = match verdict {
        Verdict::Projected(outcome) => (Point::ToldProjected, Some(outcome)),
        Verdict::Committed(outcome) => (Point::ToldCommitted, Some(outcome)),
        Verdict::NotCommitted => (Point::ToldNotCommitted, None),
        Verdict::InDoubt => (Point::ToldInDoubt, None),
    };
    met.meets(point);
    met.meets_if(outcome == Some(Outcome::Declined), Point::Declined);
    let by_another = |logged: &Logged| {
        let of = logged.submission();
        of.input == submission.input && of != submission
    };
    let is_duplicate = outcome.is_some() && state.store.log.iter().any(by_another);
    met.meets_if(is_duplicate, Point::Duplicate);
}

/// A resume is over, or has come to grief (`None`).
pub(super) fn resumed(resumed: Option<Resumed>, met: &mut Met) {
    met.meets(match resumed {
        Some(Resumed::NothingPending) => Point::ResumedNothing,
        Some(_) => Point::ResumedDebt,
        None => Point::ResumeGaveUp,
    });
}
