//! What goes in and out of the machine: tickets, batches, refusals.

use alloc::vec::Vec;
use core::{error::Error, fmt};

use super::slab::Handle;
use crate::Instant;

/// The machine's handle for one accepted input. Never used twice in the machine's life (but for a
/// counter of 2³² turns at one place wrapping round).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Ticket(pub(super) Handle);

impl Ticket {
    /// The ticket as a number, for a caller's own table.
    #[must_use]
    pub fn to_bits(self) -> u64 {
        self.0.to_bits()
    }
}

impl core::hash::Hash for Ticket {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        self.to_bits().hash(state);
    }
}

impl fmt::Debug for Ticket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (place, turn) = self.0.parts();
        write!(f, "Ticket({place}.{turn})")
    }
}

/// What an input asks for besides being carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// When it is of no use any more; `None`: never. While it waits, it then leaves the queue as
    /// [`Expired`](super::Command::Expired); in flight, it is left out of the next try.
    pub deadline: Option<Instant>,
    /// Its share of [`max_weight`](super::Limits::max_weight).
    pub weight: usize,
}

impl Default for Terms {
    /// No deadline, and a weight of one.
    fn default() -> Self {
        Self {
            deadline: None,
            weight: 1,
        }
    }
}

/// One input of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item<I> {
    /// What [`submit`](super::PerKey::submit) returned for it.
    pub ticket: Ticket,
    /// When it is of no use any more.
    pub deadline: Option<Instant>,
    /// The input itself.
    pub input: I,
}

/// Inputs of one key that go in one round trip, in submission order.
///
/// While it exists, the key has no other batch in flight. Give it back with
/// [`PerKey::finished`](super::PerKey::finished), also when the round trip failed: a batch that is
/// dropped instead blocks its key for good.
#[must_use = "give the batch back with `PerKey::finished`, or its key is blocked for good"]
pub struct Batch<K, I> {
    pub(super) lane: Handle,
    pub(super) key: K,
    pub(super) items: Vec<Item<I>>,
}

impl<K, I> Batch<K, I> {
    /// Whose inputs these are.
    pub fn key(&self) -> &K {
        &self.key
    }

    /// The inputs, in submission order; those that were not taken out yet.
    pub fn items(&self) -> &[Item<I>] {
        &self.items
    }

    /// What is kept of the batch in case it is lost.
    #[cfg(feature = "drive")]
    pub(crate) fn stub(&self) -> Stub {
        Stub(self.lane)
    }

    /// Takes the inputs out, in submission order.
    pub fn drain(&mut self) -> impl ExactSizeIterator<Item = Item<I>> + '_ {
        self.items.drain(..)
    }
}

/// Says whose turn it was, of a batch that is lost; see [`PerKey::lost`](super::PerKey::lost).
#[cfg(feature = "drive")]
#[derive(Clone, Copy)]
pub(crate) struct Stub(pub(super) Handle);

impl<K: fmt::Debug, I: fmt::Debug> fmt::Debug for Batch<K, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("key", &self.key)
            .field("items", &self.items)
            .finish()
    }
}

/// An input that was not accepted, with everything handed back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Rejected<K, I> {
    /// Why, and so what to do.
    pub reason: Reason,
    /// The key, as it was given.
    pub key: K,
    /// The input, as it was given.
    pub input: I,
}

/// Why an input was not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// `max_queueing` inputs are waiting or in flight. Shed load, or wait for room.
    QueueFull,
    /// `max_queueing_per_key` inputs of this key are waiting or in flight. Other keys have room.
    KeyFull,
    /// The input is heavier than `max_weight`. It can never go; make it smaller.
    TooHeavy,
    /// The machine was closed. Send it to another process.
    Closed,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::QueueFull => "as many inputs are queueing as may; shed load, or wait for room",
            Self::KeyFull => "as many inputs of this key are queueing as may; wait for room",
            Self::TooHeavy => "the input is heavier than a batch may be; make it smaller",
            Self::Closed => "closed for new inputs; send it to another process",
        })
    }
}

impl<K, I> fmt::Debug for Rejected<K, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rejected")
            .field("reason", &self.reason)
            .finish_non_exhaustive()
    }
}

impl<K, I> fmt::Display for Rejected<K, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rejected: {}", self.reason)
    }
}

impl<K, I> Error for Rejected<K, I> {}
