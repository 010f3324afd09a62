//! The strongest that one writes by hand: a sharded map, and a task that works off a key while it is
//! busy. A panic of the backend leaves the key in the map with nobody to work it off.

use std::{
    collections::{HashMap, hash_map::Entry},
    mem,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use tokio::sync::oneshot;

use super::{lock, place};
use crate::{Backend, Batcher, Config, Failed, Input, Key, Output, answer};

const SHARDS: usize = 64;

type Caller = (Input, oneshot::Sender<Output>);

pub(super) struct MutexSpawn(Arc<Shared>);

struct Shared {
    /// A key is in while a task works it off; its value is who waits.
    shards: Vec<Mutex<HashMap<Key, Vec<Caller>>>>,
    queueing: AtomicUsize,
    backend: Backend,
    config: Config,
}

impl Shared {
    fn shard(&self, key: Key) -> &Mutex<HashMap<Key, Vec<Caller>>> {
        &self.shards[place(key, SHARDS)]
    }

    async fn work_off(self: Arc<Self>, key: Key, first: Caller) {
        let mut batch = vec![first];
        let mut inputs = Vec::new();
        while !batch.is_empty() {
            inputs.extend(batch.iter().map(|(input, _)| *input));
            self.backend.run(key, &inputs).await;
            inputs.clear();
            self.queueing.fetch_sub(batch.len(), Relaxed);
            for (input, caller) in batch.drain(..) {
                // A caller that has gone does not hear.
                let _ = caller.send(answer(input));
            }
            self.next(key, &mut batch);
        }
    }

    /// Takes the next batch, or the key off the map.
    fn next(&self, key: Key, batch: &mut Vec<Caller>) {
        let mut keys = lock(self.shard(key));
        let Entry::Occupied(mut waiting) = keys.entry(key) else {
            return;
        };
        if waiting.get().is_empty() {
            waiting.remove();
        } else if waiting.get().len() <= self.config.max_batch {
            mem::swap(batch, waiting.get_mut());
        } else {
            batch.extend(waiting.get_mut().drain(..self.config.max_batch));
        }
    }
}

impl Batcher for MutexSpawn {
    fn build(config: Config, backend: Backend) -> Self {
        Self(Arc::new(Shared {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            queueing: AtomicUsize::new(0),
            backend,
            config,
        }))
    }

    async fn submit(&self, key: Key, input: Input) -> Result<Output, Failed> {
        let shared = &self.0;
        if shared.queueing.fetch_add(1, Relaxed) >= shared.config.max_queueing {
            shared.queueing.fetch_sub(1, Relaxed);
            return Err(Failed::Rejected);
        }
        let (caller, answer) = oneshot::channel();
        let first = match lock(shared.shard(key)).entry(key) {
            Entry::Occupied(mut waiting) => {
                waiting.get_mut().push((input, caller));
                None
            }
            Entry::Vacant(idle) => {
                idle.insert(Vec::new());
                Some((input, caller))
            }
        };
        if let Some(first) = first {
            tokio::spawn(Arc::clone(shared).work_off(key, first));
        }
        answer.await.map_err(|_| Failed::Lost)
    }

    fn keys(&self) -> Option<usize> {
        Some(self.0.shards.iter().map(|shard| lock(shard).len()).sum())
    }
}
