#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod audit;
mod codec;
mod connection;
mod error;
mod find;
mod member;
mod open;
mod options;
mod queue;
mod reader;
mod rows;
mod sql;
mod store;
mod tally;
mod view;
mod writer;

pub use audit::Audit;
pub use error::{Part, SqliteError};
pub use ferry_stored::{Check, Entry, Fingerprint, Known, Shown, Stored, Version, View};
pub use open::OpenError;
pub use options::Options;
pub use store::SqliteStore;
pub use tally::Stats;
