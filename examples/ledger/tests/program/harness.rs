//! A ledger in a file, and the program on it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use rusqlite::Connection;
use tempfile::TempDir;

pub(crate) use crate::running::{Ran, finish, line, within};
use crate::running::{feed, program};

/// A folder with a ledger in it, gone when dropped.
pub(crate) struct Ledger {
    folder: TempDir,
}

impl Ledger {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.path("ledger.db")
    }

    /// The names of the files that are there.
    pub(crate) fn names(&self) -> Vec<String> {
        let files = fs::read_dir(self.folder.path()).unwrap();
        let mut names: Vec<_> = files
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    /// A connection of our own to the file.
    pub(crate) fn connect(&self) -> Connection {
        Connection::open(self.file()).unwrap()
    }

    /// The number that a query of the file comes to.
    pub(crate) fn number(&self, query: &str) -> rusqlite::Result<u64> {
        let number: u32 = self.connect().query_row(query, [], |row| row.get(0))?;
        Ok(number.into())
    }

    /// How many postings the file holds.
    pub(crate) fn postings(&self) -> u64 {
        self.number("SELECT count(*) FROM ferry_entry").unwrap()
    }

    /// The program on this ledger.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        on(&self.file(), arguments)
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        finish(self.command(arguments).spawn().unwrap())
    }

    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap()
    }

    /// Carries these lines.
    pub(crate) fn carry(&self, lines: impl AsRef<[u8]> + Send) -> Ran {
        feed(self.start(&["--input", "-"]), lines)
    }
}

/// The program on a file.
pub(crate) fn on(file: &Path, arguments: &[&str]) -> Command {
    let mut command = program(arguments);
    command.arg("--file").arg(file);
    command
}
