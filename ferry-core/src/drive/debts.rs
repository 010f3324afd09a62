//! What a sweeper remembers of the keys that it found pending.

use alloc::{collections::BTreeSet, vec::Vec};
use core::{hash::Hash, mem};
use std::collections::HashMap;

use crate::{Instant, Retry, retry::Jitter};

use super::{
    chance::{self, Hasher},
    sweep::Fate,
};

/// The most keys that are remembered. What is found beyond that is tried in every turn, as if it had never
/// failed.
const REMEMBERED_MAX: usize = 100_000;

/// Keys found pending: to be tried in the turn under way, or left alone for a while since they failed.
///
/// A query may give a part of what is pending, each time another. So what it does not find is tried all the
/// same, when its pause is over: whether a debt was paid, the store says.
pub(super) struct Debts<K> {
    known: HashMap<K, Debt, Hasher>,
    /// When each was found first, and its number.
    ages: BTreeSet<(Instant, u64)>,
    numbers: u64,
    turn: u64,
    retry: Retry,
    jitter: Jitter,
}

struct Debt {
    found: (Instant, u64),
    /// The last turn that found it.
    turn: u64,
    failed: u32,
    not_before: Instant,
}

impl<K: Clone + Eq + Hash> Debts<K> {
    pub(super) fn new(retry: Retry, seed: u64) -> Self {
        Self {
            known: HashMap::with_hasher(chance::hasher()),
            ages: BTreeSet::new(),
            numbers: 0,
            turn: 0,
            retry,
            jitter: Jitter::new(seed),
        }
    }

    /// A turn has found these. What comes out is to be tried now: of these, and of what was found before.
    pub(super) fn find(&mut self, now: Instant, keys: Vec<K>) -> Vec<K> {
        self.turn += 1;
        let mut due: Vec<K> = keys
            .into_iter()
            .filter(|key| self.found(now, key))
            .collect();
        let is_left = |debt: &Debt| debt.turn != self.turn && debt.not_before <= now;
        let mut left: Vec<_> = (self.known.iter())
            .filter(|(_, debt)| is_left(debt))
            .map(|(key, debt)| (debt.found, key))
            .collect();
        // The oldest first, and no order comes from the map.
        left.sort_unstable_by_key(|(found, _)| *found);
        due.extend(left.into_iter().map(|(_, key)| key.clone()));
        due
    }

    /// Whether it is to be tried now.
    fn found(&mut self, now: Instant, key: &K) -> bool {
        if let Some(debt) = self.known.get_mut(key) {
            let is_twice = mem::replace(&mut debt.turn, self.turn) == self.turn;
            return debt.not_before <= now && !is_twice;
        }
        if self.known.len() < REMEMBERED_MAX {
            self.numbers += 1;
            let found = (now, self.numbers);
            let debt = Debt {
                found,
                turn: self.turn,
                failed: 0,
                not_before: now,
            };
            // The key's own code may panic: its age is kept only once it is.
            self.known.insert(key.clone(), debt);
            self.ages.insert(found);
        }
        true
    }

    pub(super) fn tried(&mut self, now: Instant, key: &K, fate: Fate) {
        match fate {
            Fate::Paid => {
                if let Some((key, debt)) = self.known.remove_entry(key) {
                    self.ages.remove(&debt.found);
                    drop(key);
                }
            }
            // Not the debt that was found: whoever is at work there has made another.
            Fate::Failed {
                is_overtaken: true, ..
            } => {
                if let Some(debt) = self.known.get_mut(key) {
                    self.ages.remove(&debt.found);
                    self.numbers += 1;
                    debt.found = (now, self.numbers);
                    debt.failed = 0;
                    debt.not_before = now;
                    self.ages.insert(debt.found);
                }
            }
            Fate::Failed { class, .. } => {
                if let Some(debt) = self.known.get_mut(key) {
                    debt.failed = debt.failed.saturating_add(1);
                    let pause = self.jitter.pause(&self.retry, debt.failed, class);
                    debt.not_before = now + pause;
                }
            }
        }
    }

    pub(super) fn pending(&self) -> usize {
        self.known.len()
    }

    /// When the oldest was found first.
    pub(super) fn oldest(&self) -> Option<Instant> {
        self.ages.first().map(|(found, _)| *found)
    }
}

