//! How a broken store projects.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what one defect changes, the others leave as it is"
)]

use ferry_core::{
    CommitError, Coverage, Fault, ProjectResult, Record, RecordOf, drive::ProjectedStore,
};
use futures_lite::future::yield_now;

use super::{
    broken::{BrokenStore, Flawed},
    defect::Defect,
    journal::{Page, Trouble},
    shelf::Kept,
};

/// More than a projection takes in at once, where it is cut.
const FEW: usize = 100;

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
        let namesakes = match self.defect {
            Defect::ProjectsNamesakes => flawed.namesakes(key, record),
            _ => Vec::new(),
        };
        if let Some(kept) = flawed.shelf.pages.get_mut(&key) {
            let (marker, shown) = (kept.marker, kept.shown.len());
            kept.project(record);
            kept.shown.extend(namesakes);
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
            Defect::ViewGoesById => kept.shown.sort_unstable(),
            Defect::LongDebtIsCut => kept.shown.truncate(shown + FEW),
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
    ) -> ProjectResult<Vec<u32>, Trouble> {
        if self.has(Defect::ViewIsOverwritten) {
            return self.overwrite(key, record);
        }
        if !self.is_as(&self.flawed(), key, record) {
            return Err(CommitError::Refused);
        }
        match self.defect {
            Defect::PartSaysTooMuch => return self.project_part(key, record),
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
    fn overwrite(&self, key: u32, record: &Record<Page, u64>) -> ProjectResult<Vec<u32>, Trouble> {
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

    /// The entries that come next, and the marker once there are no more.
    fn project_part(
        &self,
        key: u32,
        record: &Record<Page, u64>,
    ) -> ProjectResult<Vec<u32>, Trouble> {
        let mut flawed = self.flawed();
        let kept = flawed.shelf.pages.get_mut(&key);
        let kept = kept.ok_or(CommitError::Refused)?;
        let owed = kept.owed(record);
        let mut rest = owed.iter().filter(|id| !kept.shown.contains(id));
        let part: Vec<u32> = rest.by_ref().take(FEW).copied().collect();
        let is_whole = rest.next().is_none();
        kept.shown.extend(part);
        if is_whole {
            kept.marker = record.version;
            return Ok(Coverage::Whole);
        }
        Ok(Coverage::Part {
            view: owed,
            fault: Fault::transient(Trouble::TooLong),
        })
    }

    fn move_marker(&self, key: u32, version: u64) {
        if let Some(kept) = self.flawed().shelf.pages.get_mut(&key) {
            kept.marker = version;
        }
    }
}

impl ProjectedStore for BrokenStore {
    type View = Vec<u32>;

    async fn project(
        &self,
        key: &u32,
        record: &RecordOf<Self>,
    ) -> ProjectResult<Vec<u32>, Trouble> {
        self.forget(*key);
        yield_now().await;
        let answer = self.try_project(*key, record).await;
        yield_now().await;
        answer
    }
}
