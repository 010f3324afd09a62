//! What a seed draws before it begins: what the fleet is like, and which faults there are at all.

use core::time::Duration;

use ferry_core::{Fold, Retry, drive::Schedule, per_key::Limits};

use crate::{
    calls::{Carrier, Pace},
    chance::Chance,
    store::Layout,
    workload::Workload,
};

/// How large a simulation is: three nodes, eight keys and 200 inputs in five minutes, and what is said otherwise.
///
/// ```
/// use ferry_sim::Size;
///
/// let small = Size::new().keys(2).inputs(50);
/// assert_eq!(small.nodes, 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Size {
    /// How many nodes there are.
    pub nodes: usize,
    /// How many keys they write.
    pub keys: u32,
    /// How many inputs are sent, repetitions apart.
    pub inputs: u64,
    /// How long they go on, before everything is healed.
    pub duration: Duration,
}

impl Size {
    /// The usual one.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            nodes: 3,
            keys: 8,
            inputs: 200,
            duration: Duration::from_secs(300),
        }
    }

    /// With so many nodes, one or more. With more, more writers are at a key at once.
    #[must_use]
    pub const fn nodes(self, nodes: usize) -> Self {
        Self { nodes, ..self }
    }

    /// With so many keys, one or more. With fewer, more inputs meet at each.
    #[must_use]
    pub const fn keys(self, keys: u32) -> Self {
        Self { keys, ..self }
    }

    /// With so many inputs, one or more.
    #[must_use]
    pub const fn inputs(self, inputs: u64) -> Self {
        Self { inputs, ..self }
    }

    /// With so much time, more than none, in which inputs are sent and things go wrong.
    #[must_use]
    pub const fn duration(self, duration: Duration) -> Self {
        Self { duration, ..self }
    }

    /// Whether there is so much to do that nodes with narrow limits would never be done: then a run would be of clients that
    /// are turned away.
    pub(crate) fn is_busy(&self) -> bool {
        self.inputs > 2 * self.duration.as_secs()
    }

    /// How many times the default duration it lasts, and once at least: what is drawn by number and not by rate comes so
    /// many times as often, so that a long run is no calmer than a short one, nor its bursts larger.
    pub(crate) fn times(&self) -> u64 {
        (self.duration.as_secs() / Self::default().duration.as_secs()).max(1)
    }

    fn limits(&self, chance: &mut Chance) -> Limits {
        let defaults = Limits::default();
        let narrow: &[usize] = if self.is_busy() { &[] } else { &[1, 2] };
        let mut pick = |default: usize, others: &[usize]| {
            let all: Vec<_> = core::iter::once(default)
                .chain(others.iter().copied())
                .collect();
            chance.pick(&all)
        };
        Limits {
            max_batch: pick(defaults.max_batch, &[narrow, &[8]].concat()),
            max_queueing: pick(
                defaults.max_queueing,
                if self.is_busy() { &[] } else { &[4, 32] },
            ),
            max_in_flight: pick(defaults.max_in_flight, narrow),
            linger: chance.pick(&[Duration::ZERO, Duration::ZERO, Duration::from_millis(20)]),
            ..defaults
        }
    }
}

impl Default for Size {
    /// As [`new`](Self::new).
    fn default() -> Self {
        Self::new()
    }
}

/// Rates of faults, in ten thousand. Zero: this seed does not have it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rates {
    // Of commits:
    pub(crate) busy: u64,
    pub(crate) throttled: u64,
    pub(crate) answer_lost: u64,
    pub(crate) answer_broken: u64,
    pub(crate) request_lost: u64,
    pub(crate) late: u64,
    pub(crate) twice: u64,
    // Of reads:
    pub(crate) read_failed: u64,
    // Of either:
    pub(crate) slow: u64,
    /// Of calls for a batch that were answered, or given up: their adapter panics over it.
    pub(crate) call_panics: u64,
    /// Of steps of the store, after which the calling node crashes.
    pub(crate) crash_at_step: u64,
    // Of inputs:
    pub(crate) poison: u64,
    pub(crate) panics: u64,
    pub(crate) slow_step: u64,
    /// Their ids panic now and then.
    pub(crate) startles: u64,
    pub(crate) other_content: u64,
    pub(crate) sent_twice: u64,
    // Of attempts:
    pub(crate) impatient: u64,
    pub(crate) deadline: u64,
    pub(crate) embedded: u64,
    /// They wait for room where there is none.
    pub(crate) waits: u64,
    /// They go to whichever node, whatever the routing says.
    pub(crate) misrouted: u64,
    // Of clients:
    pub(crate) gives_up: u64,
    /// They send an input again long after it was answered.
    pub(crate) late_retry: u64,
    // Of projections, where the view is in another store:
    pub(crate) part: u64,
    // Of queries for pending records:
    pub(crate) query_failed: u64,
}

