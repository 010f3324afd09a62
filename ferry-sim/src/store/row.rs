//! A record in the store, with its past and its view.

use core::{fmt, mem};

use crate::{
    kind::RecordOf,
    sent::Sent,
    workload::{VersionOf, Workload},
};

/// A record, and what is known of it beside what it says itself.
pub(super) struct Row<W: Workload> {
    pub(super) now: RecordOf<W>,
    pub(super) before: Option<RecordOf<W>>,
    /// Since it was last deleted.
    versions: Vec<Version<W>>,
    /// Since it was last deleted.
    entries: Vec<Sent<W>>,
    /// How many entries the view shows.
    pub(super) shown: usize,
    /// How often it was deleted before.
    pub(super) deletions: u64,
}

/// A version, its number, and how many entries it has.
struct Version<W: Workload> {
    version: VersionOf<W>,
    number: u64,
    entries: usize,
}

impl<W: Workload> Row<W> {
    pub(super) fn created(now: RecordOf<W>, number: u64, added: &[Sent<W>]) -> Self {
        let first = Version {
            version: now.version.clone(),
            number,
            entries: added.len(),
        };
        Self {
            now,
            before: None,
            versions: vec![first],
            entries: added.to_vec(),
            shown: 0,
            deletions: 0,
        }
    }
    /// Deleted, which leaves a record without entries.
    pub(super) fn deleted(self, now: RecordOf<W>, number: u64) -> Self {
        Self {
            before: Some(self.now),
            deletions: self.deletions + 1,
            ..Self::created(now, number, &[])
        }
    }

    /// Another version, with these entries more.
    pub(super) fn go_on(&mut self, now: RecordOf<W>, number: u64, added: &[Sent<W>]) {
        self.entries.extend_from_slice(added);
        self.versions.push(Version {
            version: now.version.clone(),
            number,
            entries: self.entries.len(),
        });
        self.before = Some(mem::replace(&mut self.now, now));
    }

    /// The number of its version.
    pub(super) fn last(&self) -> u64 {
        self.versions.last().map_or(0, |last| last.number)
    }

    pub(super) fn entries(&self) -> &[Sent<W>] {
        &self.entries
    }

    fn known(&self, version: &VersionOf<W>) -> Option<&Version<W>> {
        let mut versions = self.versions.iter().rev();
        versions.find(|known| known.version == *version)
    }

    /// The number of a version.
    pub(super) fn number(&self, version: &VersionOf<W>) -> Option<u64> {
        self.known(version).map(|known| known.number)
    }

    /// How many entries a version has.
    pub(super) fn position(&self, version: Option<&VersionOf<W>>) -> usize {
        let known = version.and_then(|version| self.known(version));
        known.map_or(0, |known| known.entries)
    }
}

impl<W: Workload> fmt::Debug for Row<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Row")
            .field("shown", &self.shown)
            .finish_non_exhaustive()
    }
}
