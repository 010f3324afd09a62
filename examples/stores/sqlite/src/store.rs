//! The handle, and what it is to Ferry.

use std::{
    fmt,
    marker::PhantomData,
    path::Path,
    sync::Arc,
    thread::{self, JoinHandle},
};

use crossbeam_channel::{Sender, unbounded};
use ferry_core::{Commit, CommitError, Fault, RecordOf, Schema, drive::Store};
use futures_channel::oneshot;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    Audit, Entry, OpenError, Options, SqliteError, Stats, Stored, Version, codec,
    connection::File,
    open::Opened,
    queue::{Asked, Lookup, Queued, Read, ReadResult, Write, WriteResult, written},
    reader,
    tally::Tally,
    writer,
};

/// A store in one SQLite file: a record per key with a body `B`, an entry per applied input with the
/// outcome `O` that its caller was told, and, where it has views, the key's [`View`](crate::View) `V`.
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
/// The future of a commit that was polled once can be dropped: the commit still runs. That of a projection
/// can be dropped at any time: the view is then written, or the record stays pending. The queue has no
/// bound of its own, since Ferry bounds what is in flight.
pub struct SqliteStore<B, O, V = ()> {
    shared: Arc<Shared>,
    types: Types<B, O, V>,
}

pub(crate) type Types<B, O, V> = PhantomData<fn() -> (B, O, V)>;

struct Shared {
    file: File,
    reads: Sender<Read>,
    writes: Sender<Queued>,
    tally: Arc<Tally>,
    threads: Vec<JoinHandle<()>>,
}

impl<B, O, V> SqliteStore<B, O, V> {
    /// Opens the file with the default [`Options`], or creates it.
    ///
    /// Blocks for as long as the file is locked, up to 5 s. A file of an earlier layout is brought up to
    /// date, which reads it through once.
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
        let (writes, queue) = unbounded();
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
            writes,
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
        self.shared.tally.stats()
    }

    /// The whole file as it is now, on a connection of its own. Blocks while it opens.
    ///
    /// # Errors
    ///
    /// As a read.
    pub fn audit(&self) -> Result<Audit<B, O, V>, SqliteError> {
        Audit::begin(&self.shared.file)
    }

    /// Gives up this handle. If it was the last, blocks until what is queued has been committed and the
    /// file is closed.
    pub fn close(self) {
        if let Some(shared) = Arc::into_inner(self.shared) {
            drop((shared.reads, shared.writes));
            for thread in shared.threads {
                // A panic there was reported by the panic hook, and to every caller it concerned.
                let _panicked = thread.join();
            }
        }
    }

    /// Has a thread look something up.
    pub(crate) async fn ask<Q, A>(
        &self,
        question: Q,
        read: fn(Asked<Q, A>) -> Read,
    ) -> ReadResult<A> {
        let (asked, answered) = Asked::new(question);
        // Where no thread is left to take it, the channel closes and says so below.
        let _unsent = self.shared.reads.send(read(asked));
        match answered.await {
            Ok(result) => result,
            Err(oneshot::Canceled) => Err(Fault::permanent(SqliteError::Stopped)),
        }
    }

    /// Has the writer write something.
    pub(crate) async fn write(&self, write: Write) -> WriteResult {
        let (queued, answered) = Queued::new(write);
        // Where no thread is left to take it, it comes back and answers itself.
        let _unsent = self.shared.writes.send(queued);
        written(answered).await
    }

    pub(crate) fn tally(&self) -> &Tally {
        &self.shared.tally
    }
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, OpenError> {
    thread::Builder::new()
        .name(name.to_owned())
        .spawn(run)
        .map_err(OpenError::Thread)
}

impl<B, O, V> Clone for SqliteStore<B, O, V> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            types: PhantomData,
        }
    }
}

impl<B, O, V> fmt::Debug for SqliteStore<B, O, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.shared.file.path)
            .field("options", &self.shared.file.options)
            .finish_non_exhaustive()
    }
}

impl<B, O, V> Schema for SqliteStore<B, O, V> {
    type Key = String;
    type Id = String;
    type State = Stored<B, O>;
    type Version = Version;
    type Entry = Entry<O>;
    type Error = SqliteError;
}

impl<B, O, V> Store for SqliteStore<B, O, V>
where
    B: Serialize + DeserializeOwned + Send + Sync + 'static,
    O: Serialize + DeserializeOwned + Send + Sync + 'static,
    V: 'static,
{
    async fn read(
        &self,
        key: &String,
        ids: &[String],
    ) -> Result<Option<RecordOf<Self>>, Fault<SqliteError>> {
        let lookup = Lookup {
            key: key.clone(),
            ids: ids.to_vec(),
        };
        codec::record(key, self.ask(lookup, Read::Record).await?)
    }

    async fn commit(
        &self,
        key: &String,
        commit: Commit<'_, Self>,
    ) -> Result<Version, CommitError<SqliteError>> {
        let commit = codec::commit(key, commit.expected, commit.state, commit.entries)
            .map_err(Fault::permanent)?;
        self.write(Write::Commit(commit)).await
    }
}
