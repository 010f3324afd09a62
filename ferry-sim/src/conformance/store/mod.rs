//! The checks of a store's reads and commits.

mod absence;
mod at_once;
mod batch;
mod beside;
mod deletion;
mod delivery;
mod drops;
mod fence;
mod ids;
mod keys;
mod race;
mod reads;
mod size;
mod whole;

use super::{check::Check, subject::Subject};

/// All of them, the plainest first.
pub(super) fn checks<S: Subject>() -> Vec<Check<S>> {
    vec![
        reads::read_after_commit(),
        reads::answered_version(),
        reads::new_handle(),
        fence::stale_version(),
        fence::zero_rows(),
        fence::refusal(),
        fence::late_commit(),
        fence::no_version_twice(),
        fence::old_versions(),
        absence::absence_is_a_version(),
        deletion::created_again(),
        deletion::absent_again(),
        race::create_race(),
        race::update_race(),
        delivery::delivered_twice(),
        whole::batch_is_whole(),
        whole::refused_leaves_nothing(),
        whole::goes_on_when_refused(),
        whole::no_half_is_read(),
        beside::reads_beside_commits(),
        drops::dropped_commit(),
        drops::dropped_read(),
        ids::known_ids(),
        keys::keys_apart(),
        at_once::keys_at_once(),
        batch::full_batch(),
        size::large_record(),
    ]
}
