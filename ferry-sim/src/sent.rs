//! A client's input on its way, and the fold that it meets.

use core::{fmt, time::Duration};
use std::{
    panic,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
};

use ferry_core::{Fold, Projection, RecordOf, Step, StepOf};

use crate::{
    event::Event,
    executor::Process,
    history::SubmissionId,
    kind::Kind,
    store::SimStore,
    workload::{IdOf, InputOf, KeyOf, OutcomeOf, StateOf, Workload},
};

/// What is wrong with an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Quirk {
    /// Nothing.
    #[default]
    None,
    /// The store takes no record that would hold it.
    Poison,
    /// The step that is given it panics.
    Panics,
    /// The step that is given it holds up its whole process for so long.
    Slow(Duration),
    /// Asked for its id, it panics this time, from one on, and no other. At the first it would not even be looked for.
    Startles(u32),
}

/// An input, with what the simulation knows of it.
#[derive(Debug)]
pub struct Sent<W: Workload> {
    /// Which of the inputs it is. All copies of one input have the same number.
    pub number: u64,
    /// What it says. Shared by all copies with the same content.
    pub content: Arc<InputOf<W>>,
    /// Which attempt it came in.
    pub submission: SubmissionId,
    /// What is wrong with it.
    pub quirk: Quirk,
}

impl<W: Workload> Clone for Sent<W> {
    fn clone(&self) -> Self {
        Self {
            content: Arc::clone(&self.content),
            ..*self
        }
    }
}

/// An input that a node has taken in. When the node is done with it, answered or not, that is told.
pub(crate) struct Held<W: Workload> {
    sent: Sent<W>,
    /// Which attempt it came in, where that is known as late as it is taken in.
    named: Option<Named>,
    /// How often it was asked for its id.
    asked: AtomicU32,
    /// Where it is told.
    world: Process,
}

impl<W: Workload> Held<W> {
    pub(crate) fn new(sent: Sent<W>, world: Process) -> Self {
        Self {
            sent,
            named: None,
            asked: AtomicU32::new(0),
            world,
        }
    }

    /// One that may wait for room: of which attempt it is has to be said as soon as it is taken in.
    pub(crate) fn unnamed(sent: Sent<W>, world: Process) -> (Self, Named) {
        let named = Named::default();
        let mut held = Self::new(sent, world);
        held.named = Some(named.clone());
        (held, named)
    }

    fn submission(&self) -> Option<SubmissionId> {
        match &self.named {
            None => Some(self.sent.submission),
            Some(named) => named.0.get().copied(),
        }
    }

    /// It, and which attempt it came in.
    pub(crate) fn sent(&self) -> Sent<W> {
        Sent {
            submission: self.submission().unwrap_or(self.sent.submission),
            ..self.sent.clone()
        }
    }
}

/// Which attempt an input came in, once that is known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named(Arc<OnceLock<SubmissionId>>);

impl Named {
    /// It was this one. Said twice, the first time counts.
    pub(crate) fn is(&self, submission: SubmissionId) {
        self.0.get_or_init(|| submission);
    }
}

impl<W: Workload> Drop for Held<W> {
    fn drop(&mut self) {
        // One that waited for room in vain came in no attempt.
        if let Some(submission) = self.submission() {
            self.world.tell(Event::LetGo { submission });
        }
    }
}

impl<W: Workload> fmt::Debug for Held<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sent.fmt(f)
    }
}

/// An input's id, with the attempt that it came in.
pub(crate) struct SentId<W: Workload> {
    id: IdOf<W>,
    pub(crate) submission: SubmissionId,
}

impl<W: Workload> PartialEq for SentId<W> {
    /// Whether both are of one input.
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// What a step made of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum How {
    /// It is in the record.
    Applied,
    /// It is not: a business no.
    Declined,
    /// It is not: the id is known with other content.
    Mismatch,
    /// Nobody can tell: the id may be forgotten.
    TooOld,
}

