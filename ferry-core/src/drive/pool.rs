//! Slots that nobody uses, to be used again.

use alloc::{
    sync::{Arc, Weak},
    vec::Vec,
};
use core::mem;

use super::{
    lock::Mutex,
    slot::{Home, Slot},
    sync::seat_of_this_thread,
};

/// How many slots a pool keeps.
const KEPT: usize = 4096;

/// The pools of a handle. Threads have theirs apart, as far as there are enough, so that a slot that was let go of a moment ago is
/// still in the cache of who takes it next.
pub(super) struct Pools<A, E>(Vec<Arc<Pool<A, E>>>);

/// Slots that come back here however far they go, so that no thread runs out of them for what another gathers.
///
/// Aligned to the two cache lines that processors fetch at a time.
#[repr(align(128))]
pub(super) struct Pool<A, E> {
    pub(super) home: Weak<dyn Home<A, E>>,
    free: Mutex<Free<A, E>>,
}

enum Free<A, E> {
    Kept(Vec<Arc<Slot<A, E>>>),
    /// The handle is gone, and nothing is kept.
    Closed,
}

impl<A, E> Pools<A, E> {
    pub(super) fn new(pools: usize, home: &Weak<impl Home<A, E> + 'static>) -> Self {
        let pool = || {
            Arc::new(Pool {
                home: Weak::clone(home) as Weak<dyn Home<A, E>>,
                free: Mutex::new(Free::Kept(Vec::new())),
            })
        };
        Self((0..pools).map(|_| pool()).collect())
    }

    /// A slot that is empty and nobody else's.
    pub(super) fn take(&self) -> Arc<Slot<A, E>> {
        let pool = &self.0[seat_of_this_thread() % self.0.len()];
        pool.take()
            .unwrap_or_else(|| Arc::new(Slot::new(Arc::clone(pool))))
    }
}

/// A free slot holds its pool, and the pool the slot: here that ends.
impl<A, E> Drop for Pools<A, E> {
    fn drop(&mut self) {
        for pool in &self.0 {
            let kept = mem::replace(&mut *pool.free.lock(), Free::Closed);
            drop(kept);
        }
    }
}

impl<A, E> Pool<A, E> {
    /// The one that came back last.
    fn take(&self) -> Option<Arc<Slot<A, E>>> {
        let mut free = self.free.lock();
        match &mut *free {
            Free::Kept(slots) => slots.pop(),
            Free::Closed => None,
        }
    }

    /// An empty slot comes back.
    pub(super) fn keep(&self, slot: &Arc<Slot<A, E>>) {
        let mut free = self.free.lock();
        match &mut *free {
            Free::Kept(slots) if slots.len() < KEPT => slots.push(Arc::clone(slot)),
            Free::Kept(_) | Free::Closed => {}
        }
    }
}
