//! What only a driver needs that shares one bound among several machines: it counts the batches in flight, and lends each its
//! permit.

use core::hash::{BuildHasher, Hash};

use super::PerKey;
use crate::Instant;

impl<K, I, S> PerKey<K, I, S>
where
    K: Clone + Eq + Hash,
    S: BuildHasher,
{
    /// When the last event was.
    pub(crate) fn now(&self) -> Instant {
        self.now
    }

    /// Whether a batch is ready and lacks nothing but a permit.
    pub(crate) fn wants_permit(&self) -> bool {
        !self.ready.is_empty()
    }

    /// How many more inputs of this key would be accepted, as far as the key's own bound goes.
    pub(crate) fn room_at(&self, hash: u64, key: &K) -> usize {
        let queueing = self
            .find(hash, key)
            .map_or(0, |lane| self.lanes[lane].queueing());
        self.limits.max_queueing_per_key.saturating_sub(queueing)
    }

    /// Whether an input of this weight can ever go.
    pub(crate) fn takes(&self, weight: usize) -> bool {
        weight <= self.limits.max_weight
    }

    /// Lets one batch go; to be called when [`wants_permit`](Self::wants_permit). The permit is the
    /// batch's until it is finished.
    pub(crate) fn lend_permit(&mut self) {
        if let Some(lane) = self.ready.pop() {
            self.take_off(lane);
        }
    }
}

/// All else is told in `tests/batching`.
#[cfg(test)]
mod tests {
    use super::super::*;

    type Hasher = core::hash::BuildHasherDefault<std::hash::DefaultHasher>;

    fn lending() -> PerKey<char, u32, Hasher> {
        PerKey::with_lent_permits(Limits::default(), Hasher::default()).unwrap()
    }

    fn dispatched(per_key: &mut PerKey<char, u32, Hasher>) -> Batch<char, u32> {
        match per_key.poll() {
            Some(Command::Dispatch(batch)) => batch,
            other => panic!("no batch but {other:?}"),
        }
    }

    #[test]
    fn nothing_goes_without_a_permit_and_one_permit_lets_the_oldest_go() {
        let mut per_key = lending();
        assert!(!per_key.wants_permit());
        for (key, input) in [('b', 1), ('a', 2), ('b', 3)] {
            per_key.submit(Instant::EPOCH, key, input).unwrap();
        }
        assert!(per_key.wants_permit() && per_key.poll().is_none());
        per_key.lend_permit();
        let batch = dispatched(&mut per_key);
        assert_eq!((*batch.key(), batch.items().len()), ('b', 2));
        assert!(per_key.poll().is_none() && per_key.wants_permit());
        per_key.lend_permit();
        assert_eq!(*dispatched(&mut per_key).key(), 'a');
        assert!(!per_key.wants_permit());
    }

    #[test]
    fn a_permit_lent_where_nothing_is_ready_any_more_is_harmless() {
        let mut per_key = lending();
        let ticket = per_key.submit(Instant::EPOCH, 'a', 1).unwrap();
        assert_eq!(per_key.withdraw(ticket), Some(1));
        assert!(!per_key.wants_permit());
        per_key.lend_permit();
        assert!(per_key.poll().is_none());
        assert_eq!((per_key.keys(), per_key.batches_in_flight()), (0, 0));
    }

    #[test]
    fn closed_it_drains_also_by_the_last_input_being_withdrawn() {
        let mut per_key = lending();
        let ticket = per_key.submit(Instant::EPOCH, 'a', 1).unwrap();
        per_key.close();
        assert!(per_key.poll().is_none());
        assert_eq!(per_key.withdraw(ticket), Some(1));
        assert!(matches!(per_key.poll(), Some(Command::Drained)));
        assert!(per_key.poll().is_none());
    }

    #[test]
    fn closed_it_drains_by_evicting_everything() {
        let mut per_key = lending();
        for (key, input) in [('b', 1), ('a', 2)] {
            per_key.submit(Instant::EPOCH, key, input).unwrap();
        }
        per_key.close();
        let evicted = core::iter::from_fn(|| per_key.evict_oldest()).map(|(_, input)| input);
        assert!(evicted.eq([1, 2]));
        assert!(matches!(per_key.poll(), Some(Command::Drained)));
    }
}
