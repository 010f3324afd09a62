//! One key's inputs: those that wait, and how many are in flight.

use super::{
    batch::Terms,
    limits::Limits,
    slab::{Index, Linked, Links, List},
};
use crate::Instant;

/// An input that waits for its key's next batch.
pub(super) struct Waiting<I> {
    pub(super) lane: Index,
    /// How many inputs the machine had accepted before this one.
    pub(super) order: u64,
    pub(super) submitted: Instant,
    pub(super) deadline: Option<Instant>,
    pub(super) weight: usize,
    pub(super) input: I,
    links: Links,
}

impl<I> Waiting<I> {
    pub(super) fn new(lane: Index, order: u64, now: Instant, terms: Terms, input: I) -> Self {
        Self {
            lane,
            order,
            submitted: now,
            deadline: terms.deadline,
            weight: terms.weight,
            input,
            links: Links::default(),
        }
    }
}

impl<I> Linked for Waiting<I> {
    fn links(&mut self) -> &mut Links {
        &mut self.links
    }
}

/// A key that has something waiting or in flight.
pub(super) struct Lane<K> {
    pub(super) hash: u64,
    pub(super) key: K,
    pub(super) phase: Phase<K>,
    /// The waiting inputs, in submission order.
    pub(super) queue: List,
    pub(super) waiting: usize,
    /// Of the waiting inputs together.
    pub(super) weight: u128,
}

pub(super) enum Phase<K> {
    /// Nothing is in flight. The next batch takes the spare key along, and brings it back.
    Gathering { spare: K },
    /// A batch of so many inputs is in flight.
    InFlight { inputs: usize },
}

impl<K> Phase<K> {
    /// How many inputs are in flight; `None`: no batch is.
    pub(super) fn in_flight(&self) -> Option<usize> {
        match self {
            Self::Gathering { .. } => None,
            Self::InFlight { inputs } => Some(*inputs),
        }
    }
}

impl<K: Clone> Lane<K> {
    pub(super) fn new(hash: u64, key: K) -> Self {
        let spare = key.clone();
        Self {
            hash,
            key,
            phase: Phase::Gathering { spare },
            queue: List::new(),
            waiting: 0,
            weight: 0,
        }
    }
}

impl<K> Lane<K> {
    /// Inputs waiting or in flight.
    pub(super) fn queueing(&self) -> usize {
        self.waiting + self.phase.in_flight().unwrap_or(0)
    }

    pub(super) fn is_in_flight(&self) -> bool {
        self.phase.in_flight().is_some()
    }

    /// Whether waiting longer cannot make the next batch any larger.
    pub(super) fn is_full(&self, limits: &Limits) -> bool {
        self.waiting >= limits.max_batch || self.weight >= limits.max_weight as u128
    }

    /// Sends a batch of so many inputs off, with the key to go with it.
    pub(super) fn launch(&mut self, inputs: usize) -> K {
        match core::mem::replace(&mut self.phase, Phase::InFlight { inputs }) {
            Phase::Gathering { spare } => spare,
            Phase::InFlight { .. } => unreachable!("a key has one batch in flight"),
        }
    }
}
