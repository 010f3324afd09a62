//! One fenced, idempotent write: read, fold, commit, and again until it is known how it ended.
//!
//! ```text
//! start ─▶ Read ─▶ (fold) ─▶ Commit ─▶ Done
//!           ▲ │       │         │
//!           │ └───────┴────┬────┘ failed, refused or in doubt
//!           └─── Sleep ◀───┘
//! ```
//!
//! | to see | read |
//! | --- | --- |
//! | the commands, and how to drive them | this file, [`FoldWrite`] and [`Command`] |
//! | what each may be answered with | `stages.rs` |
//! | what a round trip holds; how it starts, reads for one group after another, and is over | `trip.rs` |
//! | after a read: the fold, and the answers that rest on the record alone | `fold.rs` |
//! | after a commit: answers if it landed, doubts if that is not known | `commit.rs` |
//! | after a try that failed: the next one after a pause, the halves apart, or the end | `again.rs` |
//! | the end without a further try: what a last read settles, and who fails | `end.rs` |
//! | what is known of one input, and what it makes of a failure | `group.rs` |
//! | inputs that would be applied behind those that came after them | `overtaken.rs` |
//! | what a commit is to write | `proposal.rs` |
//! | what a round trip took | `tally.rs` |

mod again;
mod commit;
mod end;
mod fold;
mod group;
mod overtaken;
mod proposal;
mod stages;
mod tally;
mod trip;

use alloc::{boxed::Box, sync::Arc};
use core::fmt;

use crate::{
    Failure, Fold, Instant, InvalidRetry, Retry, Schema,
    guard::discard,
    per_key::{Batch, Ticket},
};

pub use stages::{Committing, Done, Reading, Sleeping};
pub use tally::Tally;

use trip::Trip;

pub(crate) type SchemaOf<F> = <F as Fold>::Schema;
pub(crate) type KeyOf<F> = <SchemaOf<F> as Schema>::Key;
pub(crate) type IdOf<F> = <SchemaOf<F> as Schema>::Id;
type StateOf<F> = <SchemaOf<F> as Schema>::State;
pub(crate) type VersionOf<F> = <SchemaOf<F> as Schema>::Version;
pub(crate) type EntryOf<F> = <SchemaOf<F> as Schema>::Entry;
pub(crate) type ErrorOf<F> = <SchemaOf<F> as Schema>::Error;
pub(crate) type BatchOf<F> = Batch<KeyOf<F>, <F as Fold>::Input>;

/// A fenced, idempotent write: a fold, and how it is retried.
///
/// # What it promises
///
/// - Inputs of a batch are folded in submission order, and applied in that order, also when it is tried again
///   or split. Each fold judges afresh what `step` declines; but an input that was declined by a fold whose
///   commit landed unheard is not applied behind those that it brought: it fails as
///   [`Overtaken`](crate::Cause::Overtaken).
/// - An input is answered with its outcome only when that is durable: its commit has landed, or it
///   rests on nothing but the record as read.
/// - An input fails only when its commit is not known to have happened. `NotCommitted` is said only
///   with proof: no commit that held it is in doubt or was refused, or the record was read at another
///   version since, without it. The same id twice in a batch is one input here: neither hears
///   `NotCommitted` while the other may be written.
/// - A permanent error or a panic of the store's calls splits the batch in halves, in order, until the
///   inputs at fault fail alone. A panic in `step` fails the one input that caused it.
/// - It ends: after [`Retry::attempts`] tries of each part, or [`Retry::total`]. If the last try failed
///   at its commit, and what became of an input is open, one more read settles what it can: what is
///   stored by then is answered, and what cannot land any more is `NotCommitted`. Such a read never
///   leads to a commit; only to a further one, without the inputs that failed by it.
///
/// It cannot project: there is no such command here.
///
/// ```
/// # mod deposits { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/deposits/mod.rs")); }
/// # use deposits::*;
/// use ferry_core::{Instant, Retry, fold_write::{self, FoldWrite}};
///
/// let write = FoldWrite::new(Deposits, Retry::default())?;
/// let now = Instant::EPOCH;
///
/// // One batch for account 7, step by step. A driver does the same in a loop.
/// let fold_write::Command::Read(read) = write.call(1).start(now, batch(7, [Deposit { id: 1, cents: 50 }]))
/// else { panic!() };
/// assert_eq!((read.key(), read.ids()), (&7, &[1][..]));
///
/// let fold_write::Command::Commit(commit) = read.resume(now, Ok(None)) else { panic!() };
/// assert_eq!(commit.commit().expected, None);
/// assert_eq!(commit.commit().entries.len(), 1);
///
/// let mut command = commit.resume(now, Ok(1));
/// let answers: Vec<_> = command.answers().map(|answer| answer.result.unwrap()).collect();
/// assert_eq!(answers, [50]);
/// let fold_write::Command::Done(done) = command else { panic!() };
/// let (batch, _call) = done.finish(); // the batch goes back to `PerKey::finished`
/// # Ok::<_, ferry_core::InvalidRetry>(())
/// ```
pub struct FoldWrite<F> {
    fold: Arc<F>,
    retry: Retry,
}

