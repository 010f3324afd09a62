//! Resuming a key: the projection alone. However many ask at once, one run serves them.

use alloc::{boxed::Box, sync::Arc};
use core::{
    error::Error,
    fmt,
    future::Future,
    pin::Pin,
    task::{Context, Poll},
};
use std::collections::HashMap;

use crate::{
    Cause, Retry, Schema,
    fold_write::Tally,
    guard::{discard, guard},
    projected_write::{ProjectedWrite, resume::Command},
};

use super::{
    bound::Waiter,
    carries::SharedProjection,
    catch::catch,
    chance::{self, Hasher},
    edge::ProjectedEdge,
    lock::Mutex,
    observe::Caller,
    projected::ProjectedCarrier,
    run::{Heard, Run, Running, Tries},
    shared::{OnDuty, Shared},
};

pub(super) type KeyOf<P> = <<P as crate::Fold>::Schema as Schema>::Key;
pub(super) type ErrorOf<P> = <<P as crate::Fold>::Schema as Schema>::Error;
pub(super) type SharedOf<P> = Shared<ProjectedWrite<P>>;

/// Why a resume did not come to its end.
///
/// Exhaustive on purpose: there is nothing else to do about it.
#[derive(PartialEq, Eq)]
pub enum ResumeError<E> {
    /// The record is, or may be, pending still; this is what the last try came to grief on. Try again
    /// later, or leave it to a sweeper.
    StillPending(Cause<E>),
    /// The handle is closed. Any other process can resume the key.
    Closed,
}

/// The runs under way.
#[expect(
    unnameable_types,
    reason = "a part of the handle that is nobody else's"
)]
pub struct Resumes<P: SharedProjection> {
    carrier: Arc<dyn Passes<P>>,
    under_way: Mutex<RunsOf<P>>,
}

type RunsOf<P> = HashMap<KeyOf<P>, Arc<Run<ErrorOf<P>>>, Hasher>;

impl<P: SharedProjection> fmt::Debug for Resumes<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Resumes")
    }
}

/// Makes one pass of a run: the edge's type forgotten.
trait Passes<P: SharedProjection>: Send + Sync {
    fn retry(&self) -> Retry;

    fn pass<'a>(
        &'a self,
        shared: &'a Arc<SharedOf<P>>,
        key: &'a KeyOf<P>,
        run: &'a Run<ErrorOf<P>>,
        tries: Tries,
    ) -> Pin<Box<dyn Future<Output = Heard<ErrorOf<P>>> + Send + 'a>>;
}

impl<P: SharedProjection> Resumes<P> {
    pub(super) fn by<E>(carrier: Arc<ProjectedCarrier<P, E>>) -> Self
    where
        E: ProjectedEdge<P::Schema, P::View>,
    {
        Self {
            carrier,
            under_way: Mutex::new(HashMap::with_hasher(chance::hasher())),
        }
    }

    /// Joins the run of this key; `Some`: there was none, and this one has to be started. The key's own code
    /// may panic in here; then there is none, either.
    fn join(
        &self,
        key: &KeyOf<P>,
        tries: Tries,
        waiter: &Arc<Waiter<Heard<ErrorOf<P>>>>,
        caller: Caller,
    ) -> Option<Running<ErrorOf<P>>> {
        let mut under_way = self.under_way.lock();
        if under_way
            .get(key)
            .is_some_and(|run| run.join(tries, waiter, caller))
        {
            return None;
        }
        let running = Running(Arc::new(Run::new(tries, Arc::clone(waiter), caller)));
        under_way.insert(key.clone(), Arc::clone(&running.0));
        Some(running)
    }

    /// How the write is tried again.
    pub(super) fn retry(&self) -> Retry {
        self.carrier.retry()
    }

    fn forget(&self, key: &KeyOf<P>, run: &Arc<Run<ErrorOf<P>>>) {
        let mut under_way = self.under_way.lock();
        let is_this = |other: &Arc<_>| Arc::ptr_eq(other, run);
        let forgotten = if under_way.get(key).is_some_and(is_this) {
            under_way.remove_entry(key)
        } else {
            None
        };
        drop(under_way);
        drop(forgotten);
    }
}

impl<P: SharedProjection> SharedOf<P> {
    /// Starts a run, or joins it; the future waits for what comes of it.
    pub(super) fn resume(
        self: &Arc<Self>,
        key: &KeyOf<P>,
        tries: Tries,
    ) -> Result<Resuming<ErrorOf<P>>, Closed> {
        // Counted before the look: who closes meanwhile waits for this one, or is seen here.
        let asking = Asking::new(self);
        if self.is_closed() {
            return Err(Closed);
        }
        let waiter = Waiter::new();
        let caller = Caller::here();
        if let Some(running) = self.aside.join(key, tries, &waiter, caller) {
            // The key's own code may panic, and the handle does not die of that.
            let key = key.clone();
            let on_duty = OnDuty::new(self);
            let duties = Duties {
                running,
                asking,
                on_duty,
            };
            self.crew.spawn(Box::pin(run_through(duties, key)));
        }
        Ok(Resuming(waiter))
    }
}

