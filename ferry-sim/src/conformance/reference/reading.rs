//! How a broken store reads.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what one defect changes, the others leave as it is"
)]

use ferry_core::Record;
use futures_lite::future::yield_now;

use super::{
    broken::{BrokenStore, Flawed, HUNDREDS, locked},
    defect::Defect,
    guards::{Harm, OnDrop},
    journal::Page,
    shelf::Kept,
};

impl Flawed {
    /// The ids that a record owes, once more for each other key that knows them.
    pub(super) fn namesakes(&self, key: u32, record: &Record<Page, u64>) -> Vec<u32> {
        let owed = self.shelf.pages.get(&key).map(|kept| kept.owed(record));
        let owed = owed.unwrap_or_default();
        let others = self.shelf.pages.iter().filter(|(other, _)| **other != key);
        let lines = others.flat_map(|(_, kept)| &kept.lines);
        let ids = lines.map(|(_, line)| line.id);
        ids.filter(|id| owed.contains(id)).collect()
    }
}

impl BrokenStore {
    fn look(&self, key: u32, ids: &[u32]) -> Option<Record<Page, u64>> {
        let ids = match self.defect {
            Defect::ManyIdsAreCut => &ids[..ids.len().min(HUNDREDS)],
            _ => ids,
        };
        let flawed = self.flawed();
        let stored = flawed.shelf.pages.get(&key).cloned();
        let mut cache = locked(&self.cache);
        let kept = match self.defect {
            Defect::ReadsFromCache => cache.entry(key).or_insert(stored).clone(),
            Defect::RefusalKeepsSnapshot => cache.get(&key).cloned().unwrap_or(stored),
            Defect::ReadsOldSnapshot if flawed.under_way.contains(&key) => {
                flawed.old.get(&key).cloned().unwrap_or(stored)
            }
            _ => stored,
        };
        drop(cache);
        let mut kept = kept.or_else(|| self.of_others(&flawed, ids))?;
        let old = kept.lines.len().saturating_sub(32);
        match self.defect {
            Defect::ForgetsIds => drop(kept.lines.drain(..old)),
            Defect::OutcomesFade => {
                let length = kept.text.len();
                kept.lines[..old]
                    .iter_mut()
                    .for_each(|(_, line)| line.length = length);
            }
            Defect::KeysShareVersion => kept.version = flawed.last,
            Defect::KeysShareIds => {
                let others = flawed.shelf.pages.values();
                let mut lines: Vec<_> = others.flat_map(|kept| kept.lines.clone()).collect();
                lines.append(&mut kept.lines);
                kept.lines = lines;
            }
            _ => {}
        }
        Some(kept.read(ids))
    }

    /// A blank page, where there is none and others know the ids.
    fn of_others(&self, flawed: &Flawed, ids: &[u32]) -> Option<Kept> {
        let mut lines = flawed.shelf.pages.values().flat_map(|kept| &kept.lines);
        let is_known = lines.any(|(_, line)| ids.contains(&line.id));
        (self.has(Defect::KeysShareIds) && is_known).then(Kept::default)
    }

    /// What a read does.
    pub(super) async fn read_page(&self, key: u32, ids: &[u32]) -> Option<Record<Page, u64>> {
        let keeps_lock = self.has(Defect::DroppedReadKeepsLock);
        let lock = keeps_lock.then(|| OnDrop::new(&self.flawed, key, Harm::Lock));
        yield_now().await;
        let mut record = self.look(key, ids);
        yield_now().await;
        if let (Defect::ReadIsTorn, Some(record)) = (self.defect, &mut record) {
            let version = self.look(key, &[]).map(|record| record.version);
            record.version = version.unwrap_or(record.version);
        }
        if let Some(lock) = lock {
            lock.disarm();
        }
        record
    }
}
