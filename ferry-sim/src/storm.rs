//! What is drawn last: what panics beside steps, storms, haste, the pauses between tries, and who waits for room.

use core::time::Duration;

use ferry_core::{Retry, per_key::Limits};

use crate::{
    chance::Chance,
    swarm::{Draws, Routing},
};

/// How many seeds of ten thousand have a storm.
const STORMS: u64 = 1_500;

/// In how many of those that have none clients are in haste.
const HASTES: u64 = 1_500;

impl Draws {
    /// The same with what panics beside steps, now and then; and with a storm, now and then: all that makes it hard to keep
    /// inputs in order comes at once, over few keys.
    ///
    /// What is drawn here is drawn last, so that runs that were written down before there was any of it have none.
    pub(crate) fn stormy(self, chance: &mut Chance) -> Self {
        self.blown(chance).paced(chance).patient(chance)
    }

    fn blown(mut self, chance: &mut Chance) -> Self {
        let mut rate = |often, rates: &[u64]| match chance.happens(often) {
            true => chance.pick(rates),
            false => 0,
        };
        self.rates.call_panics = rate(2_500, &[50, 500]);
        self.rates.startles = rate(2_500, &[100, 1_000]);
        if self.size.is_busy() {
            return self;
        }
        if !chance.happens(STORMS) {
            return self.hasty(chance);
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

    /// The same with clients in haste, now and then: many deadlines pass while the commit is late that was to bring several of
    /// their inputs. Little else goes wrong, so that it lands after all.
    fn hasty(mut self, chance: &mut Chance) -> Self {
        if !chance.happens(HASTES) {
            return self;
        }
        self.bursts = 9_500;
        self.deadline_max_millis = chance.pick(&[100, 400]);
        self.store_timeout = Duration::from_millis(50);
        self.routing = Routing::Rendezvous;
        self.retry.attempts = Retry::default().attempts;
        self.retry.total = Duration::from_secs(30);
        self.limits.max_batch = Limits::default().max_batch;
        self.limits.linger = Duration::from_millis(20);
        let rates = &mut self.rates;
        for rate in [
            &mut rates.busy,
            &mut rates.throttled,
            &mut rates.request_lost,
            &mut rates.read_failed,
            &mut rates.misrouted,
            &mut rates.crash_at_step,
        ] {
            *rate = 0;
        }
        rates.late = chance.pick(&[2_000, 5_000]);
        rates.deadline = chance.pick(&[3_000, 6_000]);
        self
    }

    /// The same with pauses of other lengths between tries, now and then.
    fn paced(mut self, chance: &mut Chance) -> Self {
        let usual = Retry::default();
        let millis = Duration::from_millis;
        self.retry.base = chance.pick(&[usual.base, usual.base, millis(1), millis(100)]);
        self.retry.factor = chance.pick(&[usual.factor, usual.factor, 1, 4]);
        self.retry.cap = chance.pick(&[usual.cap, usual.cap, millis(200)]);
        self
    }

    /// The same with clients that wait for room, now and then.
    fn patient(mut self, chance: &mut Chance) -> Self {
        if chance.happens(5_000) {
            self.rates.waits = chance.pick(&[1_000, 5_000]);
        }
        self
    }
}
