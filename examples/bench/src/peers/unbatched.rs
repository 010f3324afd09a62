//! No batching: a lock for each key ever seen, one input at a time.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use super::{lock, place};
use crate::{Backend, Batcher, Config, Failed, Input, Key, Output, answer};

const SHARDS: usize = 64;

pub(super) struct Unbatched {
    shards: Vec<Mutex<HashMap<Key, Arc<tokio::sync::Mutex<()>>>>>,
    backend: Backend,
}

impl Batcher for Unbatched {
    fn build(_: Config, backend: Backend) -> Self {
        Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            backend,
        }
    }

    async fn submit(&self, key: Key, input: Input) -> Result<Output, Failed> {
        let shard = &self.shards[place(key, SHARDS)];
        let alone = Arc::clone(lock(shard).entry(key).or_default());
        let _alone = alone.lock().await;
        self.backend.run(key, &[input]).await;
        Ok(answer(input))
    }

    fn keys(&self) -> Option<usize> {
        Some(self.shards.iter().map(|shard| lock(shard).len()).sum())
    }
}
