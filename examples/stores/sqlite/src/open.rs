//! Opening the file: ours, new, or refused untouched.

use std::{
    ffi::OsString,
    fmt,
    fmt::Write as _,
    io,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use rusqlite::{Connection, MAIN_DB, OpenFlags, TransactionBehavior, config::DbConfig, ffi};

use crate::{
    Options,
    connection::{File, connect},
    error::primary_code,
    sql::{APPLICATION_ID, LAYOUTS, SCHEMA_VERSION},
};

/// Why a file was not opened, and what to do about it. The file has not been changed.
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// An option is outside of its bounds.
    OutOfBounds {
        /// The option's name.
        option: &'static str,
        /// What it may be.
        bounds: &'static str,
    },
    /// The path cannot be used at all, e.g. an empty one.
    Path(io::Error),
    /// The path names a folder.
    IsFolder(PathBuf),
    /// The folder that the file should be in is not there.
    NoFolder(PathBuf),
    /// The file may not be written, or not created: it needs the permission to write both the file and
    /// its folder, where the log is kept.
    NotWritable {
        /// The file.
        path: PathBuf,
        /// What SQLite made of it.
        source: rusqlite::Error,
    },
    /// Another connection kept the file locked, as a program does that uses it exclusively.
    Locked {
        /// The file.
        path: PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The file holds something else than an SQLite database.
    NotADatabase(PathBuf),
    /// The database belongs to another program.
    OtherProgram {
        /// The file.
        path: PathBuf,
        /// That program's mark in the file; 0 where it left none.
        application_id: i32,
    },
    /// The file has a layout that this version does not know, most likely from a later one.
    OtherLayout {
        /// The file.
        path: PathBuf,
        /// The file's layout.
        found: i32,
        /// The layout that this version reads and writes, and to which it brings earlier ones.
        known: i32,
    },
    /// The file cannot have a write-ahead log, as on a network file system.
    NoWriteAheadLog {
        /// The file.
        path: PathBuf,
        /// The journal mode that SQLite stayed with.
        mode: String,
    },
    /// No thread could be started.
    Thread(io::Error),
    /// Anything else that SQLite reports.
    Other {
        /// The file.
        path: PathBuf,
        /// What SQLite reports.
        source: rusqlite::Error,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfBounds { option, bounds } => {
                write!(
                    f,
                    "the option {option} is out of bounds: it may be {bounds}"
                )
            }
            Self::Path(error) => write!(f, "the path cannot be used: {error}"),
            Self::IsFolder(path) => {
                write!(f, "{} is a folder: name a file in it", path.display())
            }
            Self::NoFolder(path) => {
                write!(f, "there is no folder {}: create it first", path.display())
            }
            Self::NotWritable { path, source } => write!(
                f,
                "cannot write {}: check the permissions of the file and of its folder ({source})",
                path.display()
            ),
            Self::Locked { path, waited } => write!(
                f,
                "{} is locked by another program, also after {waited:?}: wait for it or stop it",
                path.display()
            ),
            Self::NotADatabase(path) => write!(
                f,
                "{} is not an SQLite database: choose another file",
                path.display()
            ),
            Self::OtherProgram {
                path,
                application_id: 0,
            } => write!(
                f,
                "{} is a database of another program: choose another file",
                path.display()
            ),
            Self::OtherProgram {
                path,
                application_id,
            } => write!(
                f,
                "{} is a database of another program (application id {application_id:#010x}): \
                 choose another file",
                path.display()
            ),
            Self::OtherLayout { path, found, known } => write!(
                f,
                "{} has layout {found}, and this program knows layout {known}: use the version that \
                 wrote it, or a later one",
                path.display()
            ),
            Self::NoWriteAheadLog { path, mode } => write!(
                f,
                "{} cannot have a write-ahead log (its journal mode stays {mode:?}): keep it on a \
                 local disk",
                path.display()
            ),
            Self::Thread(error) => write!(f, "cannot start a thread: {error}"),
            Self::Other { path, source } => write!(f, "cannot open {}: {source}", path.display()),
        }
    }
}

