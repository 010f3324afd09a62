//! The stages of a projected write: those of its fold write, then those of the projection.

use alloc::{boxed::Box, sync::Arc};
use core::{fmt, time::Duration};

use super::{Call, Command, kept::Kept, trip::Trip};
use crate::{
    Commit, CommitError, Fault, Instant, ProjectResult, Projection, RecordOf,
    fold_write::{self, BatchOf, EntryOf, ErrorOf, IdOf, KeyOf, SchemaOf, Tally, VersionOf},
};

/// Which of the two writes a stage belongs to.
pub(super) enum Part<Write, Project> {
    Write(Write),
    Project(Project),
}

pub(super) type Pause<P> = Part<fold_write::Sleeping<P>, fold_write::Done<P>>;

/// The key's record is wanted: to fold on it, or to see what its view lacks.
#[must_use = "a read that is not answered leaves its inputs unanswered"]
pub struct Reading<P: Projection> {
    pub(super) trip: Box<Trip<P>>,
    pub(super) part: Part<fold_write::Reading<P>, fold_write::Done<P>>,
}

impl<P: Projection> Reading<P> {
    /// Whose record.
    pub fn key(&self) -> &KeyOf<P> {
        match &self.part {
            Part::Write(stage) => stage.key(),
            Part::Project(done) => done.key(),
        }
    }

    /// The ids of the inputs that are about to be folded, in order; none where the record is read for its
    /// projection.
    pub fn ids(&self) -> &[IdOf<P>] {
        match &self.part {
            Part::Write(stage) => stage.ids(),
            Part::Project(_) => &[],
        }
    }

    /// The store answered; `None`: there is no record. The fold runs in here.
    pub fn resume(
        self,
        now: Instant,
        read: Result<Option<RecordOf<SchemaOf<P>>>, Fault<ErrorOf<P>>>,
    ) -> Command<P> {
        let Self { trip, part } = self;
        match part {
            Part::Write(stage) => trip.read_to_fold(now, stage, read),
            Part::Project(done) => trip.read_to_project(now, done, read),
        }
    }

    /// The store's call panicked, with this message. As a permanent error of the read.
    pub fn panicked(self, now: Instant, message: Arc<str>) -> Command<P> {
        let Self { mut trip, part } = self;
        match part {
            Part::Write(stage) => trip.failed_to_fold(now, stage.panicked(now, message)),
            Part::Project(done) => {
                let next = trip.debt.read_panicked(message);
                trip.pay(now, done, next)
            }
        }
    }
}

/// The write is wanted, all of it or nothing.
#[must_use = "a commit that is not answered leaves its inputs unanswered"]
pub struct Committing<P: Projection> {
    pub(super) trip: Box<Trip<P>>,
    pub(super) stage: fold_write::Committing<P>,
}

impl<P: Projection> Committing<P> {
    /// Whose record.
    pub fn key(&self) -> &KeyOf<P> {
        self.stage.key()
    }

    /// What to write, and on which condition. The marker that is stored stays as it is.
    pub fn commit(&self) -> Commit<'_, SchemaOf<P>> {
        self.stage.commit()
    }

    /// What the applied inputs add, in order.
    pub fn entries(&self) -> &[EntryOf<P>] {
        self.stage.entries()
    }

    /// The store answered, with the new version if the write landed.
    pub fn resume(
        self,
        now: Instant,
        committed: Result<VersionOf<P>, CommitError<ErrorOf<P>>>,
    ) -> Command<P> {
        let Self { trip, stage } = self;
        let (command, record) = stage.resume_with_record(now, committed);
        trip.commit_done(now, command, record)
    }

    /// The store's call panicked, with this message: it may or may not have written.
    pub fn panicked(self, now: Instant, message: Arc<str>) -> Command<P> {
        let Self { trip, stage } = self;
        trip.failed_to_fold(now, stage.panicked(now, message))
    }
}

/// The projection is wanted.
#[must_use = "a projection that is not answered leaves its inputs unanswered"]
pub struct Projecting<P: Projection> {
    pub(super) trip: Box<Trip<P>>,
    pub(super) done: fold_write::Done<P>,
    pub(super) record: Kept<P>,
}

impl<P: Projection> Projecting<P> {
    /// Whose view.
    pub fn key(&self) -> &KeyOf<P> {
        self.done.key()
    }

    /// The record that the view is to show, and on whose version and marker the write is fenced: as just
    /// committed, or as read.
    pub fn record(&self) -> &RecordOf<SchemaOf<P>> {
        self.record.record()
    }

    /// The store answered.
    pub fn resume(self, now: Instant, result: ProjectResult<P::View, ErrorOf<P>>) -> Command<P> {
        let Self { trip, done, record } = self;
        drop(record);
        trip.projected(now, done, result)
    }

    /// The store's call panicked, with this message: it may or may not have written, which one more read
    /// tells. It is not tried again.
    pub fn panicked(self, now: Instant, message: Arc<str>) -> Command<P> {
        let Self {
            mut trip,
            done,
            record,
        } = self;
        drop(record);
        let next = trip.debt.project_panicked(message);
        trip.pay(now, done, next)
    }
}

/// A pause is wanted, before the next try or the next deadline.
#[must_use = "a pause that is not ended leaves its inputs unanswered"]
pub struct Sleeping<P: Projection> {
    pub(super) trip: Box<Trip<P>>,
    pub(super) until: Instant,
    pub(super) duration: Duration,
    pub(super) part: Pause<P>,
}

impl<P: Projection> Sleeping<P> {
    /// How long, from the event that led here.
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// The pause is over. Too early is harmless: what is left of it is asked for again.
    pub fn wake(self, now: Instant) -> Command<P> {
        let Self {
            trip, until, part, ..
        } = self;
        match part {
            Part::Write(stage) => trip.woken_to_fold(now, stage),
            Part::Project(done) => trip.woken_to_project(now, done, until),
        }
    }
}

/// The round trip is over.
#[must_use = "the batch in here goes back to `PerKey::finished`"]
pub struct Done<P: Projection> {
    pub(super) trip: Box<Trip<P>>,
    pub(super) done: fold_write::Done<P>,
}

impl<P: Projection> Done<P> {
    /// What the round trip took, projections included.
    pub fn tally(&self) -> &Tally {
        self.done.tally()
    }

    /// The batch, emptied, to be given back; and the call, to be started with another.
    ///
    /// Take the last [`answers`](Command::answers) first; any that are left are lost.
    pub fn finish(self) -> (BatchOf<P>, Call<P>) {
        let Self { mut trip, done } = self;
        trip.forget();
        let (batch, call) = done.finish();
        (batch, Call { trip, call })
    }
}

impl<P: Projection> fmt::Debug for Reading<P>
where
    KeyOf<P>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading")
            .field("key", self.key())
            .field("inputs", &self.ids().len())
            .finish_non_exhaustive()
    }
}

impl<P: Projection> fmt::Debug for Committing<P>
where
    KeyOf<P>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Committing")
            .field("key", self.key())
            .field("entries", &self.entries().len())
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

impl<P: Projection> fmt::Debug for Done<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Done")
            .field("tally", self.tally())
            .finish_non_exhaustive()
    }
}
