//! Ferry's core: per-key batching and fenced, idempotent writes, as pure state machines.
//!
//! Many updates arrive for the same entity (an account, a cart, a device), each entity being one record
//! in a store that has a conditional write. Ferry carries them across: in one process one batch per key
//! is in flight, what arrives meanwhile goes together as the next; and each batch goes by a round trip
//! that reads the record, leaves out what was applied already, commits the rest on the condition that
//! nothing changed since the read, and answers each caller only what is durable.
//!
//! ```text
//! submit ─▶ PerKey ──Dispatch(batch)─▶ Call ─▶ Read ─▶ fold ─▶ Commit (─▶ Project) ─▶ Done(answers) ─▶ PerKey ─▶ callers
//!             ▲                          └────────── Sleep ◀── refused / failed / in doubt        │
//!             └──────────────────────────────── finished ◀────────────────────────────────────────┘
//! ```
//!
//! Where a record has a read-side view, a second fenced write projects it. What the view lacks is in the
//! record, so any process can finish it: [`projected_write`].
//!
//! Everything in the picture is a value in this crate: events go in with the time at which they happen,
//! commands come out. Nothing here reads a clock, sleeps, draws a random number that was not seeded, or
//! does I/O. What touches the world is at the edge, in a driver.
//!
//! # Ways to use it
//!
//! - **On a runtime**: take `ferry-tokio` or `ferry-smol`, which are the driver of this crate ([`drive`]) on
//!   Tokio, smol and async-std, and start at their documentation. On another: implement
//!   [`Runtime`](drive::Runtime), and have `ferry_sim::runtime_behaviours!` test it.
//! - **In an executor or a loop of your own**: drive [`PerKey`](per_key::PerKey) and
//!   [`FoldWrite`](fold_write::FoldWrite) or [`ProjectedWrite`](projected_write::ProjectedWrite) yourself.
//!   Each says on its page how. The example `thread-loop` does it with threads and channels, `local-executor`
//!   on one thread with futures that are not `Send`, `no-std` without an operating system.
//! - **In a test**: the same, step by step, with answers that you make up, as in the example `by-hand`.
//!
//! # What you bring
//!
//! | you write | which says |
//! | --- | --- |
//! | a [`Schema`] | what your store holds for a key, and how it fails |
//! | a [`Fold`] | what one input does to a state: pure, and tested without a store |
//! | a [`Store`](drive::Store) | how to read a record, and how to write it on a condition |
//! | and, for a view, a [`Projection`] and a [`ProjectedStore`](drive::ProjectedStore) | what is pending, and how to write the view on a condition |
//!
//! # What you can rely on
//!
//! - **No input is applied twice**, as long as its retries carry the same id and the store's contract
//!   holds: the ids that a record holds change in the same conditional write as its state.
//! - **Nothing is answered before it is durable**, and nothing that was answered is lost.
//! - **`Projected` means that the view shows it.** A view that is late is no failure, and what it lacks is
//!   not forgotten.
//! - **A failure says what is known**: [`NotCommitted`](Failure::NotCommitted) only with proof, of
//!   this submission,
//!   [`InDoubt`](Failure::InDoubt) otherwise; sending the input again is safe after either.
//! - **Order**: inputs of one key are applied in the order of submission to this process, also when their
//!   batch is tried again or split.
//! - **Every bound is exact**, and what is over one is handed back with everything in it.
//! - **One input's fault is one caller's failure**: a panic in your fold, a record that the store will not
//!   take.
//!
//! None of it depends on which process an input reaches, on leases or on memory: the store is the only
//! source of truth, and a process that dies loses nothing that was answered. What was not answered, its
//! clients send again.
//!
//! # Features
//!
//! | feature | gives |
//! | --- | --- |
//! | `drive` (default) | the handle and the driver; needs `std` |
//! | `std` | a panic in `step` is caught; without it the machines are `no_std` with `alloc` |
//! | `serde` | `Serialize` and `Deserialize` for [`applied`] |
//! | `tracing` | spans and events of the driver, with `drive` |
//! | `metrics` | its counters, gauges and histograms, with `drive` |
#![no_std]
#![forbid(unsafe_code)]
#![warn(
    clippy::std_instead_of_core,
    clippy::std_instead_of_alloc,
    clippy::alloc_instead_of_core
)]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

mod failure;
mod fold;
mod guard;
mod projection;
mod retry;
mod schema;
mod time;

pub mod applied;
#[cfg(feature = "drive")]
pub mod drive;
pub mod fold_write;
pub mod per_key;
pub mod projected_write;

pub use failure::{Cause, Failure};
pub use fold::{Fold, Step, StepOf};
pub use projection::{Answer, Coverage, Durability, ProjectResult, Projection};
pub use retry::{InvalidRetry, Retry};
pub use schema::{Class, Commit, CommitError, Fault, Record, RecordOf, Schema};
pub use time::Instant;
