//! Looking at the ledger's file before anything else is done.

use std::{path::Path, time::Duration};

use anyhow::{Context, Result, bail};
use ferry_sqlite::OpenError;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use crate::store::InFile;

/// How long another program may keep the file locked.
const LOCKED_MAX: Duration = Duration::from_secs(5);

/// Sees that the file can be written at this moment: one that somebody else is writing opens well, and would
/// only fail input after input.
///
/// # Errors
///
/// Says what is the matter with the file and what to do about it.
pub fn check(store: &InFile) -> Result<()> {
    match lock(store.path()) {
        Ok(()) => Ok(()),
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
            bail!(OpenError::Locked {
                path: store.path().to_owned(),
                waited: LOCKED_MAX
            })
        }
        Err(error) => Err(error).context(format!("cannot write {}", store.path().display())),
    }
}

fn lock(file: &Path) -> rusqlite::Result<()> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(file, flags)?;
    connection.busy_timeout(LOCKED_MAX)?;
    connection.execute_batch("BEGIN IMMEDIATE; ROLLBACK")
}