impl<F: Fold> FoldWrite<F> {
    /// A write with this fold.
    ///
    /// # Errors
    ///
    /// When the retry makes no sense.
    pub fn new(fold: F, retry: Retry) -> Result<Self, InvalidRetry> {
        retry.check()?;
        Ok(Self {
            fold: Arc::new(fold),
            retry,
        })
    }

    pub(crate) fn fold(&self) -> &Arc<F> {
        &self.fold
    }

    pub(crate) fn retry(&self) -> Retry {
        self.retry
    }

    /// A call, to be started with a batch, and used again after. Its pauses are drawn from `seed`;
    /// give each call its own, or their retries march in step.
    pub fn call(&self, seed: u64) -> Call<F> {
        Call {
            trip: Box::new(Trip::new(Arc::clone(&self.fold), self.retry, seed)),
        }
    }
}

impl<F> Clone for FoldWrite<F> {
    fn clone(&self) -> Self {
        Self {
            fold: Arc::clone(&self.fold),
            retry: self.retry,
        }
    }
}

/// A round trip that has not begun. It keeps the buffers of those before it.
pub struct Call<F: Fold> {
    trip: Box<Trip<F>>,
}

impl<F: Fold> Call<F> {
    /// Begins the round trip of a batch.
    pub fn start(self, now: Instant, batch: BatchOf<F>) -> Command<F> {
        self.trip.start(now, batch)
    }
}

