//! What callers ask of the store's threads, and how an answer is never lost.

use ferry_core::{CommitError, Fault};
use futures_channel::oneshot;

use crate::{Fingerprint, SqliteError, Version};

pub(crate) type ReadResult = Result<Found, Fault<SqliteError>>;
pub(crate) type CommitResult = Result<Version, CommitError<SqliteError>>;

/// A read that waits for a thread.
pub(crate) struct Read {
    pub(crate) key: String,
    pub(crate) ids: Vec<String>,
    pub(crate) answer: oneshot::Sender<ReadResult>,
}

/// What was found, not yet decoded: that is left to the caller, whose types it needs.
pub(crate) struct Found {
    pub(crate) record: Option<(Version, Option<Vec<u8>>)>,
    /// Of the ids asked for, those that are stored: id, fingerprint, outcome.
    pub(crate) known: Vec<(String, Fingerprint, Vec<u8>)>,
}

/// A commit, encoded.
pub(crate) struct Commit {
    pub(crate) key: String,
    /// `None`: there must be no record.
    pub(crate) expected: Option<Version>,
    pub(crate) body: Option<String>,
    pub(crate) entries: Vec<Row>,
}

/// An entry of a commit, encoded.
pub(crate) struct Row {
    pub(crate) id: String,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) outcome: String,
    pub(crate) body: Vec<u8>,
}

/// A commit in the queue. Dropped there, it has not been written, and its caller is told so.
pub(crate) struct Queued(Option<Taken>);

/// A commit in the writer's hands. Dropped here, it may have been written: the caller finds the
/// channel closed, and is in doubt.
pub(crate) struct Taken {
    pub(crate) commit: Commit,
    pub(crate) answer: oneshot::Sender<CommitResult>,
}

impl Queued {
    pub(crate) fn new(commit: Commit) -> (Self, oneshot::Receiver<CommitResult>) {
        let (answer, answered) = oneshot::channel();
        (Self(Some(Taken { commit, answer })), answered)
    }

    /// Takes it out of the queue; `None` is never seen by whoever receives it.
    pub(crate) fn take(mut self) -> Option<Taken> {
        self.0.take()
    }
}

impl Drop for Queued {
    fn drop(&mut self) {
        if let Some(taken) = self.0.take() {
            taken.answer(Err(Fault::permanent(SqliteError::Stopped).into()));
        }
    }
}

impl Taken {
    /// Tells the caller, if it still listens.
    pub(crate) fn answer(self, result: CommitResult) {
        let _gone = self.answer.send(result);
    }
}

/// What a caller hears, also from a thread that is gone.
pub(crate) async fn committed(answered: oneshot::Receiver<CommitResult>) -> CommitResult {
    match answered.await {
        Ok(result) => result,
        Err(oneshot::Canceled) => Err(CommitError::InDoubt(SqliteError::Stopped)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued() -> (Queued, oneshot::Receiver<CommitResult>) {
        Queued::new(Commit {
            key: "a".into(),
            expected: None,
            body: None,
            entries: Vec::new(),
        })
    }

    #[test]
    fn a_commit_that_dies_in_the_queue_was_not_written() {
        let (queued, answered) = queued();
        drop(queued);
        let result = pollster::block_on(committed(answered));
        assert!(
            matches!(result, Err(CommitError::NotLanded(_))),
            "{result:?}"
        );
    }

    #[test]
    fn a_commit_that_dies_in_the_writers_hands_is_in_doubt() {
        let (queued, answered) = queued();
        drop(queued.take());
        let result = pollster::block_on(committed(answered));
        assert!(matches!(result, Err(CommitError::InDoubt(_))), "{result:?}");
    }

    #[test]
    fn a_queue_whose_writer_is_gone_answers_at_once() {
        let (queue, writer) = crossbeam_channel::unbounded();
        let (first, waits) = queued();
        queue.send(first).ok();
        drop(writer);
        let (second, comes_late) = queued();
        queue.send(second).ok();
        for answered in [waits, comes_late] {
            let result = pollster::block_on(committed(answered));
            assert!(
                matches!(result, Err(CommitError::NotLanded(_))),
                "{result:?}"
            );
        }
    }
}
