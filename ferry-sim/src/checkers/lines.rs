//! The true log, by keys and by ids. P1: no input is applied twice.

use std::{
    collections::{BTreeMap, btree_map},
    sync::Arc,
};

use ferry_core::{Fold, Instant, Step};

use super::Violation;
use crate::{
    history::{History, SubmissionId, What},
    sent::Sent,
    workload::{OutcomeOf, Workload},
};

/// An entry in the log.
#[derive(Debug)]
pub(super) struct Entry<'h, W: Workload> {
    pub(super) at: Instant,
    pub(super) sent: &'h Sent<W>,
    /// What the fold gives where the entry stands; `None` where it would not have applied it.
    pub(super) outcome: Option<OutcomeOf<W>>,
}

/// What was written to one key between two deletions, in order.
#[derive(Debug)]
pub(super) struct Line<'h, W: Workload> {
    pub(super) key: u32,
    pub(super) from: Instant,
    /// When it was deleted, if it was.
    pub(super) until: Option<Instant>,
    pub(super) entries: Vec<Entry<'h, W>>,
    /// How many entries there were after each commit.
    pub(super) commits: Vec<usize>,
    /// How many entries the view showed, and since when; growing in a sound run.
    pub(super) shown: Vec<(Instant, usize)>,
    pub(super) marker: usize,
    /// Where each id is first.
    by_number: BTreeMap<u64, usize>,
}

impl<'h, W: Workload> Line<'h, W> {
    pub(super) fn new(key: u32, from: Instant) -> Self {
        Self {
            key,
            from,
            until: None,
            entries: Vec::new(),
            commits: vec![0],
            shown: vec![(from, 0)],
            marker: 0,
            by_number: BTreeMap::new(),
        }
    }

    pub(super) fn first_of(&self, number: u64) -> Option<(usize, &Entry<'h, W>)> {
        let &at = self.by_number.get(&number)?;
        Some((at, &self.entries[at]))
    }

    pub(super) fn shown_now(&self) -> usize {
        self.shown.last().map_or(0, |&(_, shown)| shown)
    }

    /// How many entries the view showed at that moment.
    pub(super) fn shown_at(&self, at: Instant) -> usize {
        let later = self.shown.partition_point(|&(since, _)| since <= at);
        later.checked_sub(1).map_or(0, |last| self.shown[last].1)
    }
}

/// The log of all keys.
#[derive(Debug)]
pub(super) struct Lines<'h, W: Workload> {
    /// By their keys, and in the order of their times.
    lines: BTreeMap<u32, Vec<Line<'h, W>>>,
    /// By submissions: when something of it was written, and until when it was there.
    written: Vec<Option<(Instant, Option<Instant>)>>,
}

impl<'h, W: Workload> Lines<'h, W> {
    pub(super) fn of(load: &W, history: &'h History<W>, found: &mut Vec<Violation>) -> Self {
        let mut lines: BTreeMap<u32, Vec<Line<'h, W>>> = BTreeMap::new();
        for written in &history.log {
            let (key, at) = (written.key, written.at);
            let of_key = lines
                .entry(key)
                .or_insert_with(|| vec![Line::new(key, Instant::EPOCH)]);
            let Some(line) = of_key.last_mut() else {
                continue;
            };
            match &written.what {
                What::Commit(entries) => line.commit(at, entries, found),
                What::Delete => {
                    line.until = Some(at);
                    of_key.push(Line::new(key, at));
                }
                &What::Show {
                    from,
                    to,
                    is_by_position,
                } => line.show(at, from..to, is_by_position, found),
                &What::ShowInstead(to) => line.show_instead(at, to, found),
                &What::Mark(to) => line.mark(to, found),
            }
        }
        let fold = load.fold();
        lines
            .values_mut()
            .flatten()
            .for_each(|line| line.replay(load, &fold));
        let mut written = vec![None; history.submissions.len()];
        for line in lines.values().flatten() {
            for entry in &line.entries {
                // A history made by hand may have entries that nobody submitted. The one that is there for longest counts.
                if let Some(times) = written.get_mut(entry.sent.submission.0 as usize) {
                    *times = Some((entry.at, line.until));
                }
            }
        }
        Self { lines, written }
    }

    /// When something of a submission was written, and until when it was there.
    pub(super) fn written(&self, submission: SubmissionId) -> Option<(Instant, Option<Instant>)> {
        *self.written.get(submission.0 as usize)?
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Line<'h, W>> {
        self.lines.values().flatten()
    }

    pub(super) fn of_key(&self, key: u32) -> &[Line<'h, W>] {
        self.lines.get(&key).map_or(&[], Vec::as_slice)
    }
}

impl<'h, W: Workload> Line<'h, W> {
    fn commit(&mut self, at: Instant, added: &'h [Sent<W>], found: &mut Vec<Violation>) {
        for sent in added {
            match self.by_number.entry(sent.number) {
                btree_map::Entry::Vacant(vacant) => {
                    vacant.insert(self.entries.len());
                }
                btree_map::Entry::Occupied(first) => found.push(Violation::AppliedTwice {
                    number: sent.number,
                    first: self.entries[*first.get()].sent.submission,
                    second: sent.submission,
                }),
            }
            let outcome = None;
            self.entries.push(Entry { at, sent, outcome });
        }
        self.commits.push(self.entries.len());
    }

    /// What the fold makes of the entries, one after the other.
    fn replay(&mut self, load: &W, fold: &W::Fold) {
        let mut state = fold.empty(&load.key(self.key));
        for entry in &mut self.entries {
            if let Step::Applied(_, outcome) = fold.step(&mut state, &entry.sent.content) {
                entry.outcome = Some(outcome);
            }
        }
    }
}

/// Whether both say the same, and not only bear the same id.
pub(super) fn is_same<T>(one: &Arc<T>, other: &Arc<T>) -> bool {
    // All copies of one content are one.
    Arc::ptr_eq(one, other)
}
