//! A caller goes away: its input leaves the queue if it still waits there.

use alloc::sync::Arc;

use super::Shared;
use crate::drive::{
    carries::Carries,
    shard::Effects,
    slot::{Berth, Home},
};

impl<C: Carries> Home<C::Answer, C::Error> for Shared<C> {
    fn withdraw(self: Arc<Self>, Berth { shard, ticket }: Berth) -> bool {
        let shard = &self.shards[shard];
        let mut effects = Effects::default();
        let mut state = shard.state.lock();
        let Some(carried) = state.per_key.withdraw(ticket) else {
            return false;
        };
        state.counters.withdrawn += 1;
        shard.settle(&mut state, &self, &mut effects);
        state.call_waiters(carried.hash, &mut effects);
        drop(state);
        carried.reply.forgo();
        self.observer.withdrawn();
        self.release_room(1);
        self.act(effects);
        self.watch_no_longer_than_needed();
        // Last, since it may panic, which is the business of who dropped the submission.
        drop(carried.input);
        true
    }
}
