//! P4: inputs of one key that go through one process are applied in the order of their submission.

use std::collections::BTreeMap;

use super::Violation;
use crate::history::History;

pub(super) fn check(history: &History, found: &mut Vec<Violation>) {
    // By process and key: the last that was written. Submissions are numbered in their order.
    let mut last = BTreeMap::new();
    for landed in &history.landed {
        let (life, key) = (landed.call.life, landed.call.key);
        for input in &landed.entries {
            let before = last.insert((life, key), input.submission);
            if let Some(by) = before.filter(|before| *before > input.submission) {
                found.push(Violation::Overtaken {
                    life,
                    key,
                    earlier: input.submission,
                    by,
                });
            }
        }
    }
}
