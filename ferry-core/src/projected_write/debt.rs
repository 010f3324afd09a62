//! A debt: what a record's view lacks, and the tries to pay it, from the store alone.

use alloc::sync::Arc;

use crate::{
    Cause, Class, CommitError, Coverage, Fault, Instant, ProjectResult, Projection, RecordOf,
    Retry,
    fold_write::{ErrorOf, SchemaOf, Tally, VersionOf},
    guard::{discard, guard},
    retry::Jitter,
};

use super::{kept::Kept, resume::Resumed, unpaid::Unpaid};

pub(super) struct Debt<P: Projection> {
    projection: Arc<P>,
    retry: Retry,
    jitter: Jitter,
    /// When the first try began.
    started: Instant,
    tries_failed: u32,
    /// Whether there was one.
    was_seen: bool,
    /// The version of the record that was to be projected last.
    tried: Option<VersionOf<P>>,
    /// How the last try failed, while one more read tells whether it is paid all the same.
    last: Option<Unpaid<ErrorOf<P>>>,
    pub(super) tally: Tally,
}

/// What paying a debt takes next.
pub(super) enum Next<P: Projection> {
    Read,
    Project(Kept<P>),
    SleepUntil(Instant),
    Over(Result<Resumed, Unpaid<ErrorOf<P>>>),
}

impl<P: Projection> Debt<P> {
    pub(super) fn new(projection: Arc<P>, retry: Retry, seed: u64) -> Self {
        Self {
            projection,
            retry,
            jitter: Jitter::new(seed),
            started: Instant::EPOCH,
            tries_failed: 0,
            was_seen: false,
            tried: None,
            last: None,
            tally: Tally::default(),
        }
    }

    /// Nothing is known yet of the key at hand.
    pub(super) fn begin(&mut self, now: Instant) {
        self.started = now;
        self.tries_failed = 0;
        self.was_seen = false;
        self.forget();
        self.tally = Tally::default();
    }

    pub(super) fn read(&mut self) -> Next<P> {
        self.tally.reads += 1;
        Next::Read
    }

    /// A record that is pending is to be projected, without being read again.
    pub(super) fn project(&mut self, record: Kept<P>) -> Next<P> {
        self.was_seen = true;
        let version = guard(|| record.record().version.clone()).ok();
        discard(core::mem::replace(&mut self.tried, version));
        self.tally.projections += 1;
        Next::Project(record)
    }

    pub(super) fn read_done(
        &mut self,
        now: Instant,
        read: Result<Option<RecordOf<SchemaOf<P>>>, Fault<ErrorOf<P>>>,
    ) -> Next<P> {
        let record = match read {
            Ok(record) => record,
            Err(Fault { error, class }) => {
                self.tally.faults += 1;
                let unpaid = Unpaid::new(Cause::Store(Arc::new(error)), class);
                return match self.last.take() {
                    Some(last) => {
                        unpaid.discard();
                        Next::Over(Err(last))
                    }
                    None => self.again(now, Setback::Certain(unpaid)),
                };
            }
        };
        let Some(record) = record else {
            return self.paid();
        };
        let kept = Kept::new(record);
        match self.is_pending(kept.record()) {
            Ok(true) => match self.last.take() {
                Some(mut last) => {
                    let is_refused = matches!(last.cause, Cause::Refused);
                    last.is_overtaken = is_refused && self.has_moved_on(&kept);
                    Next::Over(Err(last))
                }
                None => self.project(kept),
            },
            Ok(false) => self.paid(),
            Err(message) => Next::Over(Err(Unpaid::panicked(message))),
        }
    }

    fn has_moved_on(&self, record: &Kept<P>) -> bool {
        let is_other = |tried: &VersionOf<P>| *tried != record.record().version;
        (self.tried.as_ref()).is_some_and(|tried| guard(|| is_other(tried)).unwrap_or(false))
    }

    fn paid(&self) -> Next<P> {
        Next::Over(Ok(if self.was_seen {
            Resumed::Projected
        } else {
            Resumed::NothingPending
        }))
    }

