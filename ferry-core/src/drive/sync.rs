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
