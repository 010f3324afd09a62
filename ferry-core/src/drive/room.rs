//! Waiting for room, fairly.

use alloc::sync::Arc;
use core::{fmt, time::Duration};

use crate::{
    guard::discard,
    per_key::{Reason, Rejected},
};

use super::{
    bound::{InLine, Waiter},
    carries::Carries,
    key_line::Turn,
    shard::Effects,
    shared::{Passenger, RejectedOf, Shared, SubmissionOf},
};

/// Room for one input, set aside by [`reserve`](super::Ferry::reserve): one of the `max_queueing`, and counted among them.
///
/// Dropped unused, it goes to the next in line. It is worth nothing once the handle is closed, and `close` does not wait for it. When
/// the last handle is gone, an input may still be submitted on it.
#[must_use = "dropping a place gives it to the next in line"]
pub struct Place<C: Carries>(Option<Arc<Shared<C>>>);

impl<C: Carries> Place<C> {
    pub(super) fn new(shared: &Arc<Shared<C>>) -> Self {
        shared.observer.room_taken();
        Self(Some(Arc::clone(shared)))
    }

    /// As [`Ferry::submit`](super::Ferry::submit), on this place: there is room in the process, whoever waits for it.
    ///
    /// # Errors
    ///
    /// With key and input, when the handle is closed by now, the key has as many queueing as it may, or the input is too
    /// heavy. The place is given up.
    pub fn submit(self, key: C::Key, input: C::Input) -> Result<SubmissionOf<C>, RejectedOf<C>> {
        self.board(key, input, None)
    }

    /// As [`submit`](Self::submit), with a deadline this long from now: see [`Ferry::submit_within`](super::Ferry::submit_within).
    ///
    /// # Errors
    ///
    /// As [`submit`](Self::submit).
    pub fn submit_within(
        self,
        key: C::Key,
        input: C::Input,
        within: Duration,
    ) -> Result<SubmissionOf<C>, RejectedOf<C>> {
        self.board(key, input, Some(within))
    }

    fn board(
        self,
        key: C::Key,
        input: C::Input,
        within: Option<Duration>,
    ) -> Result<SubmissionOf<C>, RejectedOf<C>> {
        let shared = match &self.0 {
            Some(shared) => Arc::clone(shared),
            None => unreachable!("a place is used once"),
        };
        let passenger = shared.passenger(key, input);
        if shared.is_closed() {
            return Err(shared.reject(passenger.rejected(Reason::Closed)));
        }
        shared.board_at_once(passenger, within, || self.used())
    }

    /// An input has boarded on it; the input gives it back.
    fn used(mut self) {
        self.0 = None;
    }
}

impl<C: Carries> fmt::Debug for Place<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").finish_non_exhaustive()
    }
}

impl<C: Carries> Drop for Place<C> {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take() {
            shared.release_room(1);
        }
    }
}

impl<C: Carries> Shared<C> {
    /// Takes a place, if there is one and nobody waits for it.
    pub(super) fn try_reserve(self: &Arc<Self>) -> Result<Place<C>, Reason> {
        if self.is_closed() {
            Err(Reason::Closed)
        } else if self.room.try_take() {
            Ok(Place::new(self))
        } else {
            Err(Reason::QueueFull)
        }
    }

    /// Waits for a place, in the order of arrival.
    pub(super) async fn reserve(self: Arc<Self>) -> Result<Place<C>, Reason> {
        if self.is_closed() {
            return Err(Reason::Closed);
        }
        self.place().await.ok_or(Reason::Closed)
    }

    /// Waits for room in the process and at the key, in the order of arrival at each.
    pub(super) async fn submit_when_free(
        self: Arc<Self>,
        key: C::Key,
        input: C::Input,
    ) -> Result<SubmissionOf<C>, RejectedOf<C>> {
        let mut passenger = self.passenger(key, input);
        let mut called = None;
        loop {
            let Some(place) = self.place().await else {
                return Err(self.reject(passenger.rejected(Reason::Closed)));
            };
            passenger.now = self.now();
            match self.board_or_wait(place, passenger, called.is_some()) {
                Boarding::Over(boarded) => return boarded,
                Boarding::KeyFull(back, standing) => {
                    passenger = back;
                    // Called in vain, which only a key's own `Eq` can bring about.
                    drop(called.take());
                    called = Some(standing.called().await);
                }
            }
        }
    }