// The message holds the cause already, so the chain goes on behind it.
impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Path(error) | Self::Thread(error) => error.source(),
            Self::NotWritable { source, .. } | Self::Other { source, .. } => source.source(),
            Self::OutOfBounds { .. }
            | Self::IsFolder(_)
            | Self::NoFolder(_)
            | Self::Locked { .. }
            | Self::NotADatabase(_)
            | Self::OtherProgram { .. }
            | Self::OtherLayout { .. }
            | Self::NoWriteAheadLog { .. } => None,
        }
    }
}

/// A file that is ready, and a connection for each of the store's threads.
pub(crate) struct Opened {
    pub(crate) file: File,
    pub(crate) writer: Connection,
    pub(crate) readers: Vec<Connection>,
}

pub(crate) fn open(path: &Path, options: &Options) -> Result<Opened, OpenError> {
    let path = std::path::absolute(path).map_err(OpenError::Path)?;
    let file = File {
        path,
        options: options.clone(),
    };
    glance(&file.path)?;
    let prepared = prepare(&file)?;
    let connect = || {
        let writer = file.writer()?;
        let readers = (0..options.readers).map(|_| file.reader());
        Ok((writer, readers.collect::<Result<_, _>>()?))
    };
    let (writer, readers) = connect().map_err(|error| explain(&file, error))?;
    // Only now, since the last connection to close folds the log back into the file.
    drop(prepared);
    Ok(Opened {
        file,
        writer,
        readers,
    })
}

/// Refuses what is plainly not ours without so much as a lock or a log beside it.
///
/// Read as immutable, the file shows what was last folded back into it, which may be old. So only what
/// speaks against it counts; everything else is left to [`prepare`].
fn glance(path: &Path) -> Result<(), OpenError> {
    // SQLite takes a file of one byte for an empty one.
    if path.metadata().is_ok_and(|file| file.len() == 1) {
        return Err(OpenError::NotADatabase(path.to_owned()));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // Through SQLite rather than by opening the file here: on Unix, closing any descriptor of a file
    // drops all locks that the process holds on it, and SQLite knows how to wait with that.
    let Ok(conn) = Connection::open_with_flags(immutable_uri(path), flags) else {
        return Ok(());
    };
    match contents(&conn) {
        Ok(contents) => steps_done(path, contents).map(drop),
        Err(_) => Ok(()),
    }
}

/// `file:` with every byte escaped that could mean something in a URI.
fn immutable_uri(path: &Path) -> OsString {
    let mut uri = String::from("file:");
    for (at, &byte) in path.as_os_str().as_encoded_bytes().iter().enumerate() {
        let byte = if cfg!(windows) && byte == b'\\' {
            b'/'
        } else {
            byte
        };
        if at == 0 && byte != b'/' {
            uri.push('/');
        }
        if byte.is_ascii_alphanumeric() || b"/:._-".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ok = write!(uri, "%{byte:02X}");
        }
    }
    uri.push_str("?immutable=1");
    uri.into()
}

/// What a database says it is.
enum Contents {
    Nothing,
    Ours(i32),
    Foreign(i32),
}

fn contents(conn: &Connection) -> rusqlite::Result<Contents> {
    // In one statement, so that all three are of the same moment.
    conn.query_row(
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_schema)
         FROM pragma_application_id, pragma_user_version",
        [],
        |row| {
            Ok(match (row.get(0)?, row.get(1)?, row.get(2)?) {
                (APPLICATION_ID, layout, _) => Contents::Ours(layout),
                (0, 0, 0) => Contents::Nothing,
                (application_id, _, _) => Contents::Foreign(application_id),
            })
        },
    )
}

