//! A program that does not outlive us, however we end.

use std::{
    fmt,
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::CommandExt,
    path::Path,
    process::{Child, ChildStdin, Command, ExitStatus, Stdio},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{StartError, user::User};

/// Runs the program and waits for its standard input to end, which happens when we say so and when we die.
/// A line says that the program has ended and its folder is still needed. Without one the program is told
/// to end, and its folder goes.
///
/// The shell keeps no hold on the program's log, whose end is the end of the program and all its children.
const WATCH: &str = r#"
folder=$1 signal=$2; shift 2
"$@" </dev/null >&2 &
program=$!
echo "$program"
exec >/dev/null 2>&1
if read -r _; then
    wait "$program"
    exit
fi
kill -CONT "$program"
kill -"$signal" "$program"
wait "$program"
rm -rf "$folder" || { sleep 1; rm -rf "$folder"; }
"#;

/// Removes the folder when its standard input ends.
const KEEP: &str = r#"
exec >/dev/null 2>&1
read -r _
rm -rf "$1" || { sleep 1; rm -rf "$1"; }
"#;

/// As much of a log as is kept, in lines.
const LOG_LINES_MAX: usize = 200;

/// A program under watch: when we end, by whatever means, it is told to end, and its folder is removed.
pub(crate) struct Guarded {
    name: &'static str,
    shell: Child,
    /// While this is open the shell waits. Whoever dies closes it.
    leash: Option<ChildStdin>,
    program: Pid,
    log: Arc<Log>,
}

impl Guarded {
    /// Starts the program in its folder. When we are gone it is sent this signal (a name without `SIG`).
    pub(crate) fn start(
        name: &'static str,
        command: &Command,
        folder: &Path,
        user: User,
        signal: &str,
    ) -> Result<Self, StartError> {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", WATCH, "sh"])
            .arg(folder)
            .arg(signal)
            .arg(command.get_program())
            .args(command.get_args())
            // The same words in the log and the same times in the tables wherever it runs.
            .envs([("LC_ALL", "C"), ("TZ", "UTC")])
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // What is typed at our terminal is meant for us. We end of it, and then the shell notices.
            .process_group(0);
        let mut shell = user
            .run(&mut shell)
            .spawn()
            .map_err(StartError::system("start a shell"))?;
        let leash = shell.stdin.take();
        let log = Log::of(shell.stderr.take());
        let said = shell.stdout.take().map(|said| {
            let mut line = String::new();
            let read = BufReader::new(said).read_line(&mut line);
            read.map(|_| line)
        });
        let program = said
            .transpose()
            .map_err(StartError::system("hear from a shell"))?
            .and_then(|line| line.trim().parse().ok())
            .and_then(Pid::from_raw);
        let Some(program) = program else {
            // The shell ends as its leash is dropped.
            drop(leash);
            let _status = shell.wait();
            return Err(StartError::Ended {
                program: name,
                log: log.last(),
            });
        };
        Ok(Self {
            name,
            shell,
            leash,
            program,
            log,
        })
    }

    pub(crate) fn pid(&self) -> u32 {
        self.program.as_raw_pid().unsigned_abs()
    }

    pub(crate) fn log(&self) -> String {
        self.log.last()
    }

    /// Whether the program and all its children have ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.log.state().ended
    }

    /// Sends the program a signal, if it still runs.
    ///
    /// The number names no other process: until the shell is told to go it keeps what is left of the
    /// program.
    pub(crate) fn signal(&self, signal: Signal) -> Result<(), StartError> {
        match kill_process(self.program, signal) {
            Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
            Err(error) => Err(StartError::system("signal the server")(error.into())),
        }
    }

    /// Waits for the end of the program and all its children; says whether it came in time.
    pub(crate) fn wait(&self, patience: Duration) -> bool {
        self.log.wait_for_end(patience)
    }

    /// Waits for the end of the program and all its children, leaves its folder, and gives the program's
    /// status.
    pub(crate) fn finish(mut self, patience: Duration) -> Result<ExitStatus, StartError> {
        if !self.wait(patience) {
            return Err(self.too_slow(patience));
        }
        if let Some(mut leash) = self.leash.take() {
            leash
                .write_all(b"ended\n")
                .map_err(StartError::system("tell a shell"))?;
        }
        self.shell
            .wait()
            .map_err(StartError::system("wait for a shell"))
    }

    pub(crate) fn too_slow(&self, waited: Duration) -> StartError {
        StartError::TooSlow {
            program: self.name,
            waited,
            log: self.log(),
        }
    }
}

impl Drop for Guarded {
    /// Ends the program as our own end would, and waits for it.
    fn drop(&mut self) {
        drop(self.leash.take());
        let _status = self.shell.wait();
    }
}

/// A folder that goes when we end, by whatever means, also while no program is under watch in it.
#[derive(Debug)]
pub(crate) struct Kept {
    shell: Child,
    leash: Option<ChildStdin>,
}

impl Kept {
    pub(crate) fn start(folder: &Path, user: User) -> Result<Self, StartError> {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", KEEP, "sh"])
            .arg(folder)
            .current_dir(folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0);
        let mut shell = user
            .run(&mut shell)
            .spawn()
            .map_err(StartError::system("start a shell"))?;
        let leash = shell.stdin.take();
        Ok(Self { shell, leash })
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        drop(self.leash.take());
        let _status = self.shell.wait();
    }
}

/// What the program says, and whether it can still say anything.
struct Log {
    state: Mutex<LogState>,
    ended: Condvar,
}

#[derive(Default)]
struct LogState {
    lines: Vec<String>,
    ended: bool,
}

impl Log {
    /// Listens until nobody is left who could write.
    fn of(said: Option<impl Read + Send + 'static>) -> Arc<Self> {
        let log = Arc::new(Self {
            state: Mutex::default(),
            ended: Condvar::new(),
        });
        let heard = Arc::clone(&log);
        thread::spawn(move || {
            if let Some(said) = said {
                for line in BufReader::new(said).split(b'\n').map_while(Result::ok) {
                    heard.add(String::from_utf8_lossy(&line).into_owned());
                }
            }
            heard.state().ended = true;
            heard.ended.notify_all();
        });
        log
    }

    fn add(&self, line: String) {
        let lines = &mut self.state().lines;
        if lines.len() == LOG_LINES_MAX {
            lines.remove(0);
        }
        lines.push(line);
    }

    fn last(&self) -> String {
        self.state().lines.join("\n")
    }

    fn wait_for_end(&self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        let mut state = self.state();
        while !state.ended {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            state = self
                .ended
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        true
    }

    fn state(&self) -> MutexGuard<'_, LogState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Guarded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guarded")
            .field("name", &self.name)
            .field("pid", &self.pid())
            .finish_non_exhaustive()
    }
}
