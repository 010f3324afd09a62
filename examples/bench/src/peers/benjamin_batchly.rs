//! The crate `benjamin_batchly`: the caller that finds its key idle carries the batch. It knows no
//! largest batch, so what it hands out is carried in parts.

use benjamin_batchly::{BatchMutex, BatchResult};

use crate::{Backend, Batcher, Config, Failed, Input, Key, Output, answer};

pub(super) struct BenjaminBatchly {
    batches: BatchMutex<Key, Input, Output>,
    backend: Backend,
    max_batch: usize,
}

impl Batcher for BenjaminBatchly {
    fn build(config: Config, backend: Backend) -> Self {
        Self {
            batches: BatchMutex::default(),
            backend,
            max_batch: config.max_batch,
        }
    }

    async fn submit(&self, key: Key, input: Input) -> Result<Output, Failed> {
        let mut batch = match self.batches.submit(key, input).await {
            BatchResult::Done(output) => return Ok(output),
            BatchResult::Failed => return Err(Failed::Lost),
            BatchResult::Work(batch) => batch,
        };
        let mut from = 0;
        while from < batch.items.len() {
            let to = batch.items.len().min(from + self.max_batch);
            self.backend.run(key, &batch.items[from..to]).await;
            for place in from..to {
                let output = answer(batch.items[place]);
                batch.notify_done(place, output);
            }
            from = to;
        }
        batch.recv_local_notify_done().ok_or(Failed::Lost)
    }
}
