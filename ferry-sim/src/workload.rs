//! What a fleet does: a fold, inputs for it, and what the simulated store has to know of its records.

use core::{fmt, hash::Hash};

use ferry_core::{Fold, Projection, Schema};

use crate::chance::Chance;

pub(crate) type SchemaOf<W> = <<W as Workload>::Fold as Fold>::Schema;
pub(crate) type InputOf<W> = <<W as Workload>::Fold as Fold>::Input;
pub(crate) type OutcomeOf<W> = <<W as Workload>::Fold as Fold>::Outcome;
pub(crate) type KeyOf<W> = <SchemaOf<W> as Schema>::Key;
pub(crate) type IdOf<W> = <SchemaOf<W> as Schema>::Id;
pub(crate) type StateOf<W> = <SchemaOf<W> as Schema>::State;
pub(crate) type VersionOf<W> = <SchemaOf<W> as Schema>::Version;
pub(crate) type ViewOf<W> = <<W as Workload>::Fold as Projection>::View;

/// A fold under test, with inputs for it.
///
/// The simulation keeps its records in a store of its own, and so needs no store of yours; it makes the versions by
/// [`version`](Self::version). Everything here has to depend on its arguments alone, or a seed does not give the same run
/// twice.
pub trait Workload: fmt::Debug + Clone + Send + Sync + 'static {
    /// What is under test.
    type Fold: Fold<
            Schema: Schema<
                Key: Clone + Eq + Hash + fmt::Debug + Send + Sync + 'static,
                Id: Send + Sync + 'static,
                State: Clone + Send + Sync + 'static,
                Version: Clone + PartialEq + Send + Sync + 'static,
            >,
            Input: fmt::Debug + Send + Sync + 'static,
            Outcome: Clone + PartialEq + fmt::Debug + Send + Sync + 'static,
        > + Send
        + Sync
        + 'static;

    /// The fold. Asked for once for each life of a node, so that nothing in it outlives a crash; and once more by the
    /// checkers.
    fn fold(&self) -> Self::Fold;

    /// The key with this number, from zero on. Different numbers, different keys, or nothing is run.
    fn key(&self, nth: u32) -> KeyOf<Self>;

    /// A new input with the id of this number, from one on: different numbers, different ids, or nothing is run. Clients begin to send them in the order of their numbers,
    /// repetitions apart.
    fn input(&self, nth: u64, chance: &mut Chance) -> InputOf<Self>;

    /// Another input with the same id, as of a client that mistakes one for the other; `None` where there is none.
    fn other_content(&self, input: &InputOf<Self>) -> Option<InputOf<Self>> {
        let _ = input;
        None
    }

    /// The version of a key's commit with this number, from one on. Different numbers, different versions, or nothing is run.
    fn version(&self, nth: u64) -> VersionOf<Self>;

    /// The same as it is for one seed. Draw here what is to differ from seed to seed: how many ids a record remembers, say.
    #[must_use]
    fn drawn(&self, chance: &mut Chance) -> Self {
        let _ = chance;
        self.clone()
    }

    /// The same with nothing left out: what the checkers hold answers against. Of use where a fold is weakened on purpose,
    /// to see that it is noticed.
    #[must_use]
    fn reference(&self) -> Self {
        self.clone()
    }

    /// How often something that was left out of it on purpose has made a difference. For mutants alone.
    fn weakened(&self) -> u64 {
        0
    }
}

/// A projection under test.
///
/// The simulated view is the list of entries that projections have put into it; what yours makes of them is not its
/// concern, but for [`view`](Self::view). It moves the marker, which your state holds, by [`mark`](Self::mark).
pub trait ProjectedWorkload: Workload<Fold: Projection<View: Send + 'static>> {
    /// What your store answers of a view that was written in part and shows these inputs, in order: so that
    /// [`includes`](Projection::includes) is asked. `None`, if your projections land whole or not at all: the simulation then
    /// says itself which inputs a part shows.
    fn view(&self, shown: &[&InputOf<Self>]) -> Option<ViewOf<Self>> {
        let _ = shown;
        None
    }

    /// The version that the view has reached, by the state's marker; `None`: it shows nothing yet.
    fn marker(&self, state: &StateOf<Self>) -> Option<VersionOf<Self>>;

    /// Sets the marker.
    fn mark(&self, state: &mut StateOf<Self>, marker: Option<VersionOf<Self>>);
}
