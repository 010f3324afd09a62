//! What all shards of a handle share, and the way of an input through it.
//!
//! In the order in which things happen to an input: `submit` → `board` → `act` (a task is told to carry
//! the batch) → `finished` → the answer. Then what ends it all: `close`, `orphan`, `die`.

use alloc::{
    sync::{Arc, Weak},
    vec::Vec,
};
use core::{
    future::Future,
    hash::BuildHasher,
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::SeqCst},
    time::Duration,
};
use std::hash::RandomState;

use crate::{
    Cause, Instant,
    fold_write::Tally,
    per_key::{InvalidLimits, Limits, Reason, Rejected, Stub, Terms},
};

use super::{
    bound::{Bound, Waiter, tell},
    carries::{BatchOf, Carried, Carrier, Carries, Crew, Kit},
    chance,
    clock::Alarm,
    closing::{Closers, Closing},
    mailbox::{Mailbox, Order, Work},
    room::Place,
    shard::{Effect, Effects, Launch, Permit, Shard},
    slot::Reply,
    stats::Stats,
    submission::Submission,
};

pub(super) type SubmissionOf<C> = Submission<<C as Carries>::Answer, <C as Carries>::Error>;
pub(super) type RejectedOf<C> = Rejected<<C as Carries>::Key, <C as Carries>::Input>;

pub(super) struct Shared<C: Carries> {
    pub(super) shards: Vec<Arc<Shard<C>>>,
    /// Inputs waiting or in flight, `max_queueing` at most.
    pub(super) room: Bound<Arc<Waiter<Option<Place<C>>>>>,
    /// Batches in flight, `max_in_flight` at most. Shards stand in its line by their index. A permit
    /// is given back when the batch's callers have their answers.
    pub(super) permits: Bound<usize>,
    pub(super) alarm: Alarm,
    pub(super) crew: Arc<dyn Crew<C>>,
    pub(super) aside: C::Aside,
    hasher: RandomState,
    /// How many parked tasks a shard keeps at most.
    idle_max: usize,
    seeds: AtomicU64,
    rejected: AtomicU64,
    closed: AtomicBool,
    shards_drained: AtomicUsize,
    /// Callers who are answered outside of any batch: of expired inputs, of resumes.
    answering: AtomicUsize,
    closers: Closers,
    orphaned: AtomicBool,
    dying: AtomicBool,
    /// The runtime is gone, and everyone who waited knows.
    dead: AtomicBool,
}

