//! Commit, then project: a fold write's round trip, and then a second fenced write that brings the key's
//! view up to date.
//!
//! ```text
//! start ─▶ Read ─▶ (fold) ─▶ Commit ─▶ (pending?) ─▶ Project ─▶ Done
//!           ▲ │       │         │           │ no        │
//!           │ └───────┴────┬────┘           └───────────┼──▶ Done
//!           └─── Sleep ◀───┘        ┌── Read ◀── Sleep ◀┘ failed, refused, in doubt or in part
//!                                   └──▶ (pending?) ...
//! ```
//!
//! | to see | read |
//! | --- | --- |
//! | the commands, and how to drive them | this file, [`ProjectedWrite`] and [`Command`] |
//! | the projection alone | [`resume`] |
//! | what each command may be answered with | `stages.rs` |
//! | how it goes from event to command | `trip.rs` |
//! | which answers are known, and which wait for the view | `answers.rs` |
//! | the tries of a projection, and what is known when they fail | `debt.rs`, `unpaid.rs` |
//! | a record that is held on to | `kept.rs` |

mod answers;
mod debt;
mod kept;
pub mod resume;
mod stages;
mod trip;
mod unpaid;

use alloc::boxed::Box;
use core::fmt;

use crate::{
    Answer, Failure, Fold, Instant, InvalidRetry, Projection, Retry,
    fold_write::{self, BatchOf, ErrorOf, FoldWrite, KeyOf},
    per_key::Ticket,
};

#[cfg(feature = "drive")]
pub(crate) use unpaid::Unpaid;

pub use stages::{Committing, Done, Projecting, Reading, Sleeping};

use debt::Debt;
use trip::Trip;

/// A fenced, idempotent write, and a second one that projects what it left pending.
///
/// # What it promises
///
/// For the commit, all that a [`FoldWrite`] does; its round trip is in here unchanged. Beyond that:
///
/// - An input is answered [`Projected`](crate::Durability::Projected) only when the view is known to show
///   the record that its outcome rests on: its projection has landed, or a record was read since that is
///   not pending.
/// - An outcome that is durable is never turned into a failure by its projection: when the tries of that
///   are exhausted, the input is answered [`Committed`](crate::Durability::Committed), and why.
/// - An input whose outcome rests on a pending record (sent again, or declined) pays the debt first,
///   whoever made it. A batch that changes nothing commits nothing.
/// - Where a projection lands in part, the inputs that the view then includes are answered, and the
///   others wait for the rest.
/// - It ends: the projection has tries and a total time of its own, of the same [`Retry`]. A permanent
///   error or a panic of it is not tried again. If the last try left it open whether the view shows the
///   record (refused, in doubt, a panic), one more read tells. Nobody but who waits for it pays: once every input is
///   answered, what is left of a debt is for the key's next batch, or for a [`resume`].
///
/// ```
/// # mod deposits { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/deposits/mod.rs")); }
/// # use deposits::*;
/// use ferry_core::{Coverage, Durability, Instant, Retry, projected_write::{self, ProjectedWrite}};
///
/// let write = ProjectedWrite::new(Deposits, Retry::default())?;
/// let now = Instant::EPOCH;
///
/// // One batch for account 7, step by step. A driver does the same in a loop.
/// let command = write.call(1).start(now, batch(7, [Deposit { id: 1, cents: 50 }]));
/// let projected_write::Command::Read(read) = command else { panic!() };
/// let projected_write::Command::Commit(commit) = read.resume(now, Ok(None)) else { panic!() };
///
/// // Committed, and not yet projected: nobody is answered.
/// let mut command = commit.resume(now, Ok(1));
/// assert_eq!(command.answers().len(), 0);
/// let projected_write::Command::Project(project) = command else { panic!() };
/// assert_eq!((project.record().version, project.record().state.marker), (1, 0));
///
/// let mut command = project.resume(now, Ok(Coverage::Whole));
/// let answer = command.answers().next().unwrap().result.unwrap();
/// assert_eq!(answer.outcome, 50);
/// assert!(matches!(answer.durability, Durability::Projected));
/// let projected_write::Command::Done(done) = command else { panic!() };
/// let (batch, _call) = done.finish(); // the batch goes back to `PerKey::finished`
/// # Ok::<_, ferry_core::InvalidRetry>(())
/// ```
pub struct ProjectedWrite<P> {
    write: FoldWrite<P>,
}

