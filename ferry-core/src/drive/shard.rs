//! A share of the keys: its batching machine, its parked tasks, and what to do once it is unlocked.

use alloc::{sync::Arc, vec::Vec};

use crate::{
    Instant,
    guard::guard,
    per_key::{Command, InvalidLimits, Limits, PerKey},
};

use super::{
    bound::Waiter,
    carries::{Carried, Carries},
    chance::Hasher,
    key_line::KeyLines,
    lock::Mutex,
    mailbox::{Mailbox, Unbegun, Work},
    shared::{Passenger, Shared},
    stats::Counters,
};

/// A share of the keys. What one thread does here takes a moment, and no foreign code runs meanwhile
/// but the key's own `Hash`, `Eq`, `Clone` and `Drop`.
///
/// Aligned to the two cache lines that processors fetch at a time, so that no two shards are on the same.
#[repr(align(128))]
pub(super) struct Shard<C: Carries> {
    pub(super) index: usize,
    pub(super) state: Mutex<State<C>>,
}

pub(super) struct State<C: Carries> {
    pub(super) per_key: PerKey<C::Key, Carried<C>, Hasher>,
    pub(super) idle: Vec<Arc<Mailbox<C>>>,
    pub(super) counters: Counters,
    pub(super) key_lines: KeyLines<C::Key>,
    pub(super) permit: Permit,
    /// The earliest alarm that this shard has asked for and not seen.
    pub(super) armed: Option<Instant>,
}

/// Whether the shard has asked for a permit that it did not get yet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Permit {
    NotAsked,
    InLine,
}

/// What has to be done once the shard is unlocked. Small, since each input moves one.
pub(super) struct Effects<C: Carries> {
    /// A batch that goes. Nearly always there is at most one, and nothing else.
    pub(super) launch: Option<Launch<C>>,
    /// When the shard has to be looked at again.
    pub(super) alarm: Option<Instant>,
    pub(super) others: Vec<Effect<C>>,
}

/// What nearly never happens.
pub(super) enum Effect<C: Carries> {
    Launch(Launch<C>),
    /// Its deadline passed while it waited.
    Expired(Carried<C>),
    /// There is room for it at its key.
    Called(Arc<Waiter<()>>),
    Drained,
}

/// A batch, and the parked task that is to carry it, if there was one.
pub(super) struct Launch<C: Carries> {
    pub(super) work: Work<C>,
    pub(super) mailbox: Option<Arc<Mailbox<C>>>,
}

impl<C: Carries> Shard<C> {
    pub(super) fn new(index: usize, limits: Limits, hasher: Hasher) -> Result<Self, InvalidLimits> {
        Ok(Self {
            index,
            state: Mutex::new(State {
                per_key: PerKey::with_lent_permits(limits, hasher)?,
                idle: Vec::new(),
                counters: Counters::default(),
                key_lines: KeyLines::default(),
                permit: Permit::NotAsked,
                armed: None,
            }),
        })
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
    pub(super) fn settle(
        &self,
        state: &mut State<C>,
        shared: &Shared<C>,
        effects: &mut Effects<C>,
    ) {
        while state.permit == Permit::NotAsked && state.per_key.wants_permit() {
            match shared.permits.take_or_wait(self.index) {
                Ok(()) => state.per_key.lend_permit(),
                Err(_) => state.permit = Permit::InLine,
            }
        }
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
                        flight: shared.observer.flight(inputs),
                    };
                    effects.launch(Launch {
                        work,
                        mailbox: state.idle.pop(),
                    });
                }
                Command::Expired(_, carried) => {
                    state.counters.expired += 1;
                    state.call_waiters(carried.hash, effects);
                    shared.answering();
                    effects.others.push(Effect::Expired(carried));
                }
                Command::Drained => effects.others.push(Effect::Drained),
            }
        }
        let is_sooner = |due: &Instant| state.armed.is_none_or(|armed| *due < armed);
        if let Some(due) = state.per_key.timeout().filter(is_sooner) {
            state.armed = Some(due);
            effects.alarm = Some(due);
        }
    }
}

impl<C: Carries> State<C> {
    /// Calls those who wait for room at the keys of this hash, as far as there is any.
    pub(super) fn call_waiters(&mut self, hash: u64, effects: &mut Effects<C>) {
        let per_key = &self.per_key;
        // A key whose `Eq` panics is let through, to panic where it was submitted.
        let room_at = |key: &C::Key| guard(|| per_key.room_at(hash, key)).unwrap_or(usize::MAX);
        let others = &mut effects.others;
        let called = |waiter| others.push(Effect::Called(waiter));
        self.key_lines.call(hash, room_at, called);
    }

    /// Whether others wait for room at this key, and so come first.
    pub(super) fn is_behind(&self, passenger: &Passenger<C>) -> bool {
        // What can never go is told so, and not to wait.
        self.per_key.takes(passenger.weight) && self.key_lines.has(passenger.hash, &passenger.key)
    }
}

impl<C: Carries> Effects<C> {
    pub(super) fn is_nothing(&self) -> bool {
        self.launch.is_none() && self.alarm.is_none() && self.others.is_empty()
    }

    fn launch(&mut self, launch: Launch<C>) {
        match self.launch {
            None => self.launch = Some(launch),
            Some(_) => self.others.push(Effect::Launch(launch)),
        }
    }
}

impl<C: Carries> Default for Effects<C> {
    fn default() -> Self {
        Self {
            launch: None,
            alarm: None,
            others: Vec::new(),
        }
    }
}
