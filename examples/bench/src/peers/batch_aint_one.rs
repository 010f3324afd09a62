//! The crate `batch-aint-one`: one worker task for all keys. `Immediate` with one batch in flight per
//! key is its way to say what the others do.

use batch_aint_one::{
    BatchError, Batcher as BatchAintOneBatcher, BatchingPolicy, Limits, Processor,
};

use crate::{Backend, Batcher, Config, Failed, Input, Key, Output, answer};

pub(super) struct BatchAintOne(BatchAintOneBatcher<Calls>);

#[derive(Clone)]
pub(super) struct Calls(Backend);

impl Processor for Calls {
    type Key = Key;
    type Input = Input;
    type Output = Output;
    type Error = &'static str;
    type Resources = ();

    async fn acquire_resources(&self, _: Key) -> Result<(), &'static str> {
        Ok(())
    }

    async fn process(
        &self,
        key: Key,
        inputs: impl Iterator<Item = Input> + Send,
        (): (),
    ) -> Result<Vec<Output>, &'static str> {
        let inputs: Vec<Input> = inputs.collect();
        self.0.run(key, &inputs).await;
        Ok(inputs.into_iter().map(answer).collect())
    }
}

impl Batcher for BatchAintOne {
    fn build(config: Config, backend: Backend) -> Self {
        let limits = Limits::builder()
            .max_batch_size(config.max_batch)
            .max_key_concurrency(1)
            .max_key_queued_items(config.max_queueing)
            .max_items_awaiting_worker(config.max_queueing)
            .build();
        Self(
            BatchAintOneBatcher::builder()
                .name("bench")
                .processor(Calls(backend))
                .limits(limits)
                .batching_policy(BatchingPolicy::Immediate)
                .build(),
        )
    }

    async fn submit(&self, key: Key, input: Input) -> Result<Output, Failed> {
        self.0.add(key, input).await.map_err(|error| {
            if matches!(error, BatchError::Rejected(_)) {
                Failed::Rejected
            } else {
                Failed::Lost
            }
        })
    }
}