    pub(super) fn read_panicked(&mut self, message: Arc<str>) -> Next<P> {
        self.tally.faults += 1;
        let last = self.last.take();
        Next::Over(Err(last.unwrap_or_else(|| Unpaid::panicked(message))))
    }

    /// The store answered; `covered` is told of a part that landed.
    pub(super) fn projected(
        &mut self,
        now: Instant,
        result: ProjectResult<P::View, ErrorOf<P>>,
        covered: impl FnOnce(&P::View),
    ) -> Next<P> {
        let setback = match result {
            Ok(Coverage::Whole) => return Next::Over(Ok(Resumed::Projected)),
            Ok(Coverage::Part { view, fault }) => {
                covered(&view);
                discard(view);
                let cause = Cause::Store(Arc::new(fault.error));
                Setback::Certain(Unpaid::new(cause, fault.class))
            }
            Err(CommitError::Refused) => {
                Setback::Open(Unpaid::new(Cause::Refused, Class::Transient))
            }
            Err(CommitError::NotLanded(fault)) => {
                let cause = Cause::Store(Arc::new(fault.error));
                Setback::Certain(Unpaid::new(cause, fault.class))
            }
            Err(CommitError::InDoubt(error)) => {
                let cause = Cause::Store(Arc::new(error));
                Setback::Open(Unpaid::new(cause, Class::Transient))
            }
        };
        self.tally.projections_failed += 1;
        self.again(now, setback)
    }

    /// It may have written: that is looked for, and not tried again.
    pub(super) fn project_panicked(&mut self, message: Arc<str>) -> Next<P> {
        self.tally.projections_failed += 1;
        self.end(Setback::Open(Unpaid::panicked(message)))
    }

    #[cfg(feature = "drive")]
    pub(super) fn is_last_look(&self) -> bool {
        self.last.is_some()
    }

    /// The pause is over.
    pub(super) fn woken(&mut self) -> Next<P> {
        self.tally.retries += 1;
        self.read()
    }

    /// Whether the view lacks something of this record; a panic comes back as its message.
    pub(super) fn is_pending(&self, record: &RecordOf<SchemaOf<P>>) -> Result<bool, Arc<str>> {
        guard(|| self.projection.pending(record))
    }

    /// Whether a view that landed in part includes this input.
    pub(super) fn includes(projection: &P, view: &P::View, input: &P::Input) -> bool {
        guard(|| projection.includes(view, input)).unwrap_or(false)
    }

    pub(super) fn projection(&self) -> &Arc<P> {
        &self.projection
    }

    fn again(&mut self, now: Instant, setback: Setback<ErrorOf<P>>) -> Next<P> {
        let (Setback::Open(unpaid) | Setback::Certain(unpaid)) = &setback;
        let class = unpaid.class;
        self.tries_failed += 1;
        let until = now + self.jitter.pause(&self.retry, self.tries_failed, class);
        let is_last = class == Class::Permanent
            || self.tries_failed >= self.retry.attempts
            || until > self.started + self.retry.total;
        if is_last {
            return self.end(setback);
        }
        let (Setback::Open(unpaid) | Setback::Certain(unpaid)) = setback;
        unpaid.discard();
        Next::SleepUntil(until)
    }

    /// There is no further try. Where the last has left it open whether the view shows the record, one more
    /// read tells.
    fn end(&mut self, setback: Setback<ErrorOf<P>>) -> Next<P> {
        match setback {
            Setback::Certain(unpaid) => Next::Over(Err(unpaid)),
            Setback::Open(unpaid) => {
                self.last = Some(unpaid);
                self.read()
            }
        }
    }

    /// Between batches it keeps nothing of the last.
    pub(super) fn forget(&mut self) {
        discard(self.tried.take());
        if let Some(last) = self.last.take() {
            last.discard();
        }
    }
}

/// What a try failed on, and whether the record may be projected all the same: by it, unheard, or by whoever
/// was quicker.
enum Setback<E> {
    Certain(Unpaid<E>),
    Open(Unpaid<E>),
}

/// It may be dropped anywhere; a cause of the user's whose `Drop` panics must not meet another.
impl<P: Projection> Drop for Debt<P> {
    fn drop(&mut self) {
        self.forget();
    }
}
