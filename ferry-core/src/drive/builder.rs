//! Making a handle.

use alloc::{borrow::Cow, sync::Arc, vec::Vec};
use core::{error::Error, fmt, future::Future, hash::Hash, time::Duration};

use crate::{
    InvalidRetry, Retry,
    fold_write::FoldWrite,
    per_key::{InvalidLimits, Limits},
    projected_write::ProjectedWrite,
};

use super::{
    carries::{Carrier, Carries, SharedFold, SharedProjection},
    chance,
    crew::CrewOf,
    edge::{AsyncEdge, BlockingEdge, Edge, ProjectedEdge},
    handle::Ferry,
    observe::Observer,
    own_call::{BatchCall, CallCarrier, Closure, OwnCall, OwnCallOf},
    projected::ProjectedCarrier,
    resuming::Resumes,
    runtime::Runtime,
    shared::Shared,
    store::{BlockingProjectedStore, BlockingStore, ProjectedStore, Store},
    write::{Answering, WriteCarrier},
};

/// The most shards that are of any use.
const SHARDS_MAX: usize = 64;

/// Makes a [`Ferry`]: first the bounds and the retry, then what carries.
///
/// Each setting is explained where it lives: [`Limits`] and [`Retry`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it is told what carries"]
pub struct Builder<R> {
    runtime: R,
    limits: Limits,
    retry: Retry,
    seed: Option<u64>,
    shards: Option<usize>,
    name: Cow<'static, str>,
}

impl<R: Runtime + Default> Builder<R> {
    /// On the runtime at hand.
    ///
    /// # Panics
    ///
    /// When the runtime's adapter needs to be inside its runtime, and is not.
    pub fn new() -> Self {
        Self::on(R::default())
    }
}

impl<R: Runtime + Default> Default for Builder<R> {
    fn default() -> Self {
        Self::new()
    }
}

impl<R: Runtime> Builder<R> {
    /// On this runtime.
    pub fn on(runtime: R) -> Self {
        let (limits, retry) = (Limits::default(), Retry::default());
        Self {
            runtime,
            limits,
            retry,
            seed: None,
            shards: None,
            name: Cow::Borrowed("ferry"),
        }
    }

    /// All bounds at once.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets [`Limits::max_batch`].
    pub fn max_batch(mut self, inputs: usize) -> Self {
        self.limits.max_batch = inputs;
        self
    }

    /// Sets [`Limits::max_weight`].
    pub fn max_weight(mut self, weight: usize) -> Self {
        self.limits.max_weight = weight;
        self
    }

    /// Sets [`Limits::linger`].
    pub fn linger(mut self, linger: Duration) -> Self {
        self.limits.linger = linger;
        self
    }

    /// Sets [`Limits::max_queueing`].
    pub fn max_queueing(mut self, inputs: usize) -> Self {
        self.limits.max_queueing = inputs;
        self
    }

    /// Sets [`Limits::max_queueing_per_key`].
    pub fn max_queueing_per_key(mut self, inputs: usize) -> Self {
        self.limits.max_queueing_per_key = inputs;
        self
    }

    /// Sets [`Limits::max_in_flight`].
    pub fn max_in_flight(mut self, batches: usize) -> Self {
        self.limits.max_in_flight = batches;
        self
    }

    /// How a round trip is tried again. Without meaning for a batch call of your own.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Draws the jitter from this seed, so that a run can be repeated. By default it is drawn at random;
    /// processes with the same seed retry in step.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// In how many shards the keys are kept, 64 at most. By default four for each core. Bounds are exact
    /// for the process whatever the number; with one shard, ready keys go in the exact order of their
    /// oldest inputs, with more in that order within a shard and in turn among shards. Raised, threads
    /// meet less often at a lock.
    pub fn shards(mut self, shards: usize) -> Self {
        self.shards = Some(shards);
        self
    }

    /// What the handle is called in spans and metrics (features `tracing` and `metrics`), to tell several apart. By default
    /// `ferry`. Handles of one name add up to one in the metrics.
    ///
    /// The recorder of the metrics is the one that is installed when the handle is made.
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// A handle whose batches go by a fenced write with this fold, to this store.
    ///
    /// # Errors
    ///
    /// When a setting makes no sense; the error names it.
    pub fn fold_write<F>(
        self,
        fold: F,
        store: F::Schema,
    ) -> Result<Ferry<FoldWrite<F>>, InvalidConfig>
    where
        F: SharedFold,
        F::Schema: Store,
    {
        self.write(fold, |runtime| AsyncEdge { runtime, store })
    }

    /// As [`fold_write`](Self::fold_write), to a store whose calls block.
    ///
    /// # Errors
    ///
    /// When a setting makes no sense; the error names it.
    pub fn fold_write_blocking<F>(
        self,
        fold: F,
        store: F::Schema,
    ) -> Result<Ferry<FoldWrite<F>>, InvalidConfig>
    where
        F: SharedFold,
        F::Schema: BlockingStore,
    {
        let store = Arc::new(store);
        self.write(fold, |runtime| BlockingEdge { runtime, store })
    }

