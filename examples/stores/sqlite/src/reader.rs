//! A thread that reads.

use std::sync::Arc;

use crossbeam_channel::Receiver;
use ferry_core::Fault;
use rusqlite::Connection;

use crate::{
    SqliteError,
    connection::File,
    error::fault,
    find,
    queue::{Asked, Read, ReadResult},
};

/// The most reads that share a transaction, so that the other threads get their part.
const SHARED_MAX: usize = 32;

/// Serves reads until every handle is gone and the queue is empty.
pub(crate) fn run(file: &File, conn: Connection, queue: &Receiver<Read>) {
    let mut conn = Some(conn);
    while let Ok(first) = queue.recv() {
        let mut reads = vec![first];
        reads.extend(queue.try_iter().take(SHARED_MAX - 1));
        conn = match conn.map_or_else(|| file.reader(), Ok) {
            Ok(conn) => serve(&conn, reads).then_some(conn),
            Err(error) => fail(reads, error),
        };
    }
}

/// Answers some reads from one snapshot, and says whether the connection is still good.
///
/// The snapshot begins here, after all of the requests have come, so each of them sees every commit
/// that was answered before it was made.
fn serve(conn: &Connection, reads: Vec<Read>) -> bool {
    let snapshot = match conn.unchecked_transaction() {
        Ok(snapshot) => snapshot,
        Err(error) => return fail::<()>(reads, error).is_some(),
    };
    let mut good = true;
    for read in reads {
        good &= match read {
            Read::Record(asked) => answer(asked, |lookup| find::record(&snapshot, lookup)),
            Read::Debt(asked) => answer(asked, |owing| find::debt(&snapshot, owing)),
            Read::View(asked) => answer(asked, |key| find::view(&snapshot, key)),
            Read::Pending(asked) => answer(asked, |page| find::pending(&snapshot, page)),
        };
    }
    good
}

/// Answers one of them, and says whether the connection is still good.
fn answer<Q, A>(asked: Asked<Q, A>, find: impl FnOnce(&Q) -> ReadResult<A>) -> bool {
    let found = find(&asked.question);
    let good = !matches!(&found, Err(fault) if fault.error.spoils_connection());
    asked.answer(found);
    good
}

/// Answers all of them with the error that kept them from being tried.
fn fail<T>(reads: Vec<Read>, error: rusqlite::Error) -> Option<T> {
    let fault: Fault<SqliteError> = fault(Arc::new(error));
    for read in reads {
        read.fail(fault.clone());
    }
    None
}
