//! Carrying a batch by a fold write.

use alloc::{sync::Arc, vec::Vec};
use core::future::Future;

use crate::{
    Fold, Instant, Schema, StepOf,
    fold_write::{Answered, Call, Command, Committing, FoldWrite, Reading, Sleeping, Tally},
    guard::{discard, guard},
};

use super::{
    carries::{BatchOf, Carried, Carrier, SharedFold},
    catch::catch,
    runtime::Runtime,
    shard::SlotOf,
    store::{BlockingStore, Store},
};

/// The user's fold on inputs that have the place for their answer with them.
pub(super) struct Answering<F>(pub(super) F);

impl<F: SharedFold> Fold for Answering<F> {
    type Schema = F::Schema;
    type Input = Carried<FoldWrite<F>>;
    type Outcome = F::Outcome;

    fn id(&self, carried: &Self::Input) -> <F::Schema as Schema>::Id {
        self.0.id(&carried.input)
    }

    fn weight(&self, carried: &Self::Input) -> usize {
        self.0.weight(&carried.input)
    }

    fn empty(&self, key: &<F::Schema as Schema>::Key) -> <F::Schema as Schema>::State {
        self.0.empty(key)
    }

    fn step(
        &self,
        state: &mut <F::Schema as Schema>::State,
        carried: &Self::Input,
    ) -> StepOf<Self> {
        self.0.step(state, &carried.input)
    }
}

/// What a round trip needs of the world.
pub(super) trait Edge<F: Fold>: Send + Sync + 'static {
    fn now(&self) -> Instant;
    fn read(&self, stage: Reading<F>) -> impl Future<Output = Command<F>> + Send;
    fn commit(&self, stage: Committing<F>) -> impl Future<Output = Command<F>> + Send;
    fn sleep(&self, stage: Sleeping<F>) -> impl Future<Output = Command<F>> + Send;
}

/// Carries batches by a fold write, over an edge.
pub(super) struct WriteCarrier<F: SharedFold, E> {
    pub(super) write: FoldWrite<Answering<F>>,
    pub(super) edge: E,
}

pub(super) struct Gear<F: SharedFold> {
    call: Call<Answering<F>>,
    answers: Vec<Answered<Answering<F>>>,
    /// Of the last batch.
    tally: Tally,
}

impl<F: SharedFold, E: Edge<Answering<F>>> Carrier<FoldWrite<F>> for WriteCarrier<F, E> {
    type Gear = Gear<F>;

    fn gear(&self, seed: u64) -> Gear<F> {
        Gear {
            call: self.write.call(seed),
            answers: Vec::new(),
            tally: Tally::default(),
        }
    }

    fn weight(&self, input: &F::Input) -> usize {
        self.write.fold().0.weight(input)
    }

    async fn carry(
        &self,
        gear: Gear<F>,
        batch: BatchOf<FoldWrite<F>>,
    ) -> (Gear<F>, BatchOf<FoldWrite<F>>) {
        let Gear {
            call, mut answers, ..
        } = gear;
        let mut command = call.start(self.edge.now(), batch);
        loop {
            answers.extend(command.answers());
            if !matches!(command, Command::Done(_)) {
                // Known before the others, by a deadline or a duplicate: told before the others.
                post(&mut answers).for_each(drop);
            }
            command = match command {
                Command::Read(stage) => self.edge.read(stage).await,
                Command::Commit(stage) => self.edge.commit(stage).await,
                Command::Sleep(stage) => self.edge.sleep(stage).await,
                Command::Done(done) => {
                    let tally = *done.tally();
                    let (batch, call) = done.finish();
                    let gear = Gear {
                        call,
                        answers,
                        tally,
                    };
                    return (gear, batch);
                }
            };
        }
    }

    fn tally<'g>(&self, gear: &'g Gear<F>) -> Option<&'g Tally> {
        Some(&gear.tally)
    }

    fn deliver(&self, gear: &mut Gear<F>, answered: &mut Vec<Arc<SlotOf<FoldWrite<F>>>>) {
        answered.extend(post(&mut gear.answers));
    }
}

fn post<F: SharedFold>(
    answers: &mut Vec<Answered<Answering<F>>>,
) -> impl Iterator<Item = Arc<SlotOf<FoldWrite<F>>>> {
    answers
        .drain(..)
        .filter_map(|Answered { input, result, .. }| {
            let slot = input.reply.post(result);
            discard(input.input);
            slot
        })
}

/// A store with async calls.
pub(super) struct AsyncEdge<R, S> {
    pub(super) runtime: Arc<R>,
    pub(super) store: S,
}

impl<R, S, F> Edge<Answering<F>> for AsyncEdge<R, S>
where
    R: Runtime,
    S: Store,
    F: SharedFold<Schema = S>,
{
    fn now(&self) -> Instant {
        self.runtime.now()
    }

    async fn read(&self, stage: Reading<Answering<F>>) -> Command<Answering<F>> {
        let read = catch(|| self.store.read(stage.key(), stage.ids())).await;
        match read {
            Ok(read) => stage.resume(self.runtime.now(), read),
            Err(message) => stage.panicked(self.runtime.now(), message),
        }
    }

    async fn commit(&self, stage: Committing<Answering<F>>) -> Command<Answering<F>> {
        let committed = catch(|| self.store.commit(stage.key(), stage.commit())).await;
        match committed {
            Ok(committed) => stage.resume(self.runtime.now(), committed),
            Err(message) => stage.panicked(self.runtime.now(), message),
        }
    }

    async fn sleep(&self, stage: Sleeping<Answering<F>>) -> Command<Answering<F>> {
        self.runtime.sleep(stage.duration()).await;
        stage.wake(self.runtime.now())
    }
}

/// A store whose calls block: each goes to a blocking thread, the stage with it.
pub(super) struct BlockingEdge<R, S> {
    pub(super) runtime: Arc<R>,
    pub(super) store: Arc<S>,
}

impl<R, S, F> Edge<Answering<F>> for BlockingEdge<R, S>
where
    R: Runtime,
    S: BlockingStore,
    F: SharedFold<Schema = S>,
{
    fn now(&self) -> Instant {
        self.runtime.now()
    }

    async fn read(&self, stage: Reading<Answering<F>>) -> Command<Answering<F>> {
        let store = Arc::clone(&self.store);
        let call = move || {
            let read = guard(|| store.read(stage.key(), stage.ids()));
            (stage, read)
        };
        match self.runtime.spawn_blocking(call).await {
            (stage, Ok(read)) => stage.resume(self.runtime.now(), read),
            (stage, Err(message)) => stage.panicked(self.runtime.now(), message),
        }
    }

    async fn commit(&self, stage: Committing<Answering<F>>) -> Command<Answering<F>> {
        let store = Arc::clone(&self.store);
        let call = move || {
            let committed = guard(|| store.commit(stage.key(), stage.commit()));
            (stage, committed)
        };
        match self.runtime.spawn_blocking(call).await {
            (stage, Ok(committed)) => stage.resume(self.runtime.now(), committed),
            (stage, Err(message)) => stage.panicked(self.runtime.now(), message),
        }
    }

    async fn sleep(&self, stage: Sleeping<Answering<F>>) -> Command<Answering<F>> {
        self.runtime.sleep(stage.duration()).await;
        stage.wake(self.runtime.now())
    }
}
