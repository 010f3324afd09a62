//! A round trip told step by step: what it asks for, and how the store answers.

use core::time::Duration;
use std::io;

use ferry_core::{
    Answer, CommitError, Durability, Failure, Fault, Instant, ProjectResult, Projection, RecordOf,
    Retry,
    projected_write::{Answered, Call, Command, ProjectedWrite, Reading},
};

use crate::{
    actor::{Actor, World},
    deposits::{Accounts, Deposit, Deposits, batch_within},
    store::{Store, Write, Writer},
    tallied::Tallied,
};

pub(crate) use crate::words::{ACCOUNT, RETRY, brief, busy, by, deposit, down, error, too_large};

pub(crate) const MS: Duration = Duration::from_millis(1);

/// One try and no more.
pub(crate) const ONCE: Retry = Retry {
    attempts: 1,
    ..RETRY
};

const OURS: Writer = Writer(0);

/// A fold of deposits to accounts, and a view of what it leaves.
pub(crate) trait Depositing:
    Projection<Schema = Accounts, Input = Deposit, Outcome = i64, View = Vec<u64>>
{
}
impl<P> Depositing for P where
    P: Projection<Schema = Accounts, Input = Deposit, Outcome = i64, View = Vec<u64>>
{
}

pub(crate) struct Story<P: Depositing = Deposits> {
    pub(crate) world: World,
    command: Option<Command<P>>,
}

impl Story {
    /// One batch of these deposits, on an account without a record.
    pub(crate) fn of(deposits: impl IntoIterator<Item = Deposit>) -> Self {
        Self::on(&World::default(), deposits)
    }

    /// One batch of these deposits, in this world.
    pub(crate) fn on(world: &World, deposits: impl IntoIterator<Item = Deposit>) -> Self {
        Self::with(world, Deposits, RETRY, patiently(deposits))
    }

    /// One batch of these deposits with their deadlines.
    pub(crate) fn within(
        world: &World,
        deposits: impl IntoIterator<Item = (Deposit, Option<Instant>)>,
    ) -> Self {
        Self::with(world, Deposits, RETRY, deposits)
    }

    pub(crate) fn retrying(
        world: &World,
        retry: Retry,
        deposits: impl IntoIterator<Item = Deposit>,
    ) -> Self {
        Self::with(world, Deposits, retry, patiently(deposits))
    }
}

/// These deposits, without deadlines.
pub(crate) fn patiently(
    deposits: impl IntoIterator<Item = Deposit>,
) -> impl Iterator<Item = (Deposit, Option<Instant>)> {
    deposits.into_iter().map(|deposit| (deposit, None))
}

impl<P: Depositing> Story<P> {
    pub(crate) fn with(
        world: &World,
        projection: P,
        retry: Retry,
        deposits: impl IntoIterator<Item = (Deposit, Option<Instant>)>,
    ) -> Self {
        let call = ProjectedWrite::new(projection, retry).unwrap().call(42);
        let mut story = Self {
            world: world.clone(),
            command: None,
        };
        story.begins(call, deposits);
        story
    }

    /// The call is started with a batch.
    pub(crate) fn begins(
        &mut self,
        call: Call<P>,
        deposits: impl IntoIterator<Item = (Deposit, Option<Instant>)>,
    ) -> &mut Self {
        let batch = batch_within(ACCOUNT, deposits);
        self.command = Some(call.start(self.world.now(), batch));
        self
    }

    // ---- reads ----------------------------------------------------------------------------------

    /// The round trip wants to read for inputs of these ids; of none, for its projection.
    #[track_caller]
    pub(crate) fn reads_for(&mut self, ids: &[u64]) -> &mut Self {
        match &self.command {
            Some(Command::Read(read)) => assert_eq!((read.key(), read.ids()), (&ACCOUNT, ids)),
            other => panic!("expected a read, not {other:?}"),
        }
        self.reads()
    }

    fn read_with(&mut self, answer: impl FnOnce(Reading<P>, Instant) -> Command<P>) -> &mut Self {
        self.step(|command, now| match command {
            Command::Read(read) => answer(read, now),
            other @ (Command::Commit(_)
            | Command::Project(_)
            | Command::Sleep(_)
            | Command::Done(_)) => {
                panic!("expected a read, not {other:?}")
            }
        })
    }

    // ---- commits --------------------------------------------------------------------------------

    /// What the round trip wants to commit, by id.
    #[track_caller]
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

    /// The store's call panics; the commit had landed.
    pub(crate) fn commit_panics(&mut self) -> &mut Self {
        let write = self.commit();
        self.world.store_mut().arrive(write);
        self.step(|command, now| match command {
            Command::Commit(commit) => commit.panicked(now, "in commit".into()),
            other @ (Command::Read(_)
            | Command::Project(_)
            | Command::Sleep(_)
            | Command::Done(_)) => {
                panic!("expected a commit, not {other:?}")
            }
        })
    }

