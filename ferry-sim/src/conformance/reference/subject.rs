//! Journals as a subject of the kit.

use std::sync::atomic::{AtomicU32, Ordering};

use ferry_core::drive::{ProjectedStore, SharedSchema};

use super::{
    super::subject::{Deletion, ProjectedSubject, Subject},
    broken::BrokenStore,
    defect::Defect,
    journal::{Journal, JournalSchema, Note, Page},
    store::ReferenceStore,
};

/// A store of journals, as the kit needs it.
pub trait JournalStore: ProjectedStore<View = Vec<u32>> + JournalSchema + SharedSchema {
    /// Another handle on the same journals.
    #[must_use]
    fn another(&self) -> Self;

    /// The ids that the key's view includes, in order.
    fn shown(&self, key: u32) -> Vec<u32>;

    /// The keys whose views lack something, in their order.
    fn pending(&self) -> Vec<u32>;

    /// Deletes the key's page.
    fn delete(&self, key: u32);
}

impl JournalStore for ReferenceStore {
    fn another(&self) -> Self {
        self.clone()
    }

    fn shown(&self, key: u32) -> Vec<u32> {
        self.shown(key)
    }

    fn pending(&self) -> Vec<u32> {
        self.pending()
    }

    fn delete(&self, key: u32) {
        self.delete(key);
    }
}

impl JournalStore for BrokenStore {
    fn another(&self) -> Self {
        self.another()
    }

    fn shown(&self, key: u32) -> Vec<u32> {
        self.shown(key)
    }

    fn pending(&self) -> Vec<u32> {
        self.pending()
    }

    fn delete(&self, key: u32) {
        self.delete(key);
    }
}

/// A store of journals to be checked.
#[derive(Debug)]
pub struct Journals<S> {
    store: S,
    fold: Journal<S>,
    keys: AtomicU32,
}

impl<S> Journals<S> {
    /// The journals of this store, which has none yet.
    pub fn of(store: S) -> Self {
        Self {
            store,
            fold: Journal::default(),
            keys: AtomicU32::new(0),
        }
    }
}

impl Default for Journals<ReferenceStore> {
    fn default() -> Self {
        Self::of(ReferenceStore::default())
    }
}

impl Journals<BrokenStore> {
    /// The journals of a store with this defect.
    pub fn with(defect: Defect) -> Self {
        Self::of(BrokenStore::new(defect))
    }
}

impl<S: JournalStore> Subject for Journals<S> {
    type Fold = Journal<S>;
    type Store = S;

    fn fold(&self) -> &Journal<S> {
        &self.fold
    }

    async fn open(&self) -> S {
        self.store.another()
    }

    fn fresh_key(&self) -> u32 {
        self.keys.fetch_add(1, Ordering::Relaxed)
    }

    fn input(&self, number: u32) -> Note {
        Note {
            id: number,
            text: format!("line {number}"),
        }
    }

    fn large_input(&self, number: u32) -> Option<Note> {
        const LENGTH: usize = 256 * 1024;
        Some(Note {
            id: number,
            text: "large".repeat(LENGTH / "large".len()),
        })
    }

    fn is_same(&self, read: &Page, committed: &Page) -> bool {
        read.text == committed.text
    }

    async fn delete(&self, store: &S, key: &u32) -> Deletion {
        store.delete(*key);
        Deletion::Done
    }
}

impl<S: JournalStore> ProjectedSubject for Journals<S> {
    type Picture = Vec<u32>;

    async fn shown(&self, store: &S, key: &u32) -> Vec<u32> {
        store.shown(*key)
    }

    async fn finds_pending(&self, store: &S, key: &u32) -> Option<bool> {
        Some(store.pending().contains(key))
    }

    fn picture(&self, applied: &[u32]) -> Vec<u32> {
        applied.to_vec()
    }
}
