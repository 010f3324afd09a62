//! The true log, by keys and by ids. P1: no input is applied twice.

use std::collections::BTreeMap;

use ferry_core::Instant;

use super::Violation;
use crate::{
    fold::{Input, Standing},
    history::{History, SubmissionId},
};

/// An entry in the log.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) at: Instant,
    /// What it found.
    pub(super) before: Standing,
    pub(super) input: Input,
}

impl Entry {
    pub(super) fn after(&self) -> Standing {
        self.before.with(self.input.cents)
    }
}

/// What was written to one key, in order.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) entries: Vec<Entry>,
    /// Where each id is first.
    by_id: BTreeMap<u64, usize>,
}

impl Line {
    pub(super) fn first_of(&self, id: u64) -> Option<(usize, &Entry)> {
        let &at = self.by_id.get(&id)?;
        Some((at, &self.entries[at]))
    }

    /// From when until when the key had so many entries.
    pub(super) fn was_so(&self, entries: u64) -> Option<(Standing, Instant, Instant)> {
        let entries = usize::try_from(entries).ok()?;
        let (standing, from) = match entries.checked_sub(1) {
            None => (Standing::default(), Instant::EPOCH),
            Some(last) => {
                let last = self.entries.get(last)?;
                (last.after(), last.at)
            }
        };
        let never = Instant::from_nanos(u64::MAX);
        let until = self.entries.get(entries).map_or(never, |next| next.at);
        Some((standing, from, until))
    }
}

/// The log of all keys.
#[derive(Debug, Default)]
pub(super) struct Lines {
    lines: BTreeMap<u32, Line>,
    nothing: Line,
    /// When something of each submission was written.
    pub(super) written: BTreeMap<SubmissionId, Instant>,
}

impl Lines {
    pub(super) fn of(history: &History, found: &mut Vec<Violation>) -> Self {
        let mut lines = Self::default();
        for landed in &history.landed {
            let line = lines.lines.entry(landed.call.key).or_default();
            for &input in &landed.entries {
                let before = line
                    .entries
                    .last()
                    .map_or_else(Standing::default, Entry::after);
                if let Some((_, first)) = line.first_of(input.id) {
                    found.push(Violation::AppliedTwice {
                        id: input.id,
                        first: first.input.submission,
                        second: input.submission,
                    });
                }
                let at = landed.at;
                line.by_id.entry(input.id).or_insert(line.entries.len());
                line.entries.push(Entry { at, before, input });
                lines.written.entry(input.submission).or_insert(at);
            }
        }
        lines
    }

    pub(super) fn line(&self, key: u32) -> &Line {
        self.lines.get(&key).unwrap_or(&self.nothing)
    }
}
