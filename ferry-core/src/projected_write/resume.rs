//! The projection alone, from the store: to finish what a process left pending that died between its
//! two writes, or gave up on the second.
//!
//! ```text
//! resume ─▶ Read ─▶ (pending?) ─▶ Project ─▶ Done
//!            ▲ │         │ no        │
//!            │ │         └───────────┼──▶ Done
//!            │ └───┬─────────────────┘ failed, refused, in doubt or in part
//!            └── Sleep
//! ```
//!
//! It may run anywhere and at any time, beside batches and beside other resumes of the same key: the
//! projection is fenced on the version and the marker that were read.

use alloc::sync::Arc;
use core::{fmt, time::Duration};

use super::{
    debt::{Debt, Next},
    kept::Kept,
    unpaid::Unpaid,
};
use crate::{
    Cause, Fault, Instant, ProjectResult, Projection, RecordOf,
    fold_write::{ErrorOf, IdOf, KeyOf, SchemaOf, Tally},
    guard::discard,
};

/// What a resume did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Resumed {
    /// Nothing was pending.
    NothingPending,
    /// Something was, and the view shows it now.
    Projected,
}

/// What a resume wants done next.
#[must_use = "a command that is not carried out leaves the record pending"]
pub enum Command<P: Projection> {
    /// Read the key's record.
    Read(Reading<P>),
    /// Write the view, and move the marker.
    Project(Projecting<P>),
    /// Wait.
    Sleep(Sleeping<P>),
    /// It is over.
    Done(Done<P>),
}

/// The key's record is wanted.
#[must_use = "a read that is not answered leaves the record pending"]
pub struct Reading<P: Projection> {
    run: Run<P>,
}

/// The projection is wanted.
#[must_use = "a projection that is not answered leaves the record pending"]
pub struct Projecting<P: Projection> {
    run: Run<P>,
    record: Kept<P>,
}

/// A pause is wanted, before the next try.
#[must_use = "a pause that is not ended leaves the record pending"]
pub struct Sleeping<P: Projection> {
    run: Run<P>,
    until: Instant,
    duration: Duration,
}

/// A resume is over.
#[must_use = "it says whether the record is still pending"]
pub struct Done<P: Projection> {
    run: Run<P>,
    result: Result<Resumed, Unpaid<ErrorOf<P>>>,
}

/// What each stage carries along.
struct Run<P: Projection> {
    key: KeyOf<P>,
    debt: Debt<P>,
}

impl<P: Projection> Run<P> {
    fn to(self, now: Instant, next: Next<P>) -> Command<P> {
        let run = self;
        match next {
            Next::Read => Command::Read(Reading { run }),
            Next::Project(record) => Command::Project(Projecting { run, record }),
            Next::SleepUntil(until) => Command::Sleep(Sleeping {
                run,
                until,
                duration: until - now,
            }),
            Next::Over(result) => Command::Done(Done { run, result }),
        }
    }
}

pub(super) fn start<P: Projection>(now: Instant, key: KeyOf<P>, mut debt: Debt<P>) -> Command<P> {
    debt.begin(now);
    let next = debt.read();
    Run { key, debt }.to(now, next)
}

impl<P: Projection> Reading<P> {
    /// Whose record.
    pub fn key(&self) -> &KeyOf<P> {
        &self.run.key
    }

    /// The ids of the inputs that are about to be folded: none.
    pub fn ids(&self) -> &[IdOf<P>] {
        &[]
    }

    /// Whether it only looks how the last try ended, and leads to no further one.
    #[cfg(feature = "drive")]
    pub(crate) fn is_last_look(&self) -> bool {
        self.run.debt.is_last_look()
    }

    /// The store answered; `None`: there is no record.
    pub fn resume(
        self,
        now: Instant,
        read: Result<Option<RecordOf<SchemaOf<P>>>, Fault<ErrorOf<P>>>,
    ) -> Command<P> {
        let Self { mut run } = self;
        let next = run.debt.read_done(now, read);
        run.to(now, next)
    }

    /// The store's call panicked, with this message. As a permanent error of the read.
    pub fn panicked(self, now: Instant, message: Arc<str>) -> Command<P> {
        let Self { mut run } = self;
        let next = run.debt.read_panicked(message);
        run.to(now, next)
    }
}

impl<P: Projection> Projecting<P> {
    /// Whose view.
    pub fn key(&self) -> &KeyOf<P> {
        &self.run.key
    }

    /// The record that the view is to show, and on whose version and marker the write is fenced.
    pub fn record(&self) -> &RecordOf<SchemaOf<P>> {
        self.record.record()
    }

    /// The store answered.
    pub fn resume(self, now: Instant, result: ProjectResult<P::View, ErrorOf<P>>) -> Command<P> {
        let Self { mut run, record } = self;
        drop(record);
        let next = run.debt.projected(now, result, |_| ());
        run.to(now, next)
    }

    /// The store's call panicked, with this message: it may or may not have written, which one more read
    /// tells. It is not tried again.
    pub fn panicked(self, now: Instant, message: Arc<str>) -> Command<P> {
        let Self { mut run, record } = self;
        drop(record);
        let next = run.debt.project_panicked(message);
        run.to(now, next)
    }
}

impl<P: Projection> Sleeping<P> {
    /// How long, from the event that led here.
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// The pause is over. Too early is harmless: what is left of it is asked for again.
    pub fn wake(self, now: Instant) -> Command<P> {
        let Self { mut run, until, .. } = self;
        let next = if now < until {
            Next::SleepUntil(until)
        } else {
            run.debt.woken()
        };
        run.to(now, next)
    }
}

impl<P: Projection> Done<P> {
    /// Whose record.
    pub fn key(&self) -> &KeyOf<P> {
        &self.run.key
    }

    /// What it took.
    pub fn tally(&self) -> &Tally {
        &self.run.debt.tally
    }

    /// What it did; or what the last try came to grief on, the record being pending still.
    ///
    /// # Errors
    ///
    /// The cause, where the record may still be pending.
    pub fn finish(self) -> Result<Resumed, Cause<ErrorOf<P>>> {
        self.paid().map_err(|unpaid| unpaid.cause)
    }

    /// As [`finish`](Self::finish), with what else is known.
    pub(crate) fn paid(self) -> Result<Resumed, Unpaid<ErrorOf<P>>> {
        let Self { run, result } = self;
        discard(run.key);
        result
    }
}

impl<P: Projection> fmt::Debug for Command<P>
where
    KeyOf<P>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(stage) => stage.fmt(f),
            Self::Project(stage) => stage.fmt(f),
            Self::Sleep(stage) => stage.fmt(f),
            Self::Done(stage) => stage.fmt(f),
        }
    }
}

impl<P: Projection> fmt::Debug for Reading<P>
where
    KeyOf<P>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading")
            .field("key", self.key())
            .finish_non_exhaustive()
    }
}

impl<P: Projection> fmt::Debug for Projecting<P>
where
    KeyOf<P>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Projecting")
            .field("key", self.key())
            .finish_non_exhaustive()
    }
}

impl<P: Projection> fmt::Debug for Sleeping<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleeping")
            .field("duration", &self.duration)
            .finish_non_exhaustive()
    }
}

impl<P: Projection> fmt::Debug for Done<P>
where
    KeyOf<P>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Done")
            .field("key", self.key())
            .field("tally", self.tally())
            .finish_non_exhaustive()
    }
}
