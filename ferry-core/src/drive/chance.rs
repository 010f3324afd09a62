//! The two things that the driver draws at random, neither of which decides what happens.

use core::hash::BuildHasher;

#[cfg(not(shuttle))]
pub(super) type Hasher = std::hash::RandomState;

/// The same in every run, so that a schedule in which a check failed meets the same shards again.
#[cfg(shuttle)]
pub(super) type Hasher = core::hash::BuildHasherDefault<std::hash::DefaultHasher>;

/// A hasher for keys that callers choose, and must not be able to make collide.
#[cfg_attr(
    not(shuttle),
    expect(
        clippy::disallowed_methods,
        reason = "no order depends on the hash, only speed does"
    )
)]
pub(super) fn hasher() -> Hasher {
    #[cfg(not(shuttle))]
    return Hasher::new();
    #[cfg(shuttle)]
    return Hasher::default();
}

/// A seed for the jitter of a process that was not given one: processes must not retry in step.
pub(super) fn seed() -> u64 {
    hasher().hash_one("jitter")
}
