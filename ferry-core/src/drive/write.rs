//! Carrying a batch by a fold write.

use alloc::vec::Vec;
use core::marker::PhantomData;

use crate::{
    Fold, Projection, RecordOf, Schema, StepOf,
    fold_write::{Answered, Call, Command, FoldWrite, Tally},
    guard::discard,
};

use super::{
    carries::{BatchOf, Carried, Carrier, Carries, SharedFold, SharedProjection},
    edge::Edge,
    observe::Passes,
    slot::Verdict,
};

/// The user's fold on inputs that have the place for their answer with them.
pub(super) struct Answering<C, F> {
    pub(super) fold: F,
    carried: PhantomData<fn(C)>,
}

impl<C, F> Answering<C, F> {
    pub(super) fn new(fold: F) -> Self {
        let carried = PhantomData;
        Self { fold, carried }
    }
}

impl<C: Carries<Input = F::Input>, F: SharedFold> Fold for Answering<C, F> {
    type Schema = F::Schema;
    type Input = Carried<C>;
    type Outcome = F::Outcome;

    fn id(&self, carried: &Self::Input) -> <F::Schema as Schema>::Id {
        self.fold.id(&carried.input)
    }

    fn weight(&self, carried: &Self::Input) -> usize {
        self.fold.weight(&carried.input)
    }

    fn empty(&self, key: &<F::Schema as Schema>::Key) -> <F::Schema as Schema>::State {
        self.fold.empty(key)
    }

    fn step(
        &self,
        state: &mut <F::Schema as Schema>::State,
        carried: &Self::Input,
    ) -> StepOf<Self> {
        self.fold.step(state, &carried.input)
    }
}

impl<C: Carries<Input = P::Input>, P: SharedProjection> Projection for Answering<C, P> {
    type View = P::View;

    fn pending(&self, record: &RecordOf<P::Schema>) -> bool {
        self.fold.pending(record)
    }

    fn includes(&self, view: &P::View, carried: &Self::Input) -> bool {
        self.fold.includes(view, &carried.input)
    }
}

/// Carries batches by a fold write, over an edge.
pub(super) struct WriteCarrier<F: SharedFold, E> {
    pub(super) write: FoldWrite<Answering<FoldWrite<F>, F>>,
    pub(super) edge: E,
}

/// What a write keeps from one batch to the next: its call, and the answers to be delivered.
pub(super) struct Gear<C: Carries, Call> {
    /// There between batches.
    pub(super) call: Option<Call>,
    pub(super) answers: Answers<C>,
    /// Of the last batch.
    pub(super) tally: Tally,
}

impl<C: Carries, Call> Gear<C, Call> {
    pub(super) fn new(call: Call) -> Self {
        Self {
            call: Some(call),
            answers: Answers(Vec::new()),
            tally: Tally::default(),
        }
    }
}

/// Inputs with what their callers are to hear.
pub(super) struct Answers<C: Carries>(Vec<AnsweredOf<C>>);

pub(super) type AnsweredOf<C> = (
    Carried<C>,
    Verdict<<C as Carries>::Answer, <C as Carries>::Error>,
);

impl<C: Carries> Answers<C> {
    pub(super) fn add(&mut self, answers: impl Iterator<Item = AnsweredOf<C>>) {
        self.0.extend(answers);
    }

    /// Gives the callers their answers.
    pub(super) fn post(&mut self) {
        for (carried, verdict) in self.0.drain(..) {
            carried.reply.post(verdict);
            discard(carried.input);
        }
    }
}

impl<F: SharedFold, E: Edge<F::Schema>> Carrier<FoldWrite<F>> for WriteCarrier<F, E> {
    type Gear = Gear<FoldWrite<F>, Call<Answering<FoldWrite<F>, F>>>;

    fn gear(&self, seed: u64) -> Self::Gear {
        Gear::new(self.write.call(seed))
    }

    fn weight(&self, input: &F::Input) -> usize {
        self.write.fold().fold.weight(input)
    }

    async fn carry(
        &self,
        gear: &mut Self::Gear,
        batch: &mut Option<BatchOf<FoldWrite<F>>>,
        passes: &mut Passes,
    ) {
        let (Some(call), Some(setting_out)) = (gear.call.take(), batch.take()) else {
            unreachable!("there is a batch to carry")
        };
        let answers = &mut gear.answers;
        let mut command = call.start(self.edge.now(), setting_out);
        loop {
            answers.add(
                command
                    .answers()
                    .map(|Answered { input, result, .. }| (input, result))
                    .inspect(|(_, verdict)| {
                        if let Err(failure) = verdict {
                            passes.grieves(failure.cause());
                        }
                    }),
            );
            // Those that are known before the batch is over, by a deadline or a duplicate, are told before the others.
            if !matches!(command, Command::Done(_)) {
                answers.post();
            }
            command = match command {
                Command::Read(stage) => passes.read(&self.edge, stage).await,
                Command::Commit(stage) => passes.commit(&self.edge, stage).await,
                Command::Sleep(stage) => passes.sleep(&self.edge, stage).await,
                Command::Done(done) => {
                    gear.tally = *done.tally();
                    let (carried, call) = done.finish();
                    (gear.call, *batch) = (Some(call), Some(carried));
                    return;
                }
            };
        }
    }

    fn tally<'g>(&self, gear: &'g Self::Gear) -> Option<&'g Tally> {
        Some(&gear.tally)
    }

    fn deliver(&self, gear: &mut Self::Gear) {
        gear.answers.post();
    }
}