/// An outcome, and what it means.
#[derive(Clone, PartialEq, Eq)]
pub struct Told<O> {
    /// What the step made of the input.
    pub how: How,
    /// What the caller hears.
    pub outcome: O,
}

impl<O: fmt::Debug> fmt::Debug for Told<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.outcome.fmt(f)
    }
}

/// What callers of a workload's fold hear.
pub(crate) type ToldBy<W> = Told<OutcomeOf<W>>;

/// The fold under test, as a node runs it.
pub(crate) struct Carried<K: Kind> {
    pub(crate) fold: <K::Load as Workload>::Fold,
    /// Holds up the whole process for so long.
    pub(crate) stall: Box<dyn Fn(Duration) + Send + Sync>,
}

impl<K: Kind> fmt::Debug for Carried<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Carried")
    }
}

impl<K: Kind> Carried<K> {
    pub(crate) fn id_of(&self, sent: &Sent<K::Load>) -> SentId<K::Load> {
        SentId {
            id: self.fold.id(&sent.content),
            submission: sent.submission,
        }
    }

    pub(crate) fn step_of(
        &self,
        state: &mut StateOf<K::Load>,
        sent: &Sent<K::Load>,
    ) -> StepOf<Self> {
        match sent.quirk {
            Quirk::None | Quirk::Poison | Quirk::Startles(_) => {}
            // Without the panic hook, which would tell of it.
            Quirk::Panics => panic::resume_unwind(Box::new("a step that panics")),
            Quirk::Slow(pause) => (self.stall)(pause),
        }
        let told = |how| move |outcome| Told { how, outcome };
        match self.fold.step(state, &sent.content) {
            Step::Applied(_, outcome) => Step::Applied(sent.clone(), told(How::Applied)(outcome)),
            Step::Already(outcome) => Step::Already(told(How::Applied)(outcome)),
            Step::Refused(outcome) => Step::Refused(told(How::Declined)(outcome)),
            Step::Mismatch(outcome) => Step::Mismatch(told(How::Mismatch)(outcome)),
            Step::TooOld(outcome) => Step::TooOld(told(How::TooOld)(outcome)),
        }
    }
}

impl<K: Kind> Fold for Carried<K> {
    type Schema = SimStore<K>;
    type Input = Held<K::Load>;
    type Outcome = ToldBy<K::Load>;

    fn id(&self, held: &Self::Input) -> SentId<K::Load> {
        if let Quirk::Startles(nth) = held.sent.quirk {
            if held.asked.fetch_add(1, Relaxed) + 1 == nth {
                panic::resume_unwind(Box::new("an id that panics"));
            }
        }
        SentId {
            id: self.fold.id(&held.sent.content),
            submission: held.submission().unwrap_or(held.sent.submission),
        }
    }

    fn weight(&self, held: &Self::Input) -> usize {
        self.fold.weight(&held.sent.content)
    }

    fn empty(&self, key: &KeyOf<K::Load>) -> StateOf<K::Load> {
        self.fold.empty(key)
    }

    fn step(&self, state: &mut StateOf<K::Load>, held: &Self::Input) -> StepOf<Self> {
        match held.named {
            None => self.step_of(state, &held.sent),
            Some(_) => self.step_of(state, &held.sent()),
        }
    }
}

/// What a view that was projected in part shows.
pub(crate) struct Shown<K: Kind> {
    /// Inputs by their numbers.
    pub(crate) numbers: Vec<u64>,
    /// The workload's own view of them, where it has one.
    pub(crate) view: Option<K::View>,
}

impl<K: Kind> Projection for Carried<K>
where
    <K::Load as Workload>::Fold: Projection,
{
    type View = Shown<K>;

    fn pending(&self, record: &RecordOf<SimStore<K>>) -> bool {
        self.fold.pending(record)
    }

    fn includes(&self, shown: &Shown<K>, held: &Self::Input) -> bool {
        match &shown.view {
            Some(view) => K::includes(&self.fold, view, &held.sent.content),
            None => shown.numbers.contains(&held.sent.number),
        }
    }
}
