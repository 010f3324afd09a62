//! A fenced write by hand, as a kind of write: the real handle, and batches that are carried by [`Trips`].

use core::{convert::Infallible, marker::PhantomData};
use std::sync::Arc;

use ferry_core::{
    Failure,
    drive::{BatchCall, Builder, Ferry, InvalidConfig, OwnCall},
};

use super::trip::Trips;
use crate::{
    calls::Carrier,
    executor::Process,
    fleet::{Sweeping, Up},
    history::{Heard, HeardBy, Resumed},
    kind::{AnswerOf, Kind, RecordOf, Resuming},
    sent::{Carried, Held},
    store::SimStore,
    workload::{KeyOf, StateOf, VersionOf, Workload},
    world::World,
};

/// The fenced write, by hand.
#[derive(Debug)]
pub(crate) struct ByHand<W>(PhantomData<W>);

impl<W: Workload> BatchCall for Trips<ByHand<W>> {
    type Key = KeyOf<W>;
    type Input = Held<W>;
    type Outcome = HeardBy<W>;

    fn weight(&self, held: &Held<W>) -> usize {
        ferry_core::Fold::weight(&self.fold, held)
    }

    async fn call(
        &self,
        key: &KeyOf<W>,
        inputs: &mut Vec<Held<W>>,
        outcomes: &mut Vec<HeardBy<W>>,
    ) {
        let sent = inputs.iter().map(Held::sent).collect();
        *outcomes = self.carry(key, sent).await;
    }
}

impl<W: Workload> Kind for ByHand<W> {
    type Load = W;
    type Carries = OwnCall<KeyOf<W>, Held<W>, HeardBy<W>>;
    type View = ();

    const IS_PROJECTED: bool = false;
    const CARRIER: Carrier = Carrier::ByHand;

    fn build(
        builder: Builder<Process>,
        fold: Carried<Self>,
        store: SimStore<Self>,
    ) -> Result<Ferry<Self::Carries>, InvalidConfig> {
        builder.batch_call(Trips::new(fold, store))
    }

    fn heard(answer: AnswerOf<Self>) -> HeardBy<W> {
        let in_doubt = |failure: Failure<Infallible>| match failure {
            Failure::NotCommitted(cause) => Heard::NotCommitted((&cause).into()),
            Failure::InDoubt(cause) => Heard::InDoubt((&cause).into()),
        };
        answer.unwrap_or_else(in_doubt)
    }

    fn marker(_: &W, _: &StateOf<W>) -> Option<VersionOf<W>> {
        None
    }

    fn mark(_: &W, _: &mut StateOf<W>, _: Option<VersionOf<W>>) {}

    fn is_pending(_: &W::Fold, _: &RecordOf<W>) -> bool {
        false
    }

    fn sweep(_: &Arc<World<Self>>, _: &Up<Self>) -> Option<Sweeping> {
        None
    }

    fn resume(_: &Up<Self>, _: &KeyOf<W>) -> Resuming {
        Box::pin(core::future::ready(Resumed::Shown))
    }
}
