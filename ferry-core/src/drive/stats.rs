//! What a handle can tell of itself.

use core::time::Duration;

use crate::fold_write::Tally;

/// Counters since the handle was made, and gauges of the moment.
///
/// The counters of one shard are consistent with each other; of several, nearly so. When the runtime has dropped its tasks, what was
/// in flight stays counted as it was: it has not been heard of again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Gauge: inputs that wait for their key's next batch.
    pub waiting: usize,
    /// Gauge: inputs waiting or in flight, and places set aside for more; what `max_queueing` bounds.
    pub queueing: usize,
    /// Gauge: batches in flight, what `max_in_flight` bounds.
    pub batches_in_flight: usize,
    /// Gauge: keys with something waiting or in flight.
    pub keys: usize,
    /// Gauge: how long the input that has waited longest has waited; zero if none waits.
    pub oldest_wait: Duration,
    /// The counters.
    pub counters: Counters,
}

/// Counters since the handle was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counters {
    /// Inputs accepted.
    pub accepted: u64,
    /// Inputs handed back, over a bound or closed.
    pub rejected: u64,
    /// Inputs withdrawn by their callers while they waited.
    pub withdrawn: u64,
    /// Inputs whose deadline passed while they waited.
    pub expired: u64,
    /// Batches whose round trip is over.
    pub batches: u64,
    /// Inputs of these batches. Divided by `batches`, the mean batch.
    pub batched: u64,
    /// The most inputs that one of them had.
    pub largest_batch: u64,
    /// Times that a key was resumed, on its own or by a sweep.
    pub resumes: u64,
    /// What the writes and the resumes took, and what became of the inputs. Of a batch call of your own it
    /// holds `failed` alone.
    pub writes: Tally,
}

impl Counters {
    /// A batch's round trip is over; `None`: all its inputs have their outcomes, and no more is told.
    pub(super) fn add_batch(&mut self, inputs: usize, tally: Option<&Tally>) {
        let inputs = inputs as u64;
        self.batches += 1;
        self.batched += inputs;
        self.largest_batch = self.largest_batch.max(inputs);
        if let Some(tally) = tally {
            self.writes.add(tally);
        }
    }

    pub(super) fn add(&mut self, other: &Self) {
        let Self {
            accepted,
            rejected,
            withdrawn,
            expired,
            batches,
            batched,
            largest_batch,
            resumes,
            writes,
        } = other;
        self.accepted += accepted;
        self.rejected += rejected;
        self.withdrawn += withdrawn;
        self.expired += expired;
        self.batches += batches;
        self.batched += batched;
        self.largest_batch = self.largest_batch.max(*largest_batch);
        self.resumes += resumes;
        self.writes.add(writes);
    }
}
