//! The stages of a round trip: each holds what it needs, and offers only the answers it can take.

use alloc::{boxed::Box, sync::Arc};
use core::{fmt, time::Duration};

use super::{
    BatchOf, Call, Command, EntryOf, ErrorOf, IdOf, KeyOf, SchemaOf, Tally, VersionOf,
    proposal::Proposal,
    trip::{Aim, Trip},
};
use crate::{
    Commit, CommitError, Fault, Fold, Instant, Record, RecordOf,
    guard::{discard, discard_record},
};

/// The key's record is wanted.
#[must_use = "a read that is not answered leaves its inputs unanswered"]
pub struct Reading<F: Fold> {
    pub(super) trip: Box<Trip<F>>,
    pub(super) aim: Aim,
}

impl<F: Fold> Reading<F> {
    /// Whose record.
    pub fn key(&self) -> &KeyOf<F> {
        self.trip.key()
    }

    /// The ids of the inputs that are about to be folded, in order.
    pub fn ids(&self) -> &[IdOf<F>] {
        &self.trip.ids
    }

    /// The store answered; `None`: there is no record. The fold runs in here.
    pub fn resume(
        self,
        now: Instant,
        read: Result<Option<RecordOf<SchemaOf<F>>>, Fault<ErrorOf<F>>>,
    ) -> Command<F> {
        match read {
            Ok(record) => self.trip.read_done(now, self.aim, record),
            Err(fault) => self.trip.read_failed(now, self.aim, fault),
        }
    }

    /// The store's call panicked, with this message. As a permanent error of the read.
    pub fn panicked(self, now: Instant, message: Arc<str>) -> Command<F> {
        self.trip.read_panicked(now, self.aim, message)
    }
}

/// The write is wanted, all of it or nothing.
#[must_use = "a commit that is not answered leaves its inputs unanswered"]
pub struct Committing<F: Fold> {
    pub(super) trip: Box<Trip<F>>,
    pub(super) proposal: Proposal<F>,
}

impl<F: Fold> Committing<F> {
    /// Whose record.
    pub fn key(&self) -> &KeyOf<F> {
        self.trip.key()
    }

    /// What to write, and on which condition.
    pub fn commit(&self) -> Commit<'_, SchemaOf<F>> {
        let (expected, state) = self.proposal.parts();
        Commit {
            expected: expected.as_ref(),
            state,
            entries: &self.trip.entries,
        }
    }

    /// What the applied inputs add, in order.
    pub fn entries(&self) -> &[EntryOf<F>] {
        &self.trip.entries
    }

    /// The store answered, with the new version if the write landed.
    pub fn resume(
        self,
        now: Instant,
        committed: Result<VersionOf<F>, CommitError<ErrorOf<F>>>,
    ) -> Command<F> {
        let (command, record) = self.resume_with_record(now, committed);
        discard_record(record);
        command
    }

    /// As [`resume`](Self::resume); gives the record as it was committed, too.
    pub(crate) fn resume_with_record(
        self,
        now: Instant,
        committed: Result<VersionOf<F>, CommitError<ErrorOf<F>>>,
    ) -> (Command<F>, Option<RecordOf<SchemaOf<F>>>) {
        let Self { trip, proposal } = self;
        let (expected, state) = proposal.into_parts();
        let error = match committed {
            Ok(version) => {
                discard(expected);
                return (trip.landed(now), Some(Record { state, version }));
            }
            Err(error) => error,
        };
        discard(state);
        let command = match error {
            CommitError::Refused => trip.refused(now, &expected),
            CommitError::NotLanded(fault) => trip.not_landed(now, fault),
            CommitError::InDoubt(error) => trip.in_doubt(now, &expected, error),
        };
        discard(expected);
        (command, None)
    }

    /// The store's call panicked, with this message: it may or may not have written.
    pub fn panicked(self, now: Instant, message: Arc<str>) -> Command<F> {
        let Self { trip, proposal } = self;
        let (expected, state) = proposal.into_parts();
        discard(state);
        let command = trip.commit_panicked(now, &expected, message);
        discard(expected);
        command
    }
}

/// A pause is wanted, before the next try or the next deadline.
#[must_use = "a pause that is not ended leaves its inputs unanswered"]
pub struct Sleeping<F: Fold> {
    pub(super) trip: Box<Trip<F>>,
    /// When the next try begins.
    pub(super) until: Instant,
    pub(super) duration: Duration,
}

impl<F: Fold> Sleeping<F> {
    /// How long, from the event that led here.
    pub fn duration(&self) -> Duration {
        self.duration
    }

    /// The pause is over. Too early is harmless: what is left of it is asked for again.
    pub fn wake(self, now: Instant) -> Command<F> {
        self.trip.woken(now, self.until)
    }
}

/// The round trip is over.
#[must_use = "the batch in here goes back to `PerKey::finished`"]
pub struct Done<F: Fold> {
    pub(super) trip: Box<Trip<F>>,
}

impl<F: Fold> Done<F> {
    /// What the round trip took.
    pub fn tally(&self) -> &Tally {
        &self.trip.tally
    }

    pub(crate) fn key(&self) -> &KeyOf<F> {
        self.trip.key()
    }

    pub(crate) fn tally_mut(&mut self) -> &mut Tally {
        &mut self.trip.tally
    }

    /// The batch, emptied, to be given back; and the call, to be started with another.
    ///
    /// Take the last [`answers`](Command::answers) first; any that are left are lost.
    pub fn finish(self) -> (BatchOf<F>, Call<F>) {
        let Self { mut trip } = self;
        let batch = trip.finish();
        (batch, Call { trip })
    }
}

impl<F: Fold> fmt::Debug for Reading<F>
where
    KeyOf<F>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading")
            .field("key", self.key())
            .field("inputs", &self.ids().len())
            .finish_non_exhaustive()
    }
}

impl<F: Fold> fmt::Debug for Committing<F>
where
    KeyOf<F>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Committing")
            .field("key", self.key())
            .field("entries", &self.entries().len())
            .finish_non_exhaustive()
    }
}

impl<F: Fold> fmt::Debug for Sleeping<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sleeping")
            .field("duration", &self.duration)
            .finish_non_exhaustive()
    }
}

impl<F: Fold> fmt::Debug for Done<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Done")
            .field("tally", self.tally())
            .finish_non_exhaustive()
    }
}
