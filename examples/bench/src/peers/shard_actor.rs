//! A few tasks for all keys: each has one channel, a map of the keys that are busy, and the batches in
//! flight as futures of its own.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    iter,
};

use futures_util::{StreamExt, stream::FuturesUnordered};
use tokio::sync::{
    mpsc::{self, error::TrySendError},
    oneshot,
};

use super::place;
use crate::{Backend, Batcher, Config, Failed, Input, Key, Output, answer};

const SHARDS: usize = 8;

type Caller = (Input, oneshot::Sender<Output>);

pub(super) struct ShardActor {
    inboxes: Vec<mpsc::Sender<(Key, Caller)>>,
}

async fn run(mut inbox: mpsc::Receiver<(Key, Caller)>, backend: Backend, max_batch: usize) {
    // A key is in while a batch of it is in flight; its value is who waits.
    let mut keys: HashMap<Key, VecDeque<Caller>> = HashMap::new();
    let mut in_flight = FuturesUnordered::new();
    let mut arrived = Vec::new();
    loop {
        tokio::select! {
            received = inbox.recv_many(&mut arrived, 256) => {
                if received == 0 {
                    return;
                }
                for (key, caller) in arrived.drain(..) {
                    match keys.entry(key) {
                        Entry::Occupied(mut waiting) => waiting.get_mut().push_back(caller),
                        Entry::Vacant(idle) => {
                            idle.insert(VecDeque::new());
                            in_flight.push(carry(backend.clone(), key, iter::once(caller).collect()));
                        }
                    }
                }
            }
            Some(key) = in_flight.next() => {
                let Entry::Occupied(mut waiting) = keys.entry(key) else { continue };
                let next = waiting.get().len().min(max_batch);
                if next == 0 {
                    waiting.remove();
                } else {
                    let batch = waiting.get_mut().drain(..next).collect();
                    in_flight.push(carry(backend.clone(), key, batch));
                }
            }
        }
    }
}

async fn carry(backend: Backend, key: Key, batch: Vec<Caller>) -> Key {
    let inputs: Vec<Input> = batch.iter().map(|(input, _)| *input).collect();
    backend.run(key, &inputs).await;
    for (input, caller) in batch {
        // A caller that has gone does not hear.
        let _ = caller.send(answer(input));
    }
    key
}

impl Batcher for ShardActor {
    fn build(config: Config, backend: Backend) -> Self {
        let start = |_| {
            let (sender, inbox) = mpsc::channel(config.max_queueing);
            tokio::spawn(run(inbox, backend.clone(), config.max_batch));
            sender
        };
        Self {
            inboxes: (0..SHARDS).map(start).collect(),
        }
    }

    async fn submit(&self, key: Key, input: Input) -> Result<Output, Failed> {
        let (caller, answer) = oneshot::channel();
        self.inboxes[place(key, SHARDS)]
            .try_send((key, (input, caller)))
            .map_err(|error| match error {
                TrySendError::Full(_) => Failed::Rejected,
                TrySendError::Closed(_) => Failed::Lost,
            })?;
        answer.await.map_err(|_| Failed::Lost)
    }
}
