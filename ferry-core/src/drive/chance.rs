//! The two things that the driver draws at random, neither of which decides what happens.

use core::hash::BuildHasher;
use std::hash::RandomState;

/// A hasher for keys that callers choose, and must not be able to make collide.
#[expect(
    clippy::disallowed_methods,
    reason = "no order depends on the hash, only speed does"
)]
pub(super) fn hasher() -> RandomState {
    RandomState::new()
}

/// A seed for the jitter of a process that was not given one: processes must not retry in step.
pub(super) fn seed() -> u64 {
    hasher().hash_one("jitter")
}
