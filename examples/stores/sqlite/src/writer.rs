//! The one thread that writes: it takes what has queued up, commits and projections of many keys, in one
//! transaction.

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use crossbeam_channel::Receiver;
use ferry_core::{CommitError, Fault};
use rusqlite::{Connection, Transaction, TransactionBehavior, ffi};

use crate::{
    SqliteError,
    connection::File,
    error::{fault, named, primary_code},
    member::{self, Verdict},
    queue::{Queued, Taken, WriteResult},
    tally::Tally,
};

/// Writes until every handle is gone and the queue is empty.
///
/// While one group waits for the disk the next one gathers, so its size follows the load by itself.
pub(crate) fn run(file: &File, conn: Connection, queue: &Receiver<Queued>, tally: &Tally) {
    let mut conn = Some(conn);
    while let Ok(first) = queue.recv() {
        let queued = [first].into_iter().chain(queue.try_iter());
        let group: Vec<Taken> = queued
            .take(file.options.group_max)
            .filter_map(Queued::take)
            .collect();
        conn = match conn.map_or_else(|| file.writer(), Ok) {
            Ok(conn) => commit(&conn, file.options.busy_timeout, group, tally).then_some(conn),
            Err(error) => {
                not_landed(group, error);
                None
            }
        };
    }
}

/// Commits a group and answers each of its callers; says whether the connection is still good.
fn commit(conn: &Connection, patience: Duration, group: Vec<Taken>, tally: &Tally) -> bool {
    match write(conn, patience, &group) {
        Ok(verdicts) => {
            tally.add(group.iter().map(|taken| &taken.write).zip(&verdicts));
            for (taken, verdict) in group.into_iter().zip(verdicts) {
                taken.answer(verdict.into());
            }
            true
        }
        Err(Trouble::Group(error)) => not_landed(group, error),
        // One of them may be the cause (a damaged page, a body that fills the disk), and it must not
        // stop the others.
        Err(Trouble::Member(error)) if group.len() == 1 => not_landed(group, error),
        Err(Trouble::Member(_)) => {
            let mut good = true;
            for taken in group {
                good &= commit(conn, patience, vec![taken], tally);
            }
            good
        }
        Err(Trouble::Commit(error, verdicts)) => {
            let error = Arc::new(error);
            for (taken, verdict) in group.into_iter().zip(verdicts) {
                taken.answer(Err(after_failed_commit(verdict, &error)));
            }
            false
        }
    }
}

/// Answers a group of which nothing was written; says whether the connection is still good.
fn not_landed(group: Vec<Taken>, error: rusqlite::Error) -> bool {
    let fault = fault(error);
    let good = !fault.error.spoils_connection();
    for taken in group {
        taken.answer(Err(fault.clone().into()));
    }
    good
}

impl From<Verdict> for WriteResult {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Landed(version) => Ok(version),
            Verdict::Refused => Err(CommitError::Refused),
            Verdict::Failed(error) => Err(Fault::permanent(error).into()),
        }
    }
}

/// What a member's verdict is worth after `COMMIT` failed in a way that leaves it open whether the
/// log got there.
fn after_failed_commit(verdict: Verdict, error: &Arc<rusqlite::Error>) -> CommitError<SqliteError> {
    match verdict {
        Verdict::Landed(_) => CommitError::InDoubt(named(Arc::clone(error))),
        // Certainly not written; but what it was refused for may have been another member of this
        // very group, which is open now. So it is no refusal to conclude anything from.
        Verdict::Refused => Fault::transient(named(Arc::clone(error))).into(),
        Verdict::Failed(error) => Fault::permanent(error).into(),
    }
}

/// Why a group was not committed.
enum Trouble {
    /// Nothing was written, and no member is to blame.
    Group(rusqlite::Error),
    /// Nothing was written, and the member that was being written may be to blame.
    Member(rusqlite::Error),
    /// `COMMIT` failed: the members that would have landed are in doubt.
    Commit(rusqlite::Error, Vec<Verdict>),
}

fn write(conn: &Connection, patience: Duration, group: &[Taken]) -> Result<Vec<Verdict>, Trouble> {
    // IMMEDIATE waits for its turn here; a deferred transaction would find out at its first write
    // that somebody else was faster, and could only start over. Rolls back when dropped.
    let mut transaction =
        Transaction::new_unchecked(conn, TransactionBehavior::Immediate).map_err(Trouble::Group)?;
    let mut verdicts = Vec::with_capacity(group.len());
    for taken in group {
        let savepoint = transaction.savepoint().map_err(Trouble::Member)?;
        verdicts.push(member::write(savepoint, &taken.write).map_err(Trouble::Member)?);
    }
    if !verdicts
        .iter()
        .any(|verdict| matches!(verdict, Verdict::Landed(_)))
    {
        return Ok(verdicts);
    }
    match finish(conn, patience) {
        Ok(()) => Ok(verdicts),
        Err(error) if primary_code(&error) == ffi::SQLITE_BUSY && !conn.is_autocommit() => {
            transaction
                .rollback()
                .map_err(|error| Trouble::Commit(error, verdicts))?;
            Err(Trouble::Group(error))
        }
        Err(error) => Err(Trouble::Commit(error, verdicts)),
    }
}

