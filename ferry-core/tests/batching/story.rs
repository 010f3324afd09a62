//! The batching machine told step by step: inputs are numbers, keys are words.

use core::{hash::BuildHasherDefault, time::Duration};
use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash},
};

use ferry_core::{
    Instant,
    per_key::{Batch, Command, Limits, PerKey, Reason, Terms, Ticket},
};

pub(crate) type Key = &'static str;
pub(crate) type Hasher = BuildHasherDefault<DefaultHasher>;

/// So many milliseconds.
pub(crate) fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// So many milliseconds after the start.
pub(crate) fn at(ms: u64) -> Instant {
    Instant::EPOCH + Duration::from_millis(ms)
}

pub(crate) struct Story {
    pub(crate) per_key: PerKey<Key, u32, Hasher>,
    now: Instant,
    tickets: BTreeMap<u32, Ticket>,
    in_flight: BTreeMap<Key, Batch<Key, u32>>,
    /// Kept for another machine to be given.
    limits: Limits,
}

/// No bound is near.
pub(crate) fn free() -> Story {
    Story::under(Limits::default())
}

/// A key waits 10 ms for company, of two at most.
pub(crate) fn lingering() -> Story {
    Story::under(Limits {
        linger: ms(10),
        max_batch: 3,
        ..Limits::default()
    })
}

impl Story {
    pub(crate) fn under(limits: Limits) -> Self {
        Self {
            per_key: PerKey::new(limits, Hasher::default()).unwrap(),
            now: Instant::EPOCH,
            tickets: BTreeMap::new(),
            in_flight: BTreeMap::new(),
            limits,
        }
    }

    /// Another machine under the same limits.
    pub(crate) fn another(&self) -> Self {
        Self::under(self.limits)
    }

    // ---- events -----------------------------------------------------------------------------------

    pub(crate) fn submit(&mut self, key: Key, input: u32) -> &mut Self {
        self.submit_with(key, input, Terms::default())
    }

    pub(crate) fn submit_all<const N: usize>(&mut self, key: Key, inputs: [u32; N]) -> &mut Self {
        for input in inputs {
            self.submit(key, input);
        }
        self
    }

    /// Submits an input that is of no use any more so many milliseconds after the start.
    pub(crate) fn submit_until(&mut self, deadline: u64, key: Key, input: u32) -> &mut Self {
        let deadline = Some(at(deadline));
        self.submit_with(
            key,
            input,
            Terms {
                deadline,
                ..Terms::default()
            },
        )
    }

    pub(crate) fn submit_weighing(&mut self, weight: usize, key: Key, input: u32) -> &mut Self {
        self.submit_with(
            key,
            input,
            Terms {
                weight,
                ..Terms::default()
            },
        )
    }

    #[track_caller]
    fn submit_with(&mut self, key: Key, input: u32, terms: Terms) -> &mut Self {
        let ticket = self
            .per_key
            .submit_with(self.now, key, input, terms)
            .unwrap();
        self.tickets.insert(input, ticket);
        self
    }

    /// Submits an input that may be rejected.
    pub(crate) fn offer(&mut self, key: Key, input: u32) -> &mut Self {
        let ticket = self.per_key.submit(self.now, key, input).ok();
        self.tickets.extend(ticket.map(|ticket| (input, ticket)));
        self
    }

    /// An input is not accepted, and everything is handed back.
    #[track_caller]
    pub(crate) fn rejects(&mut self, reason: Reason, key: Key, input: u32) -> &mut Self {
        self.rejects_weighing(1, reason, key, input)
    }

    #[track_caller]
    pub(crate) fn rejects_weighing(
        &mut self,
        weight: usize,
        reason: Reason,
        key: Key,
        input: u32,
    ) -> &mut Self {
        let terms = Terms {
            weight,
            ..Terms::default()
        };
        let before = self.gauges();
        let rejected = self
            .per_key
            .submit_with(self.now, key, input, terms)
            .unwrap_err();
        assert_eq!(
            (rejected.reason, rejected.key, rejected.input),
            (reason, key, input)
        );
        assert_eq!(self.gauges(), before);
        self
    }

    /// The batch of this key, dispatched earlier, is finished.
    #[track_caller]
    pub(crate) fn finish(&mut self, key: Key) -> &mut Self {
        let batch = self.batch_of(key);
        self.per_key.finished(self.now, batch);
        self
    }

    pub(crate) fn finish_if_in_flight(&mut self, key: Key) -> &mut Self {
        if let Some(batch) = self.in_flight.remove(key) {
            self.per_key.finished(self.now, batch);
        }
        self
    }