/// What a round trip wants done next.
///
/// Each command owns the round trip, and can only be answered with what is legal for it:
///
/// ```compile_fail,E0308
/// # mod deposits { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/deposits/mod.rs")); }
/// # use deposits::*;
/// # use ferry_core::{fold_write::Reading, CommitError, Instant};
/// fn answer_a_read_with_a_commit(read: Reading<Deposits>) {
///     let landed: Result<u64, CommitError<std::io::Error>> = Ok(1);
///     read.resume(Instant::EPOCH, landed);
/// }
/// ```
///
/// ```compile_fail,E0382
/// # mod deposits { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/deposits/mod.rs")); }
/// # use deposits::*;
/// # use ferry_core::{fold_write::Committing, Instant};
/// fn answer_twice(commit: Committing<Deposits>) {
///     let _ = commit.resume(Instant::EPOCH, Ok(1));
///     let _ = commit.resume(Instant::EPOCH, Ok(1));
/// }
/// ```
///
/// ```compile_fail,E0599
/// # mod deposits { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/deposits/mod.rs")); }
/// # use deposits::*;
/// # use ferry_core::fold_write;
/// fn project(command: fold_write::Command<Deposits>) {
///     if let fold_write::Command::Project(_) = command {} // a fold write has no projection
/// }
/// ```
///
/// These are refused by the compiler, and for the reason given; put right, they compile:
///
/// ```
/// # mod deposits { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/deposits/mod.rs")); }
/// # use deposits::*;
/// # use ferry_core::{fold_write::{self, Committing, Reading}, Instant};
/// fn answer_a_read(read: Reading<Deposits>) {
///     let _ = read.resume(Instant::EPOCH, Ok(None));
/// }
/// fn answer_once(commit: Committing<Deposits>) {
///     let _ = commit.resume(Instant::EPOCH, Ok(1));
/// }
/// fn commit(command: fold_write::Command<Deposits>) {
///     if let fold_write::Command::Commit(_) = command {}
/// }
/// ```
///
/// # How to drive it
///
/// Before each command is carried out, and after the last, tell the callers whose
/// [`answers`](Self::answers) are known; an input that a deadline or a panic took out does not wait
/// for the others.
#[must_use = "a command that is not carried out leaves its inputs unanswered"]
pub enum Command<F: Fold> {
    /// Read the key's record.
    Read(Reading<F>),
    /// Write, on the condition that nothing changed since the read.
    Commit(Committing<F>),
    /// Wait.
    Sleep(Sleeping<F>),
    /// Every input is answered.
    Done(Done<F>),
}

impl<F: Fold> Command<F> {
    /// The inputs whose answers became known since this was last asked.
    pub fn answers(&mut self) -> impl ExactSizeIterator<Item = Answered<F>> + '_ {
        self.settled().map(|settled| settled.answered)
    }

    /// As [`answers`](Self::answers), with what else is known of each.
    pub(crate) fn settled(&mut self) -> impl ExactSizeIterator<Item = Settled<F>> + '_ {
        let trip = match self {
            Self::Read(stage) => &mut stage.trip,
            Self::Commit(stage) => &mut stage.trip,
            Self::Sleep(stage) => &mut stage.trip,
            Self::Done(stage) => &mut stage.trip,
        };
        trip.settled.drain(..)
    }
}

/// An input, and what its caller is to hear.
pub struct Answered<F: Fold> {
    /// The ticket it came with.
    pub ticket: Ticket,
    /// The input, handed back.
    pub input: F::Input,
    /// Its outcome, durable; or why there is none.
    pub result: Result<F::Outcome, Failure<ErrorOf<F>>>,
}

/// What an input has left in the record.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trace {
    /// An entry, by this round trip or before it.
    Entry,
    /// Nothing that is known of.
    None,
}

/// An input that is answered, with the deadline that it came with.
pub(crate) struct Settled<F: Fold> {
    pub(crate) deadline: Option<Instant>,
    pub(crate) trace: Trace,
    pub(crate) answered: Answered<F>,
}

impl<F: Fold> Settled<F> {
    /// Each part on its own, in case its `Drop` panics.
    fn discard(self) {
        discard(self.answered.input);
        discard(self.answered.result);
    }
}

impl<F> fmt::Debug for FoldWrite<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FoldWrite")
            .field("retry", &self.retry)
            .finish_non_exhaustive()
    }
}

impl<F: Fold> fmt::Debug for Call<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").finish_non_exhaustive()
    }
}

impl<F: Fold> fmt::Debug for Command<F>
where
    KeyOf<F>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(stage) => stage.fmt(f),
            Self::Commit(stage) => stage.fmt(f),
            Self::Sleep(stage) => stage.fmt(f),
            Self::Done(stage) => stage.fmt(f),
        }
    }
}

impl<F: Fold> fmt::Debug for Answered<F>
where
    F::Input: fmt::Debug,
    F::Outcome: fmt::Debug,
    ErrorOf<F>: fmt::Debug,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answered")
            .field("ticket", &self.ticket)
            .field("input", &self.input)
            .field("result", &self.result)
            .finish()
    }
}
