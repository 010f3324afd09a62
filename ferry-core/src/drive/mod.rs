//! The runtime-agnostic driver.

mod runtime;
mod store;

pub use runtime::Runtime;
pub use store::{BlockingStore, Store};
