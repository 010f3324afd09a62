//! The handle, and what it is to Ferry.

use std::{
    fmt,
    marker::PhantomData,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, JoinHandle},
};

use crossbeam_channel::{Sender, unbounded};
use ferry_core::{Commit, CommitError, Fault, Record, RecordOf, Schema, drive::Store};
use futures_channel::oneshot;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Audit, Entry, Known, OpenError, Options, Part, SqliteError, Stored, Version,
    connection::File,
    error::undecodable,
    open::Opened,
    queue::{self, Found, Queued, Read, Row, committed},
    reader,
    writer::{self, Verdict},
};

/// A store in one SQLite file: a record per key with a body `B`, and an entry per applied input with
/// the outcome `O` that its caller was told.
///
/// A handle is cheap to clone; all clones share one writing thread and a few that read. They end when
/// the last handle is dropped, after what is queued has been committed; dropping does not wait for
/// that, [`close`](Self::close) does.
///
/// Within a process, share one handle rather than open the file again: commits of one handle share
/// their syncs, those of two take turns. Other processes may open the same file.
///
/// # Cancel safety
///
/// The future of a commit that was polled once can be dropped: the commit still runs. The queue has no
/// bound of its own, since Ferry bounds what is in flight.
pub struct SqliteStore<B, O> {
    shared: Arc<Shared>,
    types: PhantomData<fn() -> (B, O)>,
}

struct Shared {
    file: File,
    reads: Sender<Read>,
    commits: Sender<Queued>,
    tally: Arc<Tally>,
    threads: Vec<JoinHandle<()>>,
}

/// What a store has done since it was opened, over all clones of its handle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Transactions that were committed, each with one sync of the disk.
    pub transactions: u64,
    /// Commits that landed in them. Divided by `transactions`: how many keys shared a sync.
    pub commits: u64,
    /// Commits that were refused.
    pub refused: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Tally {
    transactions: AtomicU64,
    commits: AtomicU64,
    refused: AtomicU64,
}

impl Tally {
    /// Counts a group that was committed, or of which nothing had to be.
    pub(crate) fn add(&self, verdicts: &[Verdict]) {
        let count = |wanted: fn(&Verdict) -> bool| {
            verdicts.iter().filter(|verdict| wanted(verdict)).count() as u64
        };
        let landed = count(|verdict| matches!(verdict, Verdict::Landed(_)));
        let refused = count(|verdict| matches!(verdict, Verdict::Refused));
        self.transactions
            .fetch_add(landed.min(1), Ordering::Relaxed);
        self.commits.fetch_add(landed, Ordering::Relaxed);
        self.refused.fetch_add(refused, Ordering::Relaxed);
    }
}

impl<B, O> SqliteStore<B, O> {
    /// Opens the file with the default [`Options`], or creates it.
    ///
    /// Blocks for as long as the file is locked, up to 5 s.
    ///
    /// # Errors
    ///
    /// See [`OpenError`]. A file that is refused has not been changed.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Options::new().open(path)
    }

    pub(crate) fn start(opened: Opened) -> Result<Self, OpenError> {
        let Opened {
            file,
            writer,
            readers,
        } = opened;
        let tally = Arc::new(Tally::default());
        let (commits, queue) = unbounded();
        let mut threads = Vec::with_capacity(1 + readers.len());
        threads.push(spawn("ferry-sqlite-writer", {
            let (file, tally) = (file.clone(), Arc::clone(&tally));
            move || writer::run(&file, writer, &queue, &tally)
        })?);
        let (reads, queue) = unbounded();
        for conn in readers {
            let (file, queue) = (file.clone(), queue.clone());
            threads.push(spawn("ferry-sqlite-reader", move || {
                reader::run(&file, conn, &queue);
            })?);
        }
        let shared = Arc::new(Shared {
            file,
            reads,
            commits,
            tally,
            threads,
        });
        Ok(Self {
            shared,
            types: PhantomData,
        })
    }

    /// The file, as an absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.shared.file.path
    }

    /// What the store has done since it was opened.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let tally = &self.shared.tally;
        Stats {
            transactions: tally.transactions.load(Ordering::Relaxed),
            commits: tally.commits.load(Ordering::Relaxed),
            refused: tally.refused.load(Ordering::Relaxed),
        }
    }

    /// A view of the whole file as it is now, on a connection of its own. Blocks while it opens.
    ///
    /// # Errors
    ///
    /// As a read.
    pub fn audit(&self) -> Result<Audit<B, O>, SqliteError> {
        Audit::begin(&self.shared.file)
    }

    /// Gives up this handle. If it was the last, blocks until what is queued has been committed and the
    /// file is closed.
    pub fn close(self) {
        if let Some(shared) = Arc::into_inner(self.shared) {
            drop((shared.reads, shared.commits));
            for thread in shared.threads {
                // A panic there was reported by the panic hook, and to every caller it concerned.
                let _panicked = thread.join();
            }
        }
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, OpenError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map_err(OpenError::Thread)
}

