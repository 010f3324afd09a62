//! Ferry with a batch call.

use ferry_tokio::{BatchCall, Builder, Ferry, OwnCallOf};

use crate::{Backend, Batcher, Config, Failed, Input, Key, Output, answer};

pub(super) struct FerryCall(Ferry<OwnCallOf<Call>>);

pub(super) struct Call(Backend);

impl BatchCall for Call {
    type Key = Key;
    type Input = Input;
    type Outcome = Output;

    async fn call(&self, key: &Key, inputs: &mut Vec<Input>, outcomes: &mut Vec<Output>) {
        self.0.run(*key, inputs).await;
        outcomes.extend(inputs.iter().copied().map(answer));
    }
}

/// With the bounds that all get; what else Ferry bounds is left wide open, as the others have none.
pub(super) fn builder(config: Config) -> Builder {
    Builder::new()
        .max_batch(config.max_batch)
        .max_queueing(config.max_queueing)
        .max_in_flight(usize::MAX)
}

impl Batcher for FerryCall {
    fn build(config: Config, backend: Backend) -> Self {
        match builder(config).batch_call(Call(backend)) {
            Ok(ferry) => Self(ferry),
            Err(error) => panic!("{error}"),
        }
    }

    async fn submit(&self, key: Key, input: Input) -> Result<Output, Failed> {
        let accepted = self.0.submit(key, input).map_err(|_| Failed::Rejected)?;
        accepted.await.map_err(|_| Failed::Lost)
    }

    fn keys(&self) -> Option<usize> {
        Some(self.0.stats().keys)
    }
}
