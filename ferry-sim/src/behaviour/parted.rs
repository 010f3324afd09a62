//! Twins that a split has parted.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    calls::Ask,
    history::{Heard, History, Submission, SubmissionId},
    purses::Purses,
};

/// The keys at which one was told in doubt that had been read for together with its twin, and then was not.
pub(super) fn keys(history: &History<Purses>) -> BTreeSet<u32> {
    let asked = |id: SubmissionId| -> &Submission<Purses> { &history.submissions[id.0 as usize] };
    let is_in_doubt = |id| matches!(asked(id).answer, Some((_, Heard::InDoubt(_))));
    let mut last: BTreeMap<_, &[SubmissionId]> = BTreeMap::new();
    let mut keys = BTreeSet::new();
    for call in &history.calls {
        let Ask::Read(now) = &call.ask else { continue };
        let before = last.insert((call.life, call.key), now).unwrap_or_default();
        let is_left_out = |id: &&SubmissionId| !now.contains(id) && is_in_doubt(**id);
        let has_twin = |out: &SubmissionId| {
            let is_twin = |id: &SubmissionId| asked(*id).number == asked(*out).number;
            before.iter().any(|id| now.contains(id) && is_twin(id))
        };
        if before.iter().filter(is_left_out).any(has_twin) {
            keys.insert(call.key);
        }
    }
    keys
}
