//! Running the program, and reading what it says; whatever the ledger is kept in.

use std::{
    io::Write,
    process::{Child, Command, Output, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

use serde_json::Value;

/// What one run of the program did.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
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

/// The program, with its input and output in our hands.
pub(crate) fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ledger"));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Gives a program that was started these lines, and waits for it.
pub(crate) fn feed(mut child: Child, lines: impl AsRef<[u8]> + Send) -> Ran {
    let mut stdin = child.stdin.take().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            // The program may end before it has read everything.
            let _closed = stdin.write_all(lines.as_ref());
        });
        finish(child)
    })
}

/// An input line.
pub(crate) fn line(id: &str, account: &str, amount: i64) -> String {
    format!(
        "{}\n",
        serde_json::json!({ "id": id, "account": account, "amount": amount })
    )
}
