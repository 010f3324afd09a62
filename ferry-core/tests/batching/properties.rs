//! Any sequence of events, under any bounds, against the plain model.

use core::time::Duration;
use std::collections::{BTreeMap, BTreeSet};

use ferry_core::{
    Instant,
    per_key::{Batch, Command, Limits, PerKey, Terms, Ticket},
};
use quickcheck::{Arbitrary, Gen, QuickCheck};

use crate::{
    model::{Asked, Model},
    story::Hasher,
};

const KEYS: u8 = 4;

#[derive(Clone, Debug)]
enum Event {
    Submit {
        key: u8,
        weight: usize,
        patience: Option<u8>,
    },
    /// The batch in flight that was dispatched this many before the latest finishes.
    Finish(usize),
    /// Someone withdraws the input that was accepted this many before the latest.
    Withdraw(usize),
    Close,
    Tick,
}

/// An event, and how much later than the one before it happens.
#[derive(Clone, Debug)]
struct Timed {
    later: i8,
    event: Event,
}

impl Arbitrary for Timed {
    fn arbitrary(g: &mut Gen) -> Self {
        // Mostly at the same moment or soon after, now and then before.
        let later = *g.choose(&[0, 0, 0, 1, 1, 2, 5, -2]).expect("not empty");
        let event = match u8::arbitrary(g) {
            0..=129 => Event::Submit {
                key: u8::arbitrary(g) % KEYS,
                weight: *g.choose(&[0, 1, 1, 1, 2, 3, 6]).expect("not empty"),
                patience: Option::arbitrary(g).map(|patience: u8| patience % 12),
            },
            130..=194 => Event::Finish(usize::arbitrary(g) % 4),
            195..=229 => Event::Withdraw(usize::arbitrary(g) % 8),
            230..=253 => Event::Tick,
            254..=255 => Event::Close,
        };
        Self { later, event }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let Self { later, event } = self.clone();
        let sooner = later.shrink().map({
            let event = event.clone();
            move |later| Self {
                later,
                event: event.clone(),
            }
        });
        let simpler: Vec<Event> = match event {
            Event::Submit {
                key,
                weight,
                patience,
            } => (key, weight, patience)
                .shrink()
                .map(|(key, weight, patience)| Event::Submit {
                    key,
                    weight,
                    patience,
                })
                .collect(),
            Event::Finish(nth) => nth
                .shrink()
                .map(Event::Finish)
                .chain([Event::Tick])
                .collect(),
            Event::Withdraw(nth) => nth
                .shrink()
                .map(Event::Withdraw)
                .chain([Event::Tick])
                .collect(),
            Event::Close => vec![Event::Tick],
            Event::Tick => vec![],
        };
        Box::new(sooner.chain(simpler.into_iter().map(move |event| Self { later, event })))
    }
}

/// Bounds, mostly tiny.
#[derive(Clone, Debug)]
struct Shape(Limits);

impl Arbitrary for Shape {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut bound = |most: usize| match bool::arbitrary(g) {
            true => usize::arbitrary(g) % most + 1,
            false => 1000,
        };
        let (max_batch, max_weight) = (bound(3), bound(5));
        let (max_queueing, max_queueing_per_key) = (bound(8), bound(4));
        let max_in_flight = bound(3);
        let linger = Duration::from_nanos(*g.choose(&[0, 0, 1, 4, 10]).expect("not empty"));
        Self(Limits {
            max_batch,
            max_weight,
            linger,
            max_queueing,
            max_queueing_per_key,
            max_in_flight,
        })
    }

    /// Towards no bounds.
    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let now = self.0;
        let freer = [
            Limits {
                max_batch: 1000,
                ..now
            },
            Limits {
                max_weight: 1000,
                ..now
            },
            Limits {
                max_queueing: 1000,
                ..now
            },
            Limits {
                max_queueing_per_key: 1000,
                ..now
            },
            Limits {
                max_in_flight: 1000,
                ..now
            },
            Limits {
                linger: Duration::ZERO,
                ..now
            },
        ];
        Box::new(
            freer
                .into_iter()
                .filter(move |&freer| freer != now)
                .map(Self),
        )
    }
}

/// When the commands are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Polling {
    AfterEachEvent,
    /// Only when a batch is to be finished that was not seen yet, and at the end.
    WhenUnavoidable,
}

