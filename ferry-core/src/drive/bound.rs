//! A count that many threads share and never exceed, with a line of those who wait for it.

use alloc::{collections::BTreeMap, sync::Arc};
use core::{
    future::poll_fn,
    task::{Context, Poll, Waker},
};

use super::{
    catch::wake,
    lock::Mutex,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};

/// At most `limit` places are taken at any moment, of all threads together.
///
/// Places that are given back go to the line first, in the order of arrival; while anyone stands in
/// it, nobody takes a place past it.
///
/// No wake-up is lost: who joins the line counts itself in `waiting` and then looks at `taken`; who
/// gives back lowers `taken` and then looks at `waiting`. One of the two sees the other.
pub(super) struct Bound<W> {
    limit: usize,
    taken: AtomicUsize,
    waiting: AtomicUsize,
    line: Mutex<Line<W>>,
}

struct Line<W> {
    /// Whose turn it is next comes first.
    waiters: BTreeMap<u64, W>,
    joined: u64,
}

/// A place in the line, to leave it by.
#[derive(Clone, Copy)]
pub(super) struct InLine(u64);

impl<W> Bound<W> {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            taken: AtomicUsize::new(0),
            waiting: AtomicUsize::new(0),
            line: Mutex::new(Line {
                waiters: BTreeMap::new(),
                joined: 0,
            }),
        }
    }

    pub(super) fn taken(&self) -> usize {
        self.taken.load(SeqCst)
    }

    pub(super) fn nobody_waits(&self) -> bool {
        self.waiting.load(SeqCst) == 0
    }

    /// Takes a place, if there is one and nobody waits for it.
    pub(super) fn try_take(&self) -> bool {
        self.nobody_waits() && self.take()
    }

    /// Takes a place, or joins the line.
    pub(super) fn take_or_wait(&self, waiter: W) -> Result<(), InLine> {
        if self.try_take() {
            return Ok(());
        }
        let mut line = self.line.lock();
        self.waiting.fetch_add(1, SeqCst);
        if line.waiters.is_empty() && self.take() {
            self.waiting.fetch_sub(1, SeqCst);
            return Ok(());
        }
        let turn = line.joined;
        line.joined += 1;
        line.waiters.insert(turn, waiter);
        Err(InLine(turn))
    }

    /// Leaves the line, if the turn has not come yet.
    pub(super) fn leave(&self, InLine(turn): InLine) {
        let mut line = self.line.lock();
        if line.waiters.remove(&turn).is_some() {
            self.waiting.fetch_sub(1, SeqCst);
        }
    }

    /// Gives places back. `grant` is called, with nothing locked, for each waiter whose turn it is;
    /// its place is taken already.
    pub(super) fn release(&self, places: usize, mut grant: impl FnMut(W)) {
        self.taken.fetch_sub(places, SeqCst);
        while !self.nobody_waits() {
            let Some(next) = self.next_in_line() else {
                return;
            };
            grant(next);
        }
    }

    /// Takes everyone out of the line; none of them has a place.
    pub(super) fn dismiss(&self) -> impl Iterator<Item = W> {
        let mut line = self.line.lock();
        self.waiting.fetch_sub(line.waiters.len(), SeqCst);
        core::mem::take(&mut line.waiters).into_values()
    }

    fn next_in_line(&self) -> Option<W> {
        let mut line = self.line.lock();
        if line.waiters.is_empty() || !self.take() {
            return None;
        }
        self.waiting.fetch_sub(1, SeqCst);
        line.waiters.pop_first().map(|(_, next)| next)
    }

    fn take(&self) -> bool {
        self.taken
            .fetch_update(SeqCst, SeqCst, |taken| {
                (taken < self.limit).then_some(taken + 1)
            })
            .is_ok()
    }
}

/// A task that stands in a line, and the word it waits for.
pub(super) struct Waiter<T>(Mutex<Word<T>>);

enum Word<T> {
    Awaited(Option<Waker>),
    Given(T),
    /// Heard, or nobody is there to hear it.
    Spent,
}

/// Tells a waiter that has nothing to pass on if it has gone.
pub(super) fn tell(waiter: &Waiter<()>) {
    let (Ok(()) | Err(())) = waiter.give(());
}

impl<T> Waiter<T> {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Word::Awaited(None))))
    }

    /// Gives the word. Handed back if the waiter has gone, so that it can be given to another.
    pub(super) fn give(&self, word: T) -> Result<(), T> {
        let mut state = self.0.lock();
        let Word::Awaited(waker) = &mut *state else {
            return Err(word);
        };
        let waker = waker.take();
        *state = Word::Given(word);
        drop(state);
        if let Some(waker) = waker {
            wake(waker);
        }
        Ok(())
    }

    /// Whether the word was not given yet.
    pub(super) fn is_awaited(&self) -> bool {
        matches!(*self.0.lock(), Word::Awaited(_))
    }

    /// Waits for the word.
    pub(super) async fn word(&self) -> T {
        poll_fn(|cx| self.poll_word(cx)).await
    }

    pub(super) fn poll_word(&self, cx: &mut Context<'_>) -> Poll<T> {
        // A waker is foreign code: it is cloned, and dropped, when nothing is locked.
        let waker = cx.waker().clone();
        let mut state = self.0.lock();
        match core::mem::replace(&mut *state, Word::Spent) {
            Word::Given(word) => Poll::Ready(word),
            Word::Awaited(before) => {
                *state = Word::Awaited(Some(waker));
                drop(state);
                drop(before);
                Poll::Pending
            }
            Word::Spent => Poll::Pending,
        }
    }

    /// Whether nobody is there to hear it any more.
    pub(super) fn has_gone(&self) -> bool {
        matches!(*self.0.lock(), Word::Spent)
    }

    /// Goes; if the word was given and not heard, it is handed back.
    pub(super) fn leave(&self) -> Option<T> {
        let mut state = self.0.lock();
        let before = core::mem::replace(&mut *state, Word::Spent);
        drop(state);
        match before {
            Word::Given(word) => Some(word),
            Word::Awaited(_) | Word::Spent => None,
        }
    }
}
