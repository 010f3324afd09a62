#![doc = include_str!("../README.md")]
#![cfg(unix)]
#![forbid(unsafe_code)]

mod availability;
mod error;
mod guard;
mod port;
pub mod postgres;
mod suite;
mod user;

pub use availability::{Availability, Missing};
pub use error::StartError;
pub use suite::Suite;