    fn commit(&self) -> Write {
        match &self.command {
            Some(Command::Commit(commit)) => Write::commit(commit.commit(), OURS),
            other => panic!("expected a commit, not {other:?}"),
        }
    }

    fn commit_with(
        &mut self,
        answer: impl FnOnce(&mut Store, Write) -> Result<u64, CommitError<io::Error>>,
    ) -> &mut Self {
        let write = self.commit();
        let answer = answer(&mut self.world.store_mut(), write);
        self.step(|command, now| match command {
            Command::Commit(commit) => commit.resume(now, answer),
            Command::Read(_) | Command::Project(_) | Command::Sleep(_) | Command::Done(_) => {
                unreachable!("seen above")
            }
        })
    }

    // ---- answers, end -----------------------------------------------------------------------------

    /// What callers were told since this was last asked.
    #[track_caller]
    pub(crate) fn hears(&mut self, answers: &[&str]) -> &mut Self {
        let heard: Vec<_> = self.command().answers().map(tell).collect();
        assert_eq!(heard, answers);
        self
    }

    /// The round trip is over and everyone was told; this is what it took.
    #[track_caller]
    pub(crate) fn ends(&mut self, tallied: &[Tallied]) {
        self.ends_with_call(tallied);
    }

    /// As `ends`, with the call to start again.
    #[track_caller]
    pub(crate) fn ends_with_call(&mut self, tallied: &[Tallied]) -> Call<P> {
        self.hears(&[]);
        match self.command.take() {
            Some(Command::Done(done)) => {
                assert_eq!(crate::tallied::of(done.tally()), tallied);
                let (batch, call) = done.finish();
                assert_eq!((batch.key(), batch.items()), (&ACCOUNT, &[][..]));
                call
            }
            other => panic!("expected the end, not {other:?}"),
        }
    }

    /// The process dies, whatever it was about to do.
    pub(crate) fn crashes(self) {
        assert!(
            !matches!(self.command, None | Some(Command::Done(_))),
            "there is nothing left to crash"
        );
    }

    pub(crate) fn command(&mut self) -> &mut Command<P> {
        self.command.as_mut().expect("the story is not over")
    }

    fn step(&mut self, carry: impl FnOnce(Command<P>, Instant) -> Command<P>) -> &mut Self {
        let command = self.command.take().expect("the story is not over");
        self.command = Some(carry(command, self.world.now()));
        self
    }
}

impl<P: Depositing> Actor for Story<P> {
    fn world(&self) -> &World {
        &self.world
    }

    fn answers_read(&mut self, read: Result<Option<RecordOf<Accounts>>, Fault<io::Error>>) {
        self.read_with(|stage, now| stage.resume(now, read));
    }

    fn read_panics(&mut self) -> &mut Self {
        self.read_with(|stage, now| stage.panicked(now, "in read".into()))
    }

    #[track_caller]
    fn wanted(&self) -> &RecordOf<Accounts> {
        match &self.command {
            Some(Command::Project(project)) => {
                assert_eq!(project.key(), &ACCOUNT);
                project.record()
            }
            other => panic!("expected a projection, not {other:?}"),
        }
    }

    fn answers_projection(&mut self, result: ProjectResult<Vec<u64>, io::Error>) {
        self.step(|command, now| match command {
            Command::Project(project) => project.resume(now, result),
            other @ (Command::Read(_)
            | Command::Commit(_)
            | Command::Sleep(_)
            | Command::Done(_)) => {
                panic!("expected a projection, not {other:?}")
            }
        });
    }

    fn panics_in_projection(&mut self) {
        self.step(|command, now| match command {
            Command::Project(project) => project.panicked(now, "in project".into()),
            other @ (Command::Read(_)
            | Command::Commit(_)
            | Command::Sleep(_)
            | Command::Done(_)) => {
                panic!("expected a projection, not {other:?}")
            }
        });
    }

    #[track_caller]
    fn pause(&self) -> Duration {
        match &self.command {
            Some(Command::Sleep(sleep)) => sleep.duration(),
            other => panic!("expected a pause, not {other:?}"),
        }
    }

    fn wakes(&mut self) {
        self.step(|command, now| match command {
            Command::Sleep(sleep) => sleep.wake(now),
            other @ (Command::Read(_)
            | Command::Commit(_)
            | Command::Project(_)
            | Command::Done(_)) => {
                panic!("expected a pause, not {other:?}")
            }
        });
    }
}

/// What a caller hears, in short.
pub(crate) fn tell<P: Depositing>(answered: Answered<P>) -> String {
    let id = answered.input.id;
    match answered.result {
        Ok(Answer {
            outcome,
            durability: Durability::Projected,
        }) => format!("{id}: {outcome}, projected"),
        Ok(Answer {
            outcome,
            durability: Durability::Committed(cause),
        }) => format!("{id}: {outcome}, committed, {}", brief(&cause)),
        Err(Failure::NotCommitted(cause)) => format!("{id}: not committed, {}", brief(&cause)),
        Err(Failure::InDoubt(cause)) => format!("{id}: in doubt, {}", brief(&cause)),
    }
}