/// Makes sure that the file is ours and has its log, and adds what a new or an old file lacks.
fn prepare(file: &File) -> Result<Connection, OpenError> {
    let explain = |error| explain(file, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
    let mut conn = connect(&file.path, flags, &file.options).map_err(explain)?;
    // Until it is known to be ours, closing must not fold its log back into it.
    let keep_log = DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE;
    conn.set_db_config(keep_log, true).map_err(explain)?;
    let done = layout(file, &conn)?;
    if conn.is_readonly(MAIN_DB).map_err(explain)? {
        let source = rusqlite::Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_READONLY), None);
        return Err(explain(source));
    }
    write_ahead(file, &conn)?;
    if done < LAYOUTS.len() {
        bring_up_to_date(file, &mut conn)?;
    }
    conn.set_db_config(keep_log, false).map_err(explain)?;
    Ok(conn)
}

/// Switches to a write-ahead log. Where others do the same to a new file at this moment, SQLite fails at
/// once instead of waiting, so the waiting is done here.
fn write_ahead(file: &File, conn: &Connection) -> Result<(), OpenError> {
    const PAUSE: Duration = Duration::from_millis(1);
    let begin = Instant::now();
    loop {
        let mode: rusqlite::Result<String> =
            conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0));
        match mode {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                let path = file.path.clone();
                return Err(OpenError::NoWriteAheadLog { path, mode });
            }
            Err(error)
                if primary_code(&error) == ffi::SQLITE_BUSY
                    && begin.elapsed() < file.options.busy_timeout =>
            {
                thread::sleep(PAUSE);
            }
            Err(error) => return Err(explain(file, error)),
        }
    }
}

/// In one transaction, so that the file has the layout that it had, or this one.
fn bring_up_to_date(file: &File, conn: &mut Connection) -> Result<(), OpenError> {
    let explain = |error| explain(file, error);
    let transaction = conn
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(explain)?;
    // Somebody else may have been faster.
    for step in &LAYOUTS[layout(file, &transaction)?..] {
        transaction.execute_batch(step).map_err(explain)?;
    }
    for (pragma, number) in [
        ("application_id", APPLICATION_ID),
        ("user_version", SCHEMA_VERSION),
    ] {
        transaction
            .pragma_update(None, pragma, number)
            .map_err(explain)?;
    }
    transaction.commit().map_err(explain)
}

/// How many of the [`LAYOUTS`] the database has; an error if it is neither empty nor ours.
fn layout(file: &File, conn: &Connection) -> Result<usize, OpenError> {
    let contents = contents(conn).map_err(|error| explain(file, error))?;
    steps_done(&file.path, contents)
}

fn steps_done(path: &Path, contents: Contents) -> Result<usize, OpenError> {
    let path = path.to_owned();
    match contents {
        Contents::Nothing => Ok(0),
        Contents::Ours(found @ 1..=SCHEMA_VERSION) => Ok(found as usize),
        Contents::Ours(found) => Err(OpenError::OtherLayout {
            path,
            found,
            known: SCHEMA_VERSION,
        }),
        Contents::Foreign(application_id) => Err(OpenError::OtherProgram {
            path,
            application_id,
        }),
    }
}

/// What an error of SQLite means to whoever opens a file.
fn explain(file: &File, source: rusqlite::Error) -> OpenError {
    let path = file.path.clone();
    match primary_code(&source) {
        ffi::SQLITE_BUSY | ffi::SQLITE_LOCKED | ffi::SQLITE_PROTOCOL => OpenError::Locked {
            path,
            waited: file.options.busy_timeout,
        },
        ffi::SQLITE_NOTADB => OpenError::NotADatabase(path),
        ffi::SQLITE_READONLY | ffi::SQLITE_PERM | ffi::SQLITE_AUTH => {
            OpenError::NotWritable { path, source }
        }
        ffi::SQLITE_CANTOPEN if path.is_dir() => OpenError::IsFolder(path),
        ffi::SQLITE_CANTOPEN => match path.parent() {
            Some(folder) if !folder.is_dir() => OpenError::NoFolder(folder.to_owned()),
            _ => OpenError::NotWritable { path, source },
        },
        _ => OpenError::Other { path, source },
    }
}
