//! Carrying a batch by a projected write.

use crate::{
    Durability, Schema,
    fold_write::Tally,
    projected_write::{AnswerOf, Answered, Call, Command, ProjectedWrite},
};

use super::{
    carries::{BatchOf, Carrier, Carries, Sealed, SharedProjection},
    edge::ProjectedEdge,
    observe::Passes,
    resuming::Resumes,
    write::{Answering, Gear},
};

impl<P: SharedProjection> Sealed for ProjectedWrite<P> {
    type Aside = Resumes<P>;
}

impl<P: SharedProjection> Carries for ProjectedWrite<P> {
    type Key = <P::Schema as Schema>::Key;
    type Input = P::Input;
    type Answer = AnswerOf<P>;
    type Error = <P::Schema as Schema>::Error;
}

/// The user's projection on inputs that have the place for their answer with them.
pub(super) type AnsweringView<P> = Answering<ProjectedWrite<P>, P>;

/// Carries batches by a projected write, over an edge.
pub(super) struct ProjectedCarrier<P: SharedProjection, E> {
    pub(super) write: ProjectedWrite<AnsweringView<P>>,
    pub(super) edge: E,
}

impl<P, E> Carrier<ProjectedWrite<P>> for ProjectedCarrier<P, E>
where
    P: SharedProjection,
    E: ProjectedEdge<P::Schema, P::View>,
{
    type Gear = Gear<ProjectedWrite<P>, Call<AnsweringView<P>>>;

    fn gear(&self, seed: u64) -> Self::Gear {
        Gear::new(self.write.call(seed))
    }

    fn weight(&self, input: &P::Input) -> usize {
        self.write.projection().fold.weight(input)
    }

    async fn carry(
        &self,
        gear: &mut Self::Gear,
        batch: &mut Option<BatchOf<ProjectedWrite<P>>>,
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
                    .inspect(|(_, verdict)| match verdict {
                        Ok(answer) => {
                            if let Durability::Committed(cause) = &answer.durability {
                                passes.grieves(cause);
                            }
                        }
                        Err(failure) => passes.grieves(failure.cause()),
                    }),
            );
            if !matches!(command, Command::Done(_)) {
                answers.post();
            }
            command = match command {
                Command::Read(stage) => passes.read(&self.edge, stage).await,
                Command::Commit(stage) => passes.commit(&self.edge, stage).await,
                Command::Project(stage) => passes.project(&self.edge, stage).await,
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
