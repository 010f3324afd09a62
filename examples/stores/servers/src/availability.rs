//! Whether a server is installed.

use std::fmt;

/// What a look for a server's programs came to.
///
/// Exhaustive on purpose: a server is there, or it is said what to install.
#[derive(Clone, Debug)]
pub enum Availability<T> {
    /// Its programs are installed.
    Found(T),
    /// They are not.
    Missing(Missing),
}

/// A server that is not installed. The message says what to install.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    pub(crate) server: &'static str,
    pub(crate) install: &'static str,
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { server, install } = self;
        write!(f, "{server} is not installed: {install}")
    }
}
