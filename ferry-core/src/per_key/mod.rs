//! The batching machine: one batch in flight per key, and what arrives meanwhile goes together.
//!
//! | to see | read |
//! | --- | --- |
//! | the events and commands | this file, [`PerKey`] |
//! | the bounds | `limits.rs` |
//! | tickets, batches, refusals | `batch.rs` |
//! | one key's waiting inputs | `lane.rs` |
//! | what an event does inside | `works.rs` |
//! | permits that a driver lends | `lent.rs` |
//! | what it is all stored in | `slab.rs`, `heap.rs` |

mod batch;
mod heap;
mod lane;
#[cfg(feature = "drive")]
mod lent;
mod limits;
mod slab;
mod works;

use alloc::{collections::VecDeque, vec::Vec};
use core::{
    fmt,
    hash::{BuildHasher, Hash},
};

use hashbrown::HashTable;

use self::{
    heap::Heap,
    lane::{Lane, Phase, Waiting},
    slab::{Handle, Index, Slab},
};
use crate::{Instant, guard::discard};

#[cfg(feature = "drive")]
pub(crate) use batch::Stub;
pub use batch::{Batch, Item, Reason, Rejected, Terms, Ticket};
pub use limits::{InvalidLimits, Limits};

/// For how many inputs emptied buffers are kept for the next batches, all together.
const SPARE_ITEMS_MAX: usize = 32 * 1024;

/// What the machine wants done.
#[must_use = "a command that is not carried out leaves its inputs unanswered"]
pub enum Command<K, I> {
    /// Carry this batch, then give it back with [`PerKey::finished`].
    Dispatch(Batch<K, I>),
    /// The deadline of this input passed while it waited: tell its caller. Nothing was written.
    Expired(Ticket, I),
    /// Closed, and nothing waits or is in flight any more. Said once.
    Drained,
}

impl<K: fmt::Debug, I: fmt::Debug> fmt::Debug for Command<K, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Dispatch(batch) => f.debug_tuple("Dispatch").field(batch).finish(),
            Self::Expired(ticket, input) => {
                f.debug_tuple("Expired").field(ticket).field(input).finish()
            }
            Self::Drained => f.write_str("Drained"),
        }
    }
}

/// The batching machine, pure: events go in with the time at which they happen, commands come out.
///
/// # How to drive it
///
/// 1. Tell it what happens: [`submit`](Self::submit), [`finished`](Self::finished),
///    [`withdraw`](Self::withdraw), [`close`](Self::close), each with the time where it takes one.
/// 2. After that, [`poll`](Self::poll) until it returns `None`, and do what it says.
/// 3. At the time that [`timeout`](Self::timeout) names, if it names one, tell it
///    [`tick`](Self::tick), and go on with 2.
///
/// What it decides depends on the events and their times alone: polling sooner or later changes
/// nothing but when the commands are seen. Time never goes back; an event with an earlier time than
/// the last counts as happening at the last.
///
/// # What it promises
///
/// - A key has at most one batch in flight. Its inputs are dispatched in the order of submission.
/// - A key with nothing in flight dispatches at once, or after `linger`; a full batch goes at once.
/// - Every accepted input is dispatched or reported expired, exactly once, unless it is withdrawn.
/// - Every bound of [`Limits`] is exact at every moment, and what is over one is handed back.
/// - A key that has nothing waiting and nothing in flight is not stored at all.
/// - No operation depends on how many keys or inputs there are, but for O(log n) in the inputs with a
///   deadline, the keys that linger, and the keys that are ready while `max_in_flight` is reached.
///   In a steady state nothing is allocated.
///
/// The key's `Hash`, `Eq`, `Clone` and `Drop` are called here; nothing of the input's is. A key is
/// cloned once each time it becomes active, and looked up by its hash only: no order depends on it.
///
/// ```
/// use core::hash::BuildHasherDefault;
/// use ferry_core::{Instant, per_key::{Command, Limits, PerKey}};
/// # type Hasher = BuildHasherDefault<std::hash::DefaultHasher>;
///
/// let mut per_key = PerKey::new(Limits::default(), Hasher::default())?;
/// let now = Instant::EPOCH;
///
/// per_key.submit(now, "alice", 1).unwrap();
/// let Some(Command::Dispatch(first)) = per_key.poll() else { panic!() };
///
/// // While the first batch is in flight, two more arrive. They go together.
/// per_key.submit(now, "alice", 2).unwrap();
/// per_key.submit(now, "alice", 3).unwrap();
/// assert!(per_key.poll().is_none());
///
/// per_key.finished(now, first);
/// let Some(Command::Dispatch(second)) = per_key.poll() else { panic!() };
/// assert_eq!(second.items().iter().map(|item| item.input).collect::<Vec<_>>(), [2, 3]);
/// # per_key.finished(now, second);
/// # assert_eq!(per_key.keys(), 0);
/// # Ok::<_, ferry_core::per_key::InvalidLimits>(())
/// ```
pub struct PerKey<K, I, S> {
    limits: Limits,
    hasher: S,
    now: Instant,
    door: Door,
    permits: Permits,
    /// Inputs accepted so far, which is also the next one's place in the order of submission.
    accepted: u64,
    in_flight: InFlight,

