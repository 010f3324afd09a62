//! What everything in a run shares: the store, the fleet, the faults, and what is noted of it all.

use core::time::Duration;
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ferry_core::drive::Runtime;

use crate::{
    chance::Stream,
    event::Event,
    executor::Process,
    fleet::Node,
    fold::Weakened,
    history::{Answer, Ask, Call, History, Life, Submission, SubmissionId},
    points::{Point, Points},
    policy::Policy,
    store::Table,
    swarm::{Draws, Rates},
};

/// What everything in a run shares.
#[derive(Debug)]
pub(crate) struct World {
    /// Where everything runs that is no node: the network, the store, the clients.
    pub(crate) process: Process,
    pub(crate) draws: Draws,
    pub(crate) policy: Policy,
    pub(crate) weakened: Arc<Weakened>,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) faults: Stream,
    pub(crate) jitter: Stream,
    pub(crate) rates: Rates,
    pub(crate) table: Table,
    pub(crate) nodes: Vec<Node>,
    pub(crate) history: History,
    pub(crate) points: Points,
    /// Clients that still wait, with their inputs.
    pub(crate) waiting: BTreeMap<u64, u64>,
    /// Calls whose callers heard that they are in doubt.
    pub(crate) given_up: BTreeSet<u64>,
    /// Who wrote which version.
    pub(crate) writers: BTreeMap<(u32, u64), Life>,
    calls: u64,
}

impl State {
    /// How long a message is on its way.
    pub(crate) fn latency(&mut self) -> Duration {
        if self.faults.happens(self.rates.slow) {
            self.points.met(Point::Slow);
            return self.faults.millis(50, 5_000);
        }
        self.faults.millis(1, 10)
    }

    pub(crate) fn is_alive(&self, life: Life) -> bool {
        self.nodes[life.node].is_living(life)
    }
}

impl World {
    pub(crate) fn new(
        process: Process,
        draws: Draws,
        policy: Policy,
        faults: Stream,
        jitter: Stream,
    ) -> Arc<Self> {
        let nodes = (0..draws.size.nodes).map(Node::new).collect();
        let state = State {
            faults,
            jitter,
            rates: draws.rates,
            table: Table::default(),
            nodes,
            history: History::default(),
            points: Points::default(),
            waiting: BTreeMap::new(),
            given_up: BTreeSet::new(),
            writers: BTreeMap::new(),
            calls: 0,
        };
        Arc::new(Self {
            process,
            draws,
            policy,
            weakened: Arc::default(),
            state: Mutex::new(state),
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn tell(&self, event: Event) {
        self.process.tell(event);
    }

    pub(crate) fn met(&self, point: Point) {
        self.lock().points.met(point);
    }

    /// A safeguard that was left out has made a difference.
    pub(crate) fn weakened(&self) {
        self.weakened.again();
    }

    // ---- of the store -----------------------------------------------------------------------------

    pub(crate) fn next_call(&self, life: Life, key: u32) -> Call {
        let mut state = self.lock();
        state.calls += 1;
        let nth = state.calls;
        Call { nth, life, key }
    }

    /// A read, how long it is on its way to the store and back, and whether it fails.
    pub(crate) fn read_asked(&self, life: Life, key: u32) -> (Call, Duration, Duration, bool) {
        let call = self.next_call(life, key);
        let mut state = self.lock();
        let (there, back) = (state.latency(), state.latency());
        let rate = state.rates.read_failed;
        (call, there, back, state.faults.happens(rate))
    }

    // ---- of the clients ---------------------------------------------------------------------------

    pub(crate) fn submitted(&self, life: Life, ask: Ask) -> SubmissionId {
        let mut state = self.lock();
        let submissions = &mut state.history.submissions;
        let submission = SubmissionId(submissions.len() as u64);
        submissions.push(Submission {
            life,
            ask,
            at: self.process.now(),
            answer: None,
        });
        let node = life.node;
        self.tell(Event::Submitted {
            submission,
            node,
            ask,
        });
        submission
    }

    pub(crate) fn answered(&self, submission: SubmissionId, answer: Answer) {
        self.tell(Event::Answered { submission, answer });
        let now = self.process.now();
        let state = &mut *self.lock();
        let asked = &mut state.history.submissions[submission.0 as usize];
        asked.answer = Some((now, answer));
        if let Some(point) = Point::of(answer) {
            state.points.met(point);
        }
    }
}
