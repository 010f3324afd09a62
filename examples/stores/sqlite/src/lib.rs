#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod audit;
mod connection;
mod error;
mod open;
mod options;
mod queue;
mod reader;
mod sql;
mod store;
mod stored;
mod writer;

pub use audit::Audit;
pub use error::{Part, SqliteError};
pub use ferry_core::applied::Fingerprint;
pub use open::OpenError;
pub use options::Options;
pub use store::{SqliteStore, Stats};
pub use stored::{Check, Entry, Known, Stored, Version};
