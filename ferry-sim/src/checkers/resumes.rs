//! P2, of resumes: who told a node to resume a key hears that it is done when the view shows what there was then.

use super::{Violation, lines::Lines};
use crate::{
    history::{History, Resume, Resumed},
    workload::Workload,
};

pub(super) fn check<W: Workload>(
    history: &History<W>,
    lines: &Lines<'_, W>,
    found: &mut Vec<Violation>,
) {
    for resume in &history.resumes {
        let &Resume { life, key, at, .. } = resume;
        let Some((done, Resumed::Shown)) = resume.answer else {
            continue;
        };
        let mut of_key = lines.of_key(key).iter();
        // With a record its debt is deleted.
        let is_there = of_key.rfind(|line| line.from <= at);
        let Some(line) = is_there.filter(|line| line.until.is_none_or(|until| until > done)) else {
            continue;
        };
        let entries = line.entries.partition_point(|entry| entry.at < at);
        let shown = line.shown_at(done);
        if shown < entries {
            found.push(Violation::ResumedUnshown {
                life,
                key,
                entries,
                shown,
            });
        }
    }
}
