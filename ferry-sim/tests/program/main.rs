//! The program as whoever calls it meets it: what it says, where, and with which status it ends.

mod arguments;
mod documents;
mod failures;
#[cfg(unix)]
mod terminal;

use std::{
    path::Path,
    process::{Command, Output},
};

use tempfile::TempDir;

/// A place where it is called, which is gone in the end with all that was written there.
struct Folder(TempDir);

/// What it left.
struct Ran {
    status: Option<i32>,
    out: String,
    err: String,
}

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().expect("a folder"))
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn program(&self) -> Command {
        self.at_home(Command::new(env!("CARGO_BIN_EXE_ferry-sim")))
    }

    fn at_home(&self, mut command: Command) -> Command {
        command.current_dir(self.path()).env("TMPDIR", self.path());
        command
    }

    fn run(&self, arguments: &str) -> Ran {
        let mut program = self.program();
        ran(program.args(arguments.split_whitespace()))
    }

    /// A command as the program tells it, in a shell.
    #[cfg(unix)]
    fn shell(&self, told: &str) -> Ran {
        let program = format!("'{}'", env!("CARGO_BIN_EXE_ferry-sim"));
        let told = told.replace("cargo run --release -p ferry-sim --", &program);
        let mut shell = self.at_home(Command::new("sh"));
        ran(shell.args(["-c", &told]))
    }
}

fn ran(command: &mut Command) -> Ran {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().expect("it runs");
    Ran {
        status: status.code(),
        out: String::from_utf8(stdout).expect("text"),
        err: String::from_utf8(stderr).expect("text"),
    }
}
