//! Counting what a store does.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::{member::Verdict, queue::Write};

/// What a store has done since it was opened, over all clones of its handle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Transactions that were committed, each with one sync of the disk.
    pub transactions: u64,
    /// Commits that landed in them. Together with `projections`, and divided by `transactions`: how many
    /// writes shared a sync.
    pub commits: u64,
    /// Commits that were refused.
    pub refused: u64,
    /// Projections that landed: each wrote a view. One that found nothing to do is not counted.
    pub projections: u64,
    /// Projections that were refused, by the read that each begins with or by its write. Many of them mean
    /// that several are at work on the same keys.
    pub projections_refused: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    transactions: AtomicU64,
    commits: AtomicU64,
    refused: AtomicU64,
    projections: AtomicU64,
    projections_refused: AtomicU64,
}

impl Tally {
    /// Counts a group that was committed, or of which nothing had to be.
    pub(crate) fn add<'a>(&self, group: impl Iterator<Item = (&'a Write, &'a Verdict)>) {
        let mut landed = false;
        for (write, verdict) in group {
            landed |= matches!(verdict, Verdict::Landed(_));
            let counter = match (write, verdict) {
                (Write::Commit(_), Verdict::Landed(_)) => &self.commits,
                (Write::Commit(_), Verdict::Refused) => &self.refused,
                (Write::Projection(_), Verdict::Landed(_)) => &self.projections,
                (Write::Projection(_), Verdict::Refused) => &self.projections_refused,
                (_, Verdict::Failed(_)) => continue,
            };
            counter.fetch_add(1, Ordering::Relaxed);
        }
        self.transactions
            .fetch_add(u64::from(landed), Ordering::Relaxed);
    }

    /// Counts a projection that its read has refused.
    pub(crate) fn projection_refused(&self) {
        self.projections_refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            transactions: read(&self.transactions),
            commits: read(&self.commits),
            refused: read(&self.refused),
            projections: read(&self.projections),
            projections_refused: read(&self.projections_refused),
        }
    }
}