pub(super) struct Closed;

/// A resume that its caller waits for.
pub(super) struct Resuming<E>(Arc<Waiter<Heard<E>>>);

impl<E> Resuming<E> {
    pub(super) async fn heard(&self) -> Heard<E> {
        self.0.word().await
    }

    pub(super) fn poll_heard(&self, cx: &mut Context<'_>) -> Poll<Heard<E>> {
        self.0.poll_word(cx)
    }
}

impl<E> Drop for Resuming<E> {
    fn drop(&mut self) {
        drop(self.0.leave());
    }
}

/// Keeps `close` from completing.
struct Asking<P: SharedProjection>(Arc<SharedOf<P>>);

impl<P: SharedProjection> Asking<P> {
    fn new(shared: &Arc<SharedOf<P>>) -> Self {
        shared.answering();
        Self(Arc::clone(shared))
    }
}

impl<P: SharedProjection> Drop for Asking<P> {
    fn drop(&mut self) {
        self.0.answered();
    }
}

/// What the task of a run owes to others. Wherever the runtime drops it, polled or not, this is the order: those who
/// asked hear before whoever waits for the end does.
struct Duties<P: SharedProjection> {
    running: Running<ErrorOf<P>>,
    asking: Asking<P>,
    on_duty: OnDuty<ProjectedWrite<P>>,
}

/// The task of a run: one pass after another, until nobody asks any more.
async fn run_through<P: SharedProjection>(duties: Duties<P>, key: KeyOf<P>) {
    let shared = duties.on_duty.shared();
    let resumes = &shared.aside;
    let run = &duties.running.0;
    while let Some(tries) = run.wanted() {
        let pass = catch(|| resumes.carrier.pass(shared, &key, run, tries)).await;
        match pass {
            Ok(heard) => {
                run.tell(&heard);
                discard(heard);
            }
            Err(message) => {
                shared.observer.resume_panicked();
                run.end(&Cause::Panicked(message));
            }
        }
    }
    // The key's `Eq` may panic; everyone has heard by now.
    drop(guard(|| resumes.forget(&key, run)));
    discard(key);
    drop(duties.asking);
    duties.on_duty.relieve();
}

impl<P, E> Passes<P> for ProjectedCarrier<P, E>
where
    P: SharedProjection,
    E: ProjectedEdge<P::Schema, P::View>,
{
    fn retry(&self) -> Retry {
        self.write.retry()
    }

    fn pass<'a>(
        &'a self,
        shared: &'a Arc<SharedOf<P>>,
        key: &'a KeyOf<P>,
        run: &'a Run<ErrorOf<P>>,
        tries: Tries,
    ) -> Pin<Box<dyn Future<Output = Heard<ErrorOf<P>>> + Send + 'a>> {
        Box::pin(async move {
            let (seed, now) = (shared.seed(), self.edge.now());
            let mut passes = shared.observer.resume();
            let mut command = match tries {
                Tries::One => self.write.resume_once(seed, now, key.clone()),
                Tries::All => self.write.resume(seed, now, key.clone()),
            };
            loop {
                command = match command {
                    Command::Read(stage) => {
                        if !stage.is_last_look() {
                            passes.asked_by(run.reads(tries));
                        }
                        passes.read(&self.edge, stage).await
                    }
                    Command::Project(stage) => passes.project(&self.edge, stage).await,
                    Command::Sleep(stage) => passes.sleep(&self.edge, stage).await,
                    Command::Done(done) => {
                        let tally = *done.tally();
                        shared.count_resume(key, &tally);
                        let heard = done.paid();
                        shared.observer.resumed(passes, tries, &tally, &heard);
                        return heard;
                    }
                };
            }
        })
    }
}

impl<P: SharedProjection> SharedOf<P> {
    fn count_resume(&self, key: &KeyOf<P>, tally: &Tally) {
        let mut state = self.shard(self.hash(key)).state.lock();
        state.counters.resumes += 1;
        state.counters.writes.add(tally);
    }
}

impl<E> Clone for ResumeError<E> {
    fn clone(&self) -> Self {
        match self {
            Self::StillPending(cause) => Self::StillPending(cause.clone()),
            Self::Closed => Self::Closed,
        }
    }
}

impl<E: fmt::Debug> fmt::Debug for ResumeError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StillPending(cause) => f.debug_tuple("StillPending").field(cause).finish(),
            Self::Closed => f.write_str("Closed"),
        }
    }
}

impl<E: fmt::Display> fmt::Display for ResumeError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::StillPending(cause) => {
                write!(
                    f,
                    "still pending: {cause}; try again later, or leave it to a sweeper"
                )
            }
            Self::Closed => f.write_str("the handle is closed; resume the key by another"),
        }
    }
}

impl<E: Error + 'static> Error for ResumeError<E> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // The message has told the error itself.
            Self::StillPending(Cause::Store(error)) => error.source(),
            Self::StillPending(_) | Self::Closed => None,
        }
    }
}
