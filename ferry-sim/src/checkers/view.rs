//! P5: every committed record is projected in the end. P6: view and marker never go back, no entry is shown twice, and
//! the marker stands at a commit that the view shows.

use core::ops::Range;

use ferry_core::Instant;

use super::{
    Violation,
    lines::{Line, Lines},
};
use crate::{history::History, workload::Workload};

impl<W: Workload> Line<'_, W> {
    pub(super) fn show(
        &mut self,
        at: Instant,
        span: Range<usize>,
        is_by_position: bool,
        found: &mut Vec<Violation>,
    ) {
        let (key, shown) = (self.key, self.shown_now());
        let Range { start, end } = span;
        if start > shown {
            found.push(Violation::ViewLacks {
                key,
                shown,
                next: start,
            });
        } else if start < shown && !is_by_position {
            found.push(Violation::ShownTwice {
                key,
                shown,
                again: start,
            });
        }
        if end > shown {
            self.shown.push((at, end));
        }
    }

    pub(super) fn show_instead(&mut self, at: Instant, to: usize, found: &mut Vec<Violation>) {
        let (key, shown) = (self.key, self.shown_now());
        if to < shown {
            found.push(Violation::ViewWentBack { key, shown, to });
        }
        self.shown.push((at, to));
    }

    pub(super) fn mark(&mut self, to: usize, found: &mut Vec<Violation>) {
        let (key, shown, marker) = (self.key, self.shown_now(), self.marker);
        if to < marker {
            found.push(Violation::MarkerWentBack { key, marker, to });
        }
        if to > shown {
            found.push(Violation::MarkedUnshown { key, shown, to });
        }
        if self.commits.binary_search(&to).is_err() {
            found.push(Violation::MarkedWithinCommit { key, to });
        }
        self.marker = to;
    }
}

pub(super) fn check<W: Workload>(
    history: &History<W>,
    lines: &Lines<'_, W>,
    found: &mut Vec<Violation>,
) {
    let is_excused = |key: u32| history.broken == Some(key);
    let pending = history.pending.iter().filter(|&&key| !is_excused(key));
    found.extend(pending.map(|&key| Violation::StillPending { key }));
    if !history.has_views {
        return;
    }
    let last = lines
        .all()
        .filter(|line| line.until.is_none() && !is_excused(line.key));
    for line in last {
        let (key, shown, entries) = (line.key, line.shown_now(), line.entries.len());
        if shown < entries {
            found.push(Violation::NeverShown {
                key,
                shown,
                entries,
            });
        }
    }
}
