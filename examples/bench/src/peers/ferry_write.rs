//! Ferry with a fold write, to a store that keeps nothing, so that only the round trip is seen.

use std::convert::Infallible;

use ferry_tokio::{
    Commit, CommitError, Fault, Ferry, Fold, FoldWrite, RecordOf, Schema, Step, StepOf, Store,
};

use super::ferry_call::builder;
use crate::{Backend, Batcher, Config, Failed, Input, Key, Output, answer};

pub(super) struct FerryWrite(Ferry<FoldWrite<Answers>>);

/// Every record is absent, every commit lands.
pub(super) struct Void(Backend);

impl Schema for Void {
    type Key = Key;
    type Id = Input;
    type State = ();
    type Version = u64;
    type Entry = Input;
    type Error = Infallible;
}

impl Store for Void {
    async fn read(
        &self,
        _: &Key,
        _: &[Input],
    ) -> Result<Option<RecordOf<Self>>, Fault<Infallible>> {
        Ok(None)
    }

    async fn commit(
        &self,
        key: &Key,
        commit: Commit<'_, Self>,
    ) -> Result<u64, CommitError<Infallible>> {
        self.0.run(*key, commit.entries).await;
        Ok(0)
    }
}

pub(super) struct Answers;

impl Fold for Answers {
    type Schema = Void;
    type Input = Input;
    type Outcome = Output;

    fn id(&self, input: &Input) -> Input {
        *input
    }

    fn empty(&self, _: &Key) {}

    fn step(&self, (): &mut (), input: &Input) -> StepOf<Self> {
        Step::Applied(*input, answer(*input))
    }
}

impl Batcher for FerryWrite {
    fn build(config: Config, backend: Backend) -> Self {
        match builder(config).fold_write(Answers, Void(backend)) {
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
