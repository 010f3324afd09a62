//! Spans and events, by the `tracing` crate. The tables in `docs/observability.md` say what they are called, and a test compares them.
//!
//! | to see | read |
//! | --- | --- |
//! | what begins a span, and the links to callers | this file |
//! | tries, projections and pauses; how batches and resumes end | `passes.rs` |
//! | what the store's calls said | `watched.rs`, in the words of `words.rs` |
//! | sweeps and turns | `sweeps.rs` |
//! | spans whose subscriber may panic | `quiet.rs` |

mod passes;
mod quiet;
mod sweeps;
mod watched;
mod words;

use alloc::sync::Arc;
use core::num::NonZeroU64;

use tracing::{
    Level, debug_span, dispatcher, error, field::Empty, level_filters::LevelFilter, span::Id,
};

use crate::guard::guard;

use quiet::Quiet;

pub(super) use passes::Passes;
pub(in crate::drive) use quiet::carried_along;
pub(in crate::drive) use sweeps::{Sweep, Turn};

/// The target of all spans and events.
const TARGET: &str = "ferry";

/// As many spans does a batch follow from at most, or a resume. More than that is of no use to anybody who looks at them, and batches
/// have thousands of inputs.
const LINKS_MAX: usize = 128;

/// What tells of one handle: its name.
pub(super) struct Traces(Arc<str>);

/// The span that an input was submitted in, or a resume asked for in, if there is one and anybody is interested. Its number alone:
/// it is not kept open, and letting go of this is nobody's code.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::drive) struct Caller(Option<NonZeroU64>);

impl Caller {
    pub(in crate::drive) fn here() -> Self {
        if Level::DEBUG > LevelFilter::current() {
            return Self(None);
        }
        let current = || {
            dispatcher::get_default(|subscriber| {
                subscriber.current_span().id().map(Id::into_non_zero_u64)
            })
        };
        Self(guard(current).unwrap_or_default())
    }
}

impl Traces {
    pub(super) fn named(name: &str) -> Self {
        Self(Arc::from(name))
    }

    pub(super) fn batch(&self, inputs: usize, callers: impl Iterator<Item = Caller>) -> Passes {
        let span = Quiet::new(|| {
            debug_span!(
                target: TARGET,
                parent: None,
                "ferry.batch",
                handle = &*self.0,
                inputs,
                tries = Empty,
                end = Empty,
            )
        });
        span.follows(callers);
        Passes::of(span)
    }

    pub(super) fn resume(&self) -> Passes {
        Passes::of(Quiet::new(|| {
            debug_span!(
                target: TARGET,
                parent: None,
                "ferry.resume",
                handle = &*self.0,
                end = Empty,
            )
        }))
    }

    pub(super) fn resume_panicked(&self) {
        drop(guard(
            || error!(target: TARGET, parent: None, handle = &*self.0, "a resume panicked"),
        ));
    }

    pub(super) fn sweep(&self) -> Sweep {
        // Within the span of whoever awaits it.
        Sweep(Quiet::new(|| {
            debug_span!(
                target: TARGET,
                "ferry.sweep",
                handle = &*self.0,
                taken = Empty,
                projected = Empty,
                still_pending = Empty,
                was_cut_short = Empty,
            )
        }))
    }

    pub(super) fn turn(&self) -> Turn {
        let handle = Arc::clone(&self.0);
        let span = Quiet::new(|| {
            debug_span!(
                target: TARGET,
                parent: None,
                "ferry.turn",
                handle = &*handle,
                keys = Empty,
                end = Empty,
            )
        });
        Turn { handle, span }
    }
}
