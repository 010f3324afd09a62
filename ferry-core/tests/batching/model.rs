//! What the batching machine is to do, said as plainly as possible: vectors, searched from the front.

use std::collections::BTreeSet;

use ferry_core::{
    Instant,
    per_key::{Limits, Reason},
};

/// What is asked of the caller, with inputs named by the order in which they were offered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Dispatch(u8, Vec<u32>),
    Expired(u32),
    Drained,
}

#[derive(Clone, Debug)]
struct Waiting {
    input: u32,
    key: u8,
    weight: usize,
    submitted: Instant,
    deadline: Option<Instant>,
}

#[derive(Clone, Debug)]
pub(crate) struct Model {
    limits: Limits,
    now: Instant,
    waiting: Vec<Waiting>,
    in_flight: Vec<(u8, Vec<u32>)>,
    closed: bool,
    drained: bool,
    pub(crate) asked: Vec<Asked>,
}

impl Model {
    pub(crate) fn new(limits: Limits) -> Self {
        Self {
            limits,
            now: Instant::EPOCH,
            waiting: Vec::new(),
            in_flight: Vec::new(),
            closed: false,
            drained: false,
            asked: Vec::new(),
        }
    }

    // ---- events -------------------------------------------------------------------------------

    pub(crate) fn submit(
        &mut self,
        now: Instant,
        input: u32,
        key: u8,
        weight: usize,
        deadline: Option<Instant>,
    ) -> Result<(), Reason> {
        self.tick(now);
        if self.closed {
            return Err(Reason::Closed);
        } else if weight > self.limits.max_weight {
            return Err(Reason::TooHeavy);
        } else if self.queueing() >= self.limits.max_queueing {
            return Err(Reason::QueueFull);
        } else if self.queueing_of(key) >= self.limits.max_queueing_per_key {
            return Err(Reason::KeyFull);
        }
        self.waiting.push(Waiting {
            input,
            key,
            weight,
            submitted: self.now,
            deadline,
        });
        self.tick(now);
        Ok(())
    }

    pub(crate) fn finished(&mut self, now: Instant, key: u8) {
        self.pass(now);
        self.in_flight.retain(|(in_flight, _)| *in_flight != key);
        self.settle();
    }

    /// Whether the input waited.
    pub(crate) fn withdraw(&mut self, input: u32) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|waiting| waiting.input != input);
        self.settle();
        self.waiting.len() < before
    }

    pub(crate) fn close(&mut self) {
        self.closed = true;
        self.settle();
    }

    pub(crate) fn tick(&mut self, now: Instant) {
        self.pass(now);
        self.settle();
    }

    // ---- what follows from them -----------------------------------------------------------------

    /// Time never goes back; those whose deadline it reaches leave, the earliest deadline first.
    fn pass(&mut self, now: Instant) {
        self.now = self.now.max(now);
        while let Some(due) = self
            .waiting
            .iter()
            .filter_map(|waiting| waiting.deadline)
            .min()
            && due <= self.now
        {
            let at = self
                .waiting
                .iter()
                .position(|waiting| waiting.deadline == Some(due));
            let expired = self.waiting.remove(at.expect("just found"));
            self.asked.push(Asked::Expired(expired.input));
        }
    }

    /// As long as there is a permit, the key goes that may go and has the oldest input.
    fn settle(&mut self) {
        while self.in_flight.len() < self.limits.max_in_flight
            && let Some(oldest) = self.waiting.iter().find(|oldest| self.may_go(oldest.key))
        {
            let key = oldest.key;
            let batch = self.next_batch(key);
            self.waiting
                .retain(|waiting| !batch.contains(&waiting.input));
            self.asked.push(Asked::Dispatch(key, batch.clone()));
            self.in_flight.push((key, batch));
        }
        if self.closed && !self.drained && self.queueing() == 0 {
            self.drained = true;
            self.asked.push(Asked::Drained);
        }
    }

    fn may_go(&self, key: u8) -> bool {
        let weight: usize = self.of(key).map(|waiting| waiting.weight).sum();
        let full =
            self.of(key).count() >= self.limits.max_batch || weight >= self.limits.max_weight;
        let due = self.linger_ends(key).is_some_and(|end| end <= self.now);
        !self.is_in_flight(key) && (full || due || self.closed)
    }

    fn next_batch(&self, key: u8) -> Vec<u32> {
        let mut weight = 0;
        self.of(key)
            .take(self.limits.max_batch)
            .take_while(|waiting| {
                weight += waiting.weight;
                weight <= self.limits.max_weight
            })
            .map(|waiting| waiting.input)
            .collect()
    }

    fn of(&self, key: u8) -> impl Iterator<Item = &Waiting> {
        self.waiting
            .iter()
            .filter(move |waiting| waiting.key == key)
    }

    fn linger_ends(&self, key: u8) -> Option<Instant> {
        Some(self.of(key).next()?.submitted + self.limits.linger)
    }

    // ---- gauges ---------------------------------------------------------------------------------

    pub(crate) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    pub(crate) fn queueing(&self) -> usize {
        self.waiting.len()
            + self
                .in_flight
                .iter()
                .map(|(_, batch)| batch.len())
                .sum::<usize>()
    }

    pub(crate) fn queueing_of(&self, key: u8) -> usize {
        let in_flight = self.in_flight.iter().filter(|(of, _)| *of == key);
        self.of(key).count() + in_flight.map(|(_, batch)| batch.len()).sum::<usize>()
    }

    pub(crate) fn keys_in_flight(&self) -> Vec<u8> {
        self.in_flight.iter().map(|(key, _)| *key).collect()
    }

    fn is_in_flight(&self, key: u8) -> bool {
        self.in_flight
            .iter()
            .any(|(in_flight, _)| *in_flight == key)
    }

    pub(crate) fn keys(&self) -> usize {
        let waiting = self.waiting.iter().map(|waiting| waiting.key);
        let keys: BTreeSet<_> = waiting.chain(self.keys_in_flight()).collect();
        keys.len()
    }

    pub(crate) fn oldest_waiting(&self) -> Option<Instant> {
        self.waiting.first().map(|waiting| waiting.submitted)
    }

    /// When time alone changes something: a deadline, or a key that has lingered long enough.
    pub(crate) fn timeout(&self) -> Option<Instant> {
        let lingering = self
            .waiting
            .iter()
            .filter(|waiting| !self.is_in_flight(waiting.key) && !self.may_go(waiting.key))
            .filter_map(|waiting| self.linger_ends(waiting.key));
        let deadlines = self.waiting.iter().filter_map(|waiting| waiting.deadline);
        lingering.chain(deadlines).min()
    }
}
