//! P4: inputs of one key that go through one process are applied in the order of their submission.

use std::collections::BTreeMap;

use super::Violation;
use crate::{
    history::{History, What},
    workload::Workload,
};

pub(super) fn check<W: Workload>(history: &History<W>, found: &mut Vec<Violation>) {
    // By process and key: the last that was written. Submissions are numbered in their order.
    let mut last = BTreeMap::new();
    for written in &history.log {
        let key = written.key;
        let (entries, life) = match (&written.what, written.by) {
            (What::Commit(entries), Some(life)) => (entries, life),
            (What::Delete, _) => {
                // What comes after begins anew, with inputs that may have been there before.
                last.retain(|&(of, _), _| of != key);
                continue;
            }
            (What::Commit(_) | What::Show { .. } | What::ShowInstead(_) | What::Mark(_), _) => {
                continue;
            }
        };
        for sent in entries {
            let before = last.insert((key, life), sent.submission);
            if let Some(by) = before.filter(|before| *before > sent.submission) {
                found.push(Violation::Overtaken {
                    life,
                    key,
                    earlier: sent.submission,
                    by,
                });
            }
        }
    }
}
