//! A server under watch.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use tempfile::TempDir;

use super::{Installed, Setup};
use crate::{
    StartError,
    guard::{Guarded, Kept},
    port,
    user::User,
};

/// How long starting may take: making the files, and recovering from a crash.
const START_PATIENCE: Duration = Duration::from_secs(60);

/// How long each way of stopping is given before a ruder one is tried.
const STOP_PATIENCE: Duration = Duration::from_secs(10);

/// How many ports are tried where others are quicker to them.
const PORTS_MAX: usize = 10;

/// A PostgreSQL server of one's own. It stops, and its files go, when this is dropped, and also when the
/// process dies before that, of whatever.
///
/// It listens on 127.0.0.1 alone, to anyone on this machine.
#[derive(Debug)]
pub struct Server {
    installed: Installed,
    setup: Setup,
    user: User,
    port: u16,
    /// `None` after it was killed.
    running: Option<Guarded>,
    databases: AtomicU32,
    /// After what runs in it. It goes with our process too, also where the server is dead already.
    _kept: Kept,
    folder: TempDir,
}

impl Server {
    pub(super) fn start(installed: &Installed, setup: &Setup) -> Result<Self, StartError> {
        let user = User::without_rights(&["postgres", "nobody"])?;
        let folder = tempfile::Builder::new()
            .prefix("ferry-postgres-")
            .tempdir()
            .map_err(StartError::system("make a temporary folder"))?;
        user.give(folder.path())?;
        let kept = Kept::start(folder.path(), user)?;
        let mut server = Self {
            installed: installed.clone(),
            setup: setup.clone(),
            user,
            port: 0,
            running: None,
            databases: AtomicU32::new(0),
            _kept: kept,
            folder,
        };
        server.initialize()?;
        for _ in 1..PORTS_MAX {
            server.port = free_port()?;
            match server.start_again() {
                Err(StartError::Ended { log, .. }) if log.contains("could not bind") => {}
                result => return result.map(|()| server),
            }
        }
        server.port = free_port()?;
        server.start_again().map(|()| server)
    }

    fn initialize(&self) -> Result<(), StartError> {
        let mut initdb = Command::new(self.installed.programs().join("initdb"));
        initdb.arg("--pgdata").arg(self.data());
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8"]);
        // The files hold nothing yet that anyone was told of.
        initdb.args(["--no-locale", "--no-sync", "--no-instructions"]);
        let initdb = Guarded::start("initdb", &initdb, self.folder.path(), self.user, "TERM")?;
        initdb.wait(START_PATIENCE);
        let log = initdb.log();
        if initdb.finish(Duration::ZERO)?.success() {
            Ok(())
        } else {
            Err(StartError::Ended {
                program: "initdb",
                log,
            })
        }
    }

    /// Starts it on the files that are there, at the port that it had, after [`kill`](Self::kill). Returns
    /// when it has recovered and takes connections. Does nothing while it runs.
    ///
    /// # Errors
    ///
    /// See [`StartError`]. It can be tried again.
    pub fn start_again(&mut self) -> Result<(), StartError> {
        if self.running.as_ref().is_some_and(|run| !run.has_ended()) {
            return Ok(());
        }
        // It died by itself. Until it is gone altogether, its successor takes it to be alive.
        if let Some(run) = self.running.take() {
            run.finish(STOP_PATIENCE)?;
        }
        let mut postgres = Command::new(self.installed.programs().join("postgres"));
        postgres.arg("-D").arg(self.data());
        let port = self.port.to_string();
        let ours = [
            ("listen_addresses", "127.0.0.1"),
            ("port", port.as_str()),
            ("unix_socket_directories", ""),
            // In the folder, so that it goes with the folder.
            ("dynamic_shared_memory_type", "mmap"),
        ];
        if self.syncs_at_once() {
            postgres.args(["-c", "recovery_init_sync_method=syncfs"]);
        }
        let wanted = self.setup.settings.iter();
        let wanted = wanted.map(|(name, value)| (name.as_str(), value.as_str()));
        for (name, value) in ours.into_iter().chain(wanted) {
            postgres.arg("-c").arg(format!("{name}={value}"));
        }
        // Should we die, it ends its sessions at once and keeps nothing in shared memory.
        let folder = self.folder.path();
        let run = Guarded::start("postgres", &postgres, folder, self.user, "QUIT")?;
        match self.until_ready(&run) {
            Ok(()) => {
                self.running = Some(run);
                Ok(())
            }
            Err(error) => {
                run.signal(Signal::QUIT)?;
                run.finish(STOP_PATIENCE)?;
                Err(error)
            }
        }
    }

