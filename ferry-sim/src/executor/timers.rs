//! Who is to be woken at which moment.

use core::{cmp::Reverse, task::Waker};
use std::collections::BinaryHeap;

use super::tasks::TaskId;

/// Names one timer; never used again, though its slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TimerId {
    slot: u32,
    nth: u32,
}

/// Who is to be woken.
pub(super) enum Sleeper {
    Task(TaskId),
    /// Somebody whom a task has put between itself and its timer.
    Other(Waker),
}

/// A timer in its slot.
struct Timer {
    nth: u32,
    sleeper: Sleeper,
}

/// A timer in the order in which they go off: by their moments, and those of one moment in the order in which they were set. It
/// is one number, which is compared at once: the moment above, and then the timer's own number and its slot.
type Due = u128;

impl TimerId {
    fn due(self, nanos: u64) -> Due {
        u128::from(nanos) << 64 | u128::from(self.nth) << 32 | u128::from(self.slot)
    }

    fn of(due: Due) -> Self {
        Self {
            slot: due as u32,
            nth: (due >> 32) as u32,
        }
    }
}

fn moment(due: Due) -> u64 {
    (due >> 64) as u64
}

/// The timers that are set.
#[derive(Default)]
pub(super) struct Timers {
    /// The next one first. One that was cleared stays until its turn comes, or until there are too many of its like.
    order: BinaryHeap<Reverse<Due>>,
    slots: Vec<Option<Timer>>,
    slots_free: Vec<u32>,
    set: u32,
}

/// So many in the order that are cleared do not matter, however few there are that are not.
const CLEARED_MAX: usize = 64;

impl Timers {
    /// # Panics
    ///
    /// Once four billion were set: a run as long as that is none.
    pub(super) fn set(&mut self, nanos: u64, sleeper: Sleeper) -> TimerId {
        let Some(nth) = self.set.checked_add(1) else {
            panic!("a run sets no more than {} timers", u32::MAX)
        };
        self.set = nth;
        let timer = Some(Timer { nth, sleeper });
        let slot = match self.slots_free.pop() {
            Some(slot) => {
                self.slots[slot as usize] = timer;
                slot
            }
            None => {
                self.slots.push(timer);
                (self.slots.len() - 1) as u32
            }
        };
        let id = TimerId { slot, nth };
        self.order.push(Reverse(id.due(nanos)));
        id
    }

    /// Gives back who would have been woken; `None` where it has gone off.
    pub(super) fn clear(&mut self, id: TimerId) -> Option<Sleeper> {
        let cleared = self.take(id)?;
        let are_set = self.slots.len() - self.slots_free.len();
        if self.order.len() > 2 * are_set + CLEARED_MAX {
            let slots = &self.slots;
            (self.order).retain(|&Reverse(due)| timer(slots, TimerId::of(due)).is_some());
        }
        Some(cleared)
    }

    /// Who would be woken by this timer, if it is still to go off.
    pub(super) fn sleeper(&self, id: TimerId) -> Option<&Sleeper> {
        timer(&self.slots, id).map(|timer| &timer.sleeper)
    }

    /// When the next one goes off.
    pub(super) fn next(&mut self) -> Option<u64> {
        while let Some(&Reverse(due)) = self.order.peek() {
            if self.sleeper(TimerId::of(due)).is_some() {
                return Some(moment(due));
            }
            self.order.pop();
        }
        None
    }

    /// The next one that is due by then goes off.
    pub(super) fn go_off(&mut self, by: u64) -> Option<Sleeper> {
        while let Some(&Reverse(due)) = self.order.peek() {
            if moment(due) > by {
                return None;
            }
            self.order.pop();
            if let Some(sleeper) = self.take(TimerId::of(due)) {
                return Some(sleeper);
            }
        }
        None
    }

    fn take(&mut self, TimerId { slot, nth }: TimerId) -> Option<Sleeper> {
        let taken = self.slots[slot as usize].take_if(|timer| timer.nth == nth)?;
        self.slots_free.push(slot);
        Some(taken.sleeper)
    }
}

/// If it is still to go off.
fn timer(slots: &[Option<Timer>], TimerId { slot, nth }: TimerId) -> Option<&Timer> {
    slots[slot as usize]
        .as_ref()
        .filter(|timer| timer.nth == nth)
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
