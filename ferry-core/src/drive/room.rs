//! Waiting for room, fairly.

use alloc::sync::Arc;

use crate::per_key::{Reason, Rejected};

use super::{
    bound::{InLine, Waiter},
    carries::Carries,
    key_line::Turn,
    shared::{Passenger, RejectedOf, Shared, SubmissionOf},
};

/// A place among the inputs that may queue. Dropped unused, it goes to the next in line.
pub(super) struct Place<C: Carries>(Option<Arc<Shared<C>>>);

impl<C: Carries> Place<C> {
    pub(super) fn new(shared: &Arc<Shared<C>>) -> Self {
        Self(Some(Arc::clone(shared)))
    }

    /// An input has boarded on it; the input gives it back.
    fn used(mut self) {
        self.0 = None;
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
    /// Waits for room in the process and at the key, in the order of arrival at each.
    pub(super) async fn submit_when_free(
        self: Arc<Self>,
        key: C::Key,
        input: C::Input,
    ) -> Result<SubmissionOf<C>, RejectedOf<C>> {
        let mut passenger = self.passenger(key, input);
        let mut turn = None;
        loop {
            let Some(place) = self.place().await else {
                return Err(self.reject(passenger.rejected(Reason::Closed)));
            };
            passenger.now = self.now();
            let waiting = match self.board_or_wait(place, passenger, turn) {
                Boarding::Accepted(submission) => return Ok(submission),
                Boarding::Rejected(rejected) => return Err(self.reject(rejected)),
                Boarding::KeyFull(back, waiting) => {
                    passenger = back;
                    waiting
                }
            };
            turn = Some(waiting.turn);
            waiting.waiter.word().await;
            waiting.heard();
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

    fn board_or_wait(
        self: &Arc<Self>,
        place: Place<C>,
        passenger: Passenger<C>,
        turn: Option<Turn>,
    ) -> Boarding<C> {
        let (hash, weight, now) = (passenger.hash, passenger.weight, passenger.now);
        let shard = self.shard(hash);
        let mut state = shard.state.lock();
        let is_behind = turn.is_none() && state.key_line.has(hash);
        let rejected = if is_behind {
            passenger.rejected(Reason::KeyFull)
        } else {
            match self.board(shard, &mut state, passenger, None) {
                Ok((submission, effects)) => {
                    drop(state);
                    place.used();
                    self.act(shard, effects);
                    return Boarding::Accepted(submission);
                }
                Err(rejected) => rejected,
            }
        };
        if rejected.reason != Reason::KeyFull {
            drop(state);
            return Boarding::Rejected(rejected);
        }
        let (turn, waiter) = state.key_line.join(hash, turn);
        drop(state);
        drop(place);
        let Rejected { key, input, .. } = rejected;
        let passenger = Passenger {
            key,
            input,
            hash,
            weight,
            now,
        };
        let waiting = InKeyLine {
            shared: Some(Arc::clone(self)),
            hash,
            turn,
            waiter,
        };
        Boarding::KeyFull(passenger, waiting)
    }
}

enum Boarding<C: Carries> {
    Accepted(SubmissionOf<C>),
    Rejected(RejectedOf<C>),
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

/// Stands in the line of a key; dropped before it was called, it leaves, and a call that came too
/// late goes to the next.
struct InKeyLine<C: Carries> {
    shared: Option<Arc<Shared<C>>>,
    hash: u64,
    turn: Turn,
    waiter: Arc<Waiter<()>>,
}

impl<C: Carries> InKeyLine<C> {
    fn heard(mut self) {
        self.shared = None;
    }
}

impl<C: Carries> Drop for InKeyLine<C> {
    fn drop(&mut self) {
        let Some(shared) = self.shared.take() else {
            return;
        };
        shared
            .shard(self.hash)
            .state
            .lock()
            .key_line
            .leave(self.hash, self.turn);
        if self.waiter.leave().is_some() {
            shared.call_next(self.hash);
        }
    }
}
