//! Counting without being noticed: each thread has counters of its own, which only it writes.

use std::{
    cell::OnceCell,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// A power of two is split into so many buckets, which makes each at most 1/32 wide.
const SPLIT: u32 = 5;
const BUCKETS: usize = 40 << SPLIT;

static ALL: Mutex<Vec<Arc<Counters>>> = Mutex::new(Vec::new());

thread_local! {
    static MINE: OnceCell<Arc<Counters>> = const { OnceCell::new() };
}

#[repr(align(128))]
struct Counters {
    batches: AtomicU64,
    batched: AtomicU64,
    answered: AtomicU64,
    latencies: [AtomicU64; BUCKETS],
}

/// What all threads have counted.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) batches: u64,
    pub(crate) batched: u64,
    pub(crate) answered: u64,
    latencies: Vec<u64>,
}

fn mine(count: impl FnOnce(&Counters)) {
    MINE.with(|mine| count(mine.get_or_init(join)));
}

fn join() -> Arc<Counters> {
    let counters = Arc::new(Counters {
        batches: AtomicU64::new(0),
        batched: AtomicU64::new(0),
        answered: AtomicU64::new(0),
        latencies: [const { AtomicU64::new(0) }; BUCKETS],
    });
    let mut all = ALL.lock().unwrap_or_else(|e| e.into_inner());
    all.push(Arc::clone(&counters));
    counters
}

/// By the only thread that writes it.
fn add(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Relaxed) + more, Relaxed);
}

pub(crate) fn count_batch(inputs: usize) {
    mine(|counters| {
        add(&counters.batches, 1);
        add(&counters.batched, inputs as u64);
    });
}

pub(crate) fn count_answer() {
    mine(|counters| add(&counters.answered, 1));
}

pub(crate) fn count_latency(nanos: u64) {
    mine(|counters| add(&counters.latencies[bucket(nanos)], 1));
}

pub(crate) fn read() -> Reading {
    let mut sum = Reading {
        batches: 0,
        batched: 0,
        answered: 0,
        latencies: vec![0; BUCKETS],
    };
    for counters in &*ALL.lock().unwrap_or_else(|e| e.into_inner()) {
        sum.batches += counters.batches.load(Relaxed);
        sum.batched += counters.batched.load(Relaxed);
        sum.answered += counters.answered.load(Relaxed);
        for (sum, one) in sum.latencies.iter_mut().zip(&counters.latencies) {
            *sum += one.load(Relaxed);
        }
    }
    sum
}

impl Reading {
    /// What was counted between an earlier reading and this.
    pub(crate) fn since(mut self, earlier: &Self) -> Self {
        self.batches -= earlier.batches;
        self.batched -= earlier.batched;
        self.answered -= earlier.answered;
        for (now, before) in self.latencies.iter_mut().zip(&earlier.latencies) {
            *now -= before;
        }
        self
    }

    /// The latency, in nanoseconds, that this part of the inputs did not exceed.
    pub(crate) fn quantile(&self, part: f64) -> f64 {
        let all: u64 = self.latencies.iter().sum();
        let rank = (all as f64 * part).ceil().max(1.0) as u64;
        let mut seen = 0;
        let found = self.latencies.iter().position(|&in_bucket| {
            seen += in_bucket;
            seen >= rank
        });
        found.map_or(f64::NAN, middle)
    }
}

fn bucket(nanos: u64) -> usize {
    let exponent = (nanos | 1).ilog2();
    if exponent < SPLIT {
        return nanos as usize;
    }
    let shift = exponent - SPLIT;
    let within = (nanos >> shift) as usize & ((1 << SPLIT) - 1);
    ((((shift + 1) as usize) << SPLIT) + within).min(BUCKETS - 1)
}

fn middle(bucket: usize) -> f64 {
    if bucket < 1 << SPLIT {
        return bucket as f64;
    }
    let shift = (bucket >> SPLIT) - 1;
    let within = bucket & ((1 << SPLIT) - 1);
    (((1 << SPLIT) + within) as f64 + 0.5) * (1u64 << shift) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_as_narrow_as_promised() {
        for nanos in (1..10_000).chain([1 << 22, 987_654_321, 30_000_000_000]) {
            let off = (middle(bucket(nanos)) - nanos as f64).abs();
            assert!(off <= nanos as f64 / 32.0, "{nanos} is off by {off}");
        }
    }

    #[test]
    fn quantiles_count_from_the_least() {
        for nanos in 1..=20 {
            count_latency(nanos);
        }
        let reading = read();
        assert_eq!(reading.quantile(0.5), 10.0);
        assert_eq!(reading.quantile(1.0), 20.0);
    }
}
