//! What is carried: votes are counted, in a store that is on this thread, too, and that is not always well.

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap},
    fmt,
    rc::Rc,
    time::Duration,
};

use ferry_core::{Commit, CommitError, Fault, Fold, Record, RecordOf, Schema, Step, StepOf};

use crate::{executor::Executor, local_ferry::LocalStore};

/// One vote for an answer to a question. A voter votes once.
#[derive(Clone, Copy)]
pub(crate) struct Vote {
    pub(crate) voter: u64,
    pub(crate) answer: usize,
}

/// The votes for each answer to one question.
#[derive(Clone, Default)]
pub(crate) struct Tally {
    pub(crate) votes: [u64; 3],
    /// Who has voted, and how many votes the answer had by then.
    voted: BTreeMap<u64, u64>,
}

/// Counts, each vote once.
pub(crate) struct Counting;

impl Fold for Counting {
    type Schema = Ballots;
    type Input = Vote;
    type Outcome = u64;

    fn id(&self, vote: &Vote) -> u64 {
        vote.voter
    }

    fn empty(&self, _question: &&'static str) -> Tally {
        Tally::default()
    }

    fn step(&self, tally: &mut Tally, vote: &Vote) -> StepOf<Self> {
        if let Some(&votes) = tally.voted.get(&vote.voter) {
            return Step::Already(votes);
        }
        let votes = &mut tally.votes[vote.answer];
        *votes += 1;
        tally.voted.insert(vote.voter, *votes);
        Step::Applied((), *votes)
    }
}

/// The store. It has a conditional write, it takes its time, and now and then nobody hears that it has written.
pub(crate) struct Ballots {
    executor: Executor,
    tallies: Rc<RefCell<HashMap<&'static str, (Tally, u64)>>>,
    commits: Rc<Cell<u64>>,
}

/// The answer of the store was lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost;

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the store's answer was lost")
    }
}

impl std::error::Error for Lost {}

/// How long the store takes for a read or a write.
const TAKES: Duration = Duration::from_micros(200);

/// The answer to every so many-th commit is lost.
const EVERY: u64 = 7;

impl Schema for Ballots {
    type Key = &'static str;
    type Id = u64;
    type State = Tally;
    type Version = u64;
    type Entry = ();
    type Error = Lost;
}

impl LocalStore for Ballots {
    async fn read(
        &self,
        question: &&'static str,
        _voters: &[u64],
    ) -> Result<Option<RecordOf<Self>>, Fault<Lost>> {
        self.executor.sleep(TAKES).await;
        let tallies = self.tallies.borrow();
        Ok(tallies.get(question).map(|(tally, version)| Record {
            state: tally.clone(),
            version: *version,
        }))
    }

    async fn commit(
        &self,
        question: &&'static str,
        commit: Commit<'_, Self>,
    ) -> Result<u64, CommitError<Lost>> {
        self.executor.sleep(TAKES).await;
        let mut tallies = self.tallies.borrow_mut();
        if tallies.get(question).map(|(_, version)| version) != commit.expected {
            return Err(CommitError::Refused);
        }
        let version = commit.expected.map_or(1, |version| version + 1);
        tallies.insert(*question, (commit.state.clone(), version));
        self.commits.set(self.commits.get() + 1);
        if self.commits.get() % EVERY == 0 {
            return Err(CommitError::InDoubt(Lost));
        }
        Ok(version)
    }
}

impl Ballots {
    pub(crate) fn on(executor: &Executor) -> Self {
        Self {
            executor: executor.clone(),
            tallies: Rc::default(),
            commits: Rc::default(),
        }
    }

    /// The same store once more, as for another process.
    pub(crate) fn again(&self) -> Self {
        Self {
            executor: self.executor.clone(),
            tallies: Rc::clone(&self.tallies),
            commits: Rc::clone(&self.commits),
        }
    }

    pub(crate) fn votes(&self) -> u64 {
        let tallies = self.tallies.borrow();
        tallies.values().flat_map(|(tally, _)| tally.votes).sum()
    }

    /// Commits that landed.
    pub(crate) fn commits(&self) -> u64 {
        self.commits.get()
    }
}
