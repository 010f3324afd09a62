//! The simulated store: each call is a request and an answer, and between them lies all that can go wrong.

mod arrival;
#[cfg(test)]
mod conforms;
mod delivery;
mod fate;
mod project;
mod row;
pub(crate) mod script;
mod table;
mod views;

use core::fmt;
use std::{panic, sync::Arc};

use ferry_core::{
    Commit, CommitError, Fault, RecordOf, Schema,
    drive::{Runtime, Store},
};
use futures_channel::oneshot;
use futures_lite::future::or;

use self::delivery::{Asked, Request};
pub use self::fate::Fate;
pub(crate) use self::{project::Layout, table::Table};
use crate::{
    calls::{Ask, Came, Noted},
    event::{Event, Verdict},
    executor::Process,
    history::{Call, Life},
    kind::Kind,
    points::Point,
    policy::{Doubt, ProjectionFence, Refusal},
    purses::StoreError,
    sent::{Sent, SentId},
    workload::{KeyOf, StateOf, VersionOf, Workload},
    world::{ReadAsked, World},
};

/// What a write has done.
enum Done<W: Workload> {
    /// The record has this version.
    Version(VersionOf<W>),
    /// The view shows more, or its marker was moved.
    Shown,
}

type Answered<W> = Result<Done<W>, CommitError<StoreError>>;

/// What is said by a call of the store that panics.
pub(crate) const CALL_PANICS: &str = "a call that panics";

/// The adapter panics over what it has heard.
struct Panicked;

fn verdict<W: Workload>(heard: &Answered<W>) -> Verdict {
    match heard {
        Ok(_) => Verdict::Landed,
        Err(CommitError::Refused) => Verdict::Refused,
        Err(CommitError::NotLanded(fault)) => Verdict::NotLanded(fault.error),
        Err(CommitError::InDoubt(error)) => Verdict::InDoubt(*error),
    }
}

/// The store, as one life of one node reaches it.
#[derive(Debug)]
pub(crate) struct SimStore<K: Kind> {
    world: Arc<World<K>>,
    life: Life,
    process: Process,
    /// What its projections are held against.
    fence: ProjectionFence,
}

impl<K: Kind> Schema for SimStore<K> {
    type Key = KeyOf<K::Load>;
    type Id = SentId<K::Load>;
    type State = StateOf<K::Load>;
    type Version = VersionOf<K::Load>;
    type Entry = Sent<K::Load>;
    type Error = StoreError;
}

impl<K: Kind> SimStore<K> {
    pub(crate) fn new(world: Arc<World<K>>, life: Life, process: Process) -> Self {
        Self {
            fence: world.policy.projection_fence,
            world,
            life,
            process,
        }
    }

    /// The same, with projections that are held against nothing.
    pub(crate) fn unfenced(self) -> Self {
        let fence = ProjectionFence::Ignored;
        Self { fence, ..self }
    }

    pub(crate) fn world(&self) -> &Arc<World<K>> {
        &self.world
    }

    pub(crate) fn process(&self) -> &Process {
        &self.process
    }

    /// The node may crash here.
    async fn step(&self, key: u32) {
        if self.world.crashes_at_step(self.life, key) {
            core::future::pending().await
        }
    }

    /// Sends a write on its way.
    fn send(&self, call: Call, asked: Asked<K::Load>) -> oneshot::Receiver<Answered<K::Load>> {
        let (answer, answered) = oneshot::channel();
        let fence = self.fence;
        self.world.deliver(Request { call, asked, fence }, answer);
        answered
    }

    /// Waits for its answer as long as the adapter's patience lasts.
    async fn heard(
        &self,
        call: Call,
        answered: oneshot::Receiver<Answered<K::Load>>,
    ) -> Answered<K::Load> {
        self.step(call.key).await;
        let heard = self.awaited(answered).await;
        self.is_told(call, verdict(&heard)).await;
        heard
    }

    /// The same, unless the adapter panics over it.
    async fn heard_of_commit(
        &self,
        call: Call,
        answered: oneshot::Receiver<Answered<K::Load>>,
    ) -> Result<Answered<K::Load>, Panicked> {
        self.step(call.key).await;
        let heard = self.awaited(answered).await;
        if self.world.commit_panics(self.life, call.key) {
            self.is_told(call, Verdict::Panicked).await;
            self.world.lock().given_up.insert(call.nth);
            return Err(Panicked);
        }
        self.is_told(call, verdict(&heard)).await;
        Ok(heard)
    }

