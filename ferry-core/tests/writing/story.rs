//! A round trip told step by step: what it asks for, and how the store answers.

use core::time::Duration;
use std::io;

use ferry_core::{
    CommitError, Failure, Fault, Fold, Instant, Retry,
    fold_write::{Answered, Call, Command, FoldWrite, Tally},
};

use crate::{
    deposits::{Accounts, Deposit, Deposits, batch_within},
    store::{Store, Write},
    words::{brief, error},
};

pub(crate) use crate::words::{ACCOUNT, RETRY, busy, by, deposit, down, too_large};

/// A fold of deposits to accounts.
pub(crate) trait Depositing:
    Fold<Schema = Accounts, Input = Deposit, Outcome = i64>
{
}
impl<F: Fold<Schema = Accounts, Input = Deposit, Outcome = i64>> Depositing for F {}

pub(crate) struct Story<F: Depositing = Deposits> {
    pub(crate) store: Store,
    pub(crate) now: Instant,
    command: Option<Command<F>>,
}

impl Story {
    /// One batch of these deposits, on an account without a record.
    pub(crate) fn of(deposits: impl IntoIterator<Item = Deposit>) -> Self {
        Self::within(deposits.into_iter().map(|deposit| (deposit, None)))
    }

    /// One batch of these deposits with their deadlines.
    pub(crate) fn within(deposits: impl IntoIterator<Item = (Deposit, Option<Instant>)>) -> Self {
        Self::with(Deposits, RETRY, deposits)
    }

    pub(crate) fn retrying(retry: Retry, deposits: impl IntoIterator<Item = Deposit>) -> Self {
        Self::with(
            Deposits,
            retry,
            deposits.into_iter().map(|deposit| (deposit, None)),
        )
    }
}

impl<F: Depositing> Story<F> {
    pub(crate) fn with(
        fold: F,
        retry: Retry,
        deposits: impl IntoIterator<Item = (Deposit, Option<Instant>)>,
    ) -> Self {
        let call = FoldWrite::new(fold, retry).unwrap().call(42);
        let mut story = Self {
            store: Store::default(),
            now: Instant::EPOCH,
            command: None,
        };
        story.begins(call, deposits);
        story
    }

    /// The call is started with a batch.
    pub(crate) fn begins(
        &mut self,
        call: Call<F>,
        deposits: impl IntoIterator<Item = (Deposit, Option<Instant>)>,
    ) {
        self.command = Some(call.start(self.now, batch_within(ACCOUNT, deposits)));
    }

    // ---- reads ----------------------------------------------------------------------------------

    /// The round trip reads, and is shown what the store holds.
    pub(crate) fn reads(&mut self) -> &mut Self {
        let record = self.store.read();
        self.read_with(|read, now| read.resume(now, Ok(record)))
    }

    /// The round trip wants to read for inputs of these ids.
    pub(crate) fn reads_for(&mut self, ids: &[u64]) -> &mut Self {
        match &self.command {
            Some(Command::Read(read)) => assert_eq!((read.key(), read.ids()), (&ACCOUNT, ids)),
            other => panic!("expected a read, not {other:?}"),
        }
        self.reads()
    }

    pub(crate) fn read_fails(&mut self, fault: Fault<io::Error>) -> &mut Self {
        self.read_with(|read, now| read.resume(now, Err(fault)))
    }

    pub(crate) fn read_panics(&mut self) -> &mut Self {
        self.read_with(|read, now| read.panicked(now, "in read".into()))
    }

    fn read_with(
        &mut self,
        answer: impl FnOnce(ferry_core::fold_write::Reading<F>, Instant) -> Command<F>,
    ) -> &mut Self {
        self.step(|command, now| match command {
            Command::Read(read) => answer(read, now),
            other @ (Command::Commit(_) | Command::Sleep(_) | Command::Done(_)) => {
                panic!("expected a read, not {other:?}")
            }
        })
    }

    // ---- commits --------------------------------------------------------------------------------

    /// What the round trip wants to commit, by id.
    pub(crate) fn wants_to_commit(&mut self, ids: &[u64]) -> &mut Self {
        match &self.command {
            Some(Command::Commit(commit)) => {
                let wanted: Vec<_> = commit.entries().iter().map(|entry| entry.id).collect();
                assert_eq!(wanted, ids);
            }
            other => panic!("expected a commit, not {other:?}"),
        }
        self
    }

    /// Whether the commit that is wanted has this id among others.
    pub(crate) fn would_commit(&self, id: u64) -> bool {
        match &self.command {
            Some(Command::Commit(commit)) => commit.entries().iter().any(|entry| entry.id == id),
            other => panic!("expected a commit, not {other:?}"),
        }
    }

    /// The commit arrives, lands, and its answer is heard.
    pub(crate) fn commit_lands(&mut self) -> &mut Self {
        self.commit_with(|store, write| Ok(store.arrive(write).expect("the fence holds")))
    }

    /// The commit arrives, and its fence does not hold.
    pub(crate) fn commit_is_refused(&mut self) -> &mut Self {
        self.commit_with(|store, write| {
            assert_eq!(store.arrive(write), None, "the fence holds");
            Err(CommitError::Refused)
        })
    }

    /// The commit lands; a layer below loses the answer, sends it again, and hands on the refusal.
    pub(crate) fn commit_is_refused_by_its_own_copy(&mut self) -> &mut Self {
        self.commit_with(|store, write| {
            store.arrive(write).expect("the fence holds");
            Err(CommitError::Refused)
        })
    }