impl<B, O> Clone for SqliteStore<B, O> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            types: PhantomData,
        }
    }
}

impl<B, O> fmt::Debug for SqliteStore<B, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.shared.file.path)
            .field("options", &self.shared.file.options)
            .finish_non_exhaustive()
    }
}

impl<B, O> Schema for SqliteStore<B, O> {
    type Key = String;
    type Id = String;
    type State = Stored<B, O>;
    type Version = Version;
    type Entry = Entry<O>;
    type Error = SqliteError;
}

impl<B, O> Store for SqliteStore<B, O>
where
    B: Serialize + DeserializeOwned + Send + Sync + 'static,
    O: Serialize + DeserializeOwned + Send + Sync + 'static,
{
    async fn read(
        &self,
        key: &String,
        ids: &[String],
    ) -> Result<Option<RecordOf<Self>>, Fault<SqliteError>> {
        let (answer, answered) = oneshot::channel();
        let read = Read {
            key: key.clone(),
            ids: ids.to_vec(),
            answer,
        };
        // Where no thread is left to take it, the channel closes and says so below.
        let _unsent = self.shared.reads.send(read);
        match answered.await {
            Ok(found) => decode(key, found?),
            Err(oneshot::Canceled) => Err(Fault::permanent(SqliteError::Stopped)),
        }
    }

    async fn commit(
        &self,
        key: &String,
        commit: Commit<'_, Self>,
    ) -> Result<Version, CommitError<SqliteError>> {
        let commit = encode(key, commit).map_err(Fault::permanent)?;
        let (queued, answered) = Queued::new(commit);
        // Where no thread is left to take it, it comes back and answers itself.
        let _unsent = self.shared.commits.send(queued);
        committed(answered).await
    }
}

/// Done by the caller, so that code of the user's types never runs on the store's threads.
fn encode<B: Serialize, O: Serialize>(
    key: &str,
    commit: Commit<'_, SqliteStore<B, O>>,
) -> Result<queue::Commit, SqliteError> {
    let unencodable = |part| {
        move |source| SqliteError::Unencodable {
            key: key.to_owned(),
            part,
            source: Arc::new(source),
        }
    };
    let body = commit.state.body.as_ref().map(serde_json::to_string);
    let entries = commit.entries.iter().map(|entry| {
        Ok(Row {
            id: entry.id.clone(),
            fingerprint: entry.fingerprint,
            outcome: serde_json::to_string(&entry.outcome).map_err(unencodable(Part::Outcome))?,
            body: entry.body.clone(),
        })
    });
    Ok(queue::Commit {
        key: key.to_owned(),
        expected: commit
            .expected
            .copied()
            .filter(|version| *version != Version::ABSENT),
        body: body.transpose().map_err(unencodable(Part::Body))?,
        entries: entries.collect::<Result<_, _>>()?,
    })
}

/// As [`encode`], the other way.
fn decode<B: DeserializeOwned, O: DeserializeOwned>(
    key: &str,
    found: Found,
) -> Result<Option<RecordOf<SqliteStore<B, O>>>, Fault<SqliteError>> {
    let (version, body) = match found.record {
        Some(record) => record,
        None if found.known.is_empty() => return Ok(None),
        // The record is gone, its entries are not: what they say of the ids still has to be heard.
        None => (Version::ABSENT, None),
    };
    let mut known = Known::default();
    for (id, fingerprint, outcome) in found.known {
        known.insert(id, fingerprint, parse(key, Part::Outcome, &outcome)?);
    }
    let body = body.map(|body| parse(key, Part::Body, &body)).transpose()?;
    let state = Stored {
        body,
        known,
        ..Stored::default()
    };
    Ok(Some(Record { state, version }))
}

pub(crate) fn parse<T: DeserializeOwned>(
    key: &str,
    part: Part,
    json: &[u8],
) -> Result<T, Fault<SqliteError>> {
    serde_json::from_slice(json)
        .map_err(|error| Fault::permanent(undecodable(key, part, Arc::new(error))))
}