#[cfg(test)]
mod tests {
    use core::time::Duration;

    use super::*;
    use crate::Class;

    const FAILED: Fate = Fate::Failed {
        class: Class::Transient,
        is_overtaken: false,
    };

    const RETRY: Retry = Retry {
        base: Duration::from_secs(10),
        factor: 2,
        cap: Duration::from_secs(80),
        attempts: u32::MAX,
        total: Duration::MAX,
    };

    fn at(seconds: u64) -> Instant {
        Instant::EPOCH + Duration::from_secs(seconds)
    }

    /// Over so many turns, a second apart, in which the key fails whenever it is tried: how many tries.
    fn tries(turns: u64) -> u32 {
        let mut debts = Debts::new(RETRY, 7);
        let mut tries = 0;
        for now in (0..turns).map(at) {
            for key in debts.find(now, alloc::vec!["a"]) {
                tries += 1;
                debts.tried(now, &key, FAILED);
            }
        }
        tries
    }

    #[test]
    fn a_key_that_keeps_failing_is_tried_ever_less() {
        // Full jitter: half the ceiling in the mean, and that is 40 s from the fourth failure on.
        assert!((10..=60).contains(&tries(1000)), "{}", tries(1000));
        assert!(tries(10) >= 1);
    }

    #[test]
    fn what_is_paid_is_forgotten_and_what_is_not_found_is_tried_when_its_pause_is_over() {
        let mut debts = Debts::new(RETRY, 7);
        assert_eq!(debts.find(at(1), alloc::vec!["a", "b", "a"]), ["a", "b"]);
        debts.tried(at(2), &"a", FAILED);
        debts.tried(at(2), &"b", Fate::Paid);
        assert_eq!((debts.pending(), debts.oldest()), (1, Some(at(1))));

        assert_eq!(debts.find(at(300), alloc::vec!["b", "a"]), ["b", "a"]);
        assert_eq!((debts.pending(), debts.oldest()), (2, Some(at(1))));
        debts.tried(at(300), &"b", FAILED);

        assert_eq!(debts.find(at(300), alloc::vec![]), ["a"]);
        debts.tried(at(300), &"a", FAILED);
        assert_eq!((debts.pending(), debts.oldest()), (2, Some(at(1))));
        assert_eq!(debts.find(at(600), alloc::vec!["b"]), ["b", "a"]);
        debts.tried(at(600), &"a", Fate::Paid);
        assert_eq!((debts.pending(), debts.oldest()), (1, Some(at(300))));
    }

    #[test]
    fn what_is_beyond_memory_is_tried_all_the_same() {
        let mut debts = Debts::new(RETRY, 7);
        let keys: Vec<_> = (0..REMEMBERED_MAX + 2).collect();
        for _ in 0..2 {
            assert_eq!(debts.find(at(1), keys.clone()).len(), keys.len());
            assert_eq!(debts.pending(), REMEMBERED_MAX);
        }
    }

    #[test]
    fn a_debt_that_others_have_overtaken_is_a_new_one() {
        let mut debts = Debts::new(RETRY, 7);
        debts.find(at(1), alloc::vec!["a", "b"]);
        debts.tried(at(2), &"b", FAILED);
        let overtaken = Fate::Failed {
            class: Class::Transient,
            is_overtaken: true,
        };
        debts.tried(at(9), &"a", overtaken);
        debts.tried(at(9), &"b", Fate::Paid);
        assert_eq!((debts.pending(), debts.oldest()), (1, Some(at(9))));
        assert_eq!(debts.find(at(9), alloc::vec!["a"]), ["a"]);
    }

    #[test]
    fn a_store_that_throttles_is_given_its_pause() {
        let mut debts = Debts::new(RETRY, 7);
        debts.find(at(1), alloc::vec!["a"]);
        let throttled = Fate::Failed {
            class: Class::Throttled(Some(Duration::from_secs(500))),
            is_overtaken: false,
        };
        debts.tried(at(1), &"a", throttled);
        assert!(debts.find(at(500), alloc::vec!["a"]).is_empty());
        assert_eq!(debts.find(at(1000), alloc::vec!["a"]), ["a"]);
    }
}
