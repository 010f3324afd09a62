#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod answers;
pub mod audit;
pub mod between;
pub mod carry;
pub mod client;
pub mod compare;
pub mod dropper;
pub mod file;
pub mod findings;
pub mod fleet;
pub mod fold;
pub mod lines;
pub mod member;
pub mod node;
pub mod options;
pub mod place;
pub mod process;
pub mod reply;
pub mod report;
pub mod scratch;
pub mod simulate;
pub mod statement;
pub mod stop;
pub mod store;
pub mod tally;
pub mod workload;

/// The project's README: its quick start is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct ProjectReadme;
