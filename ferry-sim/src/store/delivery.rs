//! A write on its way: it arrives, takes effect and is answered whatever becomes of its caller.

use core::time::Duration;
use std::sync::Arc;

use ferry_core::{CommitError, Fault, drive::Runtime};
use futures_channel::oneshot;

use super::{
    Answered, Done, Fate,
    script::{Course, Op},
    table::{Effect, Found, Span},
};
use crate::{
    event::Event,
    history::{Call, What, Written},
    kind::{Kind, RecordOf},
    points::Point,
    policy::{Durability, Placing, ProjectionFence},
    purses::StoreError,
    sent::{Quirk, Sent},
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
    Show(Span),
    /// The marker alone.
    Mark(RecordOf<W>),
}

impl<W: Workload> Asked<W> {
    fn op(&self) -> Op {
        match self {
            Self::Commit { .. } => Op::Commit,
            Self::Project(_) => Op::Project,
            Self::Show(_) => Op::Show,
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
        match &request.asked {
            Asked::Commit {
                expected, entries, ..
            } => self.tell(Event::Commit {
                call,
                expected: (expected.as_ref()).and_then(|known| state.table.number(call.key, known)),
                numbers: entries.iter().map(|sent| sent.number).collect(),
                fate,
            }),
            Asked::Project(record) => self.tell(Event::Project {
                call,
                version: state.number(call.key, &record.version),
                fate,
            }),
            Asked::Mark(record) => self.tell(Event::Mark {
                call,
                version: state.number(call.key, &record.version),
                fate,
            }),
            Asked::Show(Span { from, to, .. }) => self.tell(Event::Show {
                call,
                from: *from,
                to: *to,
                fate,
            }),
        }
        let way = Arc::clone(self).carried_out(fate, request, answer, there, back);
        self.process.spawn(way);
    }

    async fn carried_out(
        self: Arc<Self>,
        fate: Fate,
        request: Request<K>,
        answer: Answer<K::Load>,
        there: Duration,
        back: Duration,
    ) {
        let after = |pause| self.process.sleep(pause);
        after(there).await;
        match fate {
            Fate::Plain => {
                let answered = self.arrived(&request);
                after(back).await;
                send(answer, answered);
            }
            Fate::Busy => {
                self.met(Point::WriteBusy);
                send(answer, failed(Fault::transient(StoreError::Busy)));
            }
            Fate::Throttled(hint) => {
                self.met(match hint {
                    Some(_) => Point::ThrottledWithHint,
                    None => Point::Throttled,
                });
                let fault = Fault::throttled(StoreError::Throttled, hint);
                send(answer, failed(fault));
            }
            Fate::AnswerLost => {
                drop(answer);
                if self.arrived(&request).is_ok() {
                    self.met(Point::AnswerLost);
                }
            }
            Fate::AnswerBroken => {
                if self.arrived(&request).is_ok() {
                    self.met(Point::AnswerBroken);
                }
                send(answer, Err(CommitError::InDoubt(StoreError::Broken)));
            }
            Fate::RequestLost => {
                drop(answer);
                self.met(Point::RequestLost);
            }
            Fate::Late(pause) => {
                drop(answer);
                after(pause).await;
                self.arrived_late(&request);
            }
            Fate::Twice { gap, hears_second } => {
                let first = self.arrived(&request);
                if hears_second {
                    after(gap).await;
                    let second = self.arrived(&request);
                    if first.is_ok() && matches!(second, Err(CommitError::Refused)) {
                        self.met(Point::HiddenLanding);
                    }
                    send(answer, second);
                } else {
                    if first.is_ok() {
                        self.met(Point::SecondCopy);
                    }
                    send(answer, first);
                    after(gap).await;
                    let _unheard = self.arrived(&request);
                }
            }
        }
    }

    fn arrived_late(self: &Arc<Self>, request: &Request<K>) {
        let landed = self.arrived(request);
        let is_commit = matches!(request.asked, Asked::Commit { .. });
        let state = &mut *self.lock();
        let point = match landed {
            Ok(_) if !is_commit => Point::ShownLate,
            Ok(_) if !state.is_alive(request.call.life) => Point::LandedAfterDeath,
            Ok(_) if state.given_up.contains(&request.call.nth) => Point::LandedLate,
            Ok(_) | Err(CommitError::NotLanded(_) | CommitError::InDoubt(_)) => return,
            Err(CommitError::Refused) if is_commit => Point::RefusedLate,
            Err(CommitError::Refused) => Point::ProjectionRefusedLate,
        };
        state.points.met(point);
    }

    /// The write has reached the store.
    fn arrived(self: &Arc<Self>, request: &Request<K>) -> Answered<K::Load> {
        let call = request.call;
        match &request.asked {
            Asked::Commit { entries, .. }
                if entries.iter().any(|sent| sent.quirk == Quirk::Poison) =>
            {
                self.met(Point::Permanent);
                failed(Fault::permanent(StoreError::NotAllowed))
            }
            Asked::Commit {
                expected,
                state,
                entries,
            } => match self.policy.durability {
                Durability::BeforeAnswer => self.committed(call, expected.as_ref(), state, entries),
                Durability::AfterAnswer => self.promised(call, expected.clone(), state, entries),
            },
            Asked::Project(record) => self.projected(call, record, request.fence),
            Asked::Show(span) => Ok(self.shown(call, *span)),
            Asked::Mark(record) => self.marked(call, record, request.fence),
        }
    }

    fn committed(
        self: &Arc<Self>,
        call: Call,
        expected: Option<&VersionOf<K::Load>>,
        written: &StateOf<K::Load>,
        entries: &[Sent<K::Load>],
    ) -> Answered<K::Load> {
        let Call { key, life, .. } = call;
        let mut state = self.lock();
        let marker = state.table.marker(key);
        match (state.table).commit(key, expected, written, entries, &self.policy) {
            Ok(Effect { done, is_weakened }) => {
                let (version, number) = done;
                self.weakened_if(is_weakened);
                self.tell(Event::Landed {
                    call,
                    version: number,
                });
                state.writers.insert((key, number), life);
                let now = self.process.now();
                state.log(now, call, What::Commit(entries.to_vec()));
                let to = state.table.marker(key);
                if to != marker {
                    self.tell(Event::Marked { call, to });
                    state.log(now, call, What::Mark(to));
                }
                Ok(Done::Version(version))
            }
            Err(Found(found)) => {
                let winner = found.and_then(|found| state.writers.get(&(key, found)));
                if winner.is_some_and(|&winner| winner != life) {
                    state.points.met(Point::LostRace);
                }
                let expected = expected.and_then(|known| state.table.number(key, known));
                self.tell(Event::Refused {
                    call,
                    expected,
                    found,
                });
                Err(CommitError::Refused)
            }
        }
    }

    /// Says that it landed, and sees to it later: unless the store goes down before.
    fn promised(
        self: &Arc<Self>,
        call: Call,
        expected: Option<VersionOf<K::Load>>,
        written: &StateOf<K::Load>,
        entries: &[Sent<K::Load>],
    ) -> Answered<K::Load> {
        let mut state = self.lock();
        if state.table.check(call.key, expected.as_ref()).is_err() {
            return Err(CommitError::Refused);
        }
        let mut chance = (state.faults).of_request(call.life.node, call.key);
        let is_lost = state.script.is_some() || chance.happens(1_000);
        let pause = state.latency(&mut chance);
        let next = state.table.next_version(call.key);
        drop(state);
        self.weakened();
        let (written, entries) = (written.clone(), entries.to_vec());
        let world = Arc::clone(self);
        self.process.spawn(async move {
            world.process.sleep(pause).await;
            if is_lost {
                world.tell(Event::Lost { call });
            } else {
                let _unheard = world.committed(call, expected.as_ref(), &written, &entries);
            }
        });
        Ok(Done::Version(next))
    }

    fn projected(
        self: &Arc<Self>,
        call: Call,
        record: &RecordOf<K::Load>,
        fence: ProjectionFence,
    ) -> Answered<K::Load> {
        let mut state = self.lock();
        let Some(Effect { done, is_weakened }) = state.table.project(call.key, record, fence)
        else {
            return self.projection_refused(call);
        };
        self.weakened_if(is_weakened);
        let (Span { from, to, .. }, marker) = done;
        self.tell(Event::Shown { call, from, to });
        self.tell(Event::Marked { call, to: marker });
        let now = self.process.now();
        let is_by_position = false;
        let show = What::Show {
            from,
            to,
            is_by_position,
        };
        state.log(now, call, show);
        state.log(now, call, What::Mark(marker));
        Ok(Done::Shown)
    }

    fn shown(self: &Arc<Self>, call: Call, span: Span) -> Done<K::Load> {
        let mut state = self.lock();
        let placing = self.policy.placing;
        let is_there = match placing {
            Placing::OwnPosition | Placing::Appended => state.table.show(call.key, span),
            Placing::Instead => state.table.show_instead(call.key, span),
        };
        if !is_there {
            return Done::Shown;
        }
        let Span { from, to, .. } = span;
        self.tell(Event::Shown { call, from, to });
        self.weakened_if(placing != Placing::OwnPosition);
        let show = match placing {
            Placing::OwnPosition | Placing::Appended => What::Show {
                from,
                to,
                is_by_position: placing == Placing::OwnPosition,
            },
            Placing::Instead => What::ShowInstead(to),
        };
        state.log(self.process.now(), call, show);
        Done::Shown
    }

    fn marked(
        self: &Arc<Self>,
        call: Call,
        record: &RecordOf<K::Load>,
        fence: ProjectionFence,
    ) -> Answered<K::Load> {
        let mut state = self.lock();
        let Some(Effect { done, is_weakened }) = state.table.mark(call.key, record, fence) else {
            return self.projection_refused(call);
        };
        self.weakened_if(is_weakened);
        self.tell(Event::Marked { call, to: done });
        state.log(self.process.now(), call, What::Mark(done));
        Ok(Done::Shown)
    }

    fn projection_refused(&self, call: Call) -> Answered<K::Load> {
        self.tell(Event::ProjectionRefused { call });
        Err(CommitError::Refused)
    }
}

impl<K: Kind> State<K> {
    /// The number of a version that was read; 0 where its record has been deleted since.
    fn number(&self, key: u32, version: &VersionOf<K::Load>) -> u64 {
        self.table.number(key, version).unwrap_or(0)
    }

    fn log(&mut self, at: ferry_core::Instant, call: Call, what: What<K::Load>) {
        self.history.log.push(Written {
            at,
            key: call.key,
            by: Some(call.life),
            what,
        });
    }
}

fn failed<W: Workload>(fault: Fault<StoreError>) -> Answered<W> {
    Err(CommitError::NotLanded(fault))
}
