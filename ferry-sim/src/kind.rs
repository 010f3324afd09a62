//! The two kinds of write that are simulated.

use core::{fmt, future::Future, marker::PhantomData, pin::Pin};
use std::sync::Arc;

use ferry_core::{
    Answer, Durability, Failure, Projection, Record,
    drive::{Builder, Carries, Ferry, InvalidConfig, ResumeError, SweepProgress},
    fold_write::FoldWrite,
    projected_write::ProjectedWrite,
};

use futures_lite::stream;

use crate::{
    calls::Carrier,
    executor::Process,
    fleet::{Sweeping, Up, sweeps},
    history::{Heard, HeardBy, Reach, Resumed},
    purses::StoreError,
    sent::{Carried, Held},
    store::SimStore,
    workload::{InputOf, KeyOf, ProjectedWorkload, StateOf, VersionOf, ViewOf, Workload},
    world::World,
};

pub(crate) type RecordOf<W> = Record<StateOf<W>, VersionOf<W>>;

/// A kind of write, on some workload.
pub(crate) trait Kind: Sized + fmt::Debug + Send + Sync + 'static {
    type Load: Workload;
    type Carries: Carries<Key = KeyOf<Self::Load>, Input = Held<Self::Load>>;

    /// What a view that was written in part is said to show.
    type View: Send + 'static;

    const IS_PROJECTED: bool;
    /// Who carries the batches.
    const CARRIER: Carrier = Carrier::Ferry;

    fn build(
        builder: Builder<Process>,
        fold: Carried<Self>,
        store: SimStore<Self>,
    ) -> Result<Ferry<Self::Carries>, InvalidConfig>;

    /// What a caller has heard.
    fn heard(answer: AnswerOf<Self>) -> HeardBy<Self::Load>;

    /// What the record's view shows, by its marker.
    fn marker(load: &Self::Load, state: &StateOf<Self::Load>) -> Option<VersionOf<Self::Load>>;

    fn mark(load: &Self::Load, state: &mut StateOf<Self::Load>, to: Option<VersionOf<Self::Load>>);

    fn is_pending(fold: &<Self::Load as Workload>::Fold, record: &RecordOf<Self::Load>) -> bool;

    /// The workload's own view of these inputs, in order, where it has one.
    fn view(_: &Self::Load, _: &[&InputOf<Self::Load>]) -> Option<Self::View> {
        None
    }

    /// Whether such a view includes the input.
    fn includes(
        _: &<Self::Load as Workload>::Fold,
        _: &Self::View,
        _: &InputOf<Self::Load>,
    ) -> bool {
        false
    }

    /// Starts what resumes pending records on a schedule.
    fn sweep(world: &Arc<World<Self>>, up: &Up<Self>) -> Option<Sweeping>;

    /// Resumes one key.
    fn resume(up: &Up<Self>, key: &KeyOf<Self::Load>) -> Resuming;

    /// Resumes these keys, and tells of each what came of it in the end; it is over when all are done, or the node takes in no more.
    fn sweep_once(_: &Up<Self>, _: Sweep<Self>, _: Told<Self>) -> Swept {
        Box::pin(core::future::ready(()))
    }
}

/// A sweep that is asked for by hand.
pub(crate) struct Sweep<K: Kind> {
    pub(crate) keys: Vec<KeyOf<K::Load>>,
    /// How many at a time.
    pub(crate) at_once: usize,
    /// Whether the keys come in a stream.
    pub(crate) is_stream: bool,
}

/// Where it is told what came of a key.
pub(crate) type Told<K> = Box<dyn FnMut(&KeyOf<<K as Kind>::Load>, Resumed) + Send>;

/// A sweep that is waited for.
pub(crate) type Swept = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A resume that is waited for.
pub(crate) type Resuming = Pin<Box<dyn Future<Output = Resumed> + Send>>;

pub(crate) type AnswerOf<K> = Result<
    <<K as Kind>::Carries as Carries>::Answer,
    Failure<<<K as Kind>::Carries as Carries>::Error>,
