//! A batch's round trip is over: its callers are answered, and its task goes on.

use alloc::sync::Arc;

use super::Shared;
use crate::{
    drive::{
        carries::{BatchOf, Carrier, Carries},
        mailbox::{Mailbox, Work},
        observe::{End, Trip},
        shard::{Effects, Launch},
    },
    fold_write::Tally,
    per_key::Stub,
};

impl<C: Carries> Shared<C> {
    /// A batch's round trip is over. What its task does next: carry another batch, wait, or end.
    ///
    /// The callers get their answers after the batch has left the queue, so that one who hears finds
    /// its place free; and before the permit is given back, so that `close` does not end before.
    pub(in crate::drive) fn finished<X: Carrier<C>>(
        self: &Arc<Self>,
        done: Finished<C>,
        mailbox: &Arc<Mailbox<C>>,
        carrier: &X,
        gear: &mut X::Gear,
    ) -> Next<C> {
        let Finished {
            shard,
            hash,
            inputs,
            trip,
            ending,
        } = done;
        let lost;
        let end = match &ending {
            Ending::Carried(_) => End::Carried(carrier.tally(gear)),
            Ending::Lost(_) => {
                lost = Tally::of_failed(inputs);
                End::Lost(&lost)
            }
        };
        let shard = &self.shards[shard];
        let now = self.now_if_it_matters();
        let mut state = shard.state.lock();
        let now = now.unwrap_or(state.per_key.now());
        state.counters.add_batch(inputs, end.tally());
        match ending {
            Ending::Carried(batch) => state.per_key.take_back(now, batch),
            Ending::Lost(stub) => state.per_key.lost(now, stub),
        }
        // The permit goes on to this shard's next batch if no other shard waits for one.
        let is_kept = state.per_key.wants_permit() && self.permits.nobody_waits();
        if is_kept {
            state.per_key.lend_permit();
        }
        let mut effects = Effects::default();
        shard.settle(&mut state, self, &mut effects);
        state.call_waiters(hash, &mut effects);
        let next = match effects.launch.take() {
            Some(Launch { work, mailbox }) => {
                state.idle.extend(mailbox);
                Next::Carry(work)
            }
            None if state.idle.len() < self.idle_max && !self.is_orphaned() => {
                state.idle.push(Arc::clone(mailbox));
                Next::Wait
            }
            None => Next::Retire,
        };
        drop(state);
        self.observer.landed(trip, || self.now(), inputs, end);
        if let Next::Carry(work) = &next {
            work.flight.takes_off();
        }
        self.release_room(inputs);
        carrier.deliver(gear);
        if !is_kept {
            self.release_permit();
        }
        self.act(effects);
        self.watch_no_longer_than_needed();
        next
    }
}

/// A batch whose round trip is over.
pub(in crate::drive) struct Finished<C: Carries> {
    pub(in crate::drive) shard: usize,
    pub(in crate::drive) hash: u64,
    pub(in crate::drive) inputs: usize,
    pub(in crate::drive) trip: Trip,
    pub(in crate::drive) ending: Ending<C>,
}

pub(in crate::drive) enum Ending<C: Carries> {
    Carried(BatchOf<C>),
    /// A panic took the batch along; its callers know.
    Lost(Stub),
}

/// What a task does after a batch.
pub(in crate::drive) enum Next<C: Carries> {
    Carry(Work<C>),
    Wait,
    Retire,
}
