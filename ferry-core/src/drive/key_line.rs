//! Those who wait for room at a key that has as many inputs queueing as it may.

use alloc::{collections::BTreeMap, sync::Arc, vec::Vec};

use super::bound::Waiter;

/// Waiters by the hash of their key, and in the order of arrival. Keys of one hash share a line,
/// which costs a needless call now and then and nothing else.
#[derive(Default)]
pub(super) struct KeyLine {
    waiters: BTreeMap<(u64, Turn), Arc<Waiter<()>>>,
    joined: u64,
}

/// When a waiter came. It keeps its turn when it was called and found the key full again.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Turn(u64);

/// A waiter that may try now.
pub(super) struct Called {
    pub(super) hash: u64,
    pub(super) waiter: Arc<Waiter<()>>,
}

impl KeyLine {
    pub(super) fn has(&self, hash: u64) -> bool {
        !self.waiters.is_empty() && self.first(hash).is_some()
    }

    pub(super) fn join(&mut self, hash: u64, turn: Option<Turn>) -> (Turn, Arc<Waiter<()>>) {
        let turn = turn.unwrap_or_else(|| {
            self.joined += 1;
            Turn(self.joined)
        });
        let waiter = Waiter::new();
        self.waiters.insert((hash, turn), Arc::clone(&waiter));
        (turn, waiter)
    }

    pub(super) fn leave(&mut self, hash: u64, turn: Turn) {
        self.waiters.remove(&(hash, turn));
    }

    /// Takes as many out of the line of a key as places have become free there.
    pub(super) fn call(&mut self, hash: u64, places: usize, called: &mut Vec<Called>) {
        for _ in 0..places {
            if self.waiters.is_empty() {
                return;
            }
            let Some(first) = self.first(hash) else {
                return;
            };
            if let Some(waiter) = self.waiters.remove(&first) {
                called.push(Called { hash, waiter });
            }
        }
    }

    /// Takes everyone out.
    pub(super) fn call_all(&mut self, called: &mut Vec<Called>) {
        let all = core::mem::take(&mut self.waiters);
        called.extend(
            all.into_iter()
                .map(|((hash, _), waiter)| Called { hash, waiter }),
        );
    }

    fn first(&self, hash: u64) -> Option<(u64, Turn)> {
        let of_key = (hash, Turn(0))..=(hash, Turn(u64::MAX));
        self.waiters.range(of_key).next().map(|(&first, _)| first)
    }
}
