//! The driver under schedulers that choose who runs next: short stories, each told in some thousand orders.
//!
//! ```text
//! RUSTFLAGS="--cfg shuttle" cargo test -p ferry-core --test concurrency --release --target-dir target/shuttle
//! ```
//!
//! Whatever the order, everyone hears exactly one answer, their own; nobody waits for ever, which the scheduler would
//! report as a deadlock; no bound is exceeded; and when it is over, the gauges are at zero and nothing is left of what
//! the handle was given. `explore.rs` says how a failing schedule is run again.
#![cfg(shuttle)]

mod callers;
mod explore;
mod runtime;
mod store;
mod world;

mod bounds;
mod clock;
mod closing;
mod dropping;
mod leaving;
mod resuming;
mod room;
mod shutdown;
mod submitting;
mod sweeping;
mod waking;
