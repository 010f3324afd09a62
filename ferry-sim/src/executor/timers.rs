//! Who is to be woken at which moment.

use core::{
    cmp::{Ordering, Reverse},
    task::Waker,
};
use std::collections::BinaryHeap;

use super::tasks::TaskId;

/// Names one timer; never used again, though its slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimerId {
    slot: usize,
    nth: u64,
}

/// Who is to be woken.
pub(super) enum Sleeper {
    Task(TaskId),
    /// Somebody whom a task has put between itself and its timer.
    Other(Waker),
}

/// A timer in its slot.
struct Timer {
    nth: u64,
    sleeper: Sleeper,
}

/// In which order timers go off: by their moments, and those of one moment in the order in which they were set.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Due {
    nanos: u64,
    nth: u64,
    slot: usize,
}

impl Due {
    /// Both in one number, which is compared at once.
    fn rank(self) -> u128 {
        u128::from(self.nanos) << 64 | u128::from(self.nth)
    }
}

impl PartialOrd for Due {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }

    fn lt(&self, other: &Self) -> bool {
        self.rank() < other.rank()
    }

    fn le(&self, other: &Self) -> bool {
        self.rank() <= other.rank()
    }
}

impl Ord for Due {
    fn cmp(&self, other: &Self) -> Ordering {
        self.rank().cmp(&other.rank())
    }
}

/// The timers that are set.
#[derive(Default)]
pub(super) struct Timers {
    /// The next one first. One that was cleared stays until its turn comes, or until there are too many of its like.
    order: BinaryHeap<Reverse<Due>>,
    slots: Vec<Option<Timer>>,
    slots_free: Vec<usize>,
    set: u64,
}

/// So many in the order that are cleared do not matter, however few there are that are not.
const CLEARED_MAX: usize = 64;

impl Timers {
    pub(super) fn set(&mut self, nanos: u64, sleeper: Sleeper) -> TimerId {
        self.set += 1;
        let nth = self.set;
        let slot = self.slots_free.pop().unwrap_or(self.slots.len());
        let timer = Some(Timer { nth, sleeper });
        if slot == self.slots.len() {
            self.slots.push(timer);
        } else {
            self.slots[slot] = timer;
        }
        self.order.push(Reverse(Due { nanos, nth, slot }));
        TimerId { slot, nth }
    }

    /// Gives back who would have been woken; `None` where it has gone off.
    pub(super) fn clear(&mut self, TimerId { slot, nth }: TimerId) -> Option<Sleeper> {
        let cleared = self.take(slot, nth)?;
        let are_set = self.slots.len() - self.slots_free.len();
        if self.order.len() > 2 * are_set + CLEARED_MAX {
            let slots = &self.slots;
            (self.order).retain(|Reverse(due)| is_set(slots, due.slot, due.nth));
        }
        Some(cleared)
    }

    /// Who would be woken by this timer, if it is still to go off.
    pub(super) fn sleeper(&self, TimerId { slot, nth }: TimerId) -> Option<&Sleeper> {
        let timer = self.slots[slot].as_ref();
        timer
            .filter(|timer| timer.nth == nth)
            .map(|timer| &timer.sleeper)
    }

    /// When the next one goes off.
    pub(super) fn next(&mut self) -> Option<u64> {
        while let Some(&Reverse(due)) = self.order.peek() {
            if is_set(&self.slots, due.slot, due.nth) {
                return Some(due.nanos);
            }
            self.order.pop();
        }
        None
    }

    /// The next one that is due by then goes off.
    pub(super) fn go_off(&mut self, by: u64) -> Option<Sleeper> {
        while let Some(&Reverse(due)) = self.order.peek() {
            if due.nanos > by {
                return None;
            }
            self.order.pop();
            if let Some(sleeper) = self.take(due.slot, due.nth) {
                return Some(sleeper);
            }
        }
        None
    }

    fn take(&mut self, slot: usize, nth: u64) -> Option<Sleeper> {
        let taken = self.slots[slot].take_if(|timer| timer.nth == nth)?;
        self.slots_free.push(slot);
        Some(taken.sleeper)
    }
}

fn is_set(slots: &[Option<Timer>], slot: usize, nth: u64) -> bool {
    slots[slot].as_ref().is_some_and(|timer| timer.nth == nth)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(sleeper: Option<Sleeper>) -> Option<u64> {
        match sleeper? {
            Sleeper::Task(task) => Some(task.nth),
            Sleeper::Other(_) => unreachable!("it was a task"),
        }
    }

    fn set(timers: &mut Timers, nanos: u64, nth: u64) -> TimerId {
        timers.set(nanos, Sleeper::Task(TaskId { slot: 0, nth }))
    }

    #[test]
    fn timers_go_off_by_their_moments_and_then_in_the_order_in_which_they_were_set() {
        let mut timers = Timers::default();
        for (nanos, nth) in [(30, 1), (10, 2), (20, 3), (10, 4)] {
            set(&mut timers, nanos, nth);
        }
        assert_eq!(timers.next(), Some(10));
        let mut until =
            |by| -> Vec<_> { core::iter::from_fn(|| name(timers.go_off(by))).collect() };
        assert!(until(9).is_empty());
        assert_eq!(until(20), [2, 4, 3]);
        assert_eq!(until(u64::MAX), [1]);
        assert_eq!(timers.next(), None);
    }

    #[test]
    fn a_timer_that_was_cleared_or_went_off_is_no_other_in_its_slot() {
        let mut timers = Timers::default();
        let first = set(&mut timers, 10, 1);
        assert_eq!(name(timers.clear(first)), Some(1));
        assert_eq!(timers.next(), None);
        let second = set(&mut timers, 20, 2);
        assert_eq!(name(timers.clear(first)), None);
        assert_eq!(timers.next(), Some(20));
        assert_eq!(name(timers.go_off(20)), Some(2));
        set(&mut timers, 30, 3);
        assert_eq!(name(timers.clear(second)), None);
        assert!(timers.sleeper(second).is_none());
        assert_eq!(timers.next(), Some(30));
    }

    #[test]
    fn what_was_cleared_takes_no_room_for_long() {
        let mut timers = Timers::default();
        set(&mut timers, 5, 0);
        for nth in 1..10_000 {
            let timer = set(&mut timers, u64::MAX, nth);
            timers.clear(timer);
        }
        assert!(timers.order.len() <= 2 + CLEARED_MAX);
        assert_eq!(timers.slots.len(), 2);
        assert_eq!(name(timers.go_off(5)), Some(0));
    }
}
