//! The projected write and the resume, driven step by step against a store whose answers are scripted.
//!
//! | to see | read |
//! | --- | --- |
//! | the store, which keeps the true log | `store.rs` |
//! | what stories are told with | `actor.rs`, `story.rs`, `resumer.rs`, `tallied.rs` |

mod actor;
mod debts;
#[path = "../deposits/mod.rs"]
mod deposits;
mod drops;
mod panics;
mod parts;
mod projecting;
mod racing;
mod resumer;
mod resuming;
mod reuse;
mod splitting;
mod store;
mod story;
mod tallied;
mod waiting;
#[path = "../writing/words.rs"]
mod words;
