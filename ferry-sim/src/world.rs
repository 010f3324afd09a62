//! What everything in a run shares: the store, the fleet, the faults, and what is noted of it all.

use core::{fmt, time::Duration};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use ferry_core::drive::Runtime;

use crate::{
    calls::{Ask, Noted, Pace},
    chance::Chance,
    event::{AnswerKind, Event},
    executor::Process,
    faults::Faults,
    fleet::Node,
    history::{Call, Heard, HeardBy, History, Life, Reach, Submission, SubmissionId},
    kind::{Kind, RecordOf},
    points::{Point, Points},
    policy::{Policy, Reading},
    sent::{Quirk, Sent},
    store::{
        Fate, Table,
        script::{Course, ON_ITS_WAY, Op, Script},
    },
    swarm::{Broken, Draws, Rates},
    workload::{InputOf, KeyOf, VersionOf, Workload},
};

/// Most of what is told in words is shorter, in bytes.
const WORDS_LONG: usize = 64;

/// What everything in a run shares.
pub(crate) struct World<K: Kind> {
    /// Where everything runs that is no node: the network, the store, the clients.
    pub(crate) process: Process,
    pub(crate) draws: Draws,
    pub(crate) policy: Policy,
    pub(crate) load: K::Load,
    pub(crate) fold: <K::Load as Workload>::Fold,
    keys: Vec<KeyOf<K::Load>>,
    weakened: AtomicU64,
    state: Mutex<State<K>>,
}

/// A read that was asked for, and what becomes of it.
pub(crate) struct ReadAsked {
    pub(crate) noted: Noted,
    pub(crate) call: Call,
    /// How long it is on its way to the store, and back.
    pub(crate) there: Duration,
    pub(crate) back: Duration,
    pub(crate) failed: bool,
}

#[derive(Debug)]
pub(crate) struct State<K: Kind> {
    pub(crate) faults: Faults,
    pub(crate) jitter: Chance,
    pub(crate) rates: Rates,
    pub(crate) table: Table<K>,
    pub(crate) nodes: Vec<Node<K>>,
    pub(crate) history: History<K::Load>,
    pub(crate) points: Points,
    /// Clients that still wait, with their inputs and keys.
    pub(crate) waiting: BTreeMap<u64, (u64, u32)>,
    /// Calls whose callers heard that they are in doubt.
    pub(crate) given_up: BTreeSet<u64>,
    /// Who wrote which version.
    pub(crate) writers: BTreeMap<(u32, u64), Life>,
    pub(crate) broken: Broken,
    pub(crate) is_healed: bool,
    /// Where a story is told, it says what happens.
    pub(crate) script: Option<Script>,
    calls: u64,
}

impl<K: Kind> fmt::Debug for World<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World")
            .field("draws", &self.draws)
            .finish_non_exhaustive()
    }
}

impl<K: Kind> State<K> {
    /// How long a message is on its way.
    pub(crate) fn latency(&mut self, chance: &mut Chance) -> Duration {
        if self.script.is_some() {
            return ON_ITS_WAY;
        }
        if chance.happens(self.rates.slow) {
            self.points.met(Point::Slow);
            return chance.millis(50, 5_000);
        }
        chance.millis(1, 10)
    }

    fn next_call(&mut self, life: Life, key: u32) -> Call {
        self.calls += 1;
        let nth = self.calls;
        Call { nth, life, key }
    }

    pub(crate) fn is_alive(&self, life: Life) -> bool {
        self.nodes[life.node].is_living(life)
    }

    /// Whether writes of this kind to this key never succeed.
    pub(crate) fn is_broken(&self, key: u32, is_commit: bool) -> bool {
        match self.broken {
            Broken::Commits(broken) => is_commit && broken == key,
            Broken::Projections(broken) => !is_commit && broken == key,
            Broken::Nothing | Broken::Node(_) => false,
        }
    }
}

