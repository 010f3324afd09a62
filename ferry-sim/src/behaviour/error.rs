//! Why behaviours could not be written.

use core::{error::Error, fmt};
use std::io;

use super::module::IDS;

/// Why behaviours could not be written as a module.
#[derive(Debug)]
#[non_exhaustive]
pub enum WriteError {
    /// An input's number is so large that its id would be taken for one of the next behaviour. Nothing was written: leave this
    /// behaviour out, or take one of a smaller run.
    NumberTooLarge {
        /// The behaviour's seed.
        seed: u64,
        /// The behaviour's key.
        key: u32,
        /// The input's number.
        number: u64,
    },
    /// What was to be written to took no more. A part may have been written.
    Io(io::Error),
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NumberTooLarge { seed, key, number } => write!(
                f,
                "seed {seed}, key {key} has an input of number {number}, and a behaviour has ids for those up to {}: leave it \
                 out, or take one of a smaller run",
                IDS - 1
            ),
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl Error for WriteError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NumberTooLarge { .. } => None,
            Self::Io(error) => error.source(),
        }
    }
}

/// The error of what was written to, or one of the kind `InvalidInput`.
impl From<WriteError> for io::Error {
    fn from(error: WriteError) -> Self {
        match error {
            WriteError::NumberTooLarge { .. } => Self::new(io::ErrorKind::InvalidInput, error),
            WriteError::Io(error) => error,
        }
    }
}

impl From<io::Error> for WriteError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
