//! What a story takes for granted.

use core::{num::NonZeroUsize, time::Duration};

use ferry_core::{Retry, per_key::Limits};

use crate::{
    policy::Policy,
    purses::Purses,
    store::Layout,
    swarm::{Draws, Size},
};

/// What a story takes for granted, beside its fleet's own rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) nodes: usize,
    /// How often a write is tried.
    pub(super) attempts: u32,
    /// And for how long.
    pub(super) total: Duration,
    pub(super) max_batch: usize,
    pub(super) max_queueing: usize,
    pub(super) max_queueing_per_key: usize,
    pub(super) max_in_flight: usize,
    pub(super) linger: Duration,
    /// How many ids a purse remembers.
    pub(super) ids: NonZeroUsize,
    /// Whether a purse remembers what it declined.
    pub(super) keeps_declined: bool,
}

impl Setting {
    pub(super) const USUAL: Self = Self {
        nodes: 3,
        attempts: 10,
        total: Duration::from_secs(30),
        max_batch: 512,
        max_queueing: 100_000,
        max_queueing_per_key: usize::MAX,
        max_in_flight: 1_024,
        linger: Duration::ZERO,
        ids: NonZeroUsize::new(1_000).unwrap(),
        keeps_declined: false,
    };

    /// As usual, with one try only.
    pub(super) const ONE_TRY: Self = Self {
        attempts: 1,
        ..Self::USUAL
    };

    /// As usual, with two tries.
    pub(super) const TWO_TRIES: Self = Self {
        attempts: 2,
        ..Self::USUAL
    };

    pub(super) fn draws(&self, layout: Layout) -> Draws {
        let size = Size {
            nodes: self.nodes,
            keys: 8,
            inputs: 0,
            duration: Duration::ZERO,
        };
        Draws {
            limits: Limits {
                max_batch: self.max_batch,
                max_queueing: self.max_queueing,
                max_queueing_per_key: self.max_queueing_per_key,
                max_in_flight: self.max_in_flight,
                linger: self.linger,
                ..Limits::default()
            },
            retry: Retry {
                attempts: self.attempts,
                total: self.total,
                ..Retry::default()
            },
            layout,
            ..Draws::still(size)
        }
    }

    pub(super) fn purses(&self, policy: &Policy) -> Purses {
        let purses = Purses::with(policy.dedup).remembering(self.ids);
        if self.keeps_declined {
            purses.keeping_declined()
        } else {
            purses
        }
    }
}