impl<P: Projection> ProjectedWrite<P> {
    /// A write with this fold, and with this view of what it leaves.
    ///
    /// # Errors
    ///
    /// When the retry makes no sense.
    pub fn new(projection: P, retry: Retry) -> Result<Self, InvalidRetry> {
        let write = FoldWrite::new(projection, retry)?;
        Ok(Self { write })
    }

    #[cfg(feature = "drive")]
    pub(crate) fn projection(&self) -> &P {
        self.write.fold()
    }

    #[cfg(feature = "drive")]
    pub(crate) fn retry(&self) -> Retry {
        self.write.retry()
    }

    /// A call, to be started with a batch, and used again after. Its pauses are drawn from `seed`;
    /// give each call its own, or their retries march in step.
    pub fn call(&self, seed: u64) -> Call<P> {
        let call = self.write.call(seed);
        let trip = Box::new(Trip::new(
            self.write.fold().clone(),
            self.write.retry(),
            // Its own pauses, and not the fold write's once more.
            seed ^ u64::from_be_bytes(*b"projects"),
        ));
        Call { trip, call }
    }

    /// Begins the projection alone, of what the store holds for this key.
    pub fn resume(&self, seed: u64, now: Instant, key: KeyOf<P>) -> resume::Command<P> {
        self.resume_with(self.write.retry(), seed, now, key)
    }

    /// As [`resume`](Self::resume), tried once.
    pub fn resume_once(&self, seed: u64, now: Instant, key: KeyOf<P>) -> resume::Command<P> {
        let retry = Retry {
            attempts: 1,
            ..self.write.retry()
        };
        self.resume_with(retry, seed, now, key)
    }

    fn resume_with(
        &self,
        retry: Retry,
        seed: u64,
        now: Instant,
        key: KeyOf<P>,
    ) -> resume::Command<P> {
        let debt = Debt::new(self.write.fold().clone(), retry, seed);
        resume::start(now, key, debt)
    }
}

impl<P> Clone for ProjectedWrite<P> {
    fn clone(&self) -> Self {
        Self {
            write: self.write.clone(),
        }
    }
}

/// A round trip that has not begun. It keeps the buffers of those before it.
pub struct Call<P: Projection> {
    trip: Box<Trip<P>>,
    call: fold_write::Call<P>,
}

impl<P: Projection> Call<P> {
    /// Begins the round trip of a batch.
    pub fn start(self, now: Instant, batch: BatchOf<P>) -> Command<P> {
        let Self { trip, call } = self;
        trip.start(now, call.start(now, batch))
    }
}

