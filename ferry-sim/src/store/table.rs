//! What the store holds.

use std::collections::BTreeMap;

use ferry_core::Record;

use crate::{
    kind::{Kind, RecordOf},
    policy::{Fence, MarkerOnCommit, Policy, ProjectionFence, Versions},
    sent::Sent,
    workload::{StateOf, VersionOf, Workload},
};

/// The records by their keys' numbers, each with its view.
#[derive(Debug)]
pub(crate) struct Table<K: Kind> {
    load: K::Load,
    rows: BTreeMap<u32, Row<K::Load>>,
}

struct Row<W: Workload> {
    now: RecordOf<W>,
    before: Option<RecordOf<W>>,
    /// Since it was last deleted: each version, its number, and how many entries it has.
    versions: Vec<(VersionOf<W>, u64, usize)>,
    /// How many entries the view shows.
    shown: usize,
    /// How often it was deleted before.
    deletions: u64,
    /// Of its entries.
    fingerprint: u64,
}

/// A write that took effect.
#[derive(Debug)]
pub(super) struct Effect<T> {
    pub(super) done: T,
    /// Whether it would not have, or not so, had a safeguard not been left out.
    pub(super) is_weakened: bool,
}

/// The new version and its number, or what was found instead of the expected one.
pub(super) type Landing<K> = Result<Effect<(VersionOf<<K as Kind>::Load>, u64)>, Found>;

/// The number of the version that was found instead of the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Found(pub(crate) Option<u64>);

/// What a projection put into the view, and where the marker is to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// Of the record as it was after so many deletions.
    pub(super) deletions: u64,
    pub(super) from: usize,
    pub(super) to: usize,
}

impl<W: Workload> core::fmt::Debug for Row<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Row")
            .field("shown", &self.shown)
            .finish_non_exhaustive()
    }
}

impl<W: Workload> Row<W> {
    fn entry(&self, version: &VersionOf<W>) -> Option<&(VersionOf<W>, u64, usize)> {
        self.versions
            .iter()
            .rev()
            .find(|(known, ..)| known == version)
    }

    fn number(&self, version: &VersionOf<W>) -> Option<u64> {
        self.entry(version).map(|(_, number, _)| *number)
    }

    fn position(&self, version: Option<&VersionOf<W>>) -> usize {
        let entry = version.and_then(|version| self.entry(version));
        entry.map_or(0, |(.., entries)| *entries)
    }

    /// The fingerprint of the entries with these after them.
    fn fingerprint(row: Option<&Self>, added: &[Sent<W>]) -> u64 {
        let before = row.map_or(0, |row| row.fingerprint);
        added.iter().fold(before, |print, sent| {
            print.wrapping_mul(1_009).wrapping_add(sent.number)
        })
    }

    fn last(&self) -> (u64, usize) {
        self.versions
            .last()
            .map_or((0, 0), |(_, number, entries)| (*number, *entries))
    }
}

impl<K: Kind> Table<K> {
    pub(crate) fn new(load: K::Load) -> Self {
        let rows = BTreeMap::new();
        Self { load, rows }
    }

    /// The number of a version of a key.
    pub(crate) fn number(&self, key: u32, version: &VersionOf<K::Load>) -> Option<u64> {
        self.rows.get(&key)?.number(version)
    }

    /// The record, or the one before it; and whether that made a difference.
    pub(crate) fn read(&self, key: u32, is_stale: bool) -> (Option<RecordOf<K::Load>>, bool) {
        let copy = |record: &RecordOf<K::Load>| Record {
            state: record.state.clone(),
            version: record.version.clone(),
        };
        match self.rows.get(&key) {
            Some(row) if is_stale => (row.before.as_ref().map(copy), true),
            row => (row.map(|row| copy(&row.now)), false),
        }
    }

