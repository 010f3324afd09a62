//! The interface that everything measured is given.

use std::future::Future;

/// Names one entity.
pub type Key = u64;
/// One caller's request.
pub type Input = u64;
/// What a caller hears.
pub type Output = u64;

/// The one right answer to an input, so that answers that got mixed up are noticed.
#[must_use]
pub fn answer(input: Input) -> Output {
    input.rotate_left(7) ^ 0x5bd1
}

/// The bounds that a batcher is asked to keep.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// The most inputs of one batch.
    pub max_batch: usize,
    /// The most inputs waiting or in flight. A batcher that knows only a bound per key or per channel
    /// applies it there; the probes show which.
    pub max_queueing: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            max_batch: 256,
            max_queueing: 1 << 20,
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failed {
    /// Not accepted, over a bound.
    Rejected,
    /// Accepted, and then lost: a panic, or a leader that went away.
    Lost,
}

/// A per-key batcher: one batch in flight per key, and what arrives meanwhile goes together.
pub trait Batcher: Send + Sync + Sized + 'static {
    /// Called inside the runtime.
    fn build(config: Config, backend: crate::Backend) -> Self;

    /// Completes with the input's answer.
    fn submit(&self, key: Key, input: Input)
    -> impl Future<Output = Result<Output, Failed>> + Send;

    /// For how many keys something is stored, where that can be told.
    fn keys(&self) -> Option<usize> {
        None
    }
}
