//! What is carried: words are counted, in a store with a conditional write.

use std::{
    collections::{BTreeMap, HashMap},
    convert::Infallible,
    sync::{Mutex, PoisonError, mpsc},
};

use ferry_core::{
    Commit, CommitError, Failure, Fault, Fold, Record, RecordOf, Schema, Step, StepOf,
    per_key::Reason,
};

/// So many more of a word.
#[derive(Clone, Copy)]
pub(crate) struct Add {
    pub(crate) id: u64,
    pub(crate) count: u64,
}

/// An input, and where its answer goes.
pub(crate) struct Request {
    pub(crate) add: Add,
    pub(crate) reply: mpsc::Sender<Heard>,
}

/// What a caller hears.
pub(crate) enum Heard {
    /// The total after its input, durable; or why there is none.
    Answered(Result<u64, Failure<Infallible>>),
    /// Its input was not accepted.
    Rejected(Reason),
}

impl Request {
    pub(crate) fn hear(self, heard: Heard) {
        // A caller that has gone does not hear.
        drop(self.reply.send(heard));
    }
}

#[derive(Clone, Default)]
pub(crate) struct Count {
    total: u64,
    /// Which inputs it holds, and the total that each led to.
    applied: BTreeMap<u64, u64>,
}

/// Adds up, each input once.
pub(crate) struct Adding;

impl Fold for Adding {
    type Schema = Counts;
    type Input = Request;
    type Outcome = u64;

    fn id(&self, request: &Request) -> u64 {
        request.add.id
    }

    fn empty(&self, _word: &&'static str) -> Count {
        Count::default()
    }

    fn step(&self, count: &mut Count, request: &Request) -> StepOf<Self> {
        let Add { id, count: more } = request.add;
        if let Some(&total) = count.applied.get(&id) {
            return Step::Already(total);
        }
        count.total += more;
        count.applied.insert(id, count.total);
        Step::Applied((), count.total)
    }
}

/// A store in memory, with the one thing that Ferry needs of a store: a conditional write.
#[derive(Default)]
pub(crate) struct Counts {
    words: Mutex<HashMap<&'static str, (Count, u64)>>,
}

impl Schema for Counts {
    type Key = &'static str;
    type Id = u64;
    type State = Count;
    type Version = u64;
    type Entry = ();
    type Error = Infallible;
}

impl Counts {
    pub(crate) fn read(
        &self,
        word: &&'static str,
    ) -> Result<Option<RecordOf<Self>>, Fault<Infallible>> {
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(words.get(word).map(|(count, version)| Record {
            state: count.clone(),
            version: *version,
        }))
    }

    pub(crate) fn commit(
        &self,
        word: &&'static str,
        commit: Commit<'_, Self>,
    ) -> Result<u64, CommitError<Infallible>> {
        let mut words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        if words.get(word).map(|(_, version)| version) != commit.expected {
            return Err(CommitError::Refused);
        }
        let version = commit.expected.map_or(1, |version| version + 1);
        words.insert(*word, (commit.state.clone(), version));
        Ok(version)
    }

    pub(crate) fn total(&self, word: &str) -> u64 {
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        words.get(word).map_or(0, |(count, _)| count.total)
    }

    /// Commits that landed: each made one version.
    pub(crate) fn commits(&self) -> u64 {
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        words.values().map(|(_, version)| version).sum()
    }
}