impl<K: Kind> World<K> {
    pub(crate) fn new(
        process: Process,
        draws: Draws,
        policy: Policy,
        load: K::Load,
        mut faults: Chance,
        jitter: Chance,
    ) -> Arc<Self> {
        let nodes = (0..draws.size.nodes).map(Node::new).collect();
        let keys: Vec<_> = (0..draws.size.keys).map(|nth| load.key(nth)).collect();
        let state = State {
            faults: Faults::of(draws.size, &mut faults),
            jitter,
            rates: draws.rates,
            table: Table::new(load.clone()),
            nodes,
            history: History {
                pace: Pace {
                    limits: policy.front.bounds(draws.limits),
                    carrier: policy.carrier(K::CARRIER),
                    ..draws.pace()
                },
                ..History::with_room_for(draws.size.inputs)
            },
            points: Points::default(),
            waiting: BTreeMap::new(),
            given_up: BTreeSet::new(),
            writers: BTreeMap::new(),
            broken: draws.broken,
            is_healed: false,
            script: None,
            calls: 0,
        };
        Arc::new(Self {
            process,
            draws,
            policy,
            fold: load.fold(),
            load,
            keys,
            weakened: AtomicU64::new(0),
            state: Mutex::new(state),
        })
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State<K>> {
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
        self.weakened_if(true);
    }

    pub(crate) fn weakened_if(&self, is_weakened: bool) {
        if is_weakened {
            self.weakened.fetch_add(1, Relaxed);
        }
    }

    /// How often that was so.
    pub(crate) fn times_weakened(&self) -> u64 {
        self.weakened.load(Relaxed) + self.load.weakened()
    }

    pub(crate) fn key(&self, number: u32) -> KeyOf<K::Load> {
        self.keys[number as usize].clone()
    }

    pub(crate) fn number_of(&self, key: &KeyOf<K::Load>) -> u32 {
        let number = self.keys.iter().position(|known| known == key);
        match number.map(u32::try_from) {
            Some(Ok(number)) => number,
            None | Some(Err(_)) => {
                unreachable!("the fleet is given no other keys than those of the workload")
            }
        }
    }

    /// Inputs whose clients still wait, but for those of this key.
    pub(crate) fn unanswered(&self, but: Option<u32>) -> Vec<u64> {
        let state = self.lock();
        let waiting = state.waiting.values();
        let waiting = waiting.filter(|(_, key)| Some(*key) != but);
        waiting.map(|&(number, _)| number).collect()
    }

    // ---- of the store -----------------------------------------------------------------------------

    pub(crate) fn next_call(&self, life: Life, key: u32) -> Call {
        self.lock().next_call(life, key)
    }

    /// A read is asked for: what becomes of it.
    pub(crate) fn read_asked(&self, life: Life, key: u32, ask: Ask) -> ReadAsked {
        let state = &mut *self.lock();
        let noted = state.asks(self.process.now(), life, key, ask, None);
        let call = state.next_call(life, key);
        let mut chance = state.faults.of_request(life.node, key);
        let (there, back) = (state.latency(&mut chance), state.latency(&mut chance));
        let (slow, failed) = match &mut state.script {
            Some(script) => {
                let Course { fate, slow } = script.course(Op::Read, call);
                (slow, fate != Fate::Plain)
            }
            None => (Duration::ZERO, chance.happens(state.rates.read_failed)),
        };
        ReadAsked {
            noted,
            call,
            there,
            back: back + slow,
            failed,
        }
    }

    /// A read has reached the store: what it finds, with the number of its version, zero where there is no record.
    pub(crate) fn served(&self, call: Call, inputs: usize) -> (Option<RecordOf<K::Load>>, u64) {
        let state = self.lock();
        let is_stale = self.policy.reading == Reading::Stale;
        let (record, was_stale) = state.table.read(call.key, is_stale);
        let known = record
            .as_ref()
            .and_then(|record| state.table.number(call.key, &record.version));
        drop(state);
        self.weakened_if(was_stale);
        self.tell(Event::Served {
            call,
            version: known,
            inputs,
        });
        (record, known.unwrap_or(0))
    }

    /// A commit of these entries is asked for. It is noted with the number of the version that it is based on; zero: of no record;
    /// `None`: of one that was deleted since.
    pub(crate) fn commit_asked(
        &self,
        life: Life,
        key: u32,
        expected: Option<&VersionOf<K::Load>>,
        entries: &[Sent<K::Load>],
    ) -> (Call, Noted) {
        let state = &mut *self.lock();
        let call = state.next_call(life, key);
        if entries.len() > 1 {
            state.points.met(Point::Batch);
        }
        let submissions = entries.iter().map(|sent| sent.submission).collect();
        let version = match expected {
            Some(version) => state.table.number(key, version),
            None => Some(0),
        };
        let at = self.process.now();
        let noted = state.asks(at, life, key, Ask::Commit(submissions), version);
        (call, noted)
    }

    /// A projection is asked for.
    pub(crate) fn project_asked(&self, life: Life, key: u32) -> Noted {
        let at = self.process.now();
        self.lock().asks(at, life, key, Ask::Project, None)
    }

    // ---- of the clients ---------------------------------------------------------------------------

    pub(crate) fn submitted(
        &self,
        life: Life,
        key: u32,
        number: u64,
        content: &Arc<InputOf<K::Load>>,
        quirk: Quirk,
        within: Option<Duration>,
    ) -> SubmissionId {
        let mut state = self.lock();
        let submissions = &mut state.history.submissions;
        let submission = SubmissionId(submissions.len() as u64);
        submissions.push(Submission {
            life,
            key,
            number,
            content: Arc::clone(content),
            quirk,
            at: self.process.now(),
            within,
            answer: None,
            deserted: None,
        });
        self.tell(Event::Submitted {
            submission,
            node: life.node,
            key,
            number,
            input: words(format_args!("{content:?}")),
        });
        submission
    }

    /// Its caller has dropped what it waited for.
    pub(crate) fn deserted(&self, submission: SubmissionId) {
        self.tell(Event::Deserted { submission });
        let now = self.process.now();
        let submissions = &mut self.lock().history.submissions;
        submissions[submission.0 as usize].deserted = Some(now);
    }

    pub(crate) fn answered(&self, submission: SubmissionId, answer: HeardBy<K::Load>) {
        let kind = match &answer {
            Heard::Outcome(_, Reach::Durable) => AnswerKind::Durable,
            Heard::Outcome(_, Reach::Projected) => AnswerKind::Projected,
            Heard::Outcome(_, Reach::Committed(_)) => AnswerKind::Committed,
            Heard::NotCommitted(_) => AnswerKind::NotCommitted,
            Heard::InDoubt(_) => AnswerKind::InDoubt,
            Heard::Rejected => AnswerKind::Rejected,
        };
        self.tell(Event::Answered {
            submission,
            kind,
            answer: words(format_args!("{answer}")),
        });
        let now = self.process.now();
        let state = &mut *self.lock();
        if let Some(point) = Point::of(&answer) {
            state.points.met(point);
        }
        let asked = &mut state.history.submissions[submission.0 as usize];
        asked.answer = Some((now, answer));
    }
}

/// In a string that does not have to grow, most of the time: it is made for each event that has words, whoever reads it.
fn words(arguments: fmt::Arguments<'_>) -> String {
    let mut words = String::with_capacity(WORDS_LONG);
    match fmt::write(&mut words, arguments) {
        Ok(()) => words,
        Err(fmt::Error) => unreachable!("a string takes all that is written to it"),
    }
}
