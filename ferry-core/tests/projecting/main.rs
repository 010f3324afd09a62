//! The projected write and the resume, driven step by step against a store whose answers are scripted.
//!
//! | to see | read |
//! | --- | --- |
//! | the store, which keeps the true log | `store.rs` |
//! | what stories are told with | `actor.rs`, `story.rs`, `resumer.rs`, `tallied.rs` |
//! | what properties are checked with | `schedule.rs`, `fleet.rs`, `fleet/calls.rs`, `judge.rs` |

mod actor;
mod debts;
#[path = "../deposits/mod.rs"]
mod deposits;
mod drops;
mod fleet;
mod judge;
mod panics;
mod parts;
mod projecting;
mod properties;
mod racing;
mod resumer;
mod resuming;
mod reuse;
mod schedule;
mod splitting;
mod store;
mod story;
mod table;
mod tallied;
mod waiting;
#[path = "../writing/words.rs"]
mod words;
