//! A commit on its way: it arrives, takes effect and is answered whatever becomes of its caller.

use core::time::Duration;
use std::sync::Arc;

use ferry_core::{CommitError, Fault, drive::Runtime};
use futures_channel::oneshot;

use super::{Committed, Fate, table::Found};
use crate::{
    event::Event,
    fold::{Input, Purse, StoreError},
    history::{Call, Landed},
    points::Point,
    policy::Durability,
    world::World,
};

/// A commit, as it goes over the wire.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) call: Call,
    pub(super) expected: Option<u64>,
    pub(super) state: Purse,
    pub(super) entries: Vec<Input>,
}

type Answer = oneshot::Sender<Committed>;

/// Nobody may be waiting any more.
fn send(answer: Answer, committed: Committed) {
    let _heard = answer.send(committed);
}

impl World {
    /// Sends the commit on its way.
    pub(super) fn deliver(self: &Arc<Self>, request: Request, answer: Answer) {
        let mut state = self.lock();
        let state = &mut *state;
        let fate = Fate::draw(&state.rates, &mut state.faults);
        let (there, back) = (state.latency(), state.latency());
        self.tell(Event::Commit {
            call: request.call,
            expected: request.expected,
            ids: request.entries.iter().map(|input| input.id).collect(),
            fate,
        });
        let way = Arc::clone(self).carried_out(fate, request, answer, there, back);
        self.process.spawn(way);
    }

    async fn carried_out(
        self: Arc<Self>,
        fate: Fate,
        request: Request,
        answer: Answer,
        there: Duration,
        back: Duration,
    ) {
        let after = |pause| self.process.sleep(pause);
        after(there).await;
        match fate {
            Fate::Plain => {
                let committed = self.arrived(&request).await;
                after(back).await;
                send(answer, committed);
            }
            Fate::Busy => {
                self.met(Point::CommitBusy);
                send(answer, failed(Fault::transient(StoreError::Busy)));
            }
            Fate::Throttled(hint) => {
                self.met(match hint {
                    Some(_) => Point::ThrottledWithHint,
                    None => Point::Throttled,
                });
                send(
                    answer,
                    failed(Fault::throttled(StoreError::Throttled, hint)),
                );
            }
            Fate::AnswerLost => {
                drop(answer);
                if self.arrived(&request).await.is_ok() {
                    self.met(Point::AnswerLost);
                }
            }
            Fate::AnswerBroken => {
                if self.arrived(&request).await.is_ok() {
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
                self.arrived_late(&request).await;
            }
            Fate::Twice { gap, hears_second } => {
                let first = self.arrived(&request).await;
                if hears_second {
                    after(gap).await;
                    let second = self.arrived(&request).await;
                    if first.is_ok() && second == Err(CommitError::Refused) {
                        self.met(Point::HiddenLanding);
                    }
                    send(answer, second);
                } else {
                    if first.is_ok() {
                        self.met(Point::SecondCopy);
                    }
                    send(answer, first);
                    after(gap).await;
                    let _unheard = self.arrived(&request).await;
                }
            }
        }
    }

    async fn arrived_late(self: &Arc<Self>, request: &Request) {
        let landed = self.arrived(request).await;
        let state = &mut *self.lock();
        match landed {
            Ok(_) if !state.is_alive(request.call.life) => {
                state.points.met(Point::LandedAfterDeath)
            }
            Ok(_) if state.given_up.contains(&request.call.nth) => {
                state.points.met(Point::LandedLate);
            }
            Ok(_) | Err(CommitError::NotLanded(_) | CommitError::InDoubt(_)) => {}
            Err(CommitError::Refused) => state.points.met(Point::RefusedLate),
        }
    }

    /// The commit has reached the store.
    async fn arrived(self: &Arc<Self>, request: &Request) -> Committed {
        if request.entries.iter().any(|input| input.is_poison) {
            self.met(Point::Permanent);
            return failed(Fault::permanent(StoreError::NotAllowed));
        }
        match self.policy.durability {
            Durability::BeforeAnswer => self.take_effect(request),
            Durability::AfterAnswer => self.promised(request),
        }
    }

    fn take_effect(self: &Arc<Self>, request: &Request) -> Committed {
        let mut state = self.lock();
        let &Request { call, expected, .. } = request;
        let fence = self.policy.fence;
        match (state.table).write(call.key, expected, &request.state, fence) {
            Ok((version, is_weakened)) => {
                if is_weakened {
                    self.weakened();
                }
                self.tell(Event::Landed { call, version });
                state.writers.insert((call.key, version), call.life);
                state.history.landed.push(Landed {
                    at: self.process.now(),
                    call,
                    entries: request.entries.clone(),
                });
                Ok(version)
            }
            Err(Found(found)) => {
                let winner = found.and_then(|found| state.writers.get(&(call.key, found)));
                if winner.is_some_and(|&winner| winner != call.life) {
                    state.points.met(Point::LostRace);
                }
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
    fn promised(self: &Arc<Self>, request: &Request) -> Committed {
        let &Request { call, expected, .. } = request;
        let mut state = self.lock();
        if state.table.check(call.key, expected).is_err() {
            return Err(CommitError::Refused);
        }
        let (is_lost, pause) = (state.faults.happens(1_000), state.latency());
        drop(state);
        self.weakened();
        let request = Request {
            state: request.state.clone(),
            entries: request.entries.clone(),
            ..*request
        };
        let world = Arc::clone(self);
        self.process.spawn(async move {
            world.process.sleep(pause).await;
            if is_lost {
                world.tell(Event::Lost { call });
            } else {
                let _unheard = world.take_effect(&request);
            }
        });
        Ok(expected.map_or(1, |version| version + 1))
    }
}

fn failed(fault: Fault<StoreError>) -> Committed {
    Err(CommitError::NotLanded(fault))
}
