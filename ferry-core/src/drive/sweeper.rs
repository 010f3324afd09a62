//! Sweeping on a schedule, so that nothing stays pending for long that nobody waits for.

use alloc::{boxed::Box, sync::Arc};
use core::{error::Error, fmt, future::Future, hash::Hash, mem, time::Duration};

use crate::{Instant, projected_write::ProjectedWrite};

use super::{
    bound::{Waiter, tell},
    carries::SharedProjection,
    debts::Debts,
    handle::Ferry,
    lock::Mutex,
    resuming::KeyOf,
    rounds::{Ask, Rounds},
    schedule::{InvalidSchedule, Schedule},
};

/// Why a query failed.
pub type QueryError = Arc<dyn Error + Send + Sync>;

/// How a sweeper is doing, for a health check.
///
/// "No debt" is `last_turn` of about the schedule's pause ago and `oldest_debt` of `None`. A sweeper that is
/// dead, or whose query fails or hangs, is seen by `last_turn` growing, or `age` while there was no turn yet:
///
/// ```
/// # use core::time::Duration;
/// # use ferry_core::drive::SweeperHealth;
/// fn is_at_it(health: &SweeperHealth) -> bool {
///     health.last_turn.unwrap_or(health.age) < Duration::from_secs(120)
/// }
/// ```
///
/// It grows in a long turn, too, as after an outage; there `pending` gets smaller meanwhile.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SweeperHealth {
    /// Whether its task lives. False after a close, and when the runtime was shut down.
    pub is_running: bool,
    /// How long ago it was started.
    pub age: Duration,
    /// How long ago a turn was last finished, its query answered and every key of it tried; `None`: none
    /// was, yet.
    pub last_turn: Option<Duration>,
    /// Turns finished.
    pub turns: u64,
    /// Keys known to be pending: of the turn under way, and those that have failed; 100,000 at most. One that
    /// another process has paid counts until it is tried again, `pause_max` later at most.
    pub pending: usize,
    /// How long ago the oldest of them was first found by this sweeper; `None`: none is known.
    pub oldest_debt: Option<Duration>,
    /// Why the query of the last turn failed, if it did; or else which panic of a key or of the query cut the
    /// turn short.
    pub query_error: Option<QueryError>,
}

/// Resumes what is pending, turn after turn, until it is closed or dropped, or its handle is closed.
///
/// Made by [`Ferry::sweeper`]. It keeps that handle alive.
#[must_use = "a sweeper that is dropped stops"]
pub struct Sweeper {
    board: Arc<Mutex<Board>>,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
    stop: Arc<Waiter<()>>,
    ended: Arc<Waiter<()>>,
}

/// What a sweeper shows of itself.
pub(super) struct Board {
    is_running: bool,
    started: Instant,
    last_turn: Option<Instant>,
    turns: u64,
    pending: usize,
    oldest_debt: Option<Instant>,
    query_error: Option<QueryError>,
}

impl Sweeper {
    pub(super) fn start<P: SharedProjection>(
        ferry: Ferry<ProjectedWrite<P>>,
        schedule: Schedule,
        ask: Ask<KeyOf<P>>,
    ) -> Result<Self, InvalidSchedule> {
        schedule.check()?;
        let shared = Arc::clone(ferry.shared());
        let board = Arc::new(Mutex::new(Board::new(shared.now())));
        let (stop, ended) = (Waiter::new(), Waiter::new());
        let until = Until {
            board: Arc::clone(&board),
            ended: Arc::clone(&ended),
        };
        let rounds = Rounds::new(ferry, schedule, ask, Arc::clone(&board), Arc::clone(&stop));
        shared.crew.spawn(Box::pin(async move {
            rounds.go().await;
            drop(until);
        }));
        Ok(Self {
            board,
            clock: Box::new(move || shared.now()),
            stop,
            ended,
        })
    }

    /// How it is doing. Cheap.
    pub fn health(&self) -> SweeperHealth {
        let now = (self.clock)();
        let board = self.board.lock();
        SweeperHealth {
            is_running: board.is_running,
            age: now.since(board.started),
            last_turn: board.last_turn.map(|at| now.since(at)),
            turns: board.turns,
            pending: board.pending,
            oldest_debt: board.oldest_debt.map(|at| now.since(at)),
            query_error: board.query_error.clone(),
        }
    }

    /// Starts no more resumes, and completes when its task has ended.
    ///
    /// # Cancel safety
    ///
    /// It is told to stop by the call itself; dropping the future only stops the waiting.
    pub fn close(self) -> impl Future<Output = ()> + Send {
        tell(&self.stop);
        let ended = Arc::clone(&self.ended);
        async move { ended.word().await }
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        tell(&self.stop);
    }
}

impl Board {
    fn new(started: Instant) -> Self {
        Self {
            is_running: true,
            started,
            last_turn: None,
            turns: 0,
            pending: 0,
            oldest_debt: None,
            query_error: None,
        }
    }

    pub(super) fn show<K: Clone + Eq + Hash>(&mut self, debts: &Debts<K>) {
        self.pending = debts.pending();
        self.oldest_debt = debts.oldest();
    }

    pub(super) fn turn_is_over(&mut self, now: Instant) {
        self.last_turn = Some(now);
        self.turns += 1;
    }

    /// Hands back why the turn before failed.
    pub(super) fn asked(&mut self, error: Option<QueryError>) -> Option<QueryError> {
        mem::replace(&mut self.query_error, error)
    }
}

/// Says that the task is over, however it ended.
struct Until {
    board: Arc<Mutex<Board>>,
    ended: Arc<Waiter<()>>,
}

impl Drop for Until {
    fn drop(&mut self) {
        self.board.lock().is_running = false;
        tell(&self.ended);
    }
}

impl fmt::Debug for Sweeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sweeper")
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}