/// `COMMIT`. A busy one leaves the transaction as it is, so it is the `COMMIT` that is tried again.
fn finish(conn: &Connection, patience: Duration) -> rusqlite::Result<()> {
    const PAUSE: Duration = Duration::from_millis(1);
    let begin = Instant::now();
    loop {
        match conn.prepare_cached("COMMIT")?.execute([]) {
            Err(error)
                if primary_code(&error) == ffi::SQLITE_BUSY
                    && !conn.is_autocommit()
                    && begin.elapsed() < patience =>
            {
                thread::sleep(PAUSE);
            }
            result => return result.map(drop),
        }
    }
}

#[cfg(test)]
mod tests {
    use ferry_core::Class;
    use futures_channel::oneshot::Receiver;
    use tempfile::TempDir;

    use super::*;
    use crate::{
        Fingerprint, Options, Version,
        queue::{Commit, Owing, Projection, Row, Write, written},
    };

    const PATIENCE: Duration = Duration::from_millis(30);

    /// A file, and a connection to commit groups through as the thread does.
    fn file() -> (TempDir, File, Connection) {
        let folder = tempfile::tempdir().expect("a folder");
        let options = Options::new().busy_timeout(PATIENCE);
        let opened = crate::open::open(&folder.path().join("a.db"), &options).expect("opens");
        (folder, opened.file, opened.writer)
    }

    fn create(key: &str, body_bytes: usize) -> (Taken, Receiver<WriteResult>) {
        let (queued, answered) = Queued::new(Write::Commit(Commit {
            key: key.into(),
            expected: None,
            body: Some("1".into()),
            entries: vec![Row {
                id: "1".into(),
                fingerprint: Fingerprint::of(b"1"),
                outcome: "1".into(),
                body: vec![0; body_bytes],
            }],
        }));
        (queued.take().expect("is there"), answered)
    }

    /// Commits new records of these sizes as one group.
    fn commit_all(conn: &Connection, records: &[(&str, usize)]) -> (bool, Vec<WriteResult>) {
        let (group, answered): (Vec<_>, Vec<_>) = records
            .iter()
            .map(|(key, bytes)| create(key, *bytes))
            .unzip();
        let good = commit(conn, PATIENCE, group, &Tally::default());
        let results = answered
            .into_iter()
            .map(|answered| pollster::block_on(written(answered)));
        (good, results.collect())
    }

    fn stored(conn: &Connection) -> Vec<String> {
        let mut statement = conn
            .prepare("SELECT key FROM ferry_record ORDER BY key")
            .expect("prepares");
        let keys = statement.query_map([], |row| row.get(0)).expect("queries");
        keys.collect::<Result<_, _>>().expect("reads")
    }

    #[test]
    fn what_finds_no_room_fails_alone_and_may_be_tried_again() {
        let (_folder, _file, conn) = file();
        let pages: i64 = conn
            .pragma_query_value(None, "page_count", |row| row.get(0))
            .expect("reads");
        conn.pragma_update(None, "max_page_count", pages + 10)
            .expect("limits");
        let (good, results) = commit_all(&conn, &[("a", 10), ("large", 1_000_000), ("z", 10)]);
        assert!(good);
        assert!(results[0].is_ok() && results[2].is_ok(), "{results:?}");
        let Err(CommitError::NotLanded(fault)) = &results[1] else {
            panic!("{results:?}");
        };
        assert_eq!(fault.class, Class::Throttled(None));
        assert!(matches!(fault.error, SqliteError::Full(_)), "{fault:?}");
        assert_eq!(stored(&conn), ["a", "z"]);
    }

    #[test]
    fn a_busy_commit_is_tried_again_and_not_the_batch() {
        let (_folder, file, conn) = file();
        // With a rollback journal, whoever reads keeps a COMMIT from going through.
        conn.pragma_update(None, "journal_mode", "DELETE")
            .expect("is alone");
        let reader = Connection::open(&file.path).expect("opens");
        reader
            .execute_batch("BEGIN; SELECT * FROM ferry_record;")
            .expect("reads");

        let (good, results) = commit_all(&conn, &[("a", 10), ("b", 10)]);
        assert!(good);
        for result in results {
            let Err(CommitError::NotLanded(fault)) = result else {
                panic!("{result:?}");
            };
            assert_eq!(fault.class, Class::Transient);
        }
        assert!(conn.is_autocommit(), "no transaction is left open");

        let (group, answered) = create("a", 10);
        thread::scope(|scope| {
            let writer = scope.spawn(|| {
                let conn = file.writer().expect("opens");
                conn.busy_timeout(Duration::ZERO).expect("sets");
                let patience = Duration::from_secs(600);
                commit(&conn, patience, vec![group], &Tally::default())
            });
            // Longer than the first try, so that one of the later ones has to do it.
            thread::sleep(PATIENCE);
            reader.execute_batch("COMMIT").expect("ends");
            assert!(writer.join().expect("ends"));
        });
        pollster::block_on(written(answered)).expect("lands");
        assert_eq!(stored(&conn), ["a"]);
    }

