//! Deterministic simulation of Ferry: the real driver and machines, as users get them, on virtual time, against a
//! store, a network and clients that fail in every way that a seed can draw.
//!
//! ```
//! use ferry_sim::fenced::FencedWriterSimulation;
//!
//! let report = FencedWriterSimulation::default().run_twice(7);
//! assert!(report.violations.is_empty(), "{:?}", report.violations);
//! ```
//!
//! | to see | read |
//! | --- | --- |
//! | how a run goes | [`fenced`], then `world.rs` |
//! | virtual time, tasks, processes | [`executor`] |
//! | what goes wrong between a node and the store | `store/` |
//! | nodes, crashes, clients | `fleet/` |
//! | what a seed draws | `swarm.rs`, `chance.rs` |
//! | what has to hold, and how it is checked | [`check`], [`history`] |
//! | what has to happen now and then | [`points`] |
//! | that the checkers notice | [`policy`], [`mutants`] |
#![forbid(unsafe_code)]

mod chance;
mod event;
mod fleet;
mod fold;
mod store;
mod swarm;
mod trace;
mod world;

pub mod check;
pub mod executor;
pub mod fenced;
pub mod history;
pub mod mutants;
pub mod points;
pub mod policy;

pub use event::{Event, Verdict};
pub use fold::{Input, Outcome, Purse, Standing, StoreError};
pub use store::Fate;
pub use swarm::Size;
pub use trace::Difference;
