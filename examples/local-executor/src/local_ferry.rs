//! The local driver: Ferry's machines on an [`Executor`], for stores whose futures are not `Send`.
//!
//! Everything is on one thread, so that no lock is needed: each machine is borrowed for a moment at a time, and never while
//! anything is awaited.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    future::{Future, poll_fn},
    hash::{Hash, RandomState},
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use ferry_core::{
    Cause, Commit, CommitError, Failure, Fault, Fold, Instant, RecordOf, Schema,
    fold_write::{self, FoldWrite},
    per_key::{self, Batch, PerKey, Rejected, Ticket},
};

use crate::executor::Executor;

/// A store on one thread: as Ferry's own trait for stores, but for `Send`.
pub(crate) trait LocalStore: Schema<Key: Clone + Eq + Hash> {
    fn read(
        &self,
        key: &Self::Key,
        ids: &[Self::Id],
    ) -> impl Future<Output = Result<Option<RecordOf<Self>>, Fault<Self::Error>>>;

    fn commit(
        &self,
        key: &Self::Key,
        commit: Commit<'_, Self>,
    ) -> impl Future<Output = Result<Self::Version, CommitError<Self::Error>>>;
}

type KeyOf<F> = <<F as Fold>::Schema as Schema>::Key;
type Batching<F> = PerKey<KeyOf<F>, <F as Fold>::Input, RandomState>;
type ErrorOf<F> = <<F as Fold>::Schema as Schema>::Error;
type HeardBy<F> = Result<<F as Fold>::Outcome, Failure<ErrorOf<F>>>;

/// A handle. Clones are one.
pub(crate) struct LocalFerry<F: Fold>(Rc<Shared<F>>);

struct Shared<F: Fold> {
    executor: Executor,
    store: F::Schema,
    write: FoldWrite<F>,
    batching: RefCell<Batching<F>>,
    callers: RefCell<HashMap<Ticket, Rc<Caller<HeardBy<F>>>>>,
    batches: Cell<u64>,
    /// When the machine is to be told the time, if something falls due.
    alarm: Cell<Option<Instant>>,
    /// Everything is answered, and nothing comes any more.
    is_drained: Cell<bool>,
    closers: RefCell<Vec<Waker>>,
}

/// What is known of an answer, and who waits for it.
struct Caller<A> {
    answer: Cell<Option<A>>,
    waker: Cell<Option<Waker>>,
}

/// Completes with the answer. Dropped before, it withdraws the input if that still waits; a batch under way goes on.
pub(crate) struct Submission<F: LocalFold> {
    ferry: LocalFerry<F>,
    ticket: Ticket,
    caller: Rc<Caller<HeardBy<F>>>,
}

/// A fold over a store on one thread.
pub(crate) trait LocalFold: Fold<Schema: LocalStore> + 'static {}

impl<F: Fold<Schema: LocalStore> + 'static> LocalFold for F {}

impl<F: LocalFold> LocalFerry<F> {
    pub(crate) fn new(
        executor: &Executor,
        batching: Batching<F>,
        write: FoldWrite<F>,
        store: F::Schema,
    ) -> Self {
        Self(Rc::new(Shared {
            executor: executor.clone(),
            store,
            write,
            batching: RefCell::new(batching),
            callers: RefCell::default(),
            batches: Cell::new(0),
            alarm: Cell::new(None),
            is_drained: Cell::new(false),
            closers: RefCell::default(),
        }))
    }

    pub(crate) fn submit(
        &self,
        key: KeyOf<F>,
        input: F::Input,
    ) -> Result<Submission<F>, Rejected<KeyOf<F>, F::Input>> {
        let now = self.0.executor.now();
        let ticket = self.0.batching.borrow_mut().submit(now, key, input)?;
        let caller = Rc::new(Caller::new());
        self.0
            .callers
            .borrow_mut()
            .insert(ticket, Rc::clone(&caller));
        self.obey();
        let ferry = self.clone();
        Ok(Submission {
            ferry,
            ticket,
            caller,
        })
    }