    /// Whether it can sync its folder in one go after a crash, as Linux and PostgreSQL 14 allow. File by file
    /// takes seconds.
    fn syncs_at_once(&self) -> bool {
        let version = fs::read_to_string(self.data().join("PG_VERSION")).unwrap_or_default();
        cfg!(target_os = "linux") && version.trim().parse().is_ok_and(|major: u32| major >= 14)
    }

    /// Waits for the word "ready" in the file that the server keeps about itself.
    fn until_ready(&self, run: &Guarded) -> Result<(), StartError> {
        const PAUSE: Duration = Duration::from_millis(10);
        let until = Instant::now() + START_PATIENCE;
        loop {
            // An earlier run that was killed has left its own.
            let file = fs::read_to_string(self.data().join("postmaster.pid")).unwrap_or_default();
            let mut lines = file.lines();
            let is_its_own = lines.next() == Some(&run.pid().to_string());
            if is_its_own && lines.next_back().is_some_and(|line| line.trim() == "ready") {
                return Ok(());
            }
            if run.has_ended() {
                let log = run.log();
                return Err(StartError::Ended {
                    program: "postgres",
                    log,
                });
            }
            if Instant::now() >= until {
                return Err(run.too_slow(START_PATIENCE));
            }
            thread::sleep(PAUSE);
        }
    }

    /// Kills it without notice, as a crash would, and waits until its sessions are gone too. What was
    /// committed is in its files, for [`start_again`](Self::start_again).
    ///
    /// # Errors
    ///
    /// See [`StartError`]: a session does not end.
    pub fn kill(&mut self) -> Result<(), StartError> {
        let Some(run) = self.running.take() else {
            return Ok(());
        };
        run.signal(Signal::KILL)?;
        run.finish(STOP_PATIENCE).map(drop)
    }

    /// Where it is, with the database that every server has: `postgres://postgres@127.0.0.1:…/postgres`.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// Creates a database, empty and of nobody else's, and says where it is.
    ///
    /// # Errors
    ///
    /// See [`StartError`].
    pub fn database(&self) -> Result<String, StartError> {
        let number = self.databases.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{number}");
        let mut createdb = Command::new(self.installed.programs().join("createdb"));
        createdb
            .args(["--host=127.0.0.1", "--username=postgres", "--no-password"])
            .args(["--template=template0", "--port"])
            .arg(self.port.to_string())
            .arg(&name)
            .stdin(Stdio::null());
        let output = createdb
            .output()
            .map_err(StartError::system("run createdb"))?;
        if output.status.success() {
            return Ok(self.url_of(&name));
        }
        Err(StartError::Ended {
            program: "createdb",
            log: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    /// The last that it said, for a test that fails.
    #[must_use]
    pub fn log(&self) -> String {
        self.running.as_ref().map(Guarded::log).unwrap_or_default()
    }

    /// The folder of its files, which goes with it.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The port that it listens on, at 127.0.0.1.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    fn url_of(&self, database: &str) -> String {
        format!("postgres://postgres@127.0.0.1:{}/{database}", self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let Some(run) = self.running.take() else {
            return remove_shared_memory(&self.data());
        };
        // Ends its sessions and writes all to the disk; ends its sessions; ends.
        for signal in [Signal::INT, Signal::QUIT, Signal::KILL] {
            if run.signal(signal).is_err() || run.wait(STOP_PATIENCE) {
                break;
            }
        }
    }
}

/// Gives back the few bytes by which a server knows that its files are in use. One that was killed leaves
/// them to its successor; here there is none. Its file names them in the seventh line: key and number.
fn remove_shared_memory(data: &Path) {
    let file = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    let named = file
        .lines()
        .nth(6)
        .and_then(|line| line.split_whitespace().nth(1));
    if let Some(number) = named {
        let mut ipcrm = Command::new("ipcrm");
        let _may_be_missing = ipcrm.args(["-m", number]).stderr(Stdio::null()).status();
    }
}

fn free_port() -> Result<u16, StartError> {
    port::free().ok_or_else(|| {
        StartError::system("find a free port")(std::io::ErrorKind::AddrNotAvailable.into())
    })
}
