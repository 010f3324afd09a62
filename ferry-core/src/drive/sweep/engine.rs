//! Which key is resumed next, and when again.

use alloc::{boxed::Box, collections::BTreeMap, sync::Arc, vec::Vec};
use core::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;

use super::{
    SweepProgress, SweepReport,
    report::{EXAMPLES_MAX, Fate},
};
use crate::{
    Class, Instant, Retry,
    drive::{
        carries::{SharedProjection, Task},
        pause::Pause,
        resuming::{Closed, ErrorOf, KeyOf, Resuming, SharedOf},
        run::{Heard, Tries},
    },
    projected_write::resume::Resumed,
    retry::Jitter,
};

/// How many keys are resumed at a time, unless told otherwise.
pub(in crate::drive) const CONCURRENCY: usize = 8;

/// How many keys that failed wait for another try at most; until one of them is done, no more are taken up.
const PAUSED_MAX: usize = 10_000;

/// Called after each try of a key.
pub(super) type OnProgress<K, E> = Box<dyn FnMut(SweepProgress<'_, K, E>) + Send>;

/// A sweep under way, but for where its keys come from.
pub(super) struct Engine<P: SharedProjection> {
    pub(super) shared: Arc<SharedOf<P>>,
    pub(super) concurrency: usize,
    pub(super) retry: Retry,
    pub(super) on_progress: OnProgress<KeyOf<P>, ErrorOf<P>>,
    jitter: Jitter,
    pub(super) under_way: Vec<UnderWay<P>>,
    /// Keys to be tried again, by when; the number tells apart what is due at once.
    pub(super) paused: BTreeMap<(Instant, u64), Failing<KeyOf<P>>>,
    pauses: u64,
    alarm: Option<(Instant, Pause)>,
    /// Ready once the handle is closed and its last answer given.
    end: Task,
    is_drawn_out: bool,
    pub(super) report: SweepReport<KeyOf<P>, ErrorOf<P>>,
}

pub(super) type UnderWay<P> = (Failing<KeyOf<P>>, Resuming<ErrorOf<P>>);

/// A key and how often it has failed.
pub(super) struct Failing<K> {
    key: K,
    failed: u32,
}

impl<P: SharedProjection> Engine<P> {
    pub(super) fn new(shared: Arc<SharedOf<P>>) -> Self {
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
    pub(super) fn poll_over<S>(&mut self, mut keys: Pin<&mut S>, cx: &mut Context<'_>) -> Poll<()>
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
