//! The task of a sweeper: turn after turn.

use alloc::{boxed::Box, format, sync::Arc, vec::Vec};
use core::{
    error::Error,
    future::{Future, IntoFuture, poll_fn},
    pin::{Pin, pin},
    task::Poll,
};

use crate::{Retry, guard::discard, projected_write::ProjectedWrite, retry::Jitter};

use super::{
    bound::Waiter,
    carries::{SharedProjection, Task},
    catch::catch,
    debts::Debts,
    handle::Ferry,
    lock::Mutex,
    observe::Turn,
    pause::or_stop,
    resuming::{ErrorOf, KeyOf, SharedOf},
    schedule::Schedule,
    sweep::{Iter, Sweep, SweepReport},
    sweeper::{Board, QueryError},
};

/// The application's query, its types forgotten.
pub(super) type Ask<K> = Box<dyn FnMut() -> Asked<K> + Send>;
type Asked<K> = Pin<Box<dyn Future<Output = Result<Vec<K>, QueryError>> + Send>>;

pub(super) fn ask_by<K, Q, Fut, I, E>(mut query: Q) -> Ask<K>
where
    Q: FnMut() -> Fut + Send + 'static,
    Fut: Future<Output = Result<I, E>> + Send + 'static,
    I: IntoIterator<Item = K>,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    Box::new(move || {
        let asked = query();
        Box::pin(async move {
            match asked.await {
                Ok(keys) => Ok(keys.into_iter().collect()),
                Err(error) => Err(QueryError::from(error.into())),
            }
        })
    })
}

pub(super) struct Rounds<P: SharedProjection> {
    ferry: Ferry<ProjectedWrite<P>>,
    schedule: Schedule,
    ask: Ask<KeyOf<P>>,
    jitter: Jitter,
    debts: Arc<Mutex<Debts<KeyOf<P>>>>,
    board: Arc<Mutex<Board>>,
    stop: Arc<Waiter<()>>,
    /// Ready once the handle is closed and its last answer given.
    end: Task,
}

/// `None` when the end has come before.
async fn or_end<T>(end: &mut Task, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    poll_fn(|cx| match future.as_mut().poll(cx) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending => end.as_mut().poll(cx).map(|()| None),
    })
    .await
}

/// What comes after a turn or a pause.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Then {
    GoOn,
    Stop,
}

impl<P: SharedProjection> Rounds<P> {
    pub(super) fn new(
        ferry: Ferry<ProjectedWrite<P>>,
        schedule: Schedule,
        ask: Ask<KeyOf<P>>,
        board: Arc<Mutex<Board>>,
        stop: Arc<Waiter<()>>,
    ) -> Self {
        let shared = ferry.shared();
        let debts = Debts::new(schedule.retry(), shared.seed());
        Self {
            jitter: Jitter::new(shared.seed()),
            debts: Arc::new(Mutex::new(debts)),
            end: Box::pin(Arc::clone(shared).drained()),
            ferry,
            schedule,
            ask,
            board,
            stop,
        }
    }

    pub(super) async fn go(mut self) {
        loop {
            if self.next_turn().await == Then::Stop || self.pause().await == Then::Stop {
                return;
            }
        }
    }

    async fn next_turn(&mut self) -> Then {
        let turn = self.shared().observer.turn();
        match turn.within(catch(|| self.turn(&turn))).await {
            Ok(then) => then,
            Err(message) => self.panicked(&turn, &message),
        }
    }

    /// Asks the query, and tries once each key that it finds, but for those that are left alone for now.
    async fn turn(&mut self, turn: &Turn) -> Then {
        let asked = (self.ask)();
        let keys = match or_stop(&self.stop, or_end(&mut self.end, asked))
            .await
            .flatten()
        {
            None => return Then::Stop,
            Some(Ok(keys)) => keys,
            Some(Err(error)) => {
                turn.query_failed();
                return self.failed(error);
            }
        };
        let mut due = self.debts.lock().find(self.shared().now(), keys);
        // The sweepers of other processes find the same keys, and are not to try them in the same order.
        self.jitter.shuffle(&mut due);
        turn.finds(due.len());
        self.asked(None);
        match or_stop(&self.stop, self.sweep(due)).await {
            Some(report) if !report.was_cut_short => {}
            Some(_) | None => return Then::Stop,
        }
        let now = self.shared().now();
        self.show(|board| board.turn_is_over(now));
        turn.ended();
        Then::GoOn
    }

    /// The query panicked, or a key did; it may have been as they were dropped, since it is time to stop.
    fn panicked(&self, turn: &Turn, message: &str) -> Then {
        if !self.stop.is_awaited() || self.shared().is_closed() {
            return Then::Stop;
        }
        turn.panicked();
        let error = format!("the turn panicked: {message}");
        self.failed(QueryError::from(Box::<dyn Error + Send + Sync>::from(
            error,
        )))
    }

    fn failed(&self, error: QueryError) -> Then {
        self.asked(Some(error));
        Then::GoOn
    }

    fn asked(&self, error: Option<QueryError>) {
        // Foreign code: dropped when nothing is locked.
        discard(self.show(|board| board.asked(error)));
    }

    fn sweep(
        &self,
        keys: Vec<KeyOf<P>>,
    ) -> impl Future<Output = SweepReport<KeyOf<P>, ErrorOf<P>>> + Send + use<P> {
        let (debts, board) = (Arc::clone(&self.debts), Arc::clone(&self.board));
        let shared = Arc::clone(self.shared());
        let once = Retry {
            attempts: 1,
            ..self.schedule.retry()
        };
        Sweep::new(Arc::clone(&shared), Iter::new(keys.into_iter()))
            .concurrency(self.schedule.concurrency)
            .retry(once)
            .on_progress(move |progress| {
                let mut debts = debts.lock();
                debts.tried(shared.now(), progress.key, progress.fate);
                board.lock().show(&debts);
            })
            .into_future()
    }

    /// Between half of the pause and one and a half.
    async fn pause(&mut self) -> Then {
        let every = self.schedule.every;
        let pause = every / 2 + self.jitter.up_to(every);
        let sleep = self.shared().crew.sleep(pause);
        let slept = or_stop(&self.stop, or_end(&mut self.end, sleep)).await;
        match slept.flatten() {
            Some(()) if !self.shared().is_closed() => Then::GoOn,
            Some(()) | None => Then::Stop,
        }
    }

    /// Brings the board up to date, and changes it otherwise.
    fn show<T>(&self, change: impl FnOnce(&mut Board) -> T) -> T {
        let debts = self.debts.lock();
        let mut board = self.board.lock();
        board.show(&debts);
        change(&mut board)
    }

    fn shared(&self) -> &Arc<SharedOf<P>> {
        self.ferry.shared()
    }
}
