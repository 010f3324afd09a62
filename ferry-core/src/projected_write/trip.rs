//! What a projected write holds beside its fold write's stage, and how it goes from event to command.

use alloc::{boxed::Box, sync::Arc};

use super::{
    Command, Committing, Done, Projecting, Reading, Sleeping,
    answers::{Answers, Shown},
    debt::{Debt, Next},
    kept::Kept,
    stages::{Part, Pause},
};
use crate::{
    Fault, Instant, ProjectResult, Projection, RecordOf, Retry,
    fold_write::{self, ErrorOf, SchemaOf},
};

pub(super) struct Trip<P: Projection> {
    pub(super) debt: Debt<P>,
    pub(super) answers: Answers<P>,
    /// The record as it was committed last, while nothing newer is known of it. It is pending.
    committed: Option<Kept<P>>,
}

impl<P: Projection> Trip<P> {
    pub(super) fn new(projection: Arc<P>, retry: Retry, seed: u64) -> Self {
        Self {
            debt: Debt::new(projection, retry, seed),
            answers: Answers::new(),
            committed: None,
        }
    }

    // ---- while the fold write goes on ---------------------------------------------------------------

    pub(super) fn start(
        mut self: Box<Self>,
        now: Instant,
        mut command: fold_write::Command<P>,
    ) -> Command<P> {
        self.debt.begin(now);
        self.answers.take(&mut command, Shown::NotKnown);
        self.write_on(now, command)
    }

    /// The record was read for the fold. What rests on it alone is known to be shown if nothing is pending.
    pub(super) fn read_to_fold(
        mut self: Box<Self>,
        now: Instant,
        stage: fold_write::Reading<P>,
        read: Result<Option<RecordOf<SchemaOf<P>>>, Fault<ErrorOf<P>>>,
    ) -> Command<P> {
        let shown = match &read {
            Ok(Some(record)) => self.shown(record),
            Ok(None) => Shown::Yes,
            Err(_) => Shown::NotKnown,
        };
        if read.is_ok() {
            self.committed = None;
        }
        if shown == Shown::Yes {
            self.answers.all_shown();
        }
        let mut command = stage.resume(now, read);
        self.answers.take(&mut command, shown);
        self.write_on(now, command)
    }

    /// The commit was answered, with this record if it landed.
    pub(super) fn commit_done(
        mut self: Box<Self>,
        now: Instant,
        mut command: fold_write::Command<P>,
        committed: Option<RecordOf<SchemaOf<P>>>,
    ) -> Command<P> {
        let committed = committed.map(Kept::new);
        let is_pending = (committed.as_ref()).map(|kept| self.debt.is_pending(kept.record()));
        let shown = match is_pending {
            Some(Ok(false)) => Shown::Yes,
            Some(Ok(true) | Err(_)) | None => Shown::NotKnown,
        };
        if shown == Shown::Yes {
            self.answers.all_shown();
        }
        self.committed = committed.filter(|_| matches!(is_pending, Some(Ok(true))));
        self.answers.take(&mut command, shown);
        self.write_on(now, command)
    }

    pub(super) fn woken_to_fold(
        mut self: Box<Self>,
        now: Instant,
        stage: fold_write::Sleeping<P>,
    ) -> Command<P> {
        self.answers.expire(now);
        let mut command = stage.wake(now);
        self.answers.take(&mut command, Shown::NotKnown);
        self.write_on(now, command)
    }

    /// A panic, or anything else that brings failures alone.
    pub(super) fn failed_to_fold(
        mut self: Box<Self>,
        now: Instant,
        mut command: fold_write::Command<P>,
    ) -> Command<P> {
        self.answers.take(&mut command, Shown::NotKnown);
        self.write_on(now, command)
    }

    fn write_on(self: Box<Self>, now: Instant, command: fold_write::Command<P>) -> Command<P> {
        match command {
            fold_write::Command::Read(stage) => Command::Read(Reading {
                trip: self,
                part: Part::Write(stage),
            }),
            fold_write::Command::Commit(stage) => Command::Commit(Committing { trip: self, stage }),
            fold_write::Command::Sleep(stage) => {
                let until = now + stage.duration();
                self.sleep(now, until, Part::Write(stage))
            }
            fold_write::Command::Done(done) => self.written(now, done),
        }
    }