/// What a round trip wants done next.
///
/// As with a [fold write](fold_write::Command), each command owns the round trip, and can only be answered
/// with what is legal for it:
///
/// ```compile_fail,E0308
/// # mod deposits { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/deposits/mod.rs")); }
/// # use deposits::*;
/// # use ferry_core::{projected_write::Projecting, CommitError, Instant};
/// fn answer_a_projection_with_a_commit(project: Projecting<Deposits>) {
///     let landed: Result<u64, CommitError<std::io::Error>> = Ok(1);
///     let _ = project.resume(Instant::EPOCH, landed);
/// }
/// ```
///
/// ```compile_fail,E0308
/// # mod deposits { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/deposits/mod.rs")); }
/// # use deposits::*;
/// # use ferry_core::{projected_write::Committing, CommitError, Coverage, Instant};
/// fn answer_a_commit_with_a_projection(commit: Committing<Deposits>) {
///     let shown: Result<Coverage<Vec<u64>, std::io::Error>, CommitError<std::io::Error>> = Ok(Coverage::Whole);
///     let _ = commit.resume(Instant::EPOCH, shown);
/// }
/// ```
///
/// ```compile_fail,E0382
/// # mod deposits { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/deposits/mod.rs")); }
/// # use deposits::*;
/// # use ferry_core::{projected_write::Projecting, Coverage, Instant};
/// fn answer_twice(project: Projecting<Deposits>) {
///     let _ = project.resume(Instant::EPOCH, Ok(Coverage::Whole));
///     let _ = project.resume(Instant::EPOCH, Ok(Coverage::Whole));
/// }
/// ```
///
/// These are refused by the compiler, and for the reason given; put right, they compile:
///
/// ```
/// # mod deposits { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/deposits/mod.rs")); }
/// # use deposits::*;
/// # use ferry_core::{projected_write::{Committing, Projecting}, CommitError, Coverage, Instant};
/// fn answer_a_commit(commit: Committing<Deposits>) {
///     let landed: Result<u64, CommitError<std::io::Error>> = Ok(1);
///     let _ = commit.resume(Instant::EPOCH, landed);
/// }
/// fn answer_a_projection_once(project: Projecting<Deposits>) {
///     let shown: Result<Coverage<Vec<u64>, std::io::Error>, CommitError<std::io::Error>> = Ok(Coverage::Whole);
///     let _ = project.resume(Instant::EPOCH, shown);
/// }
/// ```
///
/// # How to drive it
///
/// Before each command is carried out, and after the last, tell the callers whose
/// [`answers`](Self::answers) are known; an input that a part of the view covers does not wait for the
/// others.
#[must_use = "a command that is not carried out leaves its inputs unanswered"]
pub enum Command<P: Projection> {
    /// Read the key's record.
    Read(Reading<P>),
    /// Write, on the condition that nothing changed since the read.
    Commit(Committing<P>),
    /// Write the view and move the marker, on the condition that neither version nor marker changed.
    Project(Projecting<P>),
    /// Wait.
    Sleep(Sleeping<P>),
    /// Every input is answered.
    Done(Done<P>),
}

impl<P: Projection> Command<P> {
    /// The inputs whose answers became known since this was last asked.
    pub fn answers(&mut self) -> impl ExactSizeIterator<Item = Answered<P>> + '_ {
        let trip = match self {
            Self::Read(stage) => &mut stage.trip,
            Self::Commit(stage) => &mut stage.trip,
            Self::Project(stage) => &mut stage.trip,
            Self::Sleep(stage) => &mut stage.trip,
            Self::Done(stage) => &mut stage.trip,
        };
        trip.answers.known.drain(..)
    }
}

/// An input, and what its caller is to hear.
pub struct Answered<P: Projection> {
    /// The ticket it came with.
    pub ticket: Ticket,
    /// The input, handed back.
    pub input: P::Input,
    /// Its outcome, durable, and whether the view shows it; or why there is none.
    pub result: Result<AnswerOf<P>, Failure<ErrorOf<P>>>,
}

/// What a caller hears of an input that is durable.
pub type AnswerOf<P> = Answer<<P as Fold>::Outcome, ErrorOf<P>>;

impl<P> fmt::Debug for ProjectedWrite<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProjectedWrite")
            .field("write", &self.write)
            .finish()
    }
}

impl<P: Projection> fmt::Debug for Call<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").finish_non_exhaustive()
    }
}

impl<P: Projection> fmt::Debug for Command<P>
where
    KeyOf<P>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(stage) => stage.fmt(f),
            Self::Commit(stage) => stage.fmt(f),
            Self::Project(stage) => stage.fmt(f),
            Self::Sleep(stage) => stage.fmt(f),
            Self::Done(stage) => stage.fmt(f),
        }
    }
}

impl<P: Projection> fmt::Debug for Answered<P>
where
    P::Input: fmt::Debug,
    P::Outcome: fmt::Debug,
    ErrorOf<P>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answered")
            .field("ticket", &self.ticket)
            .field("input", &self.input)
            .field("result", &self.result)
            .finish()
    }
}
