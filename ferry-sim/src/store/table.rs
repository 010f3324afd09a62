//! What the store holds, and its commits.

use std::collections::{BTreeMap, btree_map::Entry};

use ferry_core::Record;

use super::row::Row;
use crate::{
    kind::{Kind, RecordOf},
    policy::{Fence, MarkerOnCommit, Policy, Versions},
    sent::Sent,
    workload::{StateOf, VersionOf, Workload},
};

/// The records by their keys' numbers, each with its view.
#[derive(Debug)]
pub(crate) struct Table<K: Kind> {
    pub(super) load: K::Load,
    pub(super) rows: BTreeMap<u32, Row<K::Load>>,
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
            Err(Found(found.map(Row::last)))
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
        let unfenced = match (self.check(key, expected), policy.fence) {
            (Ok(()), _) => false,
            (Err(found), Fence::Checked) => return Err(found),
            (Err(_), Fence::Ignored) => true,
        };
        let mut state = state.clone();
        let is_moved = self.takes_marker(key, &mut state, policy.marker_on_commit);
        let number = match policy.versions {
            Versions::GoOn | Versions::Restart => self.last(key) + 1,
            Versions::Fingerprint => self.fingerprint(key, added),
        };
        let version = self.load.version(number);
        let now = Record {
            state,
            version: version.clone(),
        };
        match self.rows.entry(key) {
            Entry::Occupied(row) => row.into_mut().go_on(now, number, added),
            Entry::Vacant(place) => {
                place.insert(Row::created(now, number, added));
            }
        }
        Ok(Effect {
            done: (version, number),
            is_weakened: unfenced || is_moved,
        })
    }

    /// A commit leaves the marker as it is stored, unless it is to write the one that it has read; and says whether it moves it
    /// by that.
    fn takes_marker(
        &self,
        key: u32,
        state: &mut StateOf<K::Load>,
        marker_on_commit: MarkerOnCommit,
    ) -> bool {
        let Some(row) = self.rows.get(&key) else {
            return false;
        };
        let stored = K::marker(&self.load, &row.now.state);
        match marker_on_commit {
            MarkerOnCommit::LeftAsStored => {
                K::mark(&self.load, state, stored);
                false
            }
            MarkerOnCommit::AsItWasRead => stored != K::marker(&self.load, state),
        }
    }

    /// A number that says which entries there are, and these after them.
    fn fingerprint(&self, key: u32, added: &[Sent<K::Load>]) -> u64 {
        let entries = self.held(key).iter().chain(added);
        entries.fold(0, |print: u64, sent| {
            print.wrapping_mul(1_009).wrapping_add(sent.number)
        })
    }

    /// Deletes a record with its view, and says whether there was one. What is left is a record without entries, with a
    /// version of its own: a write that was meant for what was there before must not land on what comes after.
    pub(crate) fn delete(&mut self, key: u32, empty: StateOf<K::Load>, policy: &Policy) -> bool {
        let Some(row) = self.rows.remove(&key) else {
            return false;
        };
        match policy.versions {
            Versions::GoOn | Versions::Fingerprint => {
                let number = row.last() + 1;
                let version = self.load.version(number);
                let mut state = empty;
                K::mark(&self.load, &mut state, Some(version.clone()));
                let now = Record { state, version };
                self.rows.insert(key, row.deleted(now, number));
            }
            Versions::Restart => {}
        }
        true
    }

    /// The version of the key's next commit.
    pub(super) fn next_version(&self, key: u32) -> VersionOf<K::Load> {
        self.load.version(self.last(key) + 1)
    }

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
        self.rows.get(&key).map_or(0, Row::last)
    }

    /// The entries that a key's record has.
    pub(crate) fn held(&self, key: u32) -> &[Sent<K::Load>] {
        self.rows.get(&key).map_or(&[], Row::entries)
    }

    /// How many entries a key's record has.
    pub(crate) fn entries(&self, key: u32) -> usize {
        self.held(key).len()
    }

    /// What it holds.
    pub(crate) fn states(&self) -> BTreeMap<u32, StateOf<K::Load>> {
        let state = |(&key, row): (&u32, &Row<K::Load>)| (key, row.now.state.clone());
        self.rows.iter().map(state).collect()
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Arc;

    use ferry_core::Fold;

    use super::*;
    use crate::{
        history::SubmissionId,
        kind::Projected,
        purses::{Amount, Purse, Purses},
        sent::Quirk,
    };

    pub(in crate::store) fn table() -> (Purse, Table<Projected<Purses>>) {
        let purses = Purses::default();
        (purses.empty(&1), Table::new(purses))
    }

    pub(in crate::store) fn inputs(count: u64) -> Vec<Sent<Purses>> {
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
}