    /// A handle whose batches go by a closure: it is given the key and the inputs, and returns one
    /// outcome for each, in order. [`batch_call`](Self::batch_call) does the same without allocating.
    ///
    /// A panic of the closure, or another number of outcomes, fails the inputs of that batch alone.
    ///
    /// # Errors
    ///
    /// When a setting makes no sense; the error names it.
    pub fn per_key<K, I, O, F, Fut>(self, call: F) -> Result<Ferry<OwnCall<K, I, O>>, InvalidConfig>
    where
        F: Fn(K, Vec<I>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Vec<O>> + Send,
        K: Clone + Eq + Hash + Send + Sync + 'static,
        I: Send + 'static,
        O: Send + 'static,
    {
        self.batch_call(Closure::new(call))
    }

    /// A handle whose batches go by your own call.
    ///
    /// # Errors
    ///
    /// When a setting makes no sense; the error names it.
    pub fn batch_call<B: BatchCall>(self, call: B) -> Result<Ferry<OwnCallOf<B>>, InvalidConfig> {
        self.carried_by(|_| CallCarrier(call), |_| ())
    }

    /// A handle whose batches go by a fenced write and a second one that projects, to this store.
    ///
    /// # Errors
    ///
    /// When a setting makes no sense; the error names it.
    pub fn projected_write<P>(
        self,
        projection: P,
        store: P::Schema,
    ) -> Result<Ferry<ProjectedWrite<P>>, InvalidConfig>
    where
        P: SharedProjection,
        P::Schema: ProjectedStore<View = P::View>,
    {
        self.projected(projection, |runtime| AsyncEdge { runtime, store })
    }

    /// As [`projected_write`](Self::projected_write), to a store whose calls block.
    ///
    /// # Errors
    ///
    /// When a setting makes no sense; the error names it.
    pub fn projected_write_blocking<P>(
        self,
        projection: P,
        store: P::Schema,
    ) -> Result<Ferry<ProjectedWrite<P>>, InvalidConfig>
    where
        P: SharedProjection,
        P::Schema: BlockingProjectedStore<View = P::View>,
    {
        let store = Arc::new(store);
        self.projected(projection, |runtime| BlockingEdge { runtime, store })
    }

    fn write<F, E>(
        self,
        fold: F,
        edge: impl FnOnce(Arc<R>) -> E,
    ) -> Result<Ferry<FoldWrite<F>>, InvalidConfig>
    where
        F: SharedFold,
        E: Edge<F::Schema>,
    {
        let write = FoldWrite::new(Answering::new(fold), self.retry);
        let write = write.map_err(InvalidConfig::Retry)?;
        let carrier = |runtime| WriteCarrier {
            write,
            edge: edge(runtime),
        };
        self.carried_by(carrier, |_| ())
    }

    fn projected<P, E>(
        self,
        projection: P,
        edge: impl FnOnce(Arc<R>) -> E,
    ) -> Result<Ferry<ProjectedWrite<P>>, InvalidConfig>
    where
        P: SharedProjection,
        E: ProjectedEdge<P::Schema, P::View>,
    {
        let write = ProjectedWrite::new(Answering::new(projection), self.retry);
        let write = write.map_err(InvalidConfig::Retry)?;
        let carrier = |runtime| ProjectedCarrier {
            write,
            edge: edge(runtime),
        };
        self.carried_by(carrier, |carrier| Resumes::by(Arc::clone(carrier)))
    }

    fn carried_by<C: Carries, X: Carrier<C>>(
        self,
        carrier: impl FnOnce(Arc<R>) -> X,
        aside: impl FnOnce(&Arc<X>) -> C::Aside,
    ) -> Result<Ferry<C>, InvalidConfig> {
        let shards = self.shards.unwrap_or_else(shards_for_this_machine);
        if !(1..=SHARDS_MAX).contains(&shards) {
            return Err(InvalidConfig::Shards(shards));
        }
        let seed = self.seed.unwrap_or_else(chance::seed);
        let runtime = Arc::new(self.runtime);
        let carrier = Arc::new(carrier(Arc::clone(&runtime)));
        let aside = aside(&carrier);
        let crew = Arc::new(CrewOf { runtime, carrier });
        let observer = Observer::named(&self.name);
        let shared = Shared::new(self.limits, shards, seed, crew, aside, observer);
        Ok(Ferry::new(shared.map_err(InvalidConfig::Limits)?))
    }
}

fn shards_for_this_machine() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
    (4 * cores).min(SHARDS_MAX)
}

/// A setting that makes no sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidConfig {
    /// A bound that lets nothing pass.
    Limits(InvalidLimits),
    /// A retry that cannot be.
    Retry(InvalidRetry),
    /// So many shards; there are 1 to 64.
    Shards(usize),
}

impl fmt::Display for InvalidConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Limits(error) => error.fmt(f),
            Self::Retry(error) => error.fmt(f),
            Self::Shards(shards) => {
                write!(
                    f,
                    "`shards` is {shards}; set it to 1 at least and {SHARDS_MAX} at most"
                )
            }
        }
    }
}

impl Error for InvalidConfig {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Limits(error) => error.source(),
            Self::Retry(error) => error.source(),
            Self::Shards(_) => None,
        }
    }
}