    /// The commit certainly does not land.
    pub(crate) fn commit_fails(&mut self, fault: Fault<io::Error>) -> &mut Self {
        self.commit_with(|_, _| Err(CommitError::NotLanded(fault)))
    }

    /// The commit lands, and its answer is lost.
    pub(crate) fn commit_lands_unheard(&mut self) -> &mut Self {
        self.commit_with(|store, write| {
            store.arrive(write).expect("the fence holds");
            Err(CommitError::InDoubt(error("timed out")))
        })
    }

    /// No answer comes, and the commit is still under way.
    pub(crate) fn commit_goes_adrift(&mut self) -> &mut Self {
        self.commit_with(|store, write| {
            store.set_adrift(write);
            Err(CommitError::InDoubt(error("timed out")))
        })
    }

    /// The store's call panics, with the commit still under way.
    pub(crate) fn commit_panics(&mut self) -> &mut Self {
        let mut write = None;
        self.step(|command, now| match command {
            Command::Commit(commit) => {
                write = Some(Write::ours(commit.commit()));
                commit.panicked(now, "in commit".into())
            }
            other @ (Command::Read(_) | Command::Sleep(_) | Command::Done(_)) => {
                panic!("expected a commit, not {other:?}")
            }
        });
        self.store.set_adrift(write.expect("set above"));
        self
    }

    fn commit_with(
        &mut self,
        answer: impl FnOnce(&mut Store, Write) -> Result<u64, CommitError<io::Error>>,
    ) -> &mut Self {
        let Some(Command::Commit(commit)) = self.command.take() else {
            panic!("expected a commit");
        };
        let answer = answer(&mut self.store, Write::ours(commit.commit()));
        self.command = Some(commit.resume(self.now, answer));
        self
    }

    /// What was adrift arrives, and takes effect.
    pub(crate) fn the_adrift_lands(&mut self) -> &mut Self {
        assert!(self.store.drift_in(), "the adrift came too late");
        self
    }

    /// What was adrift arrives, and its fence does not hold any more.
    pub(crate) fn the_adrift_comes_too_late(&mut self) -> &mut Self {
        assert!(!self.store.drift_in(), "the adrift took effect");
        self
    }

    /// Another process commits.
    pub(crate) fn a_rival_commits(&mut self, id: u64, cents: i64) -> &mut Self {
        self.store.rival(deposit(id, cents));
        self
    }

    // ---- pauses, answers, end ---------------------------------------------------------------------

    /// How long the round trip wants to sleep.
    pub(crate) fn pause(&self) -> Duration {
        match &self.command {
            Some(Command::Sleep(sleep)) => sleep.duration(),
            other => panic!("expected a pause, not {other:?}"),
        }
    }

    /// The round trip sleeps for as long as it wants to.
    pub(crate) fn sleeps(&mut self) -> &mut Self {
        let pause = self.pause();
        self.sleeps_for(pause)
    }

    /// The round trip sleeps, and is woken after so long, whatever it wanted.
    pub(crate) fn sleeps_for(&mut self, time: Duration) -> &mut Self {
        self.now = self.now + time;
        self.step(|command, now| match command {
            Command::Sleep(sleep) => sleep.wake(now),
            other @ (Command::Read(_) | Command::Commit(_) | Command::Done(_)) => {
                panic!("expected a pause, not {other:?}")
            }
        })
    }

    /// Time passes while a call of the store is under way.
    pub(crate) fn takes(&mut self, time: Duration) -> &mut Self {
        self.now = self.now + time;
        self
    }

    /// What callers were told since this was last asked.
    #[track_caller]
    pub(crate) fn hears(&mut self, answers: &[&str]) -> &mut Self {
        let heard: Vec<_> = self.command().answers().map(tell).collect();
        assert_eq!(heard, answers);
        self
    }

    /// The round trip is over and everyone was told.
    #[track_caller]
    pub(crate) fn ends(&mut self) -> Tally {
        self.ends_with_call().0
    }

    /// As `ends`, with the call to start again.
    #[track_caller]
    pub(crate) fn ends_with_call(&mut self) -> (Tally, Call<F>) {
        self.hears(&[]);
        match self.command.take() {
            Some(Command::Done(done)) => {
                let tally = *done.tally();
                let (batch, call) = done.finish();
                assert_eq!((batch.key(), batch.items()), (&ACCOUNT, &[][..]));
                (tally, call)
            }
            other => panic!("expected the end, not {other:?}"),
        }
    }

    pub(crate) fn command(&mut self) -> &mut Command<F> {
        self.command.as_mut().expect("the story is not over")
    }

    fn step(&mut self, carry: impl FnOnce(Command<F>, Instant) -> Command<F>) -> &mut Self {
        let command = self.command.take().expect("the story is not over");
        self.command = Some(carry(command, self.now));
        self
    }
}

/// What a caller hears, in short.
pub(crate) fn tell<F: Depositing>(answer: Answered<F>) -> String {
    let id = answer.input.id;
    match answer.result {
        Ok(outcome) => format!("{id}: {outcome}"),
        Err(Failure::NotCommitted(cause)) => format!("{id}: not committed, {}", brief(&cause)),
        Err(Failure::InDoubt(cause)) => format!("{id}: in doubt, {}", brief(&cause)),
    }
}
