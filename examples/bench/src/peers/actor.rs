//! What most would write: a task and a channel for each key, a oneshot for each input. `EVICTS`: a
//! task that got nothing for a second takes itself off the map.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    sync::{
        mpsc::{self, error::TrySendError},
        oneshot,
    },
    time::timeout,
};

use super::{lock, place};
use crate::{Backend, Batcher, Config, Failed, Input, Key, Output, answer};

const SHARDS: usize = 64;
const PATIENCE: Duration = Duration::from_secs(1);

type Caller = (Input, oneshot::Sender<Output>);
type Shards = Arc<[Mutex<HashMap<Key, mpsc::Sender<Caller>>>]>;

pub(super) struct Actor<const EVICTS: bool> {
    shards: Shards,
    backend: Backend,
    config: Config,
}

struct Mate<const EVICTS: bool> {
    key: Key,
    inbox: mpsc::Receiver<Caller>,
    shards: Shards,
    backend: Backend,
    max_batch: usize,
}

impl<const EVICTS: bool> Mate<EVICTS> {
    async fn run(mut self) {
        let (mut batch, mut inputs) = (Vec::new(), Vec::new());
        while self.gather(&mut batch).await {
            inputs.extend(batch.iter().map(|(input, _)| *input));
            self.backend.run(self.key, &inputs).await;
            inputs.clear();
            for (input, caller) in batch.drain(..) {
                // A caller that has gone does not hear.
                let _ = caller.send(answer(input));
            }
        }
    }

    /// False when it is time to end.
    async fn gather(&mut self, batch: &mut Vec<Caller>) -> bool {
        if !EVICTS {
            return self.inbox.recv_many(batch, self.max_batch).await > 0;
        }
        loop {
            let received = self.inbox.recv_many(batch, self.max_batch);
            if let Ok(received) = timeout(PATIENCE, received).await {
                return received > 0;
            }
            // Callers send with the shard locked: what is empty now stays so until the key is out.
            let mut keys = lock(&self.shards[place(self.key, SHARDS)]);
            if self.inbox.is_empty() {
                keys.remove(&self.key);
                return false;
            }
        }
    }
}

impl<const EVICTS: bool> Batcher for Actor<EVICTS> {
    fn build(config: Config, backend: Backend) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            backend,
            config,
        }
    }

    async fn submit(&self, key: Key, input: Input) -> Result<Output, Failed> {
        let (caller, answer) = oneshot::channel();
        {
            let mut keys = lock(&self.shards[place(key, SHARDS)]);
            let sender = keys.entry(key).or_insert_with(|| {
                let (sender, inbox) = mpsc::channel(self.config.max_queueing);
                let mate = Mate::<EVICTS> {
                    key,
                    inbox,
                    shards: Arc::clone(&self.shards),
                    backend: self.backend.clone(),
                    max_batch: self.config.max_batch,
                };
                tokio::spawn(mate.run());
                sender
            });
            sender
                .try_send((input, caller))
                .map_err(|error| match error {
                    TrySendError::Full(_) => Failed::Rejected,
                    TrySendError::Closed(_) => Failed::Lost,
                })?;
        }
        answer.await.map_err(|_| Failed::Lost)
    }

    fn keys(&self) -> Option<usize> {
        Some(self.shards.iter().map(|shard| lock(shard).len()).sum())
    }
}
