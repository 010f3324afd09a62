//! What a write does once it has reached the store.

use std::sync::Arc;

use ferry_core::{CommitError, Fault, Instant, drive::Runtime};

use super::{
    Answered, Done,
    delivery::{Asked, Request, failed},
    table::{Effect, Found},
    views::Span,
};
use crate::{
    event::Event,
    history::{Call, What, Written},
    kind::{Kind, RecordOf},
    points::Point,
    policy::{Durability, Placing, ProjectionFence},
    purses::StoreError,
    sent::{Quirk, Sent},
    workload::{StateOf, VersionOf},
    world::{State, World},
};

impl<K: Kind> World<K> {
    /// The write has reached the store.
    pub(super) fn arrived(self: &Arc<Self>, request: &Request<K>) -> Answered<K::Load> {
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
            Asked::Show { span, .. } => Ok(self.shown(call, *span)),
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
                self.heeded(&mut state, key);
                Ok(Done::Version(version))
            }
            Err(Found(found)) => {
                let winner = found.and_then(|found| state.writers.get(&(key, found)));
                if winner.is_some_and(|&winner| winner != life) {
                    state.points.met(Point::LostRace);
                }
                let expected = expected.map(|known| state.number(key, known));
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
    fn log(&mut self, at: Instant, call: Call, what: What<K::Load>) {
        self.history.log.push(Written {
            at,
            key: call.key,
            by: Some(call.life),
            what,
        });
    }
}