    /// Refuses what comes from now on, and completes when everything is answered.
    pub(crate) async fn close(self) {
        self.0.batching.borrow_mut().close();
        self.obey();
        poll_fn(|context| {
            if self.0.is_drained.get() {
                return Poll::Ready(());
            }
            self.0.closers.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Does what the batching machine says, as long as it says anything.
    fn obey(&self) {
        loop {
            let command = self.0.batching.borrow_mut().poll();
            match command {
                Some(per_key::Command::Dispatch(batch)) => {
                    self.0.executor.spawn(self.clone().carry(batch));
                }
                Some(per_key::Command::Expired(ticket, _input)) => {
                    self.answer(ticket, Err(Failure::NotCommitted(Cause::Expired)));
                }
                Some(per_key::Command::Drained) => {
                    self.0.is_drained.set(true);
                    self.0.closers.take().into_iter().for_each(Waker::wake);
                }
                None => break,
            }
        }
        self.set_alarm();
    }

    /// Sees to it that the machine is told the time when something falls due.
    fn set_alarm(&self) {
        let Some(due) = self.0.batching.borrow_mut().timeout() else {
            return;
        };
        if self.0.alarm.get().is_some_and(|set| set <= due) {
            return;
        }
        self.0.alarm.set(Some(due));
        let ferry = self.clone();
        self.0.executor.spawn(async move {
            ferry.0.executor.sleep(due - ferry.0.executor.now()).await;
            // Unless a sooner one has been set meanwhile, and has gone off.
            if ferry.0.alarm.get() == Some(due) {
                ferry.0.alarm.set(None);
                let now = ferry.0.executor.now();
                ferry.0.batching.borrow_mut().tick(now);
                ferry.obey();
            }
        });
    }

    /// One round trip: does what each command says, and tells the callers as their answers get known.
    async fn carry(self, batch: Batch<KeyOf<F>, F::Input>) {
        let (executor, store) = (&self.0.executor, &self.0.store);
        self.0.batches.set(self.0.batches.get() + 1);
        let call = self.0.write.call(self.0.batches.get());
        let mut command = call.start(executor.now(), batch);
        let batch = loop {
            for answered in command.answers() {
                self.answer(answered.ticket, answered.result);
            }
            command = match command {
                fold_write::Command::Read(read) => {
                    let record = store.read(read.key(), read.ids()).await;
                    read.resume(executor.now(), record)
                }
                fold_write::Command::Commit(commit) => {
                    let landed = store.commit(commit.key(), commit.commit()).await;
                    commit.resume(executor.now(), landed)
                }
                fold_write::Command::Sleep(sleep) => {
                    executor.sleep(sleep.duration()).await;
                    sleep.wake(executor.now())
                }
                fold_write::Command::Done(done) => {
                    let (batch, _call) = done.finish();
                    break batch;
                }
            };
        };
        self.0.batching.borrow_mut().finished(executor.now(), batch);
        self.obey();
    }

    fn answer(&self, ticket: Ticket, answer: HeardBy<F>) {
        let caller = self.0.callers.borrow_mut().remove(&ticket);
        if let Some(caller) = caller {
            caller.hear(answer);
        }
    }
}

impl<F: Fold> Clone for LocalFerry<F> {
    fn clone(&self) -> Self {
        Self(Rc::clone(&self.0))
    }
}

impl<A> Caller<A> {
    fn new() -> Self {
        Self {
            answer: Cell::new(None),
            waker: Cell::new(None),
        }
    }

    fn hear(&self, answer: A) {
        self.answer.set(Some(answer));
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    fn poll(&self, context: &Context<'_>) -> Poll<A> {
        match self.answer.take() {
            Some(answer) => Poll::Ready(answer),
            None => {
                self.waker.set(Some(context.waker().clone()));
                Poll::Pending
            }
        }
    }
}

impl<F: LocalFold> Future for Submission<F> {
    type Output = HeardBy<F>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.caller.poll(context)
    }
}

impl<F: LocalFold> Drop for Submission<F> {
    fn drop(&mut self) {
        self.ferry.0.callers.borrow_mut().remove(&self.ticket);
        let withdrawn = self.ferry.0.batching.borrow_mut().withdraw(self.ticket);
        if withdrawn.is_some() {
            self.ferry.obey();
        }
    }
}
