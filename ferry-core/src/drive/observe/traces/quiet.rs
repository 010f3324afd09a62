//! Spans whose subscriber may panic, which is nobody's affair but its own.

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

/// A span; nothing where nobody is interested.
#[derive(Default)]
pub(super) struct Quiet(Option<Span>);

impl Quiet {
    /// All are DEBUG; where nobody wants to hear of that, this costs a look at a number.
    pub(super) fn new(open: impl FnOnce() -> Span) -> Self {
        if Level::DEBUG > LevelFilter::current() {
            return Self(None);
        }
        let span = guard(open).unwrap_or_else(|_| Span::none());
        Self((!span.is_disabled()).then_some(span))
    }

    /// As the parent of another span, or of an event.
    pub(super) fn id(&self) -> Option<Id> {
        self.0.as_ref().and_then(Span::id)
    }

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

impl Clone for Quiet {
    fn clone(&self) -> Self {
        match &self.0 {
            Some(span) => Self(guard(|| span.clone()).ok()),
            None => Self(None),
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        if let Some(inside) = self.0.take() {
            discard(inside);
        }
    }
}

pub(super) struct Entered<'a>(Option<span::Entered<'a>>);

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        if let Some(inside) = self.0.take() {
            discard(inside);
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
