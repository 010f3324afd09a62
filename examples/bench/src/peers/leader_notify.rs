//! The floor: one map, no tasks, one `Notify` for each batch. The caller that finds its key idle
//! carries its own input; when it is done, a caller of the batch that gathered meanwhile leads that.
//! When a leader goes away, its key hangs.

use std::{
    collections::{HashMap, VecDeque, hash_map::Entry},
    mem,
    sync::{Arc, Mutex},
};

use tokio::sync::Notify;

use super::lock;
use crate::{Backend, Batcher, Config, Failed, Input, Key, Output, answer};

pub(super) struct LeaderNotify {
    /// A key is in while a batch of it is in flight; its value is the batches that gather.
    keys: Mutex<HashMap<Key, VecDeque<Arc<Batch>>>>,
    backend: Backend,
    config: Config,
}

#[derive(Default)]
struct Batch {
    state: Mutex<State>,
    changed: Notify,
}

enum State {
    Gathering(Vec<Input>),
    NeedsLeader(Vec<Input>),
    Led,
    Done(Vec<Output>),
}

impl Default for State {
    fn default() -> Self {
        Self::Gathering(Vec::new())
    }
}

impl Batch {
    /// The input's place in the batch, unless it is full.
    fn join(&self, input: Input, max_batch: usize) -> Option<usize> {
        match &mut *lock(&self.state) {
            State::Gathering(inputs) if inputs.len() < max_batch => {
                inputs.push(input);
                Some(inputs.len() - 1)
            }
            State::Gathering(_) | State::NeedsLeader(_) | State::Led | State::Done(_) => None,
        }
    }
}

impl LeaderNotify {
    /// The batch that the input waits in, and its place there; `None` when its key was idle.
    fn join(&self, key: Key, input: Input) -> Option<(Arc<Batch>, usize)> {
        let mut keys = lock(&self.keys);
        let gathering = match keys.entry(key) {
            Entry::Vacant(idle) => {
                idle.insert(VecDeque::new());
                return None;
            }
            Entry::Occupied(busy) => busy.into_mut(),
        };
        if let Some(last) = gathering.back()
            && let Some(place) = last.join(input, self.config.max_batch)
        {
            return Some((Arc::clone(last), place));
        }
        let batch = Arc::new(Batch::default());
        let place = batch.join(input, self.config.max_batch)?;
        gathering.push_back(Arc::clone(&batch));
        Some((batch, place))
    }

    fn hand_over(&self, key: Key) {
        let mut keys = lock(&self.keys);
        let Entry::Occupied(mut busy) = keys.entry(key) else {
            return;
        };
        let Some(next) = busy.get_mut().pop_front() else {
            busy.remove();
            return;
        };
        drop(keys);
        let mut state = lock(&next.state);
        if let State::Gathering(inputs) = &mut *state {
            *state = State::NeedsLeader(mem::take(inputs));
        }
        drop(state);
        next.changed.notify_one();
    }

    async fn lead(&self, key: Key, batch: &Batch, inputs: Vec<Input>) {
        self.backend.run(key, &inputs).await;
        let outputs = inputs.into_iter().map(answer).collect();
        *lock(&batch.state) = State::Done(outputs);
        batch.changed.notify_waiters();
        self.hand_over(key);
    }
}

impl Batcher for LeaderNotify {
    fn build(config: Config, backend: Backend) -> Self {
        Self {
            keys: Mutex::default(),
            backend,
            config,
        }
    }

    async fn submit(&self, key: Key, input: Input) -> Result<Output, Failed> {
        let Some((batch, place)) = self.join(key, input) else {
            self.backend.run(key, &[input]).await;
            self.hand_over(key);
            return Ok(answer(input));
        };
        loop {
            let changed = batch.changed.notified();
            let to_lead = {
                let mut state = lock(&batch.state);
                match &mut *state {
                    State::Done(outputs) => return Ok(outputs[place]),
                    State::NeedsLeader(inputs) => {
                        let inputs = mem::take(inputs);
                        *state = State::Led;
                        Some(inputs)
                    }
                    State::Gathering(_) | State::Led => None,
                }
            };
            match to_lead {
                Some(inputs) => self.lead(key, &batch, inputs).await,
                None => changed.await,
            }
        }
    }

    fn keys(&self) -> Option<usize> {
        Some(lock(&self.keys).len())
    }
}