/// The machine beside its model.
struct Pair {
    per_key: PerKey<u8, u32, Hasher>,
    model: Model,
    limits: Limits,
    now: Instant,
    offered: u32,
    tickets: Vec<(u32, Ticket)>,
    batches: BTreeMap<u8, Batch<u8, u32>>,
    asked: Vec<Asked>,
    withdrawn: BTreeSet<u32>,
    polling: Polling,
}

impl Pair {
    fn new(limits: Limits, polling: Polling) -> Self {
        Self {
            per_key: PerKey::new(limits, Hasher::default()).unwrap(),
            model: Model::new(limits),
            limits,
            now: Instant::EPOCH + Duration::from_nanos(50),
            offered: 0,
            tickets: Vec::new(),
            batches: BTreeMap::new(),
            asked: Vec::new(),
            withdrawn: BTreeSet::new(),
            polling,
        }
    }

    fn happens(&mut self, Timed { later, event }: &Timed) {
        let nanos = self.now.nanos().saturating_add_signed(i64::from(*later));
        self.now = Instant::from_nanos(nanos);
        match event {
            Event::Submit {
                key,
                weight,
                patience,
            } => self.submit(*key, *weight, *patience),
            Event::Finish(nth) => self.finish(*nth),
            Event::Withdraw(nth) => self.withdraw(*nth),
            Event::Close => {
                self.per_key.close();
                self.model.close();
            }
            Event::Tick => {
                self.per_key.tick(self.now);
                self.model.tick(self.now);
            }
        }
        if self.polling == Polling::AfterEachEvent {
            while self.poll() {}
            assert_eq!(self.asked.len(), self.model.asked.len());
            assert_eq!(self.asked.last(), self.model.asked.last());
        }
        self.compare();
    }

    fn submit(&mut self, key: u8, weight: usize, patience: Option<u8>) {
        let input = self.offered;
        self.offered += 1;
        let deadline = patience.map(|nanos| self.now + Duration::from_nanos(nanos.into()));
        let terms = Terms { deadline, weight };
        let expected = self.model.submit(self.now, input, key, weight, deadline);
        match self.per_key.submit_with(self.now, key, input, terms) {
            Ok(ticket) => {
                assert_eq!(expected, Ok(()));
                assert!(
                    self.tickets.iter().all(|(_, other)| *other != ticket),
                    "used twice"
                );
                self.tickets.push((input, ticket));
            }
            Err(rejected) => {
                assert_eq!(expected, Err(rejected.reason));
                assert_eq!((rejected.key, rejected.input), (key, input));
            }
        }
    }

    fn finish(&mut self, nth: usize) {
        let Some(&key) = self.model.keys_in_flight().iter().rev().nth(nth) else {
            return;
        };
        while !self.batches.contains_key(&key) {
            assert!(self.poll(), "the batch of {key} was not dispatched");
        }
        let batch = self.batches.remove(&key).expect("just seen");
        self.per_key.finished(self.now, batch);
        self.model.finished(self.now, key);
    }

    fn withdraw(&mut self, nth: usize) {
        let Some(&(input, ticket)) = self.tickets.iter().rev().nth(nth) else {
            return;
        };
        let withdrawn = self.per_key.withdraw(ticket);
        assert_eq!(withdrawn, self.model.withdraw(input).then_some(input));
        self.withdrawn.extend(withdrawn);
    }

    /// Takes one command, if there is one.
    fn poll(&mut self) -> bool {
        let Some(command) = self.per_key.poll() else {
            return false;
        };
        self.asked.push(match command {
            Command::Dispatch(batch) => {
                let key = *batch.key();
                let inputs = batch.items().iter().map(|item| item.input).collect();
                for item in batch.items() {
                    assert!(self.tickets.contains(&(item.input, item.ticket)));
                }
                assert!(
                    self.batches.insert(key, batch).is_none(),
                    "two in flight of {key}"
                );
                Asked::Dispatch(key, inputs)
            }
            Command::Expired(ticket, input) => {
                assert!(self.tickets.contains(&(input, ticket)));
                Asked::Expired(input)
            }
            Command::Drained => Asked::Drained,
        });
        true
    }

