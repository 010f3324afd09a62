//! A write on its way: it arrives, takes effect and is answered whatever becomes of its caller.

use core::time::Duration;
use std::sync::Arc;

use ferry_core::{CommitError, Fault, drive::Runtime};
use futures_channel::oneshot;

use super::{
    Answered, Fate,
    script::{Course, Op},
    views::Span,
};
use crate::{
    event::Event,
    history::Call,
    kind::{Kind, RecordOf},
    points::Point,
    policy::ProjectionFence,
    purses::StoreError,
    sent::Sent,
    workload::{StateOf, VersionOf, Workload},
    world::{State, World},
};

/// A write, as it goes over the wire.
pub(super) struct Request<K: Kind> {
    pub(super) call: Call,
    pub(super) asked: Asked<K::Load>,
    /// What it is held against, if it projects.
    pub(super) fence: ProjectionFence,
}

/// What is to be written.
pub(super) enum Asked<W: Workload> {
    Commit {
        expected: Option<VersionOf<W>>,
        state: StateOf<W>,
        entries: Vec<Sent<W>>,
    },
    /// View and marker in one.
    Project(RecordOf<W>),
    /// These entries of the view, which is in another store.
    Show {
        span: Span,
        /// The number of their record's version.
        version: u64,
    },
    /// The marker alone.
    Mark(RecordOf<W>),
}

impl<W: Workload> Asked<W> {
    fn op(&self) -> Op {
        match self {
            Self::Commit { .. } => Op::Commit,
            Self::Project(_) => Op::Project,
            Self::Show { .. } => Op::Show,
            Self::Mark(_) => Op::Mark,
        }
    }
}

type Answer<W> = oneshot::Sender<Answered<W>>;

/// Nobody may be waiting any more.
fn send<W: Workload>(answer: Answer<W>, answered: Answered<W>) {
    let _heard = answer.send(answered);
}

impl<K: Kind> World<K> {
    /// Sends the write on its way.
    pub(super) fn deliver(self: &Arc<Self>, request: Request<K>, answer: Answer<K::Load>) {
        let mut state = self.lock();
        let state = &mut *state;
        let is_commit = matches!(request.asked, Asked::Commit { .. });
        let mut chance = (state.faults).of_request(request.call.life.node, request.call.key);
        let call = request.call;
        let is_broken = state.is_broken(call.key, is_commit);
        let Course { fate, slow } = match &mut state.script {
            Some(script) => script.course(request.asked.op(), call),
            None if is_broken => Course::of(Fate::Throttled(None)),
            None => Course::of(Fate::draw(&state.rates, &mut chance)),
        };
        let there = state.latency(&mut chance) + slow;
        let back = state.latency(&mut chance);
        self.tell(state.asked(call, &request.asked, fate));
        let way = Way {
            world: Arc::clone(self),
            request,
            back,
        };
        self.process.spawn(way.carried_out(fate, answer, there));
    }
}

impl<K: Kind> State<K> {
    /// What is told of a write that is on its way.
    fn asked(&self, call: Call, asked: &Asked<K::Load>, fate: Fate) -> Event {
        match asked {
            Asked::Commit {
                expected, entries, ..
            } => Event::Commit {
                call,
                expected: (expected.as_ref()).map(|known| self.number(call.key, known)),
                inputs: (entries.iter())
                    .map(|sent| (sent.number, sent.submission))
                    .collect(),
                fate,
            },
            Asked::Project(record) => Event::Project {
                call,
                version: self.number(call.key, &record.version),
                fate,
            },
            Asked::Mark(record) => Event::Mark {
                call,
                version: self.number(call.key, &record.version),
                fate,
            },
            Asked::Show { span, version } => Event::Show {
                call,
                version: *version,
                from: span.from,
                to: span.to,
                fate,
            },
        }
    }

    /// The number of a version that was read; 0 where its record has been deleted since.
    pub(super) fn number(&self, key: u32, version: &VersionOf<K::Load>) -> u64 {
        self.table.number(key, version).unwrap_or(0)
    }
}

/// The way of a write to the store, and of its answer back.
struct Way<K: Kind> {
    world: Arc<World<K>>,
    request: Request<K>,
    /// How long the answer takes.
    back: Duration,
}

impl<K: Kind> Way<K> {
    async fn carried_out(self, fate: Fate, answer: Answer<K::Load>, there: Duration) {
        self.after(there).await;
        match fate {
            Fate::Plain => {
                let answered = self.arrives();
                self.after(self.back).await;
                send(answer, answered);
            }
            Fate::Busy => {
                self.world.met(Point::WriteBusy);
                send(answer, failed(Fault::transient(StoreError::Busy)));
            }
            Fate::Throttled(hint) => {
                self.world.met(match hint {
                    Some(_) => Point::ThrottledWithHint,
                    None => Point::Throttled,
                });
                let fault = Fault::throttled(StoreError::Throttled, hint);
                send(answer, failed(fault));
            }
            Fate::AnswerLost => {
                drop(answer);
                let _unheard = self.arrives_and(Point::AnswerLost);
            }
            Fate::AnswerBroken => {
                let _replaced = self.arrives_and(Point::AnswerBroken);
                send(answer, Err(CommitError::InDoubt(StoreError::Broken)));
            }
            Fate::RequestLost => {
                drop(answer);
                self.world.met(Point::RequestLost);
            }
            Fate::Late(pause) => {
                drop(answer);
                self.after(pause).await;
                self.arrives_late();
            }
            Fate::Twice {
                gap,
                hears_second: false,
            } => {
                send(answer, self.arrives_and(Point::SecondCopy));
                self.after(gap).await;
                let _unheard = self.arrives();
            }
            Fate::Twice {
                gap,
                hears_second: true,
            } => {
                let first = self.arrives();
                self.after(gap).await;
                send(answer, self.arrives_again(&first));
            }
        }
    }

    fn after(&self, pause: Duration) -> impl Future<Output = ()> + Send + 'static {
        self.world.process.sleep(pause)
    }

    fn arrives(&self) -> Answered<K::Load> {
        self.world.arrived(&self.request)
    }

    /// It is met where it landed.
    fn arrives_and(&self, point: Point) -> Answered<K::Load> {
        let landed = self.arrives();
        if landed.is_ok() {
            self.world.met(point);
        }
        landed
    }

    fn arrives_again(&self, first: &Answered<K::Load>) -> Answered<K::Load> {
        let second = self.arrives();
        if first.is_ok() && matches!(second, Err(CommitError::Refused)) {
            self.world.met(Point::HiddenLanding);
        }
        second
    }

    fn arrives_late(&self) {
        let landed = self.arrives();
        let Request { call, asked, .. } = &self.request;
        let is_commit = matches!(asked, Asked::Commit { .. });
        let state = &mut *self.world.lock();
        let point = match landed {
            Ok(_) if !is_commit => Point::ShownLate,
            Ok(_) if !state.is_alive(call.life) => Point::LandedAfterDeath,
            Ok(_) if state.given_up.contains(&call.nth) => Point::LandedLate,
            Ok(_) | Err(CommitError::NotLanded(_) | CommitError::InDoubt(_)) => return,
            Err(CommitError::Refused) if is_commit => Point::RefusedLate,
            Err(CommitError::Refused) => Point::ProjectionRefusedLate,
        };
        state.points.met(point);
    }
}

pub(super) fn failed<W: Workload>(fault: Fault<StoreError>) -> Answered<W> {
    Err(CommitError::NotLanded(fault))
}