    /// Whether a commit on this version would land.
    pub(super) fn check(
        &self,
        key: u32,
        expected: Option<&VersionOf<K::Load>>,
    ) -> Result<(), Found> {
        let found = self.rows.get(&key);
        if found.map(|row| &row.now.version) == expected {
            Ok(())
        } else {
            Err(Found(found.map(|row| row.last().0)))
        }
    }

    /// Writes the state with these entries more if the version is as expected.
    pub(super) fn commit(
        &mut self,
        key: u32,
        expected: Option<&VersionOf<K::Load>>,
        state: &StateOf<K::Load>,
        added: &[Sent<K::Load>],
        policy: &Policy,
    ) -> Landing<K> {
        let mut is_weakened = false;
        if let Err(found) = self.check(key, expected) {
            match policy.fence {
                Fence::Checked => return Err(found),
                Fence::Ignored => is_weakened = true,
            }
        }
        let mut state = state.clone();
        let row = self.rows.remove(&key);
        let (last, entries) = row.as_ref().map_or((0, 0), Row::last);
        if let Some(row) = &row {
            let stored = K::marker(&self.load, &row.now.state);
            match policy.marker_on_commit {
                MarkerOnCommit::LeftAsStored => K::mark(&self.load, &mut state, stored),
                MarkerOnCommit::AsItWasRead => {
                    is_weakened |= stored != K::marker(&self.load, &state);
                }
            }
        }
        let fingerprint = Row::fingerprint(row.as_ref(), added);
        let number = match policy.versions {
            Versions::GoOn | Versions::Restart => last + 1,
            Versions::Fingerprint => fingerprint,
        };
        let version = self.load.version(number);
        let now = Record {
            state,
            version: version.clone(),
        };
        let deletions = row.as_ref().map_or(0, |row| row.deletions);
        let (mut versions, shown, before) = match row {
            Some(row) => (row.versions, row.shown, Some(row.now)),
            None => (Vec::new(), 0, None),
        };
        versions.push((version.clone(), number, entries + added.len()));
        let row = Row {
            now,
            before,
            versions,
            shown,
            deletions,
            fingerprint,
        };
        self.rows.insert(key, row);
        let done = (version, number);
        Ok(Effect { done, is_weakened })
    }

    /// Deletes a record with its view, and says whether there was one. What is left is a record without entries, with a
    /// version of its own: a write that was meant for what was there before must not land on what comes after.
    pub(crate) fn delete(&mut self, key: u32, empty: StateOf<K::Load>, policy: &Policy) -> bool {
        let Some(row) = self.rows.remove(&key) else {
            return false;
        };
        match policy.versions {
            Versions::GoOn | Versions::Fingerprint => {
                let number = row.last().0 + 1;
                let version = self.load.version(number);
                let mut state = empty;
                K::mark(&self.load, &mut state, Some(version.clone()));
                let row = Row {
                    now: Record {
                        state,
                        version: version.clone(),
                    },
                    before: Some(row.now),
                    versions: vec![(version, number, 0)],
                    shown: 0,
                    deletions: row.deletions + 1,
                    fingerprint: 0,
                };
                self.rows.insert(key, row);
            }
            Versions::Restart => {}
        }
        true
    }

    /// The version of the key's next commit.
    pub(super) fn next_version(&self, key: u32) -> VersionOf<K::Load> {
        let last = self.rows.get(&key).map_or(0, |row| row.last().0);
        self.load.version(last + 1)
    }

    // ---- the view ---------------------------------------------------------------------------------

