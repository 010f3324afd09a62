//! How a broken store projects.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what one defect changes, the others leave as it is"
)]

use ferry_core::{CommitError, Coverage, ProjectResult, Record, RecordOf, drive::ProjectedStore};
use futures_lite::future::yield_now;

use super::{
    broken::{BrokenStore, Flawed},
    defect::Defect,
    journal::{Page, Trouble},
    shelf::Kept,
};

impl BrokenStore {
    /// The condition of a projection.
    fn is_as(&self, flawed: &Flawed, key: u32, record: &Record<Page, u64>) -> bool {
        let Some(kept) = flawed.shelf.pages.get(&key) else {
            return false;
        };
        let count = |version: u64| flawed.counts.get(&version).copied().unwrap_or(0);
        match self.defect {
            Defect::ProjectUnfenced => true,
            Defect::FencedOnVersionAlone => kept.version == record.version,
            Defect::FencedOnMarkerAlone => kept.marker == record.state.marker,
            Defect::MarkerIsAFlag => {
                let is_pending = record.state.marker != record.version;
                is_pending == (kept.marker != kept.version)
            }
            Defect::FencedOnCount => {
                count(kept.version) == count(record.version)
                    && count(kept.marker) == count(record.state.marker)
            }
            _ => kept.is_as(record),
        }
    }

    /// What a projection does in one step, or in the second of two.
    fn advance(&self, flawed: &mut Flawed, key: u32, record: &Record<Page, u64>) {
        let version = match self.defect {
            Defect::ProjectChangesVersion => Some(flawed.shelf.draw()),
            _ => None,
        };
        if self.has(Defect::ProjectPaysAll) {
            let all = flawed.shelf.pages.values_mut();
            all.for_each(|kept| kept.marker = kept.version);
        }
        if let Some(kept) = flawed.shelf.pages.get_mut(&key) {
            let (marker, shown) = (kept.marker, kept.shown.len());
            kept.project(record);
            self.spoil(kept, record, marker, shown);
            if let Some(version) = version {
                kept.version = version;
                kept.marker = version;
            }
        }
    }

    /// What is wrong with what was written.
    fn spoil(&self, kept: &mut Kept, record: &Record<Page, u64>, marker: u64, shown: usize) {
        match self.defect {
            Defect::ProjectSkipsView => kept.shown.truncate(shown),
            Defect::ProjectLeavesMarker => kept.marker = marker,
            Defect::ProjectsBackwards => kept.shown[shown..].reverse(),
            Defect::MarkerIsAFlag => kept.marker = kept.version,
            Defect::FencedOnCount => kept.marker = kept.version,
            Defect::ProjectWritesBack => {
                record.state.text.clone_into(&mut kept.text);
                kept.version = record.version;
            }
            _ => {}
        }
    }

    async fn try_project(
        &self,
        key: u32,
        record: &Record<Page, u64>,
    ) -> ProjectResult<(), Trouble> {
        if self.has(Defect::ViewIsOverwritten) {
            return self.overwrite(key, record);
        }
        if !self.is_as(&self.flawed(), key, record) {
            return Err(CommitError::Refused);
        }
        match self.defect {
            Defect::ProjectInTwoSteps | Defect::ProjectWritesBack => yield_now().await,
            Defect::MarkerBeforeView => {
                self.move_marker(key, record.version);
                yield_now().await;
            }
            _ => {}
        }
        self.advance(&mut self.flawed(), key, record);
        Ok(Coverage::Whole)
    }

    /// The view first, made from scratch, and then the marker by compare.
    fn overwrite(&self, key: u32, record: &Record<Page, u64>) -> ProjectResult<(), Trouble> {
        let mut flawed = self.flawed();
        let kept = flawed.shelf.pages.get_mut(&key);
        let kept = kept.ok_or(CommitError::Refused)?;
        let mut scratch = record.clone();
        scratch.state.marker = 0;
        kept.shown = kept.owed(&scratch);
        if !kept.is_as(record) {
            return Err(CommitError::Refused);
        }
        kept.marker = record.version;
        Ok(Coverage::Whole)
    }

    fn move_marker(&self, key: u32, version: u64) {
        if let Some(kept) = self.flawed().shelf.pages.get_mut(&key) {
            kept.marker = version;
        }
    }
}

impl ProjectedStore for BrokenStore {
    type View = ();

    async fn project(&self, key: &u32, record: &RecordOf<Self>) -> ProjectResult<(), Trouble> {
        self.forget(*key);
        yield_now().await;
        let answer = self.try_project(*key, record).await;
        yield_now().await;
        answer
    }
}