impl Rates {
    pub(crate) fn draw(size: &Size, chance: &mut Chance) -> Self {
        let mut rate = |rates: &[u64]| {
            if chance.happens(5_000) {
                chance.pick(rates)
            } else {
                0
            }
        };
        let few_to_many = &[50, 200, 1_000, 3_000];
        // A node that is busy takes many steps, and is not to be down most of the time.
        let crash_at_step: &[u64] = if size.is_busy() {
            &[1, 3, 10]
        } else {
            &[10, 50, 200]
        };
        Self {
            busy: rate(few_to_many),
            throttled: rate(few_to_many),
            answer_lost: rate(few_to_many),
            answer_broken: rate(few_to_many),
            request_lost: rate(few_to_many),
            late: rate(few_to_many),
            twice: rate(few_to_many),
            read_failed: rate(few_to_many),
            slow: rate(&[50, 500]),
            // Drawn later: see `storm.rs`.
            call_panics: 0,
            startles: 0,
            waits: 0,
            crash_at_step: rate(crash_at_step),
            poison: rate(&[100, 500]),
            panics: rate(&[100, 500]),
            slow_step: rate(&[50, 200]),
            other_content: rate(&[200, 1_000]),
            sent_twice: rate(&[500, 3_000]),
            impatient: rate(&[500, 5_000]),
            deadline: rate(&[500, 3_000]),
            embedded: rate(&[1_000, 5_000]),
            misrouted: rate(&[100, 1_000, 5_000]),
            gives_up: rate(&[500, 2_000]),
            late_retry: rate(&[200, 2_000]),
            part: rate(&[500, 3_000]),
            query_failed: rate(few_to_many),
        }
    }

    /// What is left once everything is healed: what clients do, and what no store will ever take.
    pub(crate) fn healed(self) -> Self {
        Self {
            poison: self.poison,
            panics: self.panics,
            startles: self.startles,
            other_content: self.other_content,
            sent_twice: self.sent_twice,
            embedded: self.embedded,
            waits: self.waits,
            misrouted: self.misrouted,
            gives_up: self.gives_up,
            ..Self::default()
        }
    }
}

/// To which nodes clients go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Routing {
    /// All to the same, as long as it is there.
    Rendezvous,
    /// As they please.
    Random,
    /// One of two that both believe to own the key.
    TwoOwners,
}

/// What stays broken when all else is healed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Broken {
    Nothing,
    /// Every write to this key is throttled, from the beginning on.
    Commits(u32),
    /// No projection of this key succeeds, from the beginning on.
    Projections(u32),
    /// This node never comes back.
    Node(usize),
}

/// All that a seed draws before it begins.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    pub(crate) size: Size,
    /// How many of the keys clients write to: the first of them.
    pub(crate) keys_used: u32,
    pub(crate) rates: Rates,
    pub(crate) routing: Routing,
    pub(crate) limits: Limits,
    pub(crate) retry: Retry,
    /// How long the store's clients wait for it.
    pub(crate) store_timeout: Duration,
    /// Of each node.
    pub(crate) crashes: u64,
    /// Of all nodes at once.
    pub(crate) blackouts: u64,
    /// Of each node.
    pub(crate) freezes: u64,
    /// How often an operator shuts it down in order, and starts it again.
    pub(crate) shutdowns: u64,
    /// Of each node: how often its clock jumps ahead.
    pub(crate) jumps: u64,
    /// By how much clocks of nodes are slow or fast at most, in a thousand.
    pub(crate) drift: u64,
    /// How many records are deleted.
    pub(crate) deletes: u64,
    /// Whose; `None`: anyone's. Of one key they are so close together that its versions are few.
    pub(crate) deletes_of: Option<u32>,
    /// How often somebody resumes a key.
    pub(crate) resumes: u64,
    /// How much of the inputs come close together.
    pub(crate) bursts: u64,
    /// A sweeper's pause between its turns, and the longest for a key that keeps failing.
    pub(crate) sweeps: (Duration, Duration),
    /// How many keys a sweeper resumes at a time.
    pub(crate) sweeps_at_once: usize,
    /// How often, in ten thousand, somebody resumes a key as soon as a commit of it lands.
    pub(crate) heeds: u64,
    pub(crate) layout: Layout,
    pub(crate) broken: Broken,
    /// The longest deadline.
    pub(crate) deadline_max_millis: u64,
}

/// The longest deadline, unless clients are in haste.
const DEADLINE_MAX_MILLIS: u64 = 2_000;

impl Broken {
    fn draw(size: Size, chance: &mut Chance) -> Self {
        let key = chance.below(u64::from(size.keys)) as u32;
        let node = chance.index(size.nodes);
        let mut which = vec![Self::Nothing; 9];
        which.extend([Self::Commits(key), Self::Projections(key)]);
        // Somebody has to be there.
        if size.nodes > 1 {
            which.push(Self::Node(node));
        }
        chance.pick(&which)
    }