impl<C: Carries> Shared<C> {
    pub(super) fn new(
        limits: Limits,
        shards: usize,
        seed: u64,
        crew: Arc<dyn Crew<C>>,
        aside: C::Aside,
    ) -> Result<Arc<Self>, InvalidLimits> {
        limits.check()?;
        let hasher = chance::hasher();
        let idle_max = limits.max_in_flight.div_ceil(shards).min(1024);
        Ok(Arc::new_cyclic(|shared| Self {
            shards: (0..shards)
                .map(|index| {
                    // The whole's bounds are kept here, not in each shard.
                    let own = Limits {
                        max_queueing: usize::MAX,
                        ..limits
                    };
                    let shared = Weak::clone(shared);
                    let hasher = hasher.clone();
                    Arc::new_cyclic(|me| {
                        match Shard::new(index, shared, Weak::clone(me), own, hasher) {
                            Ok(shard) => shard,
                            Err(_) => unreachable!("checked above"),
                        }
                    })
                })
                .collect(),
            room: Bound::new(limits.max_queueing),
            permits: Bound::new(limits.max_in_flight),
            alarm: Alarm::default(),
            crew,
            aside,
            hasher,
            idle_max,
            // Spread out, so that processes with neighbouring seeds do not share most of theirs.
            seeds: AtomicU64::new(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            rejected: AtomicU64::new(0),
            closed: AtomicBool::new(false),
            shards_drained: AtomicUsize::new(0),
            answering: AtomicUsize::new(0),
            closers: Closers::default(),
            orphaned: AtomicBool::new(false),
            dying: AtomicBool::new(false),
            dead: AtomicBool::new(false),
        }))
    }

    // ---- an input comes in ------------------------------------------------------------------------

    pub(super) fn submit(
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
        // Given back also when the key's `Eq` or `Clone` panics.
        let lent = Lent(self);
        let shard = self.shard(passenger.hash);
        let mut state = shard.state.lock();
        let boarded = if state.is_behind(&passenger) {
            Err(passenger.rejected(Reason::KeyFull))
        } else {
            self.board(shard, &mut state, passenger, within)
        };
        drop(state);
        match boarded {
            Ok((submission, effects)) => {
                lent.used();
                self.act(effects);
                Ok(submission)
            }
            Err(rejected) => Err(self.reject(rejected)),
        }
    }

    /// An input with what is known of it before anything is locked.
    pub(super) fn passenger(&self, key: C::Key, input: C::Input) -> Passenger<C> {
        let weight = self.crew.weight(&input);
        let hash = self.hash(&key);
        Passenger {
            key,
            input,
            hash,
            weight,
            now: self.now(),
        }
    }

    pub(super) fn now(&self) -> Instant {
        self.crew.now()
    }

    pub(super) fn hash(&self, key: &C::Key) -> u64 {
        self.hasher.hash_one(key)
    }

    pub(super) fn shard(&self, hash: u64) -> &Arc<Shard<C>> {
        // Neither the lowest nor the highest bits: a shard's own table goes by those.
        &self.shards[(hash >> 24) as usize % self.shards.len()]
    }

    /// Puts an input that has its place among the queueing into its shard's machine.
    pub(super) fn board(
        &self,
        shard: &Arc<Shard<C>>,
        state: &mut super::shard::State<C>,
        passenger: Passenger<C>,
        within: Option<Duration>,
    ) -> Result<(SubmissionOf<C>, Effects<C>), RejectedOf<C>> {
        let Passenger {
            key,
            input,
            hash,
            weight,
            now,
        } = passenger;
        let slot = shard.slot(state);
        let carried = Carried {
            hash,
            input,
            reply: Reply::new(Arc::clone(&slot)),
        };
        let terms = Terms {
            deadline: within.map(|within| now + within),
            weight,
        };
        match state.per_key.submit_hashed(now, hash, key, carried, terms) {
            Ok(ticket) => {
                state.counters.accepted += 1;
                let effects = shard.settle(state, self);
                Ok((Submission::new(slot, ticket), effects))
            }
            Err(Rejected {
                reason,
                key,
                input: Carried { input, reply, .. },
            }) => {
                reply.forgo();
                Err(Rejected { reason, key, input })
            }
        }
    }

    pub(super) fn reject(&self, rejected: RejectedOf<C>) -> RejectedOf<C> {
        self.rejected.fetch_add(1, SeqCst);
        rejected
    }

    // ---- what follows from an event ---------------------------------------------------------------

    /// Does what the shard found due while it was locked. Nothing is locked here.
    pub(super) fn act(self: &Arc<Self>, effects: Effects<C>) {
        let Effects {
            launch,
            called,
            alarm,
            others,
        } = effects;
        if let Some(launch) = launch {
            self.launch(launch);
        }
        for waiter in called {
            tell(&waiter);
        }
        if alarm.is_some_and(|due| self.alarm.set(due)) {
            self.crew.keep_time(self);
        }
        for effect in others {
            match effect {
                Effect::Launch(launch) => self.launch(launch),
                Effect::Expired(carried) => {
                    self.release_room(1);
                    carried.fail(Cause::Expired);
                    self.answered();
                }
                Effect::Drained => {
                    self.shards_drained.fetch_add(1, SeqCst);
                    self.tell_closers();
                }
            }
        }
    }

    fn launch(self: &Arc<Self>, Launch { work, mailbox }: Launch<C>) {
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

    /// For a jitter that nobody else has.
    pub(super) fn seed(&self) -> u64 {
        self.seeds.fetch_add(1, SeqCst)
    }

    pub(super) fn release_room(self: &Arc<Self>, places: usize) {
        self.room.release(places, |waiter| {
            // One that has gone drops its place, which gives it to the next.
            drop(waiter.give(Some(Place::new(self))));
        });
    }

    fn release_permit(self: &Arc<Self>) {
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
        let effects = shard.settle(&mut state, self);
        drop(state);
        if !is_wanted {
            self.release_permit();
        }
        self.act(effects);
    }

    /// Time has passed: lets every shard see what is due.
    pub(super) fn tick(self: &Arc<Self>) {
        let now = self.crew.now();
        for shard in &self.shards {
            let mut state = shard.state.lock();
            state.armed = None;
            state.per_key.tick(now);
            let effects = shard.settle(&mut state, self);
            drop(state);
            self.act(effects);
        }
    }

    // ---- a batch is done ----------------------------------------------------------------------------

    /// A batch's round trip is over. What its task does next: carry another batch, wait, or end.
    ///
    /// The callers get their answers after the batch has left the queue, so that one who hears finds
    /// its place free; and before the permit is given back, so that `close` does not end before.
    pub(super) fn finished<X: Carrier<C>>(
        self: &Arc<Self>,
        done: Finished<C>,
        mailbox: &Arc<Mailbox<C>>,
        carrier: &X,
        kit: &mut Kit<C, X>,
    ) -> Next<C> {
        let Finished {
            shard,
            hash,
            inputs,
            ending,
        } = done;
        let shard = &self.shards[shard];
        let now = self.crew.now();
        let mut state = shard.state.lock();
        match ending {
            Ending::Carried(batch) => {
                state.counters.add_batch(inputs, carrier.tally(&kit.gear));
                state.per_key.take_back(now, batch);
            }
            Ending::Lost(stub) => {
                state
                    .counters
                    .add_batch(inputs, Some(&Tally::of_failed(inputs)));
                state.per_key.lost(now, stub);
            }
        }
        // The permit goes on to this shard's next batch if no other shard waits for one.
        let is_kept = state.per_key.wants_permit() && self.permits.nobody_waits();
        if is_kept {
            state.per_key.lend_permit();
        }
        let mut effects = shard.settle(&mut state, self);
        state.call_waiters(hash, &mut effects.called);
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
        self.release_room(inputs);
        carrier.deliver(&mut kit.gear, &mut kit.answered);
        shard.keep(&mut kit.answered);
        if !is_kept {
            self.release_permit();
        }
        self.act(effects);
        self.watch_no_longer_than_needed();
        next
    }

    // ---- the end ------------------------------------------------------------------------------------

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(SeqCst)
    }

    /// Takes no more inputs; completes when the last answer is given.
    pub(super) fn close(self: &Arc<Self>) -> impl Future<Output = ()> + Send + use<C> {
        self.closed.store(true, SeqCst);
        for shard in &self.shards {
            let mut state = shard.state.lock();
            state.per_key.close();
            let effects = shard.settle(&mut state, self);
            let waiting = state.key_lines.dismiss();
            drop(state);
            self.act(effects);
            for waiter in waiting {
                tell(&waiter);
            }
        }
        for waiter in self.room.dismiss() {
            drop(waiter.give(None));
        }
        Arc::clone(self).drained()
    }

    /// Completes when the handle is closed and every answer is given.
    pub(super) async fn drained(self: Arc<Self>) {
        let closing = Closing::new(&self.closers);
        // Who drains it looks for closers after that; what was drained before is seen here.
        if !self.is_drained() {
            closing.over().await;
        }
    }

    fn is_drained(&self) -> bool {
        let drained = self.shards_drained.load(SeqCst) == self.shards.len();
        let idle = self.permits.taken() == 0 && self.answering.load(SeqCst) == 0;
        (drained && idle) || self.dead.load(SeqCst)
    }

    fn tell_closers(&self) {
        if self.is_drained() {
            self.closers.tell();
        }
    }

    /// A caller is about to be answered outside of any batch.
    pub(super) fn answering(&self) {
        self.answering.fetch_add(1, SeqCst);
    }

    pub(super) fn answered(&self) {
        self.answering.fetch_sub(1, SeqCst);
        if self.is_closed() {
            self.tell_closers();
        }
    }

    fn is_orphaned(&self) -> bool {
        self.orphaned.load(SeqCst)
    }

    /// The last handle is gone: parked tasks end, and the others when they have nothing left to do.
    pub(super) fn orphan(self: &Arc<Self>) {
        self.orphaned.store(true, SeqCst);
        for shard in &self.shards {
            let idle = core::mem::take(&mut shard.state.lock().idle);
            for mailbox in idle {
                mailbox.put(Order::Retire);
            }
        }
        self.watch_no_longer_than_needed();
    }

    /// Once the last handle is gone: an alarm for what has been carried meanwhile would keep the task
    /// that watches the clock, and the store with it. What is still due sets it anew.
    pub(super) fn watch_no_longer_than_needed(self: &Arc<Self>) {
        if self.is_orphaned() {
            self.alarm.retire();
            self.tick();
        }
    }

    /// The runtime has dropped a task: nothing will move any more. Everyone who waits is told.
    fn die(self: &Arc<Self>) {
        if self.dying.swap(true, SeqCst) {
            return;
        }
        self.closed.store(true, SeqCst);
        for shard in &self.shards {
            while let Some(carried) = shard.evict_or_close() {
                self.release_room(1);
                carried.fail(Cause::Abandoned);
            }
        }
        drop(self.close());
        self.dead.store(true, SeqCst);
        self.tell_closers();
    }

    // ---- to be seen from outside ----------------------------------------------------------------------

    pub(super) fn stats(&self) -> Stats {
        let now = self.crew.now();
        let mut stats = Stats {
            queueing: self.room.taken(),
            ..Stats::default()
        };
        for shard in &self.shards {
            let state = shard.state.lock();
            let per_key = &state.per_key;
            stats.waiting += per_key.waiting();
            stats.batches_in_flight += per_key.batches_in_flight();
            stats.keys += per_key.keys();
            let wait = per_key
                .oldest_waiting()
                .map_or(Duration::ZERO, |oldest| now - oldest);
            stats.oldest_wait = stats.oldest_wait.max(wait);
            stats.counters.add(&state.counters);
        }
        stats.counters.rejected += self.rejected.load(SeqCst);
        stats
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
pub(super) struct Passenger<C: Carries> {
    pub(super) key: C::Key,
    pub(super) input: C::Input,
    pub(super) hash: u64,
    pub(super) weight: usize,
    pub(super) now: Instant,
}

impl<C: Carries> Passenger<C> {
    pub(super) fn rejected(self, reason: Reason) -> RejectedOf<C> {
        Rejected {
            reason,
            key: self.key,
            input: self.input,
        }
    }
}

/// A batch whose round trip is over.
pub(super) struct Finished<C: Carries> {
    pub(super) shard: usize,
    pub(super) hash: u64,
    pub(super) inputs: usize,
    pub(super) ending: Ending<C>,
}

pub(super) enum Ending<C: Carries> {
    Carried(BatchOf<C>),
    /// A panic took the batch along; its callers know.
    Lost(Stub),
}

/// What a task does after a batch.
pub(super) enum Next<C: Carries> {
    Carry(Work<C>),
    Wait,
    Retire,
}

/// Held by a task of this handle for as long as it lives. Dropped before the task was relieved, it
/// says that the runtime dropped the task.
pub(super) struct OnDuty<C: Carries>(Option<Arc<Shared<C>>>);

impl<C: Carries> OnDuty<C> {
    pub(super) fn new(shared: &Arc<Shared<C>>) -> Self {
        Self(Some(Arc::clone(shared)))
    }

    pub(super) fn shared(&self) -> &Arc<Shared<C>> {
        match &self.0 {
            Some(shared) => shared,
            None => unreachable!("a relieved task has ended"),
        }
    }

    /// The task ends as it should.
    pub(super) fn relieve(mut self) {
        self.0 = None;
    }
}

impl<C: Carries> Drop for OnDuty<C> {
    fn drop(&mut self) {
        if let Some(shared) = self.0.take() {
            shared.die();
        }
    }
}
