//! The workloads: how many keys, how skewed, how many submitters, how slow a store.

use std::{iter::StepBy, ops::Range, sync::Arc, time::Duration};

use clap::ValueEnum;

use crate::{Key, Work};

/// Closed loops: each submitter has one input out at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Workload {
    /// One key, 64 submitters; a batch takes one turn of the scheduler.
    Hot,
    /// 100,000 keys alike, 4,096 submitters; a batch takes one turn of the scheduler.
    Spread,
    /// As `spread` with 128 submitters, few enough that latency is not the scheduler's.
    #[value(name = "spread-128")]
    Spread128,
    /// 10,000 keys, Zipf with s = 1.1, 1,024 submitters; a batch takes a millisecond.
    Zipf,
    /// 1,000,000 keys, one input for each, by 1,024 submitters; then nothing for a while.
    Idle,
}

/// What a workload is made of.
pub(crate) struct Shape {
    pub(crate) keys: usize,
    pub(crate) submitters: usize,
    pub(crate) work: Work,
    skew: Option<f64>,
}

impl Workload {
    pub(crate) fn shape(self) -> Shape {
        let (keys, submitters, work, skew) = match self {
            Self::Hot => (1, 64, Work::Yield, None),
            Self::Spread => (100_000, 4096, Work::Yield, None),
            Self::Spread128 => (100_000, 128, Work::Yield, None),
            Self::Zipf => (
                10_000,
                1024,
                Work::Sleep(Duration::from_millis(1)),
                Some(1.1),
            ),
            Self::Idle => (1_000_000, 1024, Work::Yield, None),
        };
        Shape {
            keys,
            submitters,
            work,
            skew,
        }
    }

    /// As it is written on the command line and in tables.
    #[must_use]
    pub fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// The keys of a workload. They are drawn beforehand, so that it costs nothing while it is measured.
#[derive(Clone)]
pub(crate) enum Keys {
    /// All submitters walk the same drawn keys, each from a place of its own.
    Drawn(Arc<[u32]>),
    /// So many keys, each once.
    Each(usize),
}

impl Keys {
    const DRAWN: usize = 1 << 20;

    pub(crate) fn draw(workload: Workload) -> Self {
        let shape = workload.shape();
        if workload == Workload::Idle {
            return Self::Each(shape.keys);
        }
        let mut random = Random(0x_fe44);
        let drawn = match shape.skew {
            None => (0..Self::DRAWN)
                .map(|_| (random.next() % shape.keys as u64) as u32)
                .collect(),
            Some(skew) => {
                let mut sum = 0.0;
                let sum_to = |rank: usize| {
                    sum += (rank as f64).powf(-skew);
                    sum
                };
                let up_to: Vec<f64> = (1..=shape.keys).map(sum_to).collect();
                let pick = |at: f64| up_to.partition_point(|&upper| upper <= at) as u32;
                (0..Self::DRAWN)
                    .map(|_| pick(random.part() * sum))
                    .collect()
            }
        };
        Self::Drawn(drawn)
    }

    /// The keys of one submitter of so many.
    pub(crate) fn of(&self, submitter: usize, submitters: usize) -> SubmitterKeys {
        match self {
            Self::Drawn(keys) => SubmitterKeys::Drawn {
                keys: Arc::clone(keys),
                at: submitter * (Self::DRAWN / submitters),
            },
            Self::Each(keys) => SubmitterKeys::Each((submitter..*keys).step_by(submitters)),
        }
    }
}

pub(crate) enum SubmitterKeys {
    Drawn { keys: Arc<[u32]>, at: usize },
    Each(StepBy<Range<usize>>),
}

impl Iterator for SubmitterKeys {
    type Item = Key;

    fn next(&mut self) -> Option<Key> {
        match self {
            Self::Drawn { keys, at } => {
                *at = (*at + 1) % keys.len();
                Some(Key::from(keys[*at]))
            }
            Self::Each(keys) => keys.next().map(|key| key as Key),
        }
    }
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to 1, 1 left out.
    fn part(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
