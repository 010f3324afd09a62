//! Counting what a store does.

use std::sync::atomic::{AtomicU64, Ordering};

use ferry_core::CommitError;

/// What a store has done since it was opened, over all clones of its handle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Commits that landed.
    pub commits: u64,
    /// Commits that were refused.
    pub refused: u64,
    /// Projections that landed: each wrote a view. One that found nothing to do is not counted.
    pub projections: u64,
    /// Projections that were refused, by the read that each begins with or by its write. Many of them mean
    /// that several are at work on the same keys.
    pub projections_refused: u64,
    /// Commits and projections that were left in doubt.
    pub in_doubt: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    commits: AtomicU64,
    refused: AtomicU64,
    projections: AtomicU64,
    projections_refused: AtomicU64,
    in_doubt: AtomicU64,
}

impl Tally {
    pub(crate) fn committed<T, E>(&self, result: &Result<T, CommitError<E>>) {
        self.add(result, &self.commits, &self.refused);
    }

    pub(crate) fn projected<T, E>(&self, result: &Result<T, CommitError<E>>) {
        self.add(result, &self.projections, &self.projections_refused);
    }

    fn add<T, E>(
        &self,
        result: &Result<T, CommitError<E>>,
        landed: &AtomicU64,
        refused: &AtomicU64,
    ) {
        let counter = match result {
            Ok(_) => landed,
            Err(CommitError::Refused) => refused,
            Err(CommitError::InDoubt(_)) => &self.in_doubt,
            Err(CommitError::NotLanded(_)) => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            commits: read(&self.commits),
            refused: read(&self.refused),
            projections: read(&self.projections),
            projections_refused: read(&self.projections_refused),
            in_doubt: read(&self.in_doubt),
        }
    }
}
