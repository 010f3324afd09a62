//! What is drawn last: what panics beside steps, and storms.

use core::time::Duration;

use ferry_core::{Retry, per_key::Limits};

use crate::{chance::Chance, swarm::Draws};

/// How many seeds of ten thousand have a storm.
const STORMS: u64 = 1_500;

impl Draws {
    /// The same with what panics beside steps, now and then; and with a storm, now and then: all that makes it hard to keep
    /// inputs in order comes at once, over few keys.
    ///
    /// What is drawn here is drawn last, so that runs that were written down before there was any of it have none.
    pub(crate) fn stormy(mut self, chance: &mut Chance) -> Self {
        let mut rate = |often, rates: &[u64]| match chance.happens(often) {
            true => chance.pick(rates),
            false => 0,
        };
        self.rates.call_panics = rate(2_500, &[50, 500]);
        self.rates.startles = rate(2_500, &[100, 1_000]);
        if self.size.is_busy() || !chance.happens(STORMS) {
            return self;
        }
        self.keys_used = chance.pick(&[1, 2]).min(self.size.keys);
        self.bursts = 9_500;
        let rates = &mut self.rates;
        rates.call_panics = chance.pick(&[500, 3_000]);
        rates.startles = chance.pick(&[0, 0, 500]);
        rates.read_failed = chance.pick(&[500, 3_000]);
        rates.late = chance.pick(&[1_000, 3_000]);
        rates.answer_lost = chance.pick(&[1_000, 3_000]);
        rates.sent_twice = chance.pick(&[1_000, 5_000]);
        rates.deadline = chance.pick(&[1_000, 5_000]);
        let (wide, patient) = (Limits::default(), Retry::default());
        self.limits.max_batch = chance.pick(&[wide.max_batch, 8]);
        self.limits.max_queueing = wide.max_queueing;
        self.limits.max_queueing_per_key = wide.max_queueing_per_key;
        self.limits.linger = chance.pick(&[Duration::ZERO, Duration::from_millis(20)]);
        self.retry.attempts = patient.attempts.max(4);
        self.retry.total = chance.pick(&[30_000, 2_000].map(Duration::from_millis));
        self.store_timeout = chance.pick(&[50, 500].map(Duration::from_millis));
        self
    }
}