>;

/// The fenced write.
#[derive(Debug)]
pub(crate) struct Fenced<W>(PhantomData<W>);

impl<W: Workload> Kind for Fenced<W> {
    type Load = W;
    type Carries = FoldWrite<Carried<Self>>;
    type View = ();

    const IS_PROJECTED: bool = false;

    fn build(
        builder: Builder<Process>,
        fold: Carried<Self>,
        store: SimStore<Self>,
    ) -> Result<Ferry<Self::Carries>, InvalidConfig> {
        builder.fold_write(fold, store)
    }

    fn heard(answer: AnswerOf<Self>) -> HeardBy<W> {
        match answer {
            Ok(outcome) => Heard::Outcome(outcome, Reach::Durable),
            Err(failure) => failure.into(),
        }
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

/// The projected write.
#[derive(Debug)]
pub(crate) struct Projected<W>(PhantomData<W>);

impl<W: ProjectedWorkload> Kind for Projected<W> {
    type Load = W;
    type Carries = ProjectedWrite<Carried<Self>>;
    type View = ViewOf<W>;

    const IS_PROJECTED: bool = true;

    fn build(
        builder: Builder<Process>,
        fold: Carried<Self>,
        store: SimStore<Self>,
    ) -> Result<Ferry<Self::Carries>, InvalidConfig> {
        builder.projected_write(fold, store)
    }

    fn heard(answer: AnswerOf<Self>) -> HeardBy<W> {
        match answer {
            Ok(Answer {
                outcome,
                durability: Durability::Projected,
            }) => Heard::Outcome(outcome, Reach::Projected),
            Ok(Answer {
                outcome,
                durability: Durability::Committed(cause),
            }) => Heard::Outcome(outcome, Reach::Committed((&cause).into())),
            Err(failure) => failure.into(),
        }
    }

    fn marker(load: &W, state: &StateOf<W>) -> Option<VersionOf<W>> {
        load.marker(state)
    }

    fn mark(load: &W, state: &mut StateOf<W>, to: Option<VersionOf<W>>) {
        load.mark(state, to);
    }

    fn is_pending(fold: &W::Fold, record: &RecordOf<W>) -> bool {
        fold.pending(record)
    }

    fn view(load: &W, shown: &[&InputOf<W>]) -> Option<ViewOf<W>> {
        load.view(shown)
    }

    fn includes(fold: &W::Fold, view: &ViewOf<W>, input: &InputOf<W>) -> bool {
        fold.includes(view, input)
    }

    fn sweep(world: &Arc<World<Self>>, up: &Up<Self>) -> Option<Sweeping> {
        sweeps::start(world, up)
    }

    fn resume(up: &Up<Self>, key: &KeyOf<W>) -> Resuming {
        let resuming = up.resumer().resume(key);
        Box::pin(async move {
            match resuming.await {
                Ok(_) => Resumed::Shown,
                Err(ResumeError::StillPending(_)) => Resumed::StillPending,
                Err(ResumeError::Closed) => Resumed::Closed,
            }
        })
    }

    fn sweep_once(up: &Up<Self>, sweep: Sweep<Self>, mut told: Told<Self>) -> Swept {
        let resumer = up.resumer();
        let tell = move |progress: SweepProgress<'_, KeyOf<W>, StoreError>| match progress.result {
            Ok(_) => told(progress.key, Resumed::Shown),
            Err(_) if progress.is_tried_again => {}
            Err(_) => told(progress.key, Resumed::StillPending),
        };
        let (keys, at_once) = (sweep.keys, sweep.at_once);
        if sweep.is_stream {
            let sweeping = resumer.sweep_stream(stream::iter(keys));
            let sweeping = sweeping.concurrency(at_once).on_progress(tell);
            Box::pin(async move {
                let _report = sweeping.await;
            })
        } else {
            let sweeping = resumer.sweep(keys);
            let sweeping = sweeping.concurrency(at_once).on_progress(tell);
            Box::pin(async move {
                let _report = sweeping.await;
            })
        }
    }
}
