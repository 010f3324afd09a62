//! What callers ask of the store's threads, and how an answer is never lost.

use ferry_core::{CommitError, Fault};
use futures_channel::oneshot;

use crate::{Fingerprint, SqliteError, Version};

pub(crate) type ReadResult<A> = Result<A, Fault<SqliteError>>;
pub(crate) type WriteResult = Result<Version, CommitError<SqliteError>>;

/// A read that waits for a thread.
///
/// What is found comes back as it is stored, to be decoded by the caller, whose types it needs.
pub(crate) enum Read {
    Record(Asked<Lookup, Found>),
    Debt(Asked<Owing, Option<Debt>>),
    View(Asked<String, Option<ViewRow>>),
    Pending(Asked<Page, Vec<String>>),
}

/// A question, and where its answer goes.
pub(crate) struct Asked<Q, A> {
    pub(crate) question: Q,
    answer: oneshot::Sender<ReadResult<A>>,
}

/// A record, and what is stored of these ids.
pub(crate) struct Lookup {
    pub(crate) key: String,
    pub(crate) ids: Vec<String>,
}

pub(crate) struct Found {
    pub(crate) record: Option<RecordRow>,
    /// Of the ids asked for, those that are stored: id, fingerprint, outcome.
    pub(crate) known: Vec<(String, Fingerprint, Vec<u8>)>,
}

pub(crate) struct RecordRow {
    pub(crate) version: Version,
    pub(crate) marker: Version,
    pub(crate) body: Option<Vec<u8>>,
}

/// What the view of a record lacks, if the record still has this version and this marker.
#[derive(Clone)]
pub(crate) struct Owing {
    pub(crate) key: String,
    pub(crate) version: Version,
    pub(crate) marker: Version,
}

/// A view, and the entries that are to be taken into it.
pub(crate) struct Debt {
    /// `None`: the view begins anew.
    pub(crate) view: Option<ViewRow>,
    pub(crate) entries: Vec<EntryRow>,
}

pub(crate) struct EntryRow {
    pub(crate) seq: u64,
    pub(crate) id: String,
    pub(crate) fingerprint: Fingerprint,
    pub(crate) outcome: Vec<u8>,
    pub(crate) body: Vec<u8>,
}

pub(crate) struct ViewRow {
    pub(crate) version: Version,
    /// The place of the last entry that it includes.
    pub(crate) entries: u64,
    pub(crate) body: Vec<u8>,
}

/// Some keys of pending records, from this one on.
pub(crate) struct Page {
    pub(crate) from: String,
    pub(crate) limit: usize,
}

impl<Q, A> Asked<Q, A> {
    pub(crate) fn new(question: Q) -> (Self, oneshot::Receiver<ReadResult<A>>) {
        let (answer, answered) = oneshot::channel();
        (Self { question, answer }, answered)
    }

    /// Tells the caller, if it still listens.
    pub(crate) fn answer(self, result: ReadResult<A>) {
        let _gone = self.answer.send(result);
    }
}

impl Read {
    /// Tells the caller what kept the question from being asked.
    pub(crate) fn fail(self, fault: Fault<SqliteError>) {
        match self {
            Self::Record(asked) => asked.answer(Err(fault)),
            Self::Debt(asked) => asked.answer(Err(fault)),
            Self::View(asked) => asked.answer(Err(fault)),
            Self::Pending(asked) => asked.answer(Err(fault)),
        }
    }
}

/// A fenced write, encoded.
pub(crate) enum Write {
    Commit(Commit),
    Projection(Projection),
}

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

pub(crate) struct Projection {
    pub(crate) owing: Owing,
    /// The place of the last entry that the view includes.
    pub(crate) entries: u64,
    pub(crate) body: String,
}

impl Write {
    pub(crate) fn key(&self) -> &str {
        match self {
            Self::Commit(commit) => &commit.key,
            Self::Projection(projection) => &projection.owing.key,
        }
    }
}

/// A write in the queue. Dropped there, it has not been made, and its caller is told so.
pub(crate) struct Queued(Option<Taken>);

/// A write in the writer's hands. Dropped here, it may have been made: the caller finds the channel
/// closed, and is in doubt.
pub(crate) struct Taken {
    pub(crate) write: Write,
    pub(crate) answer: oneshot::Sender<WriteResult>,
}

impl Queued {
    pub(crate) fn new(write: Write) -> (Self, oneshot::Receiver<WriteResult>) {
        let (answer, answered) = oneshot::channel();
        (Self(Some(Taken { write, answer })), answered)
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
    pub(crate) fn answer(self, result: WriteResult) {
        let _gone = self.answer.send(result);
    }
}

/// What a caller hears, also from a thread that is gone: the version that the record, or its marker,
/// now has.
pub(crate) async fn written(answered: oneshot::Receiver<WriteResult>) -> WriteResult {
    match answered.await {
        Ok(result) => result,
        Err(oneshot::Canceled) => Err(CommitError::InDoubt(SqliteError::Stopped)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued() -> (Queued, oneshot::Receiver<WriteResult>) {
        Queued::new(Write::Commit(Commit {
            key: "a".into(),
            expected: None,
            body: None,
            entries: Vec::new(),
        }))
    }

    #[test]
    fn a_write_that_dies_in_the_queue_was_not_made() {
        let (queued, answered) = queued();
        drop(queued);
        let result = pollster::block_on(written(answered));
        assert!(
            matches!(result, Err(CommitError::NotLanded(_))),
            "{result:?}"
        );
    }

    #[test]
    fn a_write_that_dies_in_the_writers_hands_is_in_doubt() {
        let (queued, answered) = queued();
        drop(queued.take());
        let result = pollster::block_on(written(answered));
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
            let result = pollster::block_on(written(answered));
            assert!(
                matches!(result, Err(CommitError::NotLanded(_))),
                "{result:?}"
            );
        }
    }
}
