//! The runtime-agnostic driver: the machines of this crate on an async runtime, against a real store.
//!
//! ```text
//! submit ─▶ Shard ──Work──▶ a parked task ─▶ Carrier ─▶ store
//!             ▲                                 │
//!             └──── finished ◀── answers ◀──────┘
//! ```
//!
//! Keys are kept in shards, each a [`PerKey`](crate::per_key::PerKey) behind a lock that is held for a
//! moment at a time, and never while foreign code runs or anything is awaited. A batch is carried by a
//! task that parks when there is nothing to do; answers are left in slots that are used again. In a
//! steady state nothing is allocated and nothing is spawned.
//!
//! | to see | read |
//! | --- | --- |
//! | what you call | `handle.rs`, `submission.rs`, `builder.rs`, `stats.rs` |
//! | what you implement | `runtime.rs`, `store.rs`, `own_call.rs` |
//! | the way of an input | `shared/`, then `shard.rs` |
//! | the tasks | `crew.rs`, `mailbox.rs`, `clock.rs` |
//! | what a task does with a batch | `write.rs`, `projected.rs`, `own_call.rs`; with the store: `edge.rs` |
//! | finishing what is pending | `resuming.rs`, `run.rs`; of many keys `sweep/`; on a schedule `sweeper.rs`, `rounds.rs`, `debts.rs`; pauses `pause.rs` |
//! | bounds, and waiting for room | `bound.rs`, `room.rs`, `key_line.rs` |
//! | how an answer reaches its caller | `slot.rs`, `pool.rs` |
//! | where threads meet | `sync.rs` |
//! | what user code that panics can do | `catch.rs`, `lock.rs` |
//! | the end | `closing.rs` |
//! | what subscribers and recorders are told | `observe/` |

mod bound;
mod builder;
mod carries;
mod catch;
mod chance;
mod clock;
mod closing;
mod crew;
mod debts;
mod edge;
mod handle;
mod key_line;
mod lock;
mod mailbox;
mod observe;
mod own_call;
mod pause;
mod pool;
mod projected;
mod resuming;
mod room;
mod rounds;
mod run;
mod runtime;
mod schedule;
mod shard;
mod shared;
mod slot;
mod stats;
mod store;
mod submission;
mod sweep;
mod sweeper;
mod sync;
mod write;

pub mod facade;

pub use builder::{Builder, InvalidConfig};
pub use carries::{Carries, SharedFold, SharedProjection, SharedSchema};
pub use handle::Ferry;
pub use own_call::{BatchCall, OwnCall, OwnCallOf};
pub use resuming::ResumeError;
pub use room::Place;
pub use runtime::Runtime;
pub use schedule::{InvalidSchedule, Schedule};
pub use stats::{Counters, Stats};
pub use store::{BlockingProjectedStore, BlockingStore, ProjectedStore, Store};
pub use submission::Submission;
pub use sweep::{Sweep, SweepProgress, SweepReport, Sweeping};
pub use sweeper::{QueryError, Sweeper, SweeperHealth};
