//! Where pages are kept: what the conditional writes of a database are made of.

use std::collections::BTreeMap;

use ferry_core::Record;

use super::journal::{Line, Page};

#[derive(Default, Debug)]
pub(super) struct Shelf {
    pub(super) pages: BTreeMap<u32, Kept>,
    /// The last version that was drawn, for any key; so none comes back.
    versions: u64,
}

/// A page as it is stored. One that is blank is what a deletion leaves behind.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    pub(super) text: String,
    pub(super) version: u64,
    pub(super) marker: u64,
    pub(super) lines: Vec<(u64, Line)>,
    /// The view: the ids of the lines that it includes.
    pub(super) shown: Vec<u32>,
}

impl Shelf {
    /// A version that no record has had.
    pub(super) fn draw(&mut self) -> u64 {
        self.versions += 1;
        self.versions
    }

    pub(super) fn read(&self, key: u32, ids: &[u32]) -> Option<Record<Page, u64>> {
        self.pages.get(&key).map(|kept| kept.read(ids))
    }

    pub(super) fn pending(&self) -> Vec<u32> {
        let pages = self.pages.iter();
        let pending = pages.filter(|(_, kept)| kept.marker != kept.version);
        pending.map(|(key, _)| *key).collect()
    }

    /// The condition of a commit.
    pub(super) fn is_at(&self, key: u32, expected: Option<u64>) -> bool {
        self.pages.get(&key).map(|kept| kept.version) == expected
    }

    /// What a commit writes where its condition holds. The marker stays as it is stored.
    pub(super) fn write(&mut self, key: u32, text: &str, lines: &[Line], version: u64) {
        let kept = self.pages.entry(key).or_default();
        text.clone_into(&mut kept.text);
        kept.version = version;
        let lines = lines.iter().map(|line| (version, line.clone()));
        kept.lines.extend(lines);
    }

    /// Leaves a blank page, so that a commit on its absence does not find it absent again.
    pub(super) fn delete(&mut self, key: u32) {
        let version = self.draw();
        if let Some(kept) = self.pages.get_mut(&key) {
            *kept = Kept {
                version,
                marker: version,
                ..Kept::default()
            };
        }
    }
}

impl Kept {
    pub(super) fn read(&self, ids: &[u32]) -> Record<Page, u64> {
        let known = self.lines.iter().filter(|(_, line)| ids.contains(&line.id));
        let state = Page {
            text: self.text.clone(),
            known: known.map(|(_, line)| (line.id, line.length)).collect(),
            marker: self.marker,
        };
        Record {
            state,
            version: self.version,
        }
    }

    /// The condition of a projection.
    pub(super) fn is_as(&self, record: &Record<Page, u64>) -> bool {
        self.version == record.version && self.marker == record.state.marker
    }

    /// The ids of the lines that lead from the record's marker to its version.
    pub(super) fn owed(&self, record: &Record<Page, u64>) -> Vec<u32> {
        let end_of = |version: u64| {
            let last = self.lines.iter().rposition(|(of, _)| *of == version);
            last.map_or(0, |last| last + 1)
        };
        let range = end_of(record.state.marker)..end_of(record.version);
        let lines = self.lines.get(range).unwrap_or_default();
        lines.iter().map(|(_, line)| line.id).collect()
    }

    /// What a projection writes where its condition holds.
    pub(super) fn project(&mut self, record: &Record<Page, u64>) {
        let owed = self.owed(record);
        self.shown.extend(owed);
        self.marker = record.version;
    }
}
