//! Why a server did not start.

use std::{error::Error, fmt, io, time::Duration};

/// Why a server did not start, or did not stop, and what it said.
#[derive(Debug)]
#[non_exhaustive]
pub enum StartError {
    /// The system refused something that starting needs: a folder, a process, a signal.
    System {
        /// What was being done.
        doing: &'static str,
        /// What the system made of it.
        source: io::Error,
    },
    /// As root, there is no other user to run the server as, and it refuses to run as root. Create one of
    /// these.
    NoUser {
        /// The users that were looked for.
        tried: &'static [&'static str],
    },
    /// One of the server's programs ended when it should not have.
    Ended {
        /// Which program.
        program: &'static str,
        /// The last that it said.
        log: String,
    },
    /// One of the server's programs took too long.
    TooSlow {
        /// Which program.
        program: &'static str,
        /// How long it was waited for.
        waited: Duration,
        /// The last that it said.
        log: String,
    },
}

impl StartError {
    pub(crate) fn system(doing: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::System { doing, source }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System { doing, source } => write!(f, "cannot {doing}: {source}"),
            Self::NoUser { tried } => write!(
                f,
                "the server refuses to run as root, and there is none of the users {tried:?} to run it as"
            ),
            Self::Ended { program, log } => write!(f, "{program} ended; it said:\n{log}"),
            Self::TooSlow {
                program,
                waited,
                log,
            } => write!(
                f,
                "{program} was not done after {waited:?}; it said:\n{log}"
            ),
        }
    }
}

impl Error for StartError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            // The message has told the error itself.
            Self::System { source, .. } => source.source(),
            Self::NoUser { .. } | Self::Ended { .. } | Self::TooSlow { .. } => None,
        }
    }
}
