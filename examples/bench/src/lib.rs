//! Ferry beside what people would pick instead, on one set of workloads.
//!
//! | to see | read |
//! | --- | --- |
//! | what is compared | `peers/`, one file each |
//! | the interface they all get | `batcher.rs`; what they call: `backend.rs` |
//! | the workloads | `workload.rs` |
//! | figures by the clock | `timed.rs`, `meter.rs`, `compare.rs` |
//! | figures that repeat exactly | `steady.rs`, `instructions.rs`, `bin/allocations.rs` |
//! | what holds, and what breaks | `check.rs`, `probe.rs` |
#![forbid(unsafe_code)]

mod backend;
mod batcher;
mod check;
mod compare;
mod instructions;
mod meter;
mod peers;
mod probe;
mod steady;
mod timed;
mod workload;

pub use backend::{Backend, Work};
pub use batcher::{Batcher, Config, Failed, Input, Key, Output, answer};
pub use check::{Check, Violation};
pub use compare::compare;
pub use instructions::instructions;
pub use peers::{Peer, Visitor};
pub use probe::{Outcome, Probe};
pub use steady::{Cost, Heap, Steady};
pub use timed::{Figures, Timed};
pub use workload::Workload;
