#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod audit;
mod codec;
mod error;
mod layout;
mod open_error;
mod options;
mod pool;
mod sql;
mod sqlstate;
mod store;
mod tally;
mod view;

pub use audit::Audit;
pub use error::{Part, PostgresError};
pub use ferry_stored::{Check, Entry, Fingerprint, Known, Shown, Stored, Version, View};
pub use open_error::OpenError;
pub use options::Options;
pub use store::PostgresStore;
pub use tally::Stats;