    waiting: Slab<Waiting<I>>,
    deadlines: Heap<(Instant, u64)>,

    lanes: Slab<Lane<K>>,
    by_key: HashTable<Index>,
    /// Lanes that go as soon as there is a permit, by their oldest waiting input.
    ready: Heap<u64>,
    /// Lanes that wait for company, by when that ends.
    lingering: Heap<(Instant, u64)>,
    /// Lanes that wait for their batch in flight, by their oldest waiting input.
    behind: Heap<u64>,

    commands: VecDeque<Command<K, I>>,
    buffers: Vec<Vec<Item<I>>>,
    /// The room in the buffers, in inputs.
    spare_items: usize,
}

#[derive(Clone, Copy, Default)]
struct InFlight {
    batches: usize,
    inputs: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Door {
    Open,
    Closing,
    Drained,
}

/// Who counts the batches in flight.
enum Permits {
    /// The machine itself, against `max_in_flight`.
    Own,
    /// A driver that shares one bound among several machines, and lends each batch its permit.
    #[cfg(feature = "drive")]
    Lent,
}

impl<K, I, S> PerKey<K, I, S>
where
    K: Clone + Eq + Hash,
    S: BuildHasher,
{
    /// A machine with nothing in it.
    ///
    /// The hasher decides nothing but speed; one keyed at random withstands callers who choose keys
    /// to collide.
    ///
    /// # Errors
    ///
    /// When a bound is zero.
    pub fn new(limits: Limits, hasher: S) -> Result<Self, InvalidLimits> {
        limits.check()?;
        Ok(Self::unchecked(limits, hasher, Permits::Own))
    }

    /// A machine whose batches in flight are counted by [`lend_permit`](Self::lend_permit)'s caller.
    #[cfg(feature = "drive")]
    pub(crate) fn with_lent_permits(limits: Limits, hasher: S) -> Result<Self, InvalidLimits> {
        limits.check()?;
        Ok(Self::unchecked(limits, hasher, Permits::Lent))
    }

    fn unchecked(limits: Limits, hasher: S, permits: Permits) -> Self {
        Self {
            limits,
            hasher,
            now: Instant::EPOCH,
            door: Door::Open,
            permits,
            accepted: 0,
            in_flight: InFlight::default(),
            waiting: Slab::new(),
            deadlines: Heap::new(),
            lanes: Slab::new(),
            by_key: HashTable::new(),
            ready: Heap::new(),
            lingering: Heap::new(),
            behind: Heap::new(),
            commands: VecDeque::new(),
            buffers: Vec::new(),
            spare_items: 0,
        }
    }

    // ---- events -------------------------------------------------------------------------------

    /// An input arrives, with no deadline and a weight of one.
    ///
    /// # Errors
    ///
    /// As [`submit_with`](Self::submit_with).
    pub fn submit(&mut self, now: Instant, key: K, input: I) -> Result<Ticket, Rejected<K, I>> {
        self.submit_with(now, key, input, Terms::default())
    }

    /// An input arrives. The ticket says later which answer is its own.
    ///
    /// # Errors
    ///
    /// Over a bound, or closed: everything is handed back, and nothing has changed.
    pub fn submit_with(
        &mut self,
        now: Instant,
        key: K,
        input: I,
        terms: Terms,
    ) -> Result<Ticket, Rejected<K, I>> {
        let hash = self.hasher.hash_one(&key);
        self.submit_hashed(now, hash, key, input, terms)
    }

    /// As [`submit_with`](Self::submit_with), for a caller that has hashed the key already.
    pub(crate) fn submit_hashed(
        &mut self,
        now: Instant,
        hash: u64,
        key: K,
        input: I,
        terms: Terms,
    ) -> Result<Ticket, Rejected<K, I>> {
        self.tick(now);
        let lane = self.find(hash, &key);
        if let Some(reason) = self.objection(lane, terms.weight) {
            return Err(Rejected { reason, key, input });
        }
        let lane = match lane {
            Some(lane) => {
                discard(key);
                lane
            }
            None => self.open_lane(hash, key),
        };
        let ticket = self.enqueue(lane, input, terms);
        // One that joins others behind their batch changes nothing about where its key stands.
        if !self.lanes[lane].is_in_flight() || self.lanes[lane].waiting == 1 {
            self.reconsider(lane);
        }
        if terms.deadline.is_some() {
            // It may have passed already.
            self.tick(now);
        }
        self.dispatch();
        Ok(ticket)
    }

    /// A batch's round trip is over, however it ended, and its callers are told.
    ///
    /// # Panics
    ///
    /// When the batch is of another machine, as far as that shows: this one has no such batch of
    /// that key in flight.
    pub fn finished(&mut self, now: Instant, batch: Batch<K, I>) {
        let known = self.lanes.get(batch.lane);
        let is_known = known.is_some_and(|known| known.key == batch.key);
        assert!(is_known, "the batch is of another `PerKey`");
        self.take_back(now, batch);
    }

    /// As [`finished`](Self::finished), for a driver that knows the batch to be this machine's, and
    /// whose keys may panic when they are compared.
    pub(crate) fn take_back(&mut self, now: Instant, batch: Batch<K, I>) {
        let Batch {
            lane,
            key,
            mut items,
        } = batch;
        items.clear();
        if self.spare_items + items.capacity() <= SPARE_ITEMS_MAX {
            self.spare_items += items.capacity();
            self.buffers.push(items);
        }
        self.land(now, lane, key);
    }

    /// As [`finished`](Self::finished), of a batch that is no more: a panic took it along.
    #[cfg(feature = "drive")]
    pub(crate) fn lost(&mut self, now: Instant, Stub(lane): Stub) {
        let key = self.lanes[lane.index].key.clone();
        self.land(now, lane, key);
    }

    /// A lane's batch is over; the next takes the spare key along.
    fn land(&mut self, now: Instant, handle: Handle, spare: K) {
        let in_flight = self
            .lanes
            .get(handle)
            .and_then(|lane| lane.phase.in_flight());
        let Some(inputs) = in_flight else {
            panic!("the batch is of another `PerKey`");
        };
        self.advance(now);
        self.lanes[handle.index].phase = Phase::Gathering { spare };
        self.in_flight.batches -= 1;
        self.in_flight.inputs -= inputs;
        self.reconsider(handle.index);
        self.dispatch();
        self.check_drained();
    }

    /// A caller is not interested any more. The input is handed back if it still waited; `None`
    /// means that it is in flight and is carried to its end, or that it is not here any more.
    pub fn withdraw(&mut self, ticket: Ticket) -> Option<I> {
        if !self.waiting.contains(ticket.0) {
            return None;
        }
        let lane = self.waiting[ticket.0.index].lane;
        let input = self.unlink(ticket.0.index).input;
        self.reconsider(lane);
        self.dispatch();
        self.check_drained();
        Some(input)
    }

    /// Takes out the input that has waited longest, of all keys: for a driver that is cut off and
    /// has to tell everyone. `None` when nothing waits.
    pub fn evict_oldest(&mut self) -> Option<(Ticket, I)> {
        let ticket = Ticket(self.waiting.handle(self.oldest()?));
        self.withdraw(ticket).map(|input| (ticket, input))
    }

    /// No more inputs are taken. What waits goes without lingering; when the last batch is finished,
    /// [`Command::Drained`] says so.
    pub fn close(&mut self) {
        if self.door != Door::Open {
            return;
        }
        self.door = Door::Closing;
        while let Some(lane) = self.lingering.pop() {
            self.reconsider(lane);
        }
        self.dispatch();
        self.check_drained();
    }

    /// Time has passed: what [`timeout`](Self::timeout) announced may be due. Too early is harmless.
    pub fn tick(&mut self, now: Instant) {
        if self.advance(now) {
            self.dispatch();
            self.check_drained();
        }
    }

    // ---- commands -----------------------------------------------------------------------------

    /// The next thing to do, if there is one.
    pub fn poll(&mut self) -> Option<Command<K, I>> {
        self.commands.pop_front()
    }

    /// When to [`tick`](Self::tick) next: when the first deadline passes or the first key has
    /// lingered long enough. `None` when nothing waits for time to pass.
    pub fn timeout(&self) -> Option<Instant> {
        let linger = self.lingering.least().map(|((due, _), _)| due);
        let deadline = self.deadlines.least().map(|((due, _), _)| due);
        linger.into_iter().chain(deadline).min()
    }

    // ---- gauges -------------------------------------------------------------------------------

    /// Inputs that wait for their key's next batch.
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Batches in flight.
    pub fn batches_in_flight(&self) -> usize {
        self.in_flight.batches
    }

    /// Inputs waiting or in flight: what `max_queueing` bounds.
    pub fn queueing(&self) -> usize {
        self.waiting.len() + self.in_flight.inputs
    }

    /// Keys that have something waiting or in flight; no other is stored.
    pub fn keys(&self) -> usize {
        self.lanes.len()
    }

    /// When the input that has waited longest was submitted.
    pub fn oldest_waiting(&self) -> Option<Instant> {
        self.oldest().map(|oldest| self.waiting[oldest].submitted)
    }
}

impl<K, I, S> fmt::Debug for PerKey<K, I, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PerKey")
            .field("limits", &self.limits)
            .field("keys", &self.lanes.len())
            .field("waiting", &self.waiting.len())
            .field("batches_in_flight", &self.in_flight.batches)
            .finish_non_exhaustive()
    }
}
