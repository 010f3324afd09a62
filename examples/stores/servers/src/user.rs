//! Who runs a server: servers refuse to run as root.

use std::{
    os::unix::{fs::chown, process::CommandExt},
    path::Path,
    process::{Command, Stdio},
};

use crate::StartError;

/// The user that a server's programs run as.
#[derive(Clone, Copy, Debug)]
pub(crate) enum User {
    /// Whoever we are.
    Ours,
    /// Somebody without rights, since we are root.
    Other { uid: u32, gid: u32 },
}

impl User {
    /// Us, or where we are root the first of these that there is.
    pub(crate) fn without_rights(candidates: &'static [&'static str]) -> Result<Self, StartError> {
        if !rustix::process::geteuid().is_root() {
            return Ok(Self::Ours);
        }
        let found = candidates.iter().find_map(|name| {
            let (uid, gid) = (id("-u", name)?, id("-g", name)?);
            Some(Self::Other { uid, gid })
        });
        found.ok_or(StartError::NoUser { tried: candidates })
    }

    pub(crate) fn give(self, path: &Path) -> Result<(), StartError> {
        match self {
            Self::Ours => Ok(()),
            Self::Other { uid, gid } => chown(path, Some(uid), Some(gid))
                .map_err(StartError::system("give the server its folder")),
        }
    }

    /// Has the command run as this user, without root's further groups.
    pub(crate) fn run(self, command: &mut Command) -> &mut Command {
        match self {
            Self::Ours => command,
            Self::Other { uid, gid } => command.uid(uid).gid(gid),
        }
    }
}

fn id(flag: &str, name: &str) -> Option<u32> {
    let mut command = Command::new("id");
    let output = command.args([flag, name]).stderr(Stdio::null()).output();
    let text = String::from_utf8(output.ok()?.stdout).ok()?;
    text.trim().parse().ok()
}
