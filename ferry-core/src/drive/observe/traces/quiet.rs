//! Spans whose subscriber may panic, which is nobody's affair but its own.

use alloc::sync::Arc;
use core::{
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};

use pin_project_lite::pin_project;
use tracing::{
    Level, Span,
    level_filters::LevelFilter,
    span::{self, Id},
};

use crate::guard::{discard, guard};

use super::{Caller, LINKS_MAX};

/// A span, shared by who tells of it; nothing where nobody is interested.
#[derive(Clone, Default)]
pub(super) struct Quiet(Option<Arc<Span>>);

impl Quiet {
    /// All are DEBUG; where nobody wants to hear of that, this costs a look at a number.
    #[inline]
    pub(super) fn new(open: impl FnOnce() -> Span) -> Self {
        if Level::DEBUG > LevelFilter::current() {
            return Self(None);
        }
        let span = guard(open).unwrap_or_else(|_| Span::none());
        Self((!span.is_disabled()).then(|| Arc::new(span)))
    }

    /// As the parent of another span, or of an event.
    pub(super) fn id(&self) -> Option<Id> {
        self.0.as_ref().and_then(|span| span.id())
    }

    #[inline]
    pub(super) fn tell(&self, words: impl FnOnce(&Span)) {
        if let Some(span) = &self.0 {
            drop(guard(|| words(span)));
        }
    }

    /// Of these, the first that are different from the one before.
    pub(super) fn follows(&self, callers: impl Iterator<Item = Caller>) {
        let Some(span) = &self.0 else {
            return;
        };
        let mut before = None;
        let different = callers.filter_map(|Caller(id)| {
            let is_repeated = core::mem::replace(&mut before, id) == id;
            id.filter(|_| !is_repeated)
        });
        for id in different.take(LINKS_MAX) {
            drop(guard(|| span.follows_from(Id::from_non_zero_u64(id))));
        }
    }

    #[inline]
    pub(super) fn enter(&self) -> Entered<'_> {
        match &self.0 {
            Some(span) => Entered(guard(|| span.enter()).ok()),
            None => Entered(None),
        }
    }

    pub(super) fn within<F: Future>(&self, future: F) -> Within<'_, F> {
        Within { span: self, future }
    }
}

impl Drop for Quiet {
    #[inline]
    fn drop(&mut self) {
        if let Some(span) = self.0.take() {
            discard(span);
        }
    }
}

pub(super) struct Entered<'a>(Option<span::Entered<'a>>);

impl Drop for Entered<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(entered) = self.0.take() {
            discard(entered);
        }
    }
}

pin_project! {
    /// A future that is polled within a span.
    pub(super) struct Within<'a, F> {
        span: &'a Quiet,
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Within<'_, F> {
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let entered = this.span.enter();
        let output = this.future.poll(cx);
        drop(entered);
        output
    }
}

/// What blocks a thread is called within the span that it comes from.
pub(in crate::drive) fn carried_along<T>(call: impl FnOnce() -> T) -> impl FnOnce() -> T {
    let span = Quiet::new(Span::current);
    move || {
        let entered = span.enter();
        let output = call();
        drop(entered);
        output
    }
}
