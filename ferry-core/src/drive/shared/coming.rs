//! An input comes in: it is given a place, and boards the machine of its key's shard.

use alloc::sync::Arc;
use core::time::Duration;

use super::{RejectedOf, Shared, SubmissionOf};
use crate::{
    Instant,
    drive::{
        carries::{Carried, Carries},
        observe::{Caller, Origin},
        shard::{Effects, Shard, State},
        slot::{Berth, Reply, Slot},
        submission::Submission,
        sync::atomic::Ordering::SeqCst,
    },
    per_key::{Reason, Rejected, Terms},
};

impl<C: Carries> Shared<C> {
    pub(in crate::drive) fn submit(
        self: &Arc<Self>,
        key: C::Key,
        input: C::Input,
        within: Option<Duration>,
    ) -> Result<SubmissionOf<C>, RejectedOf<C>> {
        let passenger = self.passenger(key, input);
        if self.is_closed() {
            return Err(self.reject(passenger.rejected(Reason::Closed)));
        }
        if !self.room.try_take() {
            return Err(self.reject(passenger.rejected(Reason::QueueFull)));
        }
        self.observer.room_taken();
        // Given back also when the key's `Eq` or `Clone` panics.
        let lent = Lent(self);
        self.board_at_once(passenger, within, || lent.used())
    }

    /// Boards an input that has its place among the queueing, unless its key is full or others wait there. `used` is told as soon as the
    /// input is the one that gives the place back.
    pub(in crate::drive) fn board_at_once(
        self: &Arc<Self>,
        passenger: Passenger<C>,
        within: Option<Duration>,
        used: impl FnOnce(),
    ) -> Result<SubmissionOf<C>, RejectedOf<C>> {
        let slot = self.slots.take();
        let shard = self.shard(passenger.hash);
        let mut effects = Effects::default();
        let mut state = shard.state.lock();
        let boarded = if state.is_behind(&passenger) {
            slot.come_back();
            Err(passenger.rejected(Reason::KeyFull))
        } else {
            self.board(slot, shard, &mut state, passenger, within, &mut effects)
        };
        drop(state);
        self.boarded(boarded, effects, used)
    }

    /// An input with what is known of it before anything is locked.
    pub(in crate::drive) fn passenger(&self, key: C::Key, input: C::Input) -> Passenger<C> {
        let weight = self.crew.weight(&input);
        let hash = self.hash(&key);
        Passenger {
            key,
            input,
            hash,
            weight,
            now: self.now(),
            caller: Caller::here(),
        }
    }

    /// Puts an input that has its place among the queueing into its shard's machine. Time passes there for all who wait, whether
    /// or not it takes this one, so that there may be effects either way.
    pub(in crate::drive) fn board(
        &self,
        slot: Arc<Slot<C::Answer, C::Error>>,
        shard: &Shard<C>,
        state: &mut State<C>,
        passenger: Passenger<C>,
        within: Option<Duration>,
        effects: &mut Effects<C>,
    ) -> Result<SubmissionOf<C>, RejectedOf<C>> {
        let Passenger {
            key,
            input,
            hash,
            weight,
            now,
            caller,
        } = passenger;
        let carried = Carried {
            hash,
            origin: Origin::new(now, caller),
            input,
            reply: Reply::new(Arc::clone(&slot)),
        };
        if within.is_some() && !self.is_timed.load(SeqCst) {
            self.is_timed.store(true, SeqCst);
        }
        let terms = Terms {
            deadline: within.map(|within| now + within),
            weight,
        };
        let boarded = match state.per_key.submit_hashed(now, hash, key, carried, terms) {
            Ok(ticket) => {
                state.counters.accepted += 1;
                let shard = shard.index;
                Ok(Submission::new(slot, Berth { shard, ticket }))
            }
            Err(Rejected {
                reason,
                key,
                input: Carried { input, reply, .. },
            }) => {
                reply.forgo();
                slot.come_back();
                Err(Rejected { reason, key, input })
            }
        };
        shard.settle(state, self, effects);
        boarded
    }

    /// An input has boarded, or was turned away. Nothing is locked here.
    pub(in crate::drive) fn boarded(
        self: &Arc<Self>,
        boarded: Result<SubmissionOf<C>, RejectedOf<C>>,
        effects: Effects<C>,
        used: impl FnOnce(),
    ) -> Result<SubmissionOf<C>, RejectedOf<C>> {
        if boarded.is_ok() {
            // Before anything foreign runs, which may panic.
            used();
            self.observer.accepted();
        }
        self.act(effects);
        boarded.map_err(|rejected| self.reject(rejected))
    }

    pub(in crate::drive) fn reject(&self, rejected: RejectedOf<C>) -> RejectedOf<C> {
        self.rejected.fetch_add(1, SeqCst);
        self.observer.rejected(rejected.reason);
        rejected
    }
}

/// A place among the queueing, given back unless an input boards on it.
struct Lent<'a, C: Carries>(&'a Arc<Shared<C>>);

impl<C: Carries> Lent<'_, C> {
    /// The input gives it back.
    fn used(self) {
        core::mem::forget(self);
    }
}

impl<C: Carries> Drop for Lent<'_, C> {
    fn drop(&mut self) {
        self.0.release_room(1);
    }
}

/// An input that is about to board.
pub(in crate::drive) struct Passenger<C: Carries> {
    pub(in crate::drive) key: C::Key,
    pub(in crate::drive) input: C::Input,
    pub(in crate::drive) hash: u64,
    pub(in crate::drive) weight: usize,
    pub(in crate::drive) now: Instant,
    pub(in crate::drive) caller: Caller,
}

impl<C: Carries> Passenger<C> {
    pub(in crate::drive) fn rejected(self, reason: Reason) -> RejectedOf<C> {
        Rejected {
            reason,
            key: self.key,
            input: self.input,
        }
    }
}
