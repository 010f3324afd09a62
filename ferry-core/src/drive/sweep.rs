//! Resuming many keys: so many at a time, with growing pauses for those that keep failing.

use alloc::{boxed::Box, collections::BTreeMap, sync::Arc, vec::Vec};
use core::{
    fmt,
    future::{Future, IntoFuture},
    mem,
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use pin_project_lite::pin_project;

use crate::{Cause, Class, Instant, Retry, projected_write::resume::Resumed, retry::Jitter};

use super::{
    carries::{SharedProjection, Task},
    observe,
    pause::Pause,
    resuming::{Closed, ErrorOf, KeyOf, Resuming, SharedOf},
    run::{Heard, Tries},
};

/// How many keys that stayed pending a report names.
const EXAMPLES_MAX: usize = 16;

/// How many keys are resumed at a time, unless told otherwise.
pub(super) const CONCURRENCY: usize = 8;

/// How many keys that failed wait for another try at most; until one of them is done, no more are taken up.
const PAUSED_MAX: usize = 10_000;

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

/// Called after each try of a key.
pub(super) type OnProgress<K, E> = Box<dyn FnMut(SweepProgress<'_, K, E>) + Send>;

/// One try of a sweep, as it is over.
#[derive(Debug)]
#[non_exhaustive]
pub struct SweepProgress<'a, K, E> {
    /// Which key was tried.
    pub key: &'a K,
    /// What came of it.
    pub result: &'a Result<Resumed, Cause<E>>,
    /// Whether it failed and is tried again, after a pause.
    pub is_tried_again: bool,
    /// What the sweep has come to so far, this try included.
    pub so_far: &'a SweepReport<K, E>,
    pub(super) fate: Fate,
}

/// What a try means for a key's debt.
#[derive(Clone, Copy, Debug)]
pub(super) enum Fate {
    Paid,
    Failed {
        class: Class,
        /// Others are at work on the record.
        is_overtaken: bool,
    },
}

/// What a sweep came to.
#[derive(Debug)]
#[non_exhaustive]
pub struct SweepReport<K, E> {
    /// Keys that were taken up.
    pub taken: u64,
    /// Keys that were pending and are projected now.
    pub projected: u64,
    /// Keys that were not pending (any more) when they were read.
    pub nothing_pending: u64,
    /// Keys that are pending still, all their tries having failed.
    pub still_pending: u64,
    /// The first 16 of these, and what the last try came to grief on.
    pub examples: Vec<(K, Cause<E>)>,
    /// Whether the handle was closed before every key was tried to the end.
    pub was_cut_short: bool,
}

impl<K, E> Default for SweepReport<K, E> {
    fn default() -> Self {
        Self {
            taken: 0,
            projected: 0,
            nothing_pending: 0,
            still_pending: 0,
            examples: Vec::new(),
            was_cut_short: false,
        }
    }
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

struct Engine<P: SharedProjection> {
    shared: Arc<SharedOf<P>>,
    concurrency: usize,
    retry: Retry,
    on_progress: OnProgress<KeyOf<P>, ErrorOf<P>>,
    jitter: Jitter,
    under_way: Vec<UnderWay<P>>,
    /// Keys to be tried again, by when; the number tells apart what is due at once.
    paused: BTreeMap<(Instant, u64), Failing<KeyOf<P>>>,
    pauses: u64,
    alarm: Option<(Instant, Pause)>,
    /// Ready once the handle is closed and its last answer given.
    end: Task,
    is_drawn_out: bool,
    report: SweepReport<KeyOf<P>, ErrorOf<P>>,
}

type UnderWay<P> = (Failing<KeyOf<P>>, Resuming<ErrorOf<P>>);

/// A key and how often it has failed.
struct Failing<K> {
    key: K,
    failed: u32,
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

impl<P: SharedProjection> Engine<P> {
    fn new(shared: Arc<SharedOf<P>>) -> Self {
        Self {
            concurrency: CONCURRENCY,
            retry: shared.aside.retry(),
            on_progress: Box::new(|_| ()),
            jitter: Jitter::new(shared.seed()),
            under_way: Vec::new(),
            paused: BTreeMap::new(),
            pauses: 0,
            alarm: None,
            end: Box::pin(Arc::clone(&shared).drained()),
            is_drawn_out: false,
            report: SweepReport::default(),
            shared,
        }
    }

    fn has_room(&self) -> bool {
        self.under_way.len() < self.concurrency && !self.report.was_cut_short
    }

    fn is_over(&self) -> bool {
        let nothing_left = self.is_drawn_out && self.paused.is_empty();
        self.under_way.is_empty() && (nothing_left || self.report.was_cut_short)
    }

    /// Ready when there is nothing left to do.
    fn poll_over<S>(&mut self, mut keys: Pin<&mut S>, cx: &mut Context<'_>) -> Poll<()>
    where
        S: Stream<Item = KeyOf<P>>,
    {
        loop {
            self.hear(cx);
            let has_begun = self.begin_due() | self.draw(keys.as_mut(), cx);
            if self.is_over() {
                return Poll::Ready(());
            }
            if !has_begun {
                ready!(self.poll_wake(cx));
            }
        }
    }

    /// Takes what has come of the resumes under way.
    fn hear(&mut self, cx: &mut Context<'_>) {
        let mut at = 0;
        while let Some((_, resuming)) = self.under_way.get(at) {
            match resuming.poll_heard(cx) {
                Poll::Pending => at += 1,
                Poll::Ready(heard) => {
                    let (tried, _) = self.under_way.swap_remove(at);
                    self.tried(tried, heard);
                }
            }
        }
    }

    fn tried(&mut self, tried: Failing<KeyOf<P>>, heard: Heard<ErrorOf<P>>) {
        let Failing { key, mut failed } = tried;
        let fate = match &heard {
            Ok(_) => Fate::Paid,
            Err(unpaid) => Fate::Failed {
                class: unpaid.class,
                is_overtaken: unpaid.is_overtaken,
            },
        };
        let result = heard.map_err(|unpaid| unpaid.cause);
        match &result {
            Ok(Resumed::Projected) => self.report.projected += 1,
            Ok(Resumed::NothingPending) => self.report.nothing_pending += 1,
            Err(_) => failed += 1,
        }
        let again = match fate {
            Fate::Failed { class, .. } if failed < self.retry.attempts => {
                (class != Class::Permanent).then_some(class)
            }
            Fate::Failed { .. } | Fate::Paid => None,
        };
        if let (Err(cause), None) = (&result, again) {
            self.report.still_pending += 1;
            if self.report.examples.len() < EXAMPLES_MAX {
                let example = (key.clone(), cause.clone());
                self.report.examples.push(example);
            }
        }
        (self.on_progress)(SweepProgress {
            key: &key,
            result: &result,
            is_tried_again: again.is_some(),
            so_far: &self.report,
            fate,
        });
        if let Some(class) = again {
            let pause = self.jitter.pause(&self.retry, failed, class);
            self.pauses += 1;
            let due = (self.shared.now() + pause, self.pauses);
            self.paused.insert(due, Failing { key, failed });
        }
    }

    /// Tries again what has paused long enough, as far as there is room. True when anything was begun.
    fn begin_due(&mut self) -> bool {
        let now = self.shared.now();
        let mut has_begun = false;
        while self.has_room() {
            match self.paused.first_entry() {
                Some(first) if first.key().0 <= now => {
                    let failing = first.remove();
                    has_begun |= self.begin(failing);
                }
                _ => break,
            }
        }
        has_begun
    }

    /// Takes up new keys, as far as there is room. True when anything was begun.
    fn draw<S>(&mut self, mut keys: Pin<&mut S>, cx: &mut Context<'_>) -> bool
    where
        S: Stream<Item = KeyOf<P>>,
    {
        let mut has_begun = false;
        while self.has_room() && !self.is_drawn_out && self.paused.len() < PAUSED_MAX {
            match keys.as_mut().poll_next(cx) {
                Poll::Ready(Some(key)) => {
                    let is_taken = self.begin(Failing { key, failed: 0 });
                    self.report.taken += u64::from(is_taken);
                    has_begun |= is_taken;
                }
                Poll::Ready(None) => self.is_drawn_out = true,
                Poll::Pending => break,
            }
        }
        has_begun
    }

    fn begin(&mut self, failing: Failing<KeyOf<P>>) -> bool {
        match self.shared.resume(&failing.key, Tries::One) {
            Ok(resuming) => {
                self.under_way.push((failing, resuming));
                true
            }
            Err(Closed) => {
                self.report.was_cut_short = true;
                false
            }
        }
    }

    /// Ready when there is something to do but to hear and to draw.
    fn poll_wake(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if !self.report.was_cut_short && self.end.as_mut().poll(cx).is_ready() {
            self.report.was_cut_short = true;
            return Poll::Ready(());
        }
        self.poll_alarm(cx)
    }

    /// Ready when a paused key is due for which there is room.
    fn poll_alarm(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let first = self.paused.first_key_value().map(|(due, _)| due.0);
        let Some(due) = first.filter(|_| self.has_room()) else {
            self.alarm = None;
            return Poll::Pending;
        };
        let pause = match &mut self.alarm {
            Some((set, pause)) if *set == due => pause,
            alarm => {
                let pause = Pause::begin(&self.shared, due - self.shared.now());
                &mut alarm.insert((due, pause)).1
            }
        };
        ready!(pause.poll_over(cx));
        // Too early or too late, the clock is read again after.
        self.alarm = None;
        Poll::Ready(())
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
