//! Journals: what the conformance kit is told of an SQL recipe, but for the database itself.
//!
//! Each key is a journal, each input writes a line into it and is told how long it is then, and the view is a table of
//! contents. A recipe's test says how its database is reached, as a [`Database`], and has a [`Subject`] in [`Journals`]; a
//! [`ProjectedSubject`] if it says how views are read, as [`Views`].
#![forbid(unsafe_code)]

mod fold;

use std::{
    fmt::{Debug, Display},
    future::Future,
    sync::atomic::{AtomicU32, Ordering},
};

use ferry_core::{
    Commit, Schema,
    drive::{ProjectedStore, SharedSchema, Store},
};
use ferry_sim::conformance::{Deletion, ProjectedSubject, Subject};
use ferry_stored::{Fingerprint, Stored};

pub use fold::{Contents, JournalSchema, Line, Writing};

/// A store of journals.
pub trait JournalStore:
    Store + SharedSchema + JournalSchema + Schema<Error: Debug + Display>
{
}

impl<S> JournalStore for S where
    S: Store + SharedSchema + JournalSchema + Schema<Error: Debug + Display>
{
}

/// Where the journals are.
pub trait Database: Sync {
    /// The recipe's store.
    type Store: JournalStore;

    /// What a large line repeats: what is hard on this database.
    const LARGE: &str;

    /// A store of its own, as another process would have it.
    fn open(&self) -> impl Future<Output = Self::Store>;

    /// Deletes a journal's row as another program would, and leaves nothing behind.
    fn delete_row(&self, key: &str) -> impl Future<Output = ()>;
}

/// Where their views are.
pub trait Views: Database<Store: ProjectedStore<View = ()>> {
    /// The journal's contents; `None` where there are none yet.
    fn shown(&self, store: &Self::Store, key: &str) -> impl Future<Output = Option<Contents>>;

    /// The journals whose contents lack something.
    fn pending(&self, store: &Self::Store) -> impl Future<Output = Vec<String>>;
}

/// How a journal is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deleted {
    /// By a commit that removes the body, and keeps the version counting.
    ByCommit,
    /// By another program, which leaves nothing behind.
    ByHand,
}

/// Journals in a database.
#[derive(Debug)]
pub struct Journals<D: Database> {
    database: D,
    fold: Writing<D::Store>,
    deleted: Deleted,
    numbers: AtomicU32,
}

impl<D: Database> Journals<D> {
    /// Those in this database, which has none yet.
    pub fn new(database: D, deleted: Deleted) -> Self {
        Self {
            database,
            fold: Writing::default(),
            deleted,
            numbers: AtomicU32::new(0),
        }
    }

    fn number(&self) -> u32 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    async fn remove_body(&self, store: &D::Store, key: &String) {
        let id = format!("deletion {}", self.number());
        let seen = store.read(key, &[]).await.expect("reads");
        let mut seen = seen.expect("is there");
        seen.state.body = None;
        let entry = seen.state.apply(&*id, Fingerprint::of(b""), 0, *b"");
        let commit = Commit {
            expected: Some(&seen.version),
            state: &seen.state,
            entries: &[entry],
        };
        store.commit(key, commit).await.expect("lands");
    }
}

impl<D: Database> Subject for Journals<D> {
    type Fold = Writing<D::Store>;
    type Store = D::Store;

    fn fold(&self) -> &Self::Fold {
        &self.fold
    }

    async fn open(&self) -> D::Store {
        self.database.open().await
    }

    /// Some that differ in little.
    fn fresh_key(&self) -> String {
        let number = self.number();
        let name = ["Käse", "käse", "ka\u{308}se", "käse "][number as usize % 4];
        format!("{}{name}", number / 4)
    }

    fn input(&self, number: u32) -> Line {
        Line::new(number)
    }

    fn large_input(&self, number: u32) -> Option<Line> {
        const LENGTH: usize = 2 * 1024 * 1024;
        let text = D::LARGE.repeat(LENGTH / D::LARGE.len());
        Some(Line {
            text,
            ..Line::new(number)
        })
    }

    fn is_same(&self, read: &Stored<String, i64>, committed: &Stored<String, i64>) -> bool {
        read.body == committed.body
    }

    async fn delete(&self, store: &D::Store, key: &String) -> Deletion {
        match self.deleted {
            Deleted::ByCommit => self.remove_body(store, key).await,
            Deleted::ByHand => self.database.delete_row(key).await,
        }
        Deletion::Done
    }
}

impl<D: Views> ProjectedSubject for Journals<D> {
    type Picture = Contents;

    async fn shown(&self, store: &D::Store, key: &String) -> Contents {
        let shown = self.database.shown(store, key).await;
        shown.unwrap_or_default()
    }

    async fn finds_pending(&self, store: &D::Store, key: &String) -> Option<bool> {
        Some(self.database.pending(store).await.contains(key))
    }

    fn picture(&self, applied: &[u32]) -> Contents {
        Contents::of(applied.iter().map(|&number| Line::new(number)))
    }
}