    async fn is_told(&self, call: Call, verdict: Verdict) {
        self.world.tell(Event::Told { call, verdict });
        self.step(call.key).await;
    }

    fn panics(&self, noted: Noted) -> ! {
        self.world.hears(noted, Came::Panicked);
        // Without the panic hook, which would tell of it.
        panic::resume_unwind(Box::new(CALL_PANICS))
    }

    async fn awaited(&self, answer: oneshot::Receiver<Answered<K::Load>>) -> Answered<K::Load> {
        let heard = async {
            match answer.await {
                Ok(answer) => answer,
                Err(oneshot::Canceled) => core::future::pending().await,
            }
        };
        let patience = self.process.sleep(self.world.draws.store_timeout);
        let timed_out = async {
            patience.await;
            Err(CommitError::InDoubt(StoreError::TimedOut))
        };
        or(heard, timed_out).await
    }

    /// For a batch of so many inputs; for none, to project.
    async fn fetched(
        &self,
        asked: &ReadAsked,
        inputs: usize,
    ) -> Result<Result<Option<RecordOf<Self>>, Fault<StoreError>>, Panicked> {
        let call = asked.call;
        self.process.sleep(asked.there).await;
        let (record, version) = self.world.served(call, inputs);
        self.process.sleep(asked.back).await;
        let panics = inputs > 0 && self.world.call_panics(self.life, call.key);
        let failed = asked.failed || panics;
        self.world.tell(Event::Read { call, failed });
        self.step(call.key).await;
        if panics {
            return Err(Panicked);
        }
        if failed {
            self.world.met(Point::ReadFailed);
            return Ok(Err(Fault::transient(StoreError::Busy)));
        }
        if inputs > 0 {
            self.world.is_about(&asked.noted, Some(version));
        }
        Ok(Ok(record))
    }

    /// What the adapter makes of the answer to a commit.
    fn understood(
        &self,
        call: Call,
        answer: Answered<K::Load>,
    ) -> Result<VersionOf<K::Load>, CommitError<StoreError>> {
        let policy = &self.world.policy;
        match (answer, policy.doubt, policy.refusal) {
            (Ok(Done::Version(version)), ..) => Ok(version),
            (Ok(Done::Shown), ..) => unreachable!("a commit shows nothing"),
            (Err(CommitError::InDoubt(error)), Doubt::TakenForFailed, _) => {
                self.world.weakened();
                Err(CommitError::NotLanded(Fault::transient(error)))
            }
            (Err(CommitError::InDoubt(_)), Doubt::TakenForLanded, _) => {
                self.world.weakened();
                Ok(self.world.lock().table.next_version(call.key))
            }
            (Err(CommitError::Refused), _, Refusal::TakenForProof) => {
                self.world.weakened();
                Err(CommitError::NotLanded(Fault::transient(StoreError::Busy)))
            }
            (Err(error), ..) => {
                if matches!(error, CommitError::InDoubt(_)) {
                    self.world.lock().given_up.insert(call.nth);
                }
                Err(error)
            }
        }
    }
}

impl<K: Kind> Store for SimStore<K> {
    async fn read(
        &self,
        key: &KeyOf<K::Load>,
        ids: &[SentId<K::Load>],
    ) -> Result<Option<RecordOf<Self>>, Fault<StoreError>> {
        let key = self.world.number_of(key);
        let ask = match ids {
            [] => Ask::Look,
            ids => Ask::Read(ids.iter().map(|id| id.submission).collect()),
        };
        let asked = self.world.read_asked(self.life, key, ask);
        let Ok(read) = self.fetched(&asked, ids.len()).await else {
            self.panics(asked.noted)
        };
        self.world.hears(asked.noted, Came::of(&read));
        read
    }

    async fn commit(
        &self,
        key: &KeyOf<K::Load>,
        commit: Commit<'_, Self>,
    ) -> Result<VersionOf<K::Load>, CommitError<StoreError>> {
        let key = self.world.number_of(key);
        let Commit {
            expected, entries, ..
        } = commit;
        let (call, noted) = self.world.commit_asked(self.life, key, expected, entries);
        let asked = Asked::Commit {
            expected: expected.cloned(),
            state: commit.state.clone(),
            entries: entries.to_vec(),
        };
        let answered = self.send(call, asked);
        let Ok(answer) = self.heard_of_commit(call, answered).await else {
            self.panics(noted)
        };
        let committed = self.understood(call, answer);
        self.world.hears(noted, Came::of(&committed));
        committed
    }
}

impl<W: Workload> fmt::Debug for Done<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Done")
    }
}
