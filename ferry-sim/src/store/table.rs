//! What the store holds.

use std::collections::BTreeMap;

use ferry_core::{Record, RecordOf};

use super::SimStore;
use crate::{fold::Purse, policy::Fence};

/// The records, each with the one before it.
#[derive(Debug, Default)]
pub(crate) struct Table {
    records: BTreeMap<u32, Row>,
}

#[derive(Debug)]
struct Row {
    now: RecordOf<SimStore>,
    before: Option<RecordOf<SimStore>>,
}

/// The version that was found instead of the expected one.
#[derive(Debug)]
pub(crate) struct Found(pub(crate) Option<u64>);

impl Table {
    fn version(&self, key: u32) -> Option<u64> {
        self.records.get(&key).map(|row| row.now.version)
    }

    /// The record, or the one before it; and whether that made a difference.
    pub(crate) fn read(&self, key: u32, is_stale: bool) -> (Option<RecordOf<SimStore>>, bool) {
        match self.records.get(&key) {
            Some(row) if is_stale => (row.before.clone(), true),
            row => (row.map(|row| row.now.clone()), false),
        }
    }

    /// Whether a commit on this version would land.
    pub(crate) fn check(&self, key: u32, expected: Option<u64>) -> Result<(), Found> {
        let found = self.version(key);
        if found == expected {
            Ok(())
        } else {
            Err(Found(found))
        }
    }

    /// Writes the state if the version is as expected, and says the new one; and whether it would not have
    /// landed, had the fence been checked.
    pub(crate) fn write(
        &mut self,
        key: u32,
        expected: Option<u64>,
        state: &Purse,
        fence: Fence,
    ) -> Result<(u64, bool), Found> {
        let checked = self.check(key, expected);
        let is_weakened = match (checked, fence) {
            (Err(found), Fence::Checked) => return Err(found),
            (checked, _) => checked.is_err(),
        };
        let version = self.version(key).map_or(1, |version| version + 1);
        let now = Record {
            state: state.clone(),
            version,
        };
        let before = self.records.remove(&key).map(|row| row.now);
        self.records.insert(key, Row { now, before });
        Ok((version, is_weakened))
    }

    /// What it holds at the end.
    pub(crate) fn purses(&self) -> BTreeMap<u32, Purse> {
        let purse = |(&key, row): (&u32, &Row)| (key, row.now.state.clone());
        self.records.iter().map(purse).collect()
    }
}

#[cfg(test)]
mod tests {
    use ferry_core::Fold;

    use super::*;
    use crate::fold::{Dedup, Purses};

    #[test]
    fn a_write_on_another_version_is_refused_and_a_version_never_repeats() {
        let purses = Purses {
            dedup: Dedup::Whole,
            weakened: std::sync::Arc::default(),
        };
        let (empty, mut table) = (purses.empty(&1), Table::default());
        let first = table.write(1, None, &empty, Fence::Checked);
        assert!(matches!(first, Ok((1, false))));
        let again = table.write(1, None, &empty, Fence::Checked);
        assert!(matches!(again, Err(Found(Some(1)))));
        let second = table.write(1, Some(1), &empty, Fence::Checked);
        assert!(matches!(second, Ok((2, false))));
        let stale = table.write(1, Some(1), &empty, Fence::Ignored);
        assert!(matches!(stale, Ok((3, true))), "without the fence it lands");
        assert!(matches!(table.read(1, false), (Some(record), false) if record.version == 3));
        assert!(matches!(table.read(1, true), (Some(record), true) if record.version == 2));
    }
}
