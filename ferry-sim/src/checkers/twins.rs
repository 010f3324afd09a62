//! P2, of twins: nobody hears that nothing was written where its input was, for another copy of it in the same batch.

use super::{
    Violation,
    batches::Batches,
    lines::{Lines, is_same},
};
use crate::{
    history::{Heard, History, SubmissionId},
    workload::Workload,
};

pub(super) fn check<W: Workload>(
    history: &History<W>,
    lines: &Lines<'_, W>,
    batches: &Batches<'_>,
    found: &mut Vec<Violation>,
) {
    for (nth, asked) in history.submissions.iter().enumerate() {
        let submission = SubmissionId(nth as u64);
        let Some((at, heard @ Heard::NotCommitted(_))) = &asked.answer else {
            continue;
        };
        let Some(batch) = batches.nth_of(submission) else {
            continue;
        };
        for line in lines.of_key(asked.key) {
            let Some((_, entry)) = line.first_of(asked.number) else {
                continue;
            };
            let twin = entry.sent.submission;
            let is_twin = twin != submission
                && batches.nth_of(twin) == Some(batch)
                && is_same(&entry.sent.content, &asked.content);
            let is_gone = line.until.is_some_and(|until| until <= *at);
            found.extend((is_twin && !is_gone).then(|| Violation::WroteTwin {
                submission,
                heard: heard.to_string(),
                twin,
                landed: entry.at,
            }));
        }
    }
}
