//! Ferry on Tokio: per-key batching and fenced, idempotent writes to a store.
//!
//! This crate is the adapter: a [`Runtime`](ferry_core::drive::Runtime) on Tokio's clock, timers, tasks
//! and blocking threads, and everything of the core that you need beside it, under one name.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // No store yet: add up whatever arrives for a key, a batch at a time.
//! let ferry = ferry_tokio::Builder::new()
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
//! # }
//! ```
//!
//! # Features
//!
//! | feature | gives |
//! | --- | --- |
//! | `tower` | `FerryService`, a handle as a `tower::Service` |
//! | `serde` | `Serialize` and `Deserialize` for [`applied`] |
//! | `tracing` | spans and events: batches, tries, projections, resumes, sweeps |
//! | `metrics` | counters, gauges and histograms, told apart by [`Builder::name`] |
#![forbid(unsafe_code)]

mod runtime;
#[cfg(feature = "tower")]
mod service;

#[doc(inline)]
pub use ferry_core::drive::facade::*;
pub use runtime::Tokio;
#[cfg(feature = "tower")]
pub use service::{Answering, FerryService, ServiceError};

/// Makes a [`Ferry`] on Tokio; see [`ferry_core::drive::Builder`].
///
/// `Builder::new()` takes the runtime it is called in; `Builder::on(Tokio::on(handle))` any other.
pub type Builder = ferry_core::drive::Builder<Tokio>;
