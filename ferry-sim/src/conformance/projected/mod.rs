//! The checks of a store's projections.

mod deletion;
mod drops;
mod fence;
mod marker;
mod plain;
mod query;
mod race;
mod size;
mod steps;

use super::{check::Check, subject::ProjectedSubject};

/// All of them, the plainest first.
pub(super) fn checks<S: ProjectedSubject>() -> Vec<Check<S>> {
    vec![
        plain::commit_owes(),
        plain::projection_pays(),
        plain::projections_apart(),
        size::long_debt(),
        query::pending_is_found(),
        fence::projected_twice(),
        fence::older_projection(),
        fence::late_projection(),
        marker::marker_backwards(),
        marker::projection_keeps_version(),
        deletion::projection_created_again(),
        drops::dropped_projection(),
        race::projection_race(),
        race::projection_meets_commit(),
    ]
}