    #[test]
    fn a_commit_that_fails_on_its_way_to_the_disk_is_in_doubt() {
        let (_folder, _file, conn) = file();
        // Stands in for a disk that fails at the last moment: the transaction is checked as a whole, and
        // the error comes out of COMMIT itself.
        conn.execute_batch(
            "CREATE TABLE parent (id INTEGER PRIMARY KEY);
             CREATE TABLE child (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
             CREATE TRIGGER spoil AFTER INSERT ON ferry_record WHEN new.key = 'a'
             BEGIN INSERT INTO child VALUES (1); END;",
        )
        .expect("creates");
        let (good, results) = commit_all(&conn, &[("a", 10), ("b", 10), ("a", 10)]);
        assert!(!good, "the connection is replaced");
        for result in &results[..2] {
            assert!(matches!(result, Err(CommitError::InDoubt(_))), "{result:?}");
        }
        let Err(CommitError::NotLanded(fault)) = &results[2] else {
            panic!("{results:?}");
        };
        assert_eq!(
            fault.class,
            Class::Transient,
            "refused by a commit that is in doubt itself"
        );
        assert!(conn.is_autocommit(), "no transaction is left open");
        let (_, results) = commit_all(&conn, &[("b", 10)]);
        assert!(results[0].is_ok(), "{results:?}");
    }

    /// The first projection of a record as it is now.
    fn first_projection(conn: &Connection, key: &str) -> (Taken, Receiver<WriteResult>) {
        let version = conn
            .query_row(crate::sql::READ_MARKER, [key], |row| {
                crate::rows::version(row, 1, 2)
            })
            .expect("is there");
        let (queued, answered) = Queued::new(Write::Projection(Projection {
            owing: Owing {
                key: key.into(),
                version,
                marker: Version::ABSENT,
            },
            entries: 1,
            body: "1".into(),
        }));
        (queued.take().expect("is there"), answered)
    }

    #[test]
    fn a_projection_that_fails_on_its_way_to_the_disk_is_in_doubt() {
        let (_folder, _file, conn) = file();
        commit_all(&conn, &[("a", 10), ("b", 10)]);
        // As with commits: the error comes out of COMMIT itself.
        conn.execute_batch(
            "CREATE TABLE parent (id INTEGER PRIMARY KEY);
             CREATE TABLE child (id REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
             CREATE TRIGGER spoil AFTER INSERT ON ferry_view WHEN new.key = 'a'
             BEGIN INSERT INTO child VALUES (1); END;",
        )
        .expect("creates");
        let write_all = |keys: &[&str]| -> (bool, Vec<WriteResult>) {
            let (group, answered): (Vec<_>, Vec<_>) =
                keys.iter().map(|key| first_projection(&conn, key)).unzip();
            let good = commit(&conn, PATIENCE, group, &Tally::default());
            let results = answered.into_iter().map(written).map(pollster::block_on);
            (good, results.collect())
        };
        let (good, results) = write_all(&["a", "b", "a"]);
        assert!(!good, "the connection is replaced");
        for result in &results[..2] {
            assert!(matches!(result, Err(CommitError::InDoubt(_))), "{result:?}");
        }
        let Err(CommitError::NotLanded(fault)) = &results[2] else {
            panic!("{results:?}");
        };
        assert_eq!(
            fault.class,
            Class::Transient,
            "refused by a projection that is in doubt itself"
        );
        let (_, results) = write_all(&["b"]);
        assert!(results[0].is_ok(), "{results:?}");
    }

    #[test]
    fn a_group_of_which_nothing_lands_is_not_synced() {
        let (_folder, file, conn) = file();
        commit_all(&conn, &[("a", 10)]);
        let watcher = file.reader().expect("opens");
        // Changes whenever somebody else has committed.
        let data_version = || -> i64 {
            watcher
                .pragma_query_value(None, "data_version", |row| row.get(0))
                .expect("reads")
        };
        let before = data_version();
        let (good, results) = commit_all(&conn, &[("a", 10), ("a", 10)]);
        assert!(good);
        for result in results {
            assert!(matches!(result, Err(CommitError::Refused)), "{result:?}");
        }
        assert_eq!(data_version(), before);
        assert!(conn.is_autocommit(), "no transaction is left open");
    }
}
