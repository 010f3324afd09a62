//! What is told of a sweep: each try as it is over, and what it all came to.

use alloc::vec::Vec;

use crate::{Cause, Class, projected_write::resume::Resumed};

/// How many keys that stayed pending a report names.
pub(super) const EXAMPLES_MAX: usize = 16;

/// One try of a sweep, as it is over.
#[derive(Debug)]
#[non_exhaustive]
pub struct SweepProgress<'a, K, E> {
    /// Which key was tried.
    pub key: &'a K,
    /// What came of it.
    pub result: &'a Result<Resumed, Cause<E>>,
    /// Whether it failed and is tried again, after a pause.
    pub is_tried_again: bool,
    /// What the sweep has come to so far, this try included.
    pub so_far: &'a SweepReport<K, E>,
    pub(in crate::drive) fate: Fate,
}

/// What a try means for a key's debt.
#[derive(Clone, Copy, Debug)]
pub(in crate::drive) enum Fate {
    Paid,
    Failed {
        class: Class,
        /// Others are at work on the record.
        is_overtaken: bool,
    },
}

/// What a sweep came to.
#[derive(Debug)]
#[non_exhaustive]
pub struct SweepReport<K, E> {
    /// Keys that were taken up.
    pub taken: u64,
    /// Keys that were pending and are projected now.
    pub projected: u64,
    /// Keys that were not pending (any more) when they were read.
    pub nothing_pending: u64,
    /// Keys that are pending still, all their tries having failed.
    pub still_pending: u64,
    /// The first 16 of these, and what the last try came to grief on.
    pub examples: Vec<(K, Cause<E>)>,
    /// Whether the handle was closed before every key was tried to the end.
    pub was_cut_short: bool,
}

impl<K, E> Default for SweepReport<K, E> {
    fn default() -> Self {
        Self {
            taken: 0,
            projected: 0,
            nothing_pending: 0,
            still_pending: 0,
            examples: Vec::new(),
            was_cut_short: false,
        }
    }
}
