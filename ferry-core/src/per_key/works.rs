//! What events do inside the machine: inputs and lanes stand in every structure where they belong, and leave all of them.

use core::hash::{BuildHasher, Hash};

use super::{
    Batch, Command, Door, Item, PerKey, Permits, Reason, Terms, Ticket,
    lane::{Lane, Waiting},
    slab::Index,
};
use crate::{Instant, guard::discard};

impl<K, I, S> PerKey<K, I, S>
where
    K: Clone + Eq + Hash,
    S: BuildHasher,
{
    pub(super) fn find(&self, hash: u64, key: &K) -> Option<Index> {
        self.by_key
            .find(hash, |&lane| self.lanes[lane].key == *key)
            .copied()
    }

    /// Why an input of this weight cannot be accepted now.
    pub(super) fn objection(&self, lane: Option<Index>, weight: usize) -> Option<Reason> {
        let queueing_of_key = lane.map_or(0, |lane| self.lanes[lane].queueing());
        if self.door != Door::Open {
            Some(Reason::Closed)
        } else if weight > self.limits.max_weight {
            Some(Reason::TooHeavy)
        } else if self.queueing() >= self.limits.max_queueing.min(u32::MAX as usize - 1) {
            Some(Reason::QueueFull)
        } else if queueing_of_key >= self.limits.max_queueing_per_key {
            Some(Reason::KeyFull)
        } else {
            None
        }
    }

    pub(super) fn open_lane(&mut self, hash: u64, key: K) -> Index {
        let lane = Lane::new(hash, key);
        let Ok(handle) = self.lanes.insert(lane) else {
            unreachable!("a lane has an input, and inputs are bounded below 2³² − 1")
        };
        let lanes = &self.lanes;
        self.by_key
            .insert_unique(hash, handle.index, |&lane| lanes[lane].hash);
        handle.index
    }

    pub(super) fn enqueue(&mut self, lane: Index, input: I, terms: Terms) -> Ticket {
        let order = self.accepted;
        self.accepted += 1;
        let waiting = Waiting::new(lane, order, self.now, terms, input);
        let Ok(handle) = self.waiting.insert(waiting) else {
            unreachable!("inputs are bounded below 2³² − 1")
        };
        let lane = &mut self.lanes[lane];
        lane.queue.push(&mut self.waiting, handle.index);
        lane.waiting += 1;
        lane.weight += terms.weight as u128;
        if let Some(deadline) = terms.deadline {
            self.deadlines.set(handle.index, (deadline, order));
        }
        Ticket(handle)
    }

    /// The input that has waited longest, of all keys.
    pub(super) fn oldest(&self) -> Option<Index> {
        let ready = self.ready.least();
        let lingering = self.lingering.least();
        let lingering = lingering.map(|((_, oldest), lane)| (oldest, lane));
        let behind = self.behind.least();
        let lanes = [ready, lingering, behind].into_iter().flatten();
        let (_, lane) = lanes.min_by_key(|&(oldest, _)| oldest)?;
        self.lanes[lane].queue.first()
    }

    /// Takes an input out of every structure it stands in.
    pub(super) fn unlink(&mut self, index: Index) -> Waiting<I> {
        let lane = self.waiting[index].lane;
        self.lanes[lane].queue.unlink(&mut self.waiting, index);
        self.deadlines.remove(index);
        let waiting = self.waiting.remove(index);
        let lane = &mut self.lanes[lane];
        lane.waiting -= 1;
        lane.weight -= waiting.weight as u128;
        waiting
    }

    /// Lets time pass: deadlines first, then lingering keys. False when nothing was due.
    pub(super) fn advance(&mut self, now: Instant) -> bool {
        self.now = self.now.max(now);
        if self.timeout().is_none_or(|due| self.now < due) {
            return false;
        }
        let now = self.now;
        while let Some(index) = self.deadlines.least_if(|(due, _)| due <= now) {
            let ticket = Ticket(self.waiting.handle(index));
            let waiting = self.unlink(index);
            self.commands
                .push_back(Command::Expired(ticket, waiting.input));
            self.reconsider(waiting.lane);
        }
        while let Some(lane) = self.lingering.least_if(|(due, _)| due <= now) {
            self.reconsider(lane);
        }
        true
    }

    /// Puts a lane where it belongs after any change to it: ready, lingering, behind its batch, or gone.
    pub(super) fn reconsider(&mut self, index: Index) {
        let lane = &self.lanes[index];
        let oldest = lane.queue.first().map(|oldest| &self.waiting[oldest]);
        if lane.is_in_flight() {
            match oldest {
                Some(oldest) => self.behind.set(index, oldest.order),
                None => self.behind.remove(index),
            }
            return;
        }
        self.behind.remove(index);
        let Some(oldest) = oldest else {
            self.ready.remove(index);
            self.lingering.remove(index);
            self.close_lane(index);
            return;
        };
        let due = oldest.submitted + self.limits.linger;
        if due <= self.now || lane.is_full(&self.limits) || self.door != Door::Open {
            self.lingering.remove(index);
            self.ready.set(index, oldest.order);
        } else {
            self.ready.remove(index);
            self.lingering.set(index, (due, oldest.order));
        }
    }

    pub(super) fn close_lane(&mut self, index: Index) {
        let hash = self.lanes[index].hash;
        if let Ok(entry) = self.by_key.find_entry(hash, |&lane| lane == index) {
            entry.remove();
        }
        let Lane { key, phase, .. } = self.lanes.remove(index);
        // One at a time, in case the user's `Drop` panics: the machine has to be whole after.
        discard(key);
        discard(phase);
    }

    /// Lets ready lanes go as far as there are permits of the machine's own.
    pub(super) fn dispatch(&mut self) {
        match self.permits {
            Permits::Own => {
                while self.in_flight.batches < self.limits.max_in_flight {
                    let Some(lane) = self.ready.pop() else {
                        break;
                    };
                    self.take_off(lane);
                }
            }
            #[cfg(feature = "drive")]
            Permits::Lent => {}
        }
    }

    /// Makes a lane's next batch of its oldest inputs, as many as fit, and sends it off.
    pub(super) fn take_off(&mut self, index: Index) {
        let mut items = self.buffers.pop().unwrap_or_default();
        self.spare_items -= items.capacity();
        let lane = &mut self.lanes[index];
        let mut room = self.limits.max_weight;
        while items.len() < self.limits.max_batch {
            let Some(oldest) = lane.queue.first() else {
                break;
            };
            let Some(left) = room.checked_sub(self.waiting[oldest].weight) else {
                break;
            };
            room = left;
            let ticket = Ticket(self.waiting.handle(oldest));
            lane.queue.pop(&mut self.waiting);
            let Waiting {
                deadline, input, ..
            } = self.waiting.remove(oldest);
            if deadline.is_some() {
                self.deadlines.remove(oldest);
            }
            items.push(Item {
                ticket,
                deadline,
                input,
            });
        }
        self.in_flight.batches += 1;
        self.in_flight.inputs += items.len();
        lane.waiting -= items.len();
        lane.weight -= (self.limits.max_weight - room) as u128;
        let key = lane.launch(items.len());
        if let Some(oldest) = lane.queue.first() {
            self.behind.set(index, self.waiting[oldest].order);
        }
        let lane = self.lanes.handle(index);
        self.commands
            .push_back(Command::Dispatch(Batch { lane, key, items }));
    }

    pub(super) fn check_drained(&mut self) {
        if self.door == Door::Closing && self.lanes.len() == 0 {
            self.door = Door::Drained;
            self.commands.push_back(Command::Drained);
        }
    }
}
