//! Ferry's core.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod failure;
mod fold;
mod guard;
mod retry;
mod schema;
mod time;

pub mod applied;
#[cfg(feature = "drive")]
pub mod drive;
pub mod fold_write;
pub mod per_key;

pub use failure::{Cause, Failure};
pub use fold::{Fold, Step, StepOf};
pub use retry::{InvalidRetry, Retry};
pub use schema::{Class, Commit, CommitError, Fault, Record, RecordOf, Schema};
pub use time::Instant;