    /// Whether the record still is as this one; and whether it would not count as such, had the fence not been weakened.
    fn fenced<'t>(
        load: &K::Load,
        row: Option<&'t mut Row<K::Load>>,
        record: &RecordOf<K::Load>,
        fence: ProjectionFence,
    ) -> Option<(&'t mut Row<K::Load>, bool)> {
        let row = row?;
        let is_version = row.now.version == record.version;
        let is_marker = K::marker(load, &row.now.state) == K::marker(load, &record.state);
        let is_let_in = match fence {
            ProjectionFence::Both => is_version && is_marker,
            ProjectionFence::MarkerAlone => is_marker,
            ProjectionFence::VersionAlone => is_version,
            ProjectionFence::Flag => {
                K::marker(load, &row.now.state).as_ref() != Some(&row.now.version)
            }
            ProjectionFence::Ignored => true,
        };
        is_let_in.then_some((row, !(is_version && is_marker)))
    }

    /// At how many entries the marker stands.
    pub(super) fn marker(&self, key: u32) -> usize {
        let row = self.rows.get(&key);
        row.map_or(0, |row| {
            row.position(K::marker(&self.load, &row.now.state).as_ref())
        })
    }

    /// What a projection of this record owes the view.
    pub(super) fn span(&self, key: u32, record: &RecordOf<K::Load>) -> Span {
        let marker = K::marker(&self.load, &record.state);
        let row = self.rows.get(&key);
        let position = |version| row.map_or(0, |row| row.position(version));
        Span {
            deletions: row.map_or(0, |row| row.deletions),
            from: position(marker.as_ref()),
            to: position(Some(&record.version)),
        }
    }

    /// Adds to the view what the record owes it, and moves the marker, in one write.
    pub(super) fn project(
        &mut self,
        key: u32,
        record: &RecordOf<K::Load>,
        fence: ProjectionFence,
    ) -> Option<Effect<(Span, usize)>> {
        let span = self.span(key, record);
        let moved = self.mark(key, record, fence)?;
        if let Some(row) = self.rows.get_mut(&key) {
            row.shown = (row.shown + span.to).saturating_sub(span.from);
        }
        Some(Effect {
            done: (span, moved.done),
            is_weakened: moved.is_weakened,
        })
    }

    /// Moves the marker to the version that is stored, which the fence has shown to be the record's, and says where that is.
    pub(super) fn mark(
        &mut self,
        key: u32,
        record: &RecordOf<K::Load>,
        fence: ProjectionFence,
    ) -> Option<Effect<usize>> {
        let row = self.rows.get_mut(&key);
        let (row, is_weakened) = Self::fenced(&self.load, row, record, fence)?;
        let to = Some(row.now.version.clone());
        let done = row.position(to.as_ref());
        K::mark(&self.load, &mut row.now.state, to);
        Some(Effect { done, is_weakened })
    }

    /// Puts entries into a view that is in another store, each to its own position; and says whether they are of the record
    /// that is there.
    pub(super) fn show(&mut self, key: u32, span: Span) -> bool {
        let row = self.rows.get_mut(&key);
        let Some(row) = row.filter(|row| row.deletions == span.deletions) else {
            return false;
        };
        row.shown = row.shown.max(span.to);
        true
    }

    /// Puts entries into a view in place of all that is there; and says whether they are of the record that is there.
    pub(super) fn show_instead(&mut self, key: u32, span: Span) -> bool {
        let is_there = self.show(key, span);
        if let Some(row) = self.rows.get_mut(&key).filter(|_| is_there) {
            row.shown = span.to;
        }
        is_there
    }

    // ---- at the end -------------------------------------------------------------------------------

    /// The keys whose records are pending.
    pub(crate) fn pending(&self, fold: &<K::Load as Workload>::Fold) -> Vec<u32> {
        let pending = |(_, row): &(&u32, &Row<K::Load>)| K::is_pending(fold, &row.now);
        self.rows
            .iter()
            .filter(pending)
            .map(|(&key, _)| key)
            .collect()
    }

    /// The number of a key's version.
    pub(crate) fn last(&self, key: u32) -> u64 {
        self.rows.get(&key).map_or(0, |row| row.last().0)
    }

    /// How many entries a key's record has.
    pub(crate) fn entries(&self, key: u32) -> usize {
        self.rows.get(&key).map_or(0, |row| row.last().1)
    }

    /// What it holds.
    pub(crate) fn states(&self) -> BTreeMap<u32, StateOf<K::Load>> {
        let state = |(&key, row): (&u32, &Row<K::Load>)| (key, row.now.state.clone());
        self.rows.iter().map(state).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ferry_core::Fold;

    use super::*;
    use crate::{
        history::SubmissionId,
        kind::Projected,
        purses::{Amount, Purse, Purses},
        sent::Quirk,
    };

    fn table() -> (Purse, Table<Projected<Purses>>) {
        let purses = Purses::default();
        (purses.empty(&1), Table::new(purses))
    }

    fn inputs(count: u64) -> Vec<Sent<Purses>> {
        let input = |number| Sent {
            number,
            content: Arc::new(Amount {
                id: number,
                cents: 1,
            }),
            submission: SubmissionId(number),
            quirk: Quirk::None,
        };
        (1..=count).map(input).collect()
    }

    #[test]
    fn a_write_on_another_version_is_refused_and_a_version_never_repeats() {
        let (empty, mut table) = table();
        let commit = |table: &mut Table<_>, expected: Option<u64>, policy: &Policy| {
            let landed = table.commit(1, expected.as_ref(), &empty, &inputs(1), policy);
            landed.map(|landed| (landed.done.1, landed.is_weakened))
        };
        let (whole, unfenced) = (
            Policy::WHOLE,
            Policy {
                fence: Fence::Ignored,
                ..Policy::WHOLE
            },
        );
        assert_eq!(commit(&mut table, None, &whole), Ok((1, false)));
        assert_eq!(commit(&mut table, None, &whole), Err(Found(Some(1))));
        assert_eq!(commit(&mut table, Some(1), &whole), Ok((2, false)));
        assert_eq!(commit(&mut table, Some(1), &unfenced), Ok((3, true)));
        let (purse, weak) = table.read(1, false);
        assert_eq!((purse.map(|now| now.version), weak), (Some(3), false));
        let (purse, weak) = table.read(1, true);
        assert_eq!((purse.map(|now| now.version), weak), (Some(2), true));
        assert!(table.delete(1, empty.clone(), &whole));
        assert_eq!(commit(&mut table, Some(3), &whole), Err(Found(Some(4))));
        assert_eq!(commit(&mut table, None, &whole), Err(Found(Some(4))));
        assert_eq!(commit(&mut table, Some(4), &whole), Ok((5, false)));
        assert_eq!(table.entries(1), 1);
    }

    #[test]
    fn a_projection_is_held_against_version_and_marker() {
        let (empty, mut table) = table();
        let whole = Policy::WHOLE;
        let _first = table.commit(1, None, &empty, &inputs(2), &whole);
        let (first, _) = table.read(1, false);
        let first = first.unwrap();
        let both = ProjectionFence::Both;
        let shown = table.project(1, &first, both).unwrap();
        assert_eq!(
            shown.done,
            (
                Span {
                    deletions: 0,
                    from: 0,
                    to: 2,
                },
                2
            )
        );
        assert!(
            table.project(1, &first, both).is_none(),
            "it is shown already"
        );
        assert!(
            table
                .project(1, &first, ProjectionFence::VersionAlone)
                .is_some()
        );
        let _second = table.commit(1, Some(&1), &first.state, &inputs(1), &whole);
        let (second, _) = table.read(1, false);
        let second = second.unwrap();
        assert_eq!(
            second.state.marker,
            Some(1),
            "as it is stored, not as it was read"
        );
        assert_eq!(
            table.span(1, &second),
            Span {
                deletions: 0,
                from: 2,
                to: 3,
            }
        );
        let stale = Record {
            state: second.state.clone(),
            version: 1,
        };
        assert!(
            table.project(1, &stale, both).is_none(),
            "it would clear a newer debt"
        );
        assert!(
            table
                .project(1, &stale, ProjectionFence::MarkerAlone)
                .is_some()
        );
    }
}
