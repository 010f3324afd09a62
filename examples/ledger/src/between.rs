//! The moment between a node's two writes, at which it can be held, to be dropped there.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

/// Where a node passes between its commits and their projections. All clones are one.
#[derive(Clone, Debug, Default)]
pub struct Between(Arc<Flags>);

#[derive(Debug, Default)]
struct Flags {
    is_barred: AtomicBool,
    held: AtomicUsize,
}

impl Between {
    /// From now on nothing gets past it any more: what has been committed is not projected by this node.
    pub fn bar(&self) {
        self.0.is_barred.store(true, Ordering::SeqCst);
    }

    /// How much stands here, committed and not projected, for ever.
    #[must_use]
    pub fn held(&self) -> usize {
        self.0.held.load(Ordering::SeqCst)
    }

    /// Passes, or stays here for as long as the node lives.
    pub(crate) async fn pass(&self) {
        if self.0.is_barred.load(Ordering::SeqCst) {
            self.0.held.fetch_add(1, Ordering::SeqCst);
            pending().await
        }
    }
}
