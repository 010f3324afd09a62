//! Running the program, and reading what it says.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use rusqlite::Connection;
use serde_json::Value;
use tempfile::TempDir;

/// A folder with a ledger in it, gone when dropped.
pub(crate) struct Ledger {
    folder: TempDir,
}

/// What one run of the program did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
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
        let mut child = self.start(&["--input", "-"]);
        let mut stdin = child.stdin.take().unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                // The program may end before it has read everything.
                let _closed = stdin.write_all(lines.as_ref());
            });
            finish(child)
        })
    }
}

/// How long a program may run that has come to its end in seconds, if it ever does.
const PATIENCE: Duration = Duration::from_secs(120);

/// Waits for the program, and ends it if it does not end by itself.
#[track_caller]
pub(crate) fn finish(child: Child) -> Ran {
    let id = child.id();
    within(id, move || child.wait_with_output().unwrap()).into()
}

/// Does something that ends when the program does, or does what it should.
#[track_caller]
pub(crate) fn within<T: Send + 'static>(id: u32, what: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, wait) = mpsc::channel();
    thread::spawn(move || done.send(what()));
    wait.recv_timeout(PATIENCE).unwrap_or_else(|_| {
        // By its number, since the child itself is being waited for.
        let _gone = Command::new("kill")
            .args(["-KILL", &id.to_string()])
            .status();
        panic!("the program did not come to an end")
    })
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self {
            exit: output.status.code(),
            out: text(output.stdout),
            err: text(output.stderr),
        }
    }
}

impl Ran {
    /// The number in the report's row with this name.
    pub(crate) fn row(&self, name: &str) -> u64 {
        let lines = self.out.lines().chain(self.err.lines());
        let rest = lines.filter_map(|line| line.strip_prefix("  ")?.strip_prefix(name));
        let number = rest.filter_map(|rest| rest.split_whitespace().next());
        let number = number.map(|number| number.replace(',', "").parse().ok());
        number
            .flatten()
            .next()
            .unwrap_or_else(|| panic!("no row {name:?} in {self:#?}"))
    }

    /// The result lines.
    pub(crate) fn results(&self) -> Vec<Value> {
        self.out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Line and status of each result.
    pub(crate) fn statuses(&self) -> Vec<(u64, String)> {
        let results = self.results().into_iter();
        let status = |result: Value| {
            (
                result["line"].as_u64().unwrap(),
                result["status"].as_str().unwrap().to_owned(),
            )
        };
        results.map(status).collect()
    }

    #[track_caller]
    pub(crate) fn expect(self, exit: i32) -> Self {
        assert_eq!(self.exit, Some(exit), "{self:#?}");
        self
    }

    #[track_caller]
    pub(crate) fn says(self, what: &str) -> Self {
        assert!(
            self.out.contains(what) || self.err.contains(what),
            "no {what:?} in {self:#?}"
        );
        self
    }
}

/// The program on a file.
pub(crate) fn on(file: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ledger"));
    command.args(arguments).arg("--file").arg(file);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// An input line.
pub(crate) fn line(id: &str, account: &str, amount: i64) -> String {
    format!(
        "{}\n",
        serde_json::json!({ "id": id, "account": account, "amount": amount })
    )
}
