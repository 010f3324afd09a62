//! The two files without one of the things that keep them in step, so that a test can look at the damage.

use std::marker::PhantomData;

use ferry_core::{
    Commit, CommitError, Coverage, Fault, ProjectResult, RecordOf, Schema,
    drive::{BlockingProjectedStore, BlockingStore},
};

use super::{Account, Entry, Stop, Trouble, TwoFiles};

/// How to project: all as it should be, but for what a policy says otherwise.
pub(crate) trait Policy: 'static {
    const TAKE: &str = super::TAKE;
    const MOVE_MARKER: &str = super::MOVE_MARKER;

    fn project(
        files: &TwoFiles,
        key: &str,
        record: &RecordOf<TwoFiles>,
    ) -> ProjectResult<Vec<String>, Trouble> {
        let owed = files.owed(key, record)?;
        files.stop(key, Stop::Before)?;
        if let Some(part) = files.take(Self::TAKE, key, &owed)? {
            return Ok(part);
        }
        files.stop(key, Stop::Between)?;
        files.move_marker(Self::MOVE_MARKER, key, record)?;
        Ok(Coverage::Whole)
    }
}

/// The view takes entries wherever it is.
pub(crate) struct AnyPosition;

impl Policy for AnyPosition {
    const TAKE: &str = "
        UPDATE statement SET position = ?2, count = count + 1, balance = balance + ?3
        WHERE key = ?1";
}

/// The marker is moved also where there has been a newer commit.
pub(crate) struct AnyVersion;

impl Policy for AnyVersion {
    const MOVE_MARKER: &str = "
        UPDATE record SET marker = version WHERE key = ?1 AND version >= ?2 AND marker = ?3";
}

/// The marker is moved, and the view written after.
pub(crate) struct MarkerFirst;

impl Policy for MarkerFirst {
    fn project(
        files: &TwoFiles,
        key: &str,
        record: &RecordOf<TwoFiles>,
    ) -> ProjectResult<Vec<String>, Trouble> {
        let owed = files.owed(key, record)?;
        files.stop(key, Stop::Before)?;
        files.move_marker(Self::MOVE_MARKER, key, record)?;
        files.stop(key, Stop::Between)?;
        let part = files.take(Self::TAKE, key, &owed)?;
        Ok(part.unwrap_or(Coverage::Whole))
    }
}

/// The two files, projected by this policy.
pub(crate) struct Careless<P> {
    files: TwoFiles,
    policy: PhantomData<fn(P)>,
}

impl<P> Careless<P> {
    pub(crate) fn new(files: TwoFiles) -> Self {
        Self {
            files,
            policy: PhantomData,
        }
    }
}

impl<P> Schema for Careless<P> {
    type Key = String;
    type Id = String;
    type State = Account;
    type Version = i64;
    type Entry = Entry;
    type Error = Trouble;
}

impl<P: Policy> BlockingStore for Careless<P> {
    fn read(&self, key: &String, ids: &[String]) -> Result<Option<RecordOf<Self>>, Fault<Trouble>> {
        self.files.read(key, ids)
    }

    fn commit(&self, key: &String, commit: Commit<'_, Self>) -> Result<i64, CommitError<Trouble>> {
        let commit = Commit {
            expected: commit.expected,
            state: commit.state,
            entries: commit.entries,
        };
        self.files.commit(key, commit)
    }
}

impl<P: Policy> BlockingProjectedStore for Careless<P> {
    type View = Vec<String>;

    fn project(
        &self,
        key: &String,
        record: &RecordOf<Self>,
    ) -> ProjectResult<Vec<String>, Trouble> {
        P::project(&self.files, key, record)
    }
}
