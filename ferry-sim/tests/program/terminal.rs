//! Somebody who has read enough, and somebody who has waited enough.

use std::{
    fs::File,
    io::{BufRead, BufReader, Read},
    os::unix::process::ExitStatusExt,
    process::Stdio,
};

use rustix::{
    fs::{Mode, OFlags},
    process::{Pid, Signal, kill_process},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Termios, tcgetattr},
};

use super::Folder;

#[test]
fn whoever_closes_the_output_is_not_told_of_a_panic() {
    let folder = Folder::new();
    for arguments in [
        "replay 7 --all",
        "replay 7 --json",
        "scenario retries-spread",
        "fenced --seeds 1",
    ] {
        let mut program = folder.program();
        program.args(arguments.split_whitespace());
        program.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = program.spawn().expect("it runs");
        let mut out = BufReader::with_capacity(64, child.stdout.take().expect("a pipe"));
        let mut first = String::new();
        out.read_line(&mut first).expect("a line");
        assert!(!first.is_empty());
        drop(out);
        let ended = child.wait_with_output().expect("it ends");
        // That all held was not told, unless all was written before.
        assert!(
            matches!(ended.status.code(), Some(0 | 1)),
            "{arguments}: {}",
            ended.status
        );
        assert!(
            ended.stderr.is_empty(),
            "{}",
            String::from_utf8_lossy(&ended.stderr)
        );
    }
}

/// A terminal of our own.
struct Terminal {
    near: File,
    far: File,
}

impl Terminal {
    fn new() -> Self {
        let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&near).and_then(|()| unlockpt(&near)).expect("ours");
        let name = ptsname(&near, Vec::new()).expect("a name");
        let flags = OFlags::RDWR | OFlags::NOCTTY;
        let far = rustix::fs::open(name, flags, Mode::empty()).expect("its other end");
        let (near, far) = (near.into(), far.into());
        Self { near, far }
    }

    fn stdio(&self) -> Stdio {
        self.far.try_clone().expect("another handle").into()
    }

    fn modes(&self) -> Termios {
        tcgetattr(&self.far).expect("its modes")
    }

    /// What was written, up to these words.
    fn read_to(&mut self, words: &str) -> String {
        let mut read = Vec::new();
        let mut some = [0; 256];
        loop {
            let count = self.near.read(&mut some).expect("it is still there");
            read.extend_from_slice(&some[..count]);
            let text = String::from_utf8_lossy(&read);
            if text.contains(words) {
                return text.into_owned();
            }
        }
    }
}

#[test]
fn an_interrupt_ends_it_and_leaves_the_terminal_as_it_was() {
    let folder = Folder::new();
    let mut terminal = Terminal::new();
    let before = terminal.modes();
    for arguments in ["fenced --seeds 1000000000", "explore --failed 2"] {
        let mut program = folder.program();
        program
            .args(arguments.split_whitespace())
            .env("TERM", "xterm");
        program
            .stdin(terminal.stdio())
            .stdout(terminal.stdio())
            .stderr(terminal.stdio());
        let mut child = program.spawn().expect("it runs");
        let words = if arguments.starts_with("fenced") {
            "seeds"
        } else {
            "states"
        };
        let mut written = terminal.read_to(words);
        kill_process(Pid::from_child(&child), Signal::INT).expect("it is there");
        let status = child.wait().expect("it ends");
        assert_eq!(status.signal(), Some(Signal::INT.as_raw()), "{status}");
        // All that it has written is before what comes now.
        std::io::Write::write_all(&mut terminal.far, b"the end").expect("written");
        written += &terminal.read_to("the end");
        let (hidden, shown) = ("\x1b[?25l", "\x1b[?25h");
        assert!(written.rfind(hidden) <= written.rfind(shown), "{written:?}");
        let after = terminal.modes();
        assert_eq!(after.local_modes, before.local_modes);
        assert_eq!(after.input_modes, before.input_modes);
        assert_eq!(after.output_modes, before.output_modes);
    }
    let left = std::fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0, "nothing is left half written");
}
