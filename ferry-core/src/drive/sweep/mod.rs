//! Resuming many keys: so many at a time, with growing pauses for those that keep failing.

mod engine;
mod report;

use alloc::{boxed::Box, sync::Arc};
use core::{
    fmt,
    future::{Future, IntoFuture},
    mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project_lite::pin_project;

use crate::Retry;

use self::engine::Engine;
use super::{
    carries::SharedProjection,
    observe,
    resuming::{ErrorOf, KeyOf, SharedOf},
};

pub(super) use engine::CONCURRENCY;
pub(super) use report::Fate;
pub use report::{SweepProgress, SweepReport};

/// A sweep that has not begun: await it, after setting what is to be set.
///
/// # Cancel safety
///
/// Dropped, it starts no more resumes; those under way go to their end.
#[must_use = "a sweep does nothing until it is awaited"]
pub struct Sweep<P: SharedProjection, S> {
    keys: S,
    engine: Engine<P>,
}

impl<P: SharedProjection, S: Stream<Item = KeyOf<P>>> Sweep<P, S> {
    pub(super) fn new(shared: Arc<SharedOf<P>>, keys: S) -> Self {
        Self {
            keys,
            engine: Engine::new(shared),
        }
    }

    /// How many keys are resumed at a time. Default 8; 0 is taken for 1. Raised, a large backlog is gone
    /// sooner, and the store has more to do beside its batches.
    pub fn concurrency(mut self, keys: usize) -> Self {
        self.engine.concurrency = keys.max(1);
        self
    }

    /// How often a key is tried, and the pauses before it is tried again; the other keys do not wait for
    /// them, unless 10,000 have failed already: then no more are taken up until some of those are done, so that a
    /// store that is down is not asked for every key there is. By default as the write is. `total` has no
    /// meaning here, and no attempts count as one. A permanent error is not tried again, and a store that
    /// throttles is given the pause that it asks for.
    pub fn retry(mut self, retry: Retry) -> Self {
        self.engine.retry = retry;
        self
    }

    /// Called after each try of a key, from the task that awaits the sweep.
    pub fn on_progress(
        mut self,
        call: impl FnMut(SweepProgress<'_, KeyOf<P>, ErrorOf<P>>) + Send + 'static,
    ) -> Self {
        self.engine.on_progress = Box::new(call);
        self
    }
}

impl<P: SharedProjection, S: Stream<Item = KeyOf<P>>> IntoFuture for Sweep<P, S> {
    type Output = SweepReport<KeyOf<P>, ErrorOf<P>>;
    type IntoFuture = Sweeping<P, S>;

    fn into_future(self) -> Sweeping<P, S> {
        Sweeping {
            keys: self.keys,
            observed: self.engine.shared.observer.sweep(),
            engine: self.engine,
        }
    }
}

pin_project! {
    /// A sweep under way.
    #[must_use = "a sweep does nothing until it is awaited"]
    pub struct Sweeping<P: SharedProjection, S> {
        #[pin]
        keys: S,
        engine: Engine<P>,
        observed: observe::Sweep,
    }
}

impl<P: SharedProjection, S: Stream<Item = KeyOf<P>>> Future for Sweeping<P, S> {
    type Output = SweepReport<KeyOf<P>, ErrorOf<P>>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let (engine, keys, observed) = (this.engine, this.keys, this.observed);
        ready!(observed.within(|| engine.poll_over(keys, cx)));
        let report = mem::take(&mut engine.report);
        observed.ended(&report);
        Poll::Ready(report)
    }
}

pin_project! {
    /// The keys of an iterator.
    pub struct Iter<I> {
        keys: I,
    }
}

impl<I> Iter<I> {
    pub(super) fn new(keys: I) -> Self {
        Self { keys }
    }
}

impl<I: Iterator> Stream for Iter<I> {
    type Item = I::Item;

    fn poll_next(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<I::Item>> {
        Poll::Ready(self.project().keys.next())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.keys.size_hint()
    }
}

impl<P: SharedProjection, S> fmt::Debug for Sweep<P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sweep")
            .field("concurrency", &self.engine.concurrency)
            .field("retry", &self.engine.retry)
            .finish_non_exhaustive()
    }
}

impl<P: SharedProjection, S> fmt::Debug for Sweeping<P, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sweeping")
            .field("under_way", &self.engine.under_way.len())
            .field("paused", &self.engine.paused.len())
            .finish_non_exhaustive()
    }
}
