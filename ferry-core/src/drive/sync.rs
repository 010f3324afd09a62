//! Where threads meet: whatever the driver's parts share goes through the locks and the atomics named here.
//!
//! They are the standard library's. With `--cfg shuttle` they are shuttle's, which lets a test decide who runs
//! next at each of them: `tests/concurrency`.

#[cfg(not(shuttle))]
pub(super) use core::sync::atomic;
#[cfg(not(shuttle))]
pub(super) use std::sync::{Mutex, MutexGuard};

#[cfg(shuttle)]
pub(super) use shuttle::sync::{Mutex, MutexGuard, atomic};

/// Threads are numbered as they come here first, to be spread by that. Nothing but speed depends on it.
pub(super) fn seat_of_this_thread() -> usize {
    use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    static TAKEN: AtomicUsize = AtomicUsize::new(0);
    std::thread_local! {
        static SEAT: usize = TAKEN.fetch_add(1, Relaxed);
    }
    // A thread that ends has given its number up.
    SEAT.try_with(|&seat| seat).unwrap_or(0)
}