    /// In words.
    pub(crate) fn words(self) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Commits(key) => Some(format!("the commits of key {key}")),
            Self::Projections(key) => Some(format!("the projections of key {key}")),
            Self::Node(node) => Some(format!("node {node}")),
        }
    }

    /// A sweeper's pause between its turns, and the longest for a key that keeps failing: short enough for some turns after
    /// the healing, and far apart where there is a key that keeps failing for good.
    fn sweeps(self) -> (Duration, Duration) {
        let every = match self {
            Self::Projections(_) => 1,
            Self::Nothing | Self::Commits(_) | Self::Node(_) => 8,
        };
        (Duration::from_secs(every), Duration::from_secs(16))
    }

    /// The key that is broken.
    pub(crate) fn key(self) -> Option<u32> {
        match self {
            Self::Commits(key) | Self::Projections(key) => Some(key),
            Self::Nothing | Self::Node(_) => None,
        }
    }
}

impl Draws {
    /// The same with a bound of what a batch weighs, now and then: no less than the heaviest input of a sample.
    pub(crate) fn weighed<W: Workload>(mut self, load: &W, chance: &mut Chance) -> Self {
        const SAMPLE: u64 = 16;
        let times = chance.pick(&[0, 0, 0, 1, 3]);
        if times > 0 && !self.size.is_busy() {
            let fold = load.fold();
            let sample = (1..=SAMPLE).map(|nth| fold.weight(&load.input(nth, chance)));
            let heaviest = sample.max().unwrap_or(0);
            self.limits.max_weight = heaviest.saturating_mul(times).max(1);
        }
        self
    }

    /// At which pace the nodes are to go about it.
    pub(crate) fn pace(&self) -> Pace {
        let (sweep_every, sweep_pause_max) = self.sweeps;
        Pace {
            limits: self.limits,
            retry: self.retry,
            sweep_every,
            sweep_pause_max,
            drift: self.drift,
            is_jumpy: self.jumps > 0,
            sweeps_at_once: self.sweeps_at_once,
            carrier: Carrier::Ferry,
        }
    }

    /// Nothing goes wrong by itself.
    pub(crate) fn still(size: Size) -> Self {
        Self {
            size,
            keys_used: size.keys,
            rates: Rates::default(),
            routing: Routing::Rendezvous,
            limits: Limits::default(),
            retry: Retry::default(),
            store_timeout: Duration::from_millis(500),
            crashes: 0,
            blackouts: 0,
            freezes: 0,
            shutdowns: 0,
            jumps: 0,
            drift: 0,
            deletes: 0,
            deletes_of: None,
            resumes: 0,
            bursts: 0,
            layout: Layout::Together,
            broken: Broken::Nothing,
            sweeps: Broken::Nothing.sweeps(),
            sweeps_at_once: Schedule::default().concurrency,
            heeds: 0,
            deadline_max_millis: DEADLINE_MAX_MILLIS,
        }
    }

    pub(crate) fn of(size: Size, chance: &mut Chance) -> Self {
        let limits = size.limits(chance);
        let broken = Broken::draw(size, chance);
        let per_key: &[usize] = if size.is_busy() { &[] } else { &[2, 8] };
        let per_key = [&[limits.max_queueing_per_key; 2], per_key].concat();
        let limits = Limits {
            max_queueing_per_key: chance.pick(&per_key),
            ..limits
        };
        let limits = if broken.key().is_some() {
            // What keeps a key that is stuck from taking all there is.
            Limits {
                max_in_flight: limits.max_in_flight.max(2),
                max_queueing_per_key: (limits.max_queueing_per_key)
                    .min((limits.max_queueing / 2).max(1)),
                ..limits
            }
        } else {
            limits
        };
        let defaults = Retry::default();
        let retry = Retry {
            attempts: chance.pick(&[defaults.attempts, 1, 2, 4]),
            total: chance.pick(&[30_000, 30_000, 2_000, 300].map(Duration::from_millis)),
            ..defaults
        };
        Self {
            size,
            keys_used: size.keys,
            rates: Rates::draw(&size, chance),
            routing: chance.pick(&[Routing::Rendezvous, Routing::Random, Routing::TwoOwners]),
            limits,
            retry,
            store_timeout: chance.pick(&[3_000, 500, 50].map(Duration::from_millis)),
            crashes: chance.pick(&[0, 0, 1, 3]) * size.times(),
            blackouts: chance.pick(&[0, 0, 0, 1]) * size.times(),
            freezes: chance.pick(&[0, 0, 1, 2]) * size.times(),
            shutdowns: chance.pick(&[0, 0, 0, 1, 2]) * size.times(),
            jumps: chance.pick(&[0, 0, 0, 2]) * size.times(),
            drift: chance.pick(&[0, 0, 5, 300]),
            deletes: chance.pick(&[0, 0, 2, 80]) * size.times(),
            resumes: chance.pick(&[0, 0, 5, 30]) * size.times(),
            bursts: chance.pick(&[0, 3_000, 9_000]),
            sweeps: broken.sweeps(),
            layout: chance.pick(&[Layout::Together, Layout::Apart]),
            deletes_of: chance.pick(&[None, Some(0)]),
            sweeps_at_once: chance.pick(&[Schedule::default().concurrency, 1, 2]),
            heeds: chance.pick(&[0, 0, 1_000, 5_000]),
            broken,
            deadline_max_millis: DEADLINE_MAX_MILLIS,
        }
    }
}
