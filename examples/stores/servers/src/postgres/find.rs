//! Looking for the programs, and how they are to be started.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use super::Server;
use crate::{Availability, Missing, StartError};

const MISSING: Missing = Missing {
    server: "PostgreSQL",
    install: "`apt-get install postgresql`, or put its folder with `initdb` and `postgres` on the PATH",
};

/// Where Debian's packages put each major version.
const DEBIAN: &str = "/usr/lib/postgresql";

/// The programs of an installed PostgreSQL.
#[derive(Clone, Debug)]
pub struct Installed {
    programs: PathBuf,
}

impl Installed {
    /// Looks on the `PATH`, then asks `pg_config`, then takes the latest version in the folder of
    /// Debian's packages.
    #[must_use]
    pub fn find() -> Availability<Self> {
        let paths = env::var_os("PATH").unwrap_or_default();
        let found = env::split_paths(&paths)
            .chain(configured())
            .chain(packaged())
            .find_map(|folder| home(&folder));
        match found {
            Some(programs) => Availability::Found(Self { programs }),
            None => Availability::Missing(MISSING),
        }
    }

    /// The folder that the programs are in.
    #[must_use]
    pub fn programs(&self) -> &Path {
        &self.programs
    }

    /// Starts a server of one's own, with a superuser `postgres` that needs no password, on a loopback
    /// port. Takes a second or two.
    ///
    /// # Errors
    ///
    /// See [`StartError`]. Nothing is left behind.
    pub fn start(&self, setup: &Setup) -> Result<Server, StartError> {
        Server::start(self, setup)
    }
}

/// Where the programs of this folder are at home: a link to one has not always its fellows beside it.
fn home(folder: &Path) -> Option<PathBuf> {
    let initdb = fs::canonicalize(folder.join("initdb")).ok()?;
    let folder = initdb.parent()?;
    folder.join("postgres").is_file().then(|| folder.to_owned())
}

fn configured() -> Option<PathBuf> {
    let mut command = Command::new("pg_config");
    let output = command.arg("--bindir").stderr(Stdio::null()).output();
    let folder = String::from_utf8(output.ok()?.stdout).ok()?;
    Some(folder.trim_end().into())
}

fn packaged() -> Vec<PathBuf> {
    let mut versions: Vec<u32> = (fs::read_dir(DEBIAN).into_iter().flatten())
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    versions.sort_unstable();
    let folder = |version: &u32| Path::new(DEBIAN).join(version.to_string()).join("bin");
    versions.iter().rev().map(folder).collect()
}

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Setup {
    pub(super) settings: Vec<(String, String)>,
}

impl Setup {
    /// Every commit is on the disk before it is answered, as by default: for tests that kill the server
    /// and mean it.
    #[must_use]
    pub fn durable() -> Self {
        Self {
            settings: Vec::new(),
        }
        .setting("fsync", "on")
        .setting("synchronous_commit", "on")
    }

    /// Nothing is waited for to reach the disk: for tests of everything else. Commits survive the server's
    /// death, but not the machine's.
    #[must_use]
    pub fn hasty() -> Self {
        Self {
            settings: Vec::new(),
        }
        .setting("fsync", "off")
        .setting("full_page_writes", "off")
    }

    /// Starts the server with this setting as well, as on its command line.
    #[must_use]
    pub fn setting(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }
}
