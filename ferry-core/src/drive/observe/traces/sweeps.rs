//! Sweeps, and the turns of a sweeper.

use alloc::sync::Arc;
use core::future::Future;

use tracing::{error, warn};

use crate::{drive::sweep::SweepReport, guard::guard};

use super::{TARGET, quiet::Quiet};

pub(in crate::drive) struct Sweep(pub(super) Quiet);

impl Sweep {
    pub(in crate::drive) fn within<T>(&self, code: impl FnOnce() -> T) -> T {
        let entered = self.0.enter();
        let output = code();
        drop(entered);
        output
    }

    pub(in crate::drive) fn ended<K, E>(&self, report: &SweepReport<K, E>) {
        self.0.tell(|span| {
            span.record("taken", report.taken);
            span.record("projected", report.projected);
            span.record("still_pending", report.still_pending);
            span.record("was_cut_short", report.was_cut_short);
        });
    }
}

pub(in crate::drive) struct Turn {
    pub(super) handle: Arc<str>,
    pub(super) span: Quiet,
}

impl Turn {
    pub(in crate::drive) fn within<F: Future>(&self, turn: F) -> impl Future<Output = F::Output> {
        self.span.within(turn)
    }

    /// So many are to be tried now.
    pub(in crate::drive) fn finds(&self, keys: usize) {
        self.span.tell(|span| {
            span.record("keys", keys);
        });
    }

    /// Every key was tried.
    pub(in crate::drive) fn ended(&self) {
        self.ends_as("done");
    }

    pub(in crate::drive) fn query_failed(&self) {
        self.ends_as("query failed");
        drop(guard(
            || warn!(target: TARGET, parent: self.span.id(), handle = &*self.handle, "a sweeper's query failed"),
        ));
    }

    pub(in crate::drive) fn panicked(&self) {
        self.ends_as("panicked");
        drop(guard(
            || error!(target: TARGET, parent: self.span.id(), handle = &*self.handle, "a sweeper's turn panicked"),
        ));
    }

    fn ends_as(&self, word: &'static str) {
        self.span.tell(|span| {
            span.record("end", word);
        });
    }
}
