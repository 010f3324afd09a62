//! The simulated store: each call is a request and an answer, and between them lies all that can go wrong.

mod delivery;
mod fate;
mod table;

use std::sync::Arc;

use ferry_core::{
    Commit, CommitError, Fault, RecordOf,
    drive::{Runtime, Store},
};
use futures_channel::oneshot;
use futures_lite::future::or;

use self::delivery::Request;
pub use self::fate::Fate;
pub(crate) use self::table::Table;
use crate::{
    event::{Event, Verdict},
    executor::Process,
    fold::{Purse, StoreError},
    history::{Call, Life},
    points::Point,
    policy::{Doubt, Reading, Refusal},
    world::World,
};

type Committed = Result<u64, CommitError<StoreError>>;

/// The store, as one life of one node reaches it.
#[derive(Debug)]
pub(crate) struct SimStore {
    world: Arc<World>,
    life: Life,
    process: Process,
}

impl SimStore {
    pub(crate) fn new(world: Arc<World>, life: Life, process: Process) -> Self {
        Self {
            world,
            life,
            process,
        }
    }

    /// The node may crash here.
    async fn step(&self) {
        if self.world.crashes_at_step(self.life) {
            core::future::pending().await
        }
    }

    /// The answer, if it comes before the adapter's patience ends.
    async fn awaited(&self, answer: oneshot::Receiver<Committed>) -> Committed {
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

    /// What the adapter makes of the answer.
    fn understood(&self, call: Call, expected: Option<u64>, answer: Committed) -> Committed {
        let policy = &self.world.policy;
        match (answer, policy.doubt, policy.refusal) {
            (Err(CommitError::InDoubt(error)), Doubt::TakenForFailed, _) => {
                self.world.weakened();
                Err(CommitError::NotLanded(Fault::transient(error)))
            }
            (Err(CommitError::InDoubt(_)), Doubt::TakenForLanded, _) => {
                self.world.weakened();
                Ok(expected.map_or(1, |version| version + 1))
            }
            (Err(CommitError::Refused), _, Refusal::TakenForProof) => {
                self.world.weakened();
                Err(CommitError::NotLanded(Fault::transient(StoreError::Busy)))
            }
            (answer, ..) => {
                if matches!(answer, Err(CommitError::InDoubt(_))) {
                    self.world.lock().given_up.insert(call.nth);
                }
                answer
            }
        }
    }
}

impl Store for SimStore {
    async fn read(
        &self,
        key: &u32,
        _ids: &[u64],
    ) -> Result<Option<RecordOf<Self>>, Fault<StoreError>> {
        let (call, there, back, failed) = self.world.read_asked(self.life, *key);
        self.process.sleep(there).await;
        let is_stale = self.world.policy.reading == Reading::Stale;
        let (record, was_stale) = self.world.lock().table.read(*key, is_stale);
        if was_stale {
            self.world.weakened();
        }
        self.process.sleep(back).await;
        self.world.tell(Event::Read { call, failed });
        self.step().await;
        if failed {
            self.world.met(Point::ReadFailed);
            return Err(Fault::transient(StoreError::Busy));
        }
        Ok(record)
    }

    async fn commit(&self, key: &u32, commit: Commit<'_, Self>) -> Committed {
        let request = Request {
            call: self.world.next_call(self.life, *key),
            expected: commit.expected.copied(),
            state: Purse::clone(commit.state),
            entries: commit.entries.to_vec(),
        };
        let (call, expected) = (request.call, request.expected);
        if commit.entries.len() > 1 {
            self.world.met(Point::Batch);
        }
        let (answer, answered) = oneshot::channel();
        self.world.deliver(request, answer);
        self.step().await;
        let heard = self.awaited(answered).await;
        let verdict = match heard {
            Ok(_) => Verdict::Landed,
            Err(CommitError::Refused) => Verdict::Refused,
            Err(CommitError::NotLanded(fault)) => Verdict::NotLanded(fault.error),
            Err(CommitError::InDoubt(error)) => Verdict::InDoubt(error),
        };
        self.world.tell(Event::Told { call, verdict });
        self.step().await;
        self.understood(call, expected, heard)
    }
}
