//! Ferry on smol: per-key batching and fenced, idempotent writes to a store.
//!
//! This crate is the adapter: a [`Runtime`](ferry_core::drive::Runtime) on smol's timers, blocking threads and executors, and
//! everything of the core that you need beside it, under one name.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # smol::block_on(async {
//! // No store yet: add up whatever arrives for a key, a batch at a time.
//! let ferry = ferry_smol::Builder::new()
//!     .max_batch(256)
//!     .per_key(|_key: &'static str, inputs: Vec<u64>| async move {
//!         let sum: u64 = inputs.iter().sum();
//!         inputs.iter().map(|_| sum).collect::<Vec<_>>()
//!     })?;
//!
//! let first = ferry.submit("apples", 3)?;
//! let second = ferry.submit("apples", 4)?;
//! assert_eq!(first.await?, 3);
//! assert_eq!(second.await?, 4);
//! ferry.close().await;
//! # Ok(())
//! # })
//! # }
//! ```
//!
//! # Features
//!
//! | feature | gives |
//! | --- | --- |
//! | `async-std` | the module `async_std`, with the same for programs that are still on it |
//! | `tracing`, `metrics` | what a handle does, told to subscribers and recorders; [`Builder::name`] tells handles apart |
//! | `serde` | `Serialize` and `Deserialize` for [`applied`] |
#![forbid(unsafe_code)]

#[cfg(feature = "async-std")]
pub mod async_std;
mod runtime;

#[doc(inline)]
pub use ferry_core::drive::facade::*;

pub use runtime::Smol;

/// Makes a [`Ferry`] on smol; see [`ferry_core::drive::Builder`].
///
/// `Builder::new()` takes the global executor; `Builder::on(Smol::on(&executor))` one of yours.
pub type Builder = ferry_core::drive::Builder<Smol>;
