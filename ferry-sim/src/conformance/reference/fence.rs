//! How a broken store looks at a commit's condition, and what it says where that does not hold.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what one defect changes, the others leave as it is"
)]

use ferry_core::{Commit, CommitError, Fault};

use super::{
    broken::{BrokenStore, locked},
    defect::Defect,
    journal::Trouble,
};

/// How many versions a store that forgets knows as replaced.
const REMEMBERED: usize = 4;

impl BrokenStore {
    /// What is answered before the version is looked at.
    pub(super) fn before_the_fence(
        &self,
        key: u32,
        commit: Commit<'_, Self>,
    ) -> Option<Result<u64, CommitError<Trouble>>> {
        let flawed = self.flawed();
        if flawed.locked.contains(&key) {
            return Some(Err(Fault::transient(Trouble::Busy).into()));
        }
        let kept = flawed.shelf.pages.get(&key)?;
        let is_known = |id: u32| kept.lines.iter().any(|(_, line)| line.id == id);
        if !commit.entries.iter().any(|entry| is_known(entry.id)) {
            return None;
        }
        match self.defect {
            Defect::RepeatIsPermanent => Some(Err(Fault::permanent(Trouble::KnownId).into())),
            Defect::RepeatLands => Some(Ok(kept.version)),
            _ => None,
        }
    }

    /// The condition of a commit.
    pub(super) fn is_at(&self, key: u32, expected: Option<u64>) -> bool {
        let flawed = self.flawed();
        let kept = flawed.shelf.pages.get(&key);
        match (self.defect, expected, kept) {
            (Defect::CommitUnfenced, Some(_), Some(_))
            | (Defect::AbsenceUnfenced, None, _)
            | (Defect::UpdateCreates, Some(_), None) => true,
            (Defect::FenceForgets, Some(expected), Some(kept)) => {
                let replaced = kept.lines.iter().rev().skip(1).take(REMEMBERED);
                let mut replaced = replaced.map(|(version, _)| *version);
                kept.version == expected || !replaced.any(|version| version == expected)
            }
            (Defect::KeysShareVersion, Some(expected), Some(_)) => flawed.is_last(expected),
            (Defect::KeysShareIds, Some(0), None) => true,
            (Defect::VersionIsCut, Some(expected), Some(kept)) => {
                kept.version.to_le_bytes()[0] == expected.to_le_bytes()[0]
            }
            (Defect::VersionIsText, Some(expected), Some(kept)) => {
                kept.version.to_string() <= expected.to_string()
            }
            _ => flawed.shelf.is_at(key, expected),
        }
    }

    /// What a commit is told whose condition does not hold.
    pub(super) fn refuse(
        &self,
        key: u32,
        commit: Commit<'_, Self>,
    ) -> Result<u64, CommitError<Trouble>> {
        let mut flawed = self.flawed();
        let kept = flawed.shelf.pages.get_mut(&key);
        match self.defect {
            Defect::ZeroRowsLanded => Ok(kept.map_or(0, |kept| kept.version)),
            Defect::RefusalKeepsSnapshot => {
                let found = kept.cloned();
                drop(flawed);
                locked(&self.cache).insert(key, found);
                Err(CommitError::Refused)
            }
            Defect::RefusalIsPermanent => Err(Fault::permanent(Trouble::Conflict).into()),
            Defect::RefusalLeavesEntries => {
                let lines = commit.entries.iter().skip(1);
                if let Some(kept) = kept {
                    let version = kept.version;
                    kept.lines.extend(lines.map(|line| (version, line.clone())));
                }
                Err(CommitError::Refused)
            }
            _ => Err(CommitError::Refused),
        }
    }
}
