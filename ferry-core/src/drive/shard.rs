//! A share of the keys: its batching machine, its parked tasks, and what to do once it is unlocked.

use alloc::{
    sync::{Arc, Weak},
    vec::Vec,
};
use std::hash::RandomState;

use crate::{
    Instant,
    guard::guard,
    per_key::{Command, InvalidLimits, Limits, PerKey, Ticket},
};

use super::{
    bound::Waiter,
    carries::{Carried, Carries},
    key_line::KeyLines,
    lock::Mutex,
    mailbox::{Mailbox, Unbegun, Work},
    shared::{Passenger, Shared},
    slot::{Slot, Verdict},
    stats::Counters,
    submission::Home,
};

/// How many spent slots a shard keeps.
const SLOTS_KEPT: usize = 4096;

pub(super) type SlotOf<C> = Slot<Verdict<<C as Carries>::Answer, <C as Carries>::Error>>;

/// A share of the keys. What one thread does here takes a moment, and no foreign code runs meanwhile
/// but the key's own `Hash`, `Eq`, `Clone` and `Drop`.
pub(super) struct Shard<C: Carries> {
    pub(super) index: usize,
    pub(super) shared: Weak<Shared<C>>,
    pub(super) state: Mutex<State<C>>,
    /// Slots whose answer was taken, to be used again.
    returned: Mutex<Vec<Arc<SlotOf<C>>>>,
}

pub(super) struct State<C: Carries> {
    pub(super) per_key: PerKey<C::Key, Carried<C>, RandomState>,
    pub(super) idle: Vec<Arc<Mailbox<C>>>,
    pub(super) counters: Counters,
    pub(super) key_lines: KeyLines<C::Key>,
    pub(super) permit: Permit,
    /// The earliest alarm that this shard has asked for and not seen.
    pub(super) armed: Option<Instant>,
    slots: Vec<Arc<SlotOf<C>>>,
}

/// Whether the shard has asked for a permit that it did not get yet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Permit {
    NotAsked,
    InLine,
}

/// What has to be done once the shard is unlocked.
pub(super) struct Effects<C: Carries> {
    /// Nearly always there is at most one, and it takes no allocation.
    pub(super) launch: Option<Launch<C>>,
    pub(super) more: Vec<Launch<C>>,
    pub(super) expired: Vec<Carried<C>>,
    /// Waiters for whom there is room at their key.
    pub(super) called: Vec<Arc<Waiter<()>>>,
    pub(super) alarm: Option<Instant>,
    pub(super) drained: bool,
}

/// A batch, and the parked task that is to carry it, if there was one.
pub(super) struct Launch<C: Carries> {
    pub(super) work: Work<C>,
    pub(super) mailbox: Option<Arc<Mailbox<C>>>,
}

impl<C: Carries> Shard<C> {
    pub(super) fn new(
        index: usize,
        shared: Weak<Shared<C>>,
        limits: Limits,
        hasher: RandomState,
    ) -> Result<Self, InvalidLimits> {
        Ok(Self {
            index,
            shared,
            state: Mutex::new(State {
                per_key: PerKey::with_lent_permits(limits, hasher)?,
                idle: Vec::new(),
                counters: Counters::default(),
                key_lines: KeyLines::default(),
                permit: Permit::NotAsked,
                armed: None,
                slots: Vec::new(),
            }),
            returned: Mutex::new(Vec::new()),
        })
    }

    /// A slot for an answer, a spent one if there is one.
    pub(super) fn slot(&self, state: &mut State<C>) -> Arc<SlotOf<C>> {
        if state.slots.is_empty() {
            core::mem::swap(&mut state.slots, &mut *self.returned.lock());
        }
        state.slots.pop().unwrap_or_else(|| Arc::new(Slot::new()))
    }