    fn compare(&self) {
        let (per_key, model) = (&self.per_key, &self.model);
        assert_eq!(per_key.waiting(), model.waiting());
        assert_eq!(per_key.queueing(), model.queueing());
        assert_eq!(per_key.keys(), model.keys());
        assert_eq!(per_key.batches_in_flight(), model.keys_in_flight().len());
        assert_eq!(per_key.oldest_waiting(), model.oldest_waiting());
        assert_eq!(per_key.timeout(), model.timeout());
        // The model keeps them too, but they are what it is all for.
        assert!(per_key.queueing() <= self.limits.max_queueing);
        assert!(per_key.batches_in_flight() <= self.limits.max_in_flight);
        for key in 0..KEYS {
            assert!(model.queueing_of(key) <= self.limits.max_queueing_per_key);
        }
    }

    /// Everything in flight finishes, and time passes, until nothing is left.
    fn runs_dry(&mut self) {
        loop {
            if let Some(due) = self.per_key.timeout() {
                self.now = self.now.max(due);
                self.per_key.tick(self.now);
                self.model.tick(self.now);
            } else if !self.model.keys_in_flight().is_empty() {
                self.finish(0);
            } else {
                break;
            }
        }
        while self.poll() {}
        assert_eq!(self.asked, self.model.asked);
        assert_eq!((self.per_key.keys(), self.per_key.queueing()), (0, 0));
    }

    /// Each accepted input was dispatched, expired or withdrawn, and only one of these, once.
    fn answered_each_once(&self) {
        let mut answered: Vec<u32> = self.withdrawn.iter().copied().collect();
        for asked in &self.asked {
            match asked {
                Asked::Dispatch(_, batch) => answered.extend(batch),
                Asked::Expired(input) => answered.push(*input),
                Asked::Drained => {}
            }
        }
        answered.sort_unstable();
        let accepted: Vec<u32> = self.tickets.iter().map(|(input, _)| *input).collect();
        assert_eq!(answered, accepted);
    }

    /// Within a key, inputs were dispatched in the order of submission.
    fn dispatched_in_order(&self) {
        for key in 0..KEYS {
            let of_key = |asked: &Asked| match asked {
                Asked::Dispatch(of, batch) if *of == key => batch.clone(),
                Asked::Dispatch(..) | Asked::Expired(_) | Asked::Drained => vec![],
            };
            assert!(self.asked.iter().flat_map(of_key).is_sorted(), "key {key}");
        }
    }
}

fn run(limits: Limits, events: &[Timed], polling: Polling) -> Pair {
    let mut pair = Pair::new(limits, polling);
    for event in events {
        pair.happens(event);
    }
    pair.runs_dry();
    pair
}

#[test]
fn it_does_what_the_model_does_and_leaves_nothing_behind() {
    fn property(Shape(limits): Shape, events: Vec<Timed>) {
        let pair = run(limits, &events, Polling::AfterEachEvent);
        pair.answered_each_once();
        pair.dispatched_in_order();
    }
    QuickCheck::new()
        .tests(3000)
        .quickcheck(property as fn(Shape, Vec<Timed>));
}

#[test]
fn polling_early_or_late_changes_nothing() {
    fn property(Shape(limits): Shape, events: Vec<Timed>) {
        let late = run(limits, &events, Polling::WhenUnavoidable);
        let early = run(limits, &events, Polling::AfterEachEvent);
        assert_eq!(late.asked, early.asked);
    }
    QuickCheck::new()
        .tests(1000)
        .quickcheck(property as fn(Shape, Vec<Timed>));
}

/// Nothing happens before the time that the machine asks to be told, and something does then.
#[test]
fn the_timeout_is_neither_early_nor_late() {
    fn property(Shape(limits): Shape, events: Vec<Timed>) {
        let mut pair = Pair::new(limits, Polling::AfterEachEvent);
        for event in &events {
            pair.happens(event);
            let Some(due) = pair.per_key.timeout() else {
                continue;
            };
            let before = Instant::from_nanos(due.nanos() - 1);
            pair.per_key.tick(before);
            pair.model.tick(before);
            assert!(
                pair.per_key.poll().is_none(),
                "something happened before {due:?}"
            );
            assert_eq!(pair.per_key.timeout(), Some(due));
            pair.now = pair.now.max(due);
            pair.per_key.tick(due);
            pair.model.tick(due);
            assert_ne!(pair.per_key.timeout(), Some(due));
            while pair.poll() {}
            pair.compare();
        }
    }
    QuickCheck::new()
        .tests(1000)
        .quickcheck(property as fn(Shape, Vec<Timed>));
}