    /// Waits for a place among the queueing; `None` when closed.
    async fn place(self: &Arc<Self>) -> Option<Place<C>> {
        if self.room.try_take() {
            return Some(Place::new(self));
        }
        let waiter = Waiter::new();
        let line = match self.room.take_or_wait(Arc::clone(&waiter)) {
            Ok(()) => return Some(Place::new(self)),
            Err(line) => line,
        };
        let standing = InRoomLine {
            shared: self,
            waiter,
            line,
        };
        // Who closes dismisses the line after that; whoever joins later sees it here.
        if self.is_closed() {
            return None;
        }
        standing.waiter.word().await
    }

    /// Boards; or, where the key is full or others wait for it, joins its line. Who was called boards on
    /// the place that was set aside for it.
    fn board_or_wait(
        self: &Arc<Self>,
        place: Place<C>,
        passenger: Passenger<C>,
        is_called: bool,
    ) -> Boarding<C> {
        let (hash, weight) = (passenger.hash, passenger.weight);
        let (now, caller) = (passenger.now, passenger.caller);
        let shard = self.shard(hash);
        let mut effects = Effects::default();
        let slot = self.slots.take();
        let mut state = shard.state.lock();
        let boarded = if !is_called && state.is_behind(&passenger) {
            slot.come_back();
            Err(passenger.rejected(Reason::KeyFull))
        } else {
            self.board(slot, shard, &mut state, passenger, None, &mut effects)
        };
        let Rejected { key, input, .. } = match boarded {
            Err(full) if full.reason == Reason::KeyFull => full,
            boarded => {
                drop(state);
                return Boarding::Over(self.boarded(boarded, effects, || place.used()));
            }
        };
        let (turn, waiter) = state.key_lines.join(hash, &key);
        drop(state);
        let standing = InKeyLine {
            shared: Arc::clone(self),
            turn,
            waiter,
        };
        self.act(effects);
        let passenger = Passenger {
            key,
            input,
            hash,
            weight,
            now,
            caller,
        };
        Boarding::KeyFull(passenger, standing)
    }
}

enum Boarding<C: Carries> {
    Over(Result<SubmissionOf<C>, RejectedOf<C>>),
    KeyFull(Passenger<C>, InKeyLine<C>),
}

/// Stands in the line for a place; dropped, it leaves, and a place that came too late goes on.
struct InRoomLine<'a, C: Carries> {
    shared: &'a Arc<Shared<C>>,
    waiter: Arc<Waiter<Option<Place<C>>>>,
    line: InLine,
}

impl<C: Carries> Drop for InRoomLine<'_, C> {
    fn drop(&mut self) {
        self.shared.room.leave(self.line);
        drop(self.waiter.leave());
    }
}

/// Stands in the line of a key, or was called from it and has a place there set aside. Dropped, it
/// makes way for the next: it has boarded, was turned away, or does not want to any more.
struct InKeyLine<C: Carries> {
    shared: Arc<Shared<C>>,
    turn: Turn,
    waiter: Arc<Waiter<()>>,
}

impl<C: Carries> InKeyLine<C> {
    async fn called(self) -> Self {
        self.waiter.word().await;
        self
    }
}

impl<C: Carries> Drop for InKeyLine<C> {
    fn drop(&mut self) {
        let shard = self.shared.shard(self.turn.hash);
        let mut effects = Effects::default();
        let mut state = shard.state.lock();
        let ended = state.key_lines.leave(self.turn);
        state.call_waiters(self.turn.hash, &mut effects);
        drop(state);
        discard(ended);
        self.shared.act(effects);
    }
}
