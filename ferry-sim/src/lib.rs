//! Deterministic simulation of Ferry: the real driver and machines, as users get them, on virtual time, against a
//! store, a network and clients that fail in every way that a seed can draw.
//!
//! ```
//! use ferry_sim::{FencedWriterSimulation, ProjectedWriterSimulation};
//!
//! let report = FencedWriterSimulation::default().run_twice(7);
//! assert!(report.violations.is_empty(), "{:?}", report.violations);
//! let report = ProjectedWriterSimulation::default().run_twice(7);
//! assert!(report.violations.is_empty(), "{:?}", report.violations);
//! ```
//!
//! | to have | use |
//! | --- | --- |
//! | these simulations on a fold or a projection of your own | [`check`] |
//! | a store of your own held against the contract | [`conformance`] |
//! | a runtime of your own held against what a handle does on any | `runtimes`, with the feature `testing` |
//!
//! | to see | read |
//! | --- | --- |
//! | how a run goes | `simulation.rs`, then `world.rs` |
//! | virtual time, tasks, processes | [`executor`] |
//! | how to check your own fold, and your own store | [`check`], [`conformance`] |
//! | what the fleet does: your fold, or the one that is built in | [`Workload`], [`purses`] |
//! | what goes wrong between a node and the store | `store/` |
//! | nodes, crashes, sweepers, clients | `fleet/` |
//! | what a seed draws | `swarm.rs`, `chance.rs` |
//! | what has to hold, and how it is checked | [`checkers`], [`history`], [`calls`] |
//! | what has to happen now and then | [`points`] |
//! | how each thing goes wrong, one story at a time | [`scenario`] |
//! | a run as a page | [`timeline`], with the feature of that name |
//! | that the checkers notice | [`policy`], [`mutants`] |
//! | every schedule of a small scope, with no clock at all | [`explore`] |
#![forbid(unsafe_code)]

mod built_in;
mod chance;
mod event;
mod faults;
mod fleet;
mod kind;
mod moment;
mod sent;
mod shrink;
mod simulation;
mod store;
mod storm;
mod swarm;
mod tape;
mod trace;
mod usable;
mod weak;
mod workload;
mod world;

pub mod behaviour;
pub mod calls;
pub mod check;
pub mod checkers;
pub mod conformance;
pub mod executor;
pub mod explore;
pub mod history;
pub mod kept;
pub mod lives;
pub mod mutants;
pub mod points;
pub mod policy;
pub mod purses;
#[cfg(feature = "testing")]
pub mod runtimes;
pub mod safeguards;
pub mod scenario;
#[cfg(feature = "timeline")]
pub mod timeline;

pub use built_in::BuiltIn;
pub use chance::Chance;
pub use event::{AnswerKind, Event, Verdict};
pub use moment::Moment;
pub use sent::{How, Quirk, Sent, Told};
pub use shrink::{Progress, Shrunk};
pub use simulation::{
    ByHandWriterSimulation, FencedWriterSimulation, ProjectedWriterSimulation, Report,
};
pub use store::Fate;
pub use swarm::Size;
pub use tape::Choices;
pub use trace::Difference;
pub use usable::Unusable;
pub use workload::{ProjectedWorkload, Workload};