    #[track_caller]
    pub(crate) fn batch_of(&mut self, key: Key) -> Batch<Key, u32> {
        self.in_flight
            .remove(key)
            .expect("a batch of that key is in flight")
    }

    /// Withdraws an input that still waits.
    #[track_caller]
    pub(crate) fn withdraw(&mut self, input: u32) -> &mut Self {
        assert_eq!(self.per_key.withdraw(self.tickets[&input]), Some(input));
        self
    }

    /// Withdraws an input that does not wait any more.
    #[track_caller]
    pub(crate) fn withdraw_in_vain(&mut self, input: u32) -> &mut Self {
        assert_eq!(self.per_key.withdraw(self.tickets[&input]), None);
        self
    }

    pub(crate) fn withdraw_if_there(&mut self, input: u32) -> &mut Self {
        if let Some(ticket) = self.tickets.get(&input) {
            self.per_key.withdraw(*ticket);
        }
        self
    }

    pub(crate) fn close(&mut self) -> &mut Self {
        self.per_key.close();
        self
    }

    /// It is now so many milliseconds after the start, and the machine is told.
    pub(crate) fn at(&mut self, ms: u64) -> &mut Self {
        self.only_clock_at(ms);
        self.per_key.tick(self.now);
        self
    }

    /// It is now so many milliseconds after the start; the machine hears with the next event.
    pub(crate) fn only_clock_at(&mut self, ms: u64) -> &mut Self {
        self.now = at(ms);
        self
    }

    // ---- commands -----------------------------------------------------------------------------------

    /// The next command is a batch of this key with these inputs.
    #[track_caller]
    pub(crate) fn dispatches<const N: usize>(&mut self, key: Key, inputs: [u32; N]) -> &mut Self {
        match self.per_key.poll() {
            Some(Command::Dispatch(batch)) => {
                let items: Vec<_> = batch.items().iter().map(|item| item.input).collect();
                assert_eq!((*batch.key(), &items[..]), (key, &inputs[..]));
                for item in batch.items() {
                    assert_eq!(item.ticket, self.tickets[&item.input]);
                }
                assert!(
                    self.in_flight.insert(key, batch).is_none(),
                    "two in flight of {key}"
                );
            }
            other => panic!("expected a batch of {key}, not {other:?}"),
        }
        self
    }

    /// The next command tells that this input expired.
    #[track_caller]
    pub(crate) fn expires(&mut self, input: u32) -> &mut Self {
        match self.per_key.poll() {
            Some(Command::Expired(ticket, expired)) => {
                assert_eq!((expired, ticket), (input, self.tickets[&input]));
            }
            other => panic!("expected {input} to expire, not {other:?}"),
        }
        self
    }

    #[track_caller]
    pub(crate) fn is_drained(&mut self) -> &mut Self {
        let command = self.per_key.poll();
        assert!(
            matches!(command, Some(Command::Drained)),
            "not drained but {command:?}"
        );
        self
    }

    /// There is nothing to do.
    #[track_caller]
    pub(crate) fn rests(&mut self) -> &mut Self {
        let command = self.per_key.poll();
        assert!(command.is_none(), "not at rest but {command:?}");
        self
    }

    #[track_caller]
    pub(crate) fn wants_to_be_told_at(&mut self, ms: u64) -> &mut Self {
        assert_eq!(self.per_key.timeout(), Some(at(ms)));
        self
    }

    #[track_caller]
    pub(crate) fn waits_for_no_time(&mut self) -> &mut Self {
        assert_eq!(self.per_key.timeout(), None);
        self
    }

    /// Nothing is left: no command, key, input or timer.
    #[track_caller]
    pub(crate) fn is_empty(&mut self) -> &mut Self {
        self.rests().waits_for_no_time();
        assert_eq!(self.gauges(), (0, 0, 0, 0));
        assert_eq!(self.per_key.oldest_waiting(), None);
        self
    }

    /// Keys, inputs waiting, inputs queueing, batches in flight.
    pub(crate) fn gauges(&self) -> (usize, usize, usize, usize) {
        let per_key = &self.per_key;
        (
            per_key.keys(),
            per_key.waiting(),
            per_key.queueing(),
            per_key.batches_in_flight(),
        )
    }
}

/// Hashes everything to the same, so that keys are told apart by equality alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Colliding(pub(crate) u8);

impl Hash for Colliding {
    fn hash<H: core::hash::Hasher>(&self, state: &mut H) {
        0u8.hash(state);
    }
}
