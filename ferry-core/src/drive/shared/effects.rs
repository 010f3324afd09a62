//! What follows from an event: batches are launched, callers are told, places and permits go on to who waits for them.

use alloc::sync::Arc;

use super::{OnDuty, Shared};
use crate::{
    Cause,
    drive::{
        bound::tell,
        carries::Carries,
        mailbox::{Mailbox, Order, Work},
        room::Place,
        shard::{Effect, Effects, Launch, Permit},
        sync::atomic::Ordering::SeqCst,
    },
};

impl<C: Carries> Shared<C> {
    /// Does what the shard found due while it was locked. Nothing is locked here.
    #[inline]
    pub(in crate::drive) fn act(self: &Arc<Self>, effects: Effects<C>) {
        if !effects.is_nothing() {
            self.act_on(effects);
        }
    }

    fn act_on(self: &Arc<Self>, effects: Effects<C>) {
        let Effects {
            launch,
            alarm,
            others,
        } = effects;
        if let Some(launch) = launch {
            self.launch(launch);
        }
        if alarm.is_some_and(|due| self.alarm.set(due)) {
            self.crew.keep_time(self);
        }
        for effect in others {
            match effect {
                Effect::Launch(launch) => self.launch(launch),
                Effect::Expired(carried) => {
                    self.observer.expired();
                    self.release_room(1);
                    carried.fail(Cause::Expired);
                    self.answered();
                }
                Effect::Called(waiter) => tell(&waiter),
                Effect::Drained => {
                    self.shards_drained.fetch_add(1, SeqCst);
                    self.tell_closers();
                }
            }
        }
    }

    #[inline]
    fn launch(self: &Arc<Self>, Launch { work, mailbox }: Launch<C>) {
        work.flight.takes_off();
        match mailbox {
            Some(mailbox) => mailbox.put(Order::Carry(work)),
            None => self.hire(work),
        }
    }

    fn hire(self: &Arc<Self>, work: Work<C>) {
        let seed = self.seed();
        self.crew
            .hire(OnDuty::new(self), Arc::new(Mailbox::new()), work, seed);
    }

    pub(in crate::drive) fn release_room(self: &Arc<Self>, places: usize) {
        self.observer.room_released(places);
        self.room.release(places, |waiter| {
            // One that has gone drops its place, which gives it to the next.
            drop(waiter.give(Some(Place::new(self))));
        });
    }

    pub(super) fn release_permit(self: &Arc<Self>) {
        self.permits.release(1, |index| self.grant(index));
        if self.is_closed() {
            self.tell_closers();
        }
    }

    /// It is this shard's turn for a permit.
    fn grant(self: &Arc<Self>, index: usize) {
        let shard = &self.shards[index];
        let mut state = shard.state.lock();
        state.permit = Permit::NotAsked;
        let is_wanted = state.per_key.wants_permit();
        if is_wanted {
            state.per_key.lend_permit();
        }
        let mut effects = Effects::default();
        shard.settle(&mut state, self, &mut effects);
        drop(state);
        if !is_wanted {
            self.release_permit();
        }
        self.act(effects);
    }

    /// Time has passed: lets every shard see what is due.
    pub(in crate::drive) fn tick(self: &Arc<Self>) {
        let now = self.crew.now();
        for shard in &self.shards {
            let mut state = shard.state.lock();
            state.armed = None;
            state.per_key.tick(now);
            let mut effects = Effects::default();
            shard.settle(&mut state, self, &mut effects);
            drop(state);
            self.act(effects);
        }
    }
}