    // ---- then the projection ------------------------------------------------------------------------

    /// The fold write is over. If anyone waits for the view, its debt is paid: from the record as it was
    /// committed, or as it is read.
    fn written(mut self: Box<Self>, now: Instant, done: fold_write::Done<P>) -> Command<P> {
        if self.answers.is_complete() {
            return self.over(done);
        }
        self.debt.begin(now);
        let next = match self.committed.take() {
            Some(record) => self.debt.project(record),
            None => self.debt.read(),
        };
        self.pay(now, done, next)
    }

    pub(super) fn read_to_project(
        mut self: Box<Self>,
        now: Instant,
        done: fold_write::Done<P>,
        read: Result<Option<RecordOf<SchemaOf<P>>>, Fault<ErrorOf<P>>>,
    ) -> Command<P> {
        let next = self.debt.read_done(now, read);
        self.pay(now, done, next)
    }

    pub(super) fn projected(
        mut self: Box<Self>,
        now: Instant,
        done: fold_write::Done<P>,
        result: ProjectResult<P::View, ErrorOf<P>>,
    ) -> Command<P> {
        let projection = Arc::clone(self.debt.projection());
        let answers = &mut self.answers;
        let next = self.debt.projected(now, result, |view| {
            answers.shown_in_part(&projection, view);
        });
        self.pay(now, done, next)
    }

    pub(super) fn woken_to_project(
        mut self: Box<Self>,
        now: Instant,
        done: fold_write::Done<P>,
        until: Instant,
    ) -> Command<P> {
        self.answers.expire(now);
        if self.answers.is_complete() {
            return self.over(done);
        }
        let next = if now < until {
            Next::SleepUntil(until)
        } else {
            self.debt.woken()
        };
        self.pay(now, done, next)
    }

    pub(super) fn pay(
        mut self: Box<Self>,
        now: Instant,
        done: fold_write::Done<P>,
        next: Next<P>,
    ) -> Command<P> {
        match next {
            Next::Read => Command::Read(Reading {
                trip: self,
                part: Part::Project(done),
            }),
            Next::Project(record) => Command::Project(Projecting {
                trip: self,
                done,
                record,
            }),
            // What is left of the debt concerns nobody here: whoever comes next pays it.
            Next::SleepUntil(_) if self.answers.is_complete() => self.over(done),
            Next::SleepUntil(until) => self.sleep(now, until, Part::Project(done)),
            Next::Over(Ok(_)) => {
                self.answers.all_shown();
                self.over(done)
            }
            Next::Over(Err(unpaid)) => {
                self.answers.all_late(unpaid.cause);
                self.over(done)
            }
        }
    }

    fn over(self: Box<Self>, mut done: fold_write::Done<P>) -> Command<P> {
        let tally = done.tally_mut();
        tally.add(&self.debt.tally);
        tally.late += self.answers.late;
        Command::Done(Done { trip: self, done })
    }

    // ---- both -----------------------------------------------------------------------------------------

    /// A pause ends early for a deadline of those that wait for the view.
    fn sleep(self: Box<Self>, now: Instant, until: Instant, part: Pause<P>) -> Command<P> {
        let deadline = self.answers.deadline();
        let duration = deadline.map_or(until, |deadline| until.min(deadline)) - now;
        Command::Sleep(Sleeping {
            trip: self,
            until,
            duration,
            part,
        })
    }

    /// A `pending` that panics is asked again when its debt is to be paid, and told then.
    fn shown(&self, record: &RecordOf<SchemaOf<P>>) -> Shown {
        match self.debt.is_pending(record) {
            Ok(false) => Shown::Yes,
            Ok(true) | Err(_) => Shown::NotKnown,
        }
    }

    /// Between batches a trip keeps buffers, and nothing in them.
    pub(super) fn forget(&mut self) {
        self.committed = None;
        self.answers.forget();
        self.debt.forget();
    }
}

/// It may be dropped anywhere, by a panic or with its task; one `Drop` of the user's that panics must not
/// meet another.
impl<P: Projection> Drop for Trip<P> {
    fn drop(&mut self) {
        self.forget();
    }
}