    /// Takes out an input that waits; if none does, closes the machine in the same moment, so that none
    /// comes after.
    pub(super) fn evict_or_close(&self) -> Option<Carried<C>> {
        let mut state = self.state.lock();
        let evicted = state.per_key.evict_oldest();
        if evicted.is_none() {
            state.per_key.close();
        }
        evicted.map(|(_, carried)| carried)
    }

    /// Takes the machine's commands, and what else follows from the last event.
    pub(super) fn settle(&self, state: &mut State<C>, shared: &Shared<C>) -> Effects<C> {
        while state.permit == Permit::NotAsked && state.per_key.wants_permit() {
            match shared.permits.take_or_wait(self.index) {
                Ok(()) => state.per_key.lend_permit(),
                Err(_) => state.permit = Permit::InLine,
            }
        }
        let mut effects = Effects::default();
        while let Some(command) = state.per_key.poll() {
            match command {
                Command::Dispatch(batch) => {
                    let inputs = batch.items().len();
                    let hash = batch.items().first().map_or(0, |first| first.input.hash);
                    let work = Work {
                        shard: self.index,
                        hash,
                        inputs,
                        batch: Unbegun::new(batch),
                    };
                    effects.launch(Launch {
                        work,
                        mailbox: state.idle.pop(),
                    });
                }
                Command::Expired(_, carried) => {
                    state.counters.expired += 1;
                    state.call_waiters(carried.hash, &mut effects.called);
                    effects.expired.push(carried);
                }
                Command::Drained => effects.drained = true,
            }
        }
        shared.answering(effects.expired.len());
        if let Some(due) = state.per_key.timeout()
            && state.armed.is_none_or(|armed| due < armed)
        {
            state.armed = Some(due);
            effects.alarm = Some(due);
        }
        effects
    }
}

impl<C: Carries> State<C> {
    /// Calls those who wait for room at the keys of this hash, as far as there is any.
    pub(super) fn call_waiters(&mut self, hash: u64, called: &mut Vec<Arc<Waiter<()>>>) {
        let per_key = &self.per_key;
        // A key whose `Eq` panics is let through, to panic where it was submitted.
        let room_at = |key: &C::Key| guard(|| per_key.room_at(hash, key)).unwrap_or(usize::MAX);
        self.key_lines.call(hash, room_at, called);
    }

    /// Whether others wait for room at this key, and so come first.
    pub(super) fn is_behind(&self, passenger: &Passenger<C>) -> bool {
        // What can never go is told so, and not to wait.
        self.per_key.takes(passenger.weight) && self.key_lines.has(passenger.hash, &passenger.key)
    }
}

impl<C: Carries> Effects<C> {
    fn launch(&mut self, launch: Launch<C>) {
        match self.launch {
            None => self.launch = Some(launch),
            Some(_) => self.more.push(launch),
        }
    }
}

impl<C: Carries> Default for Effects<C> {
    fn default() -> Self {
        Self {
            launch: None,
            more: Vec::new(),
            expired: Vec::new(),
            called: Vec::new(),
            alarm: None,
            drained: false,
        }
    }
}

impl<C: Carries> Home<C::Answer, C::Error> for Shard<C> {
    fn withdraw(&self, ticket: Ticket) {
        let Some(shared) = self.shared.upgrade() else {
            return;
        };
        let mut state = self.state.lock();
        let Some(carried) = state.per_key.withdraw(ticket) else {
            return;
        };
        state.counters.withdrawn += 1;
        let mut effects = self.settle(&mut state, &shared);
        state.call_waiters(carried.hash, &mut effects.called);
        drop(state);
        carried.reply.forgo();
        shared.release_room(1);
        shared.act(effects);
        shared.watch_no_longer_than_needed();
        // Last, since it may panic, which is the business of who dropped the submission.
        drop(carried.input);
    }

    fn take_back(&self, slot: Arc<SlotOf<C>>) {
        if let Some(slot) = slot.renewed() {
            let mut returned = self.returned.lock();
            if returned.len() < SLOTS_KEPT {
                returned.push(slot);
            }
        }
    }
}
