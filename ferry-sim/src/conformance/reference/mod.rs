//! A store that keeps the contract, as an example of one, and the same store with one thing wrong with it.
//!
//! A journal has a page for each key; each input writes a line on it and is told how long the page is then.
//!
//! ```
//! use ferry_sim::conformance::{self, reference::{BrokenStore, Defect, Journals, ReferenceStore}};
//! use futures_lite::future::block_on;
//!
//! let subject = Journals::<ReferenceStore>::default();
//! block_on(conformance::check_projected_store(&subject)).assert_held();
//!
//! let subject = Journals::<BrokenStore>::with(Defect::CommitUnfenced);
//! let report = block_on(conformance::check_projected_store(&subject));
//! assert!(report.broken().any(|broken| broken.name == Defect::CommitUnfenced.breaks()));
//! ```

mod broken;
mod defect;
mod fence;
mod guards;
mod journal;
mod projecting;
mod reading;
mod shelf;
mod store;
mod subject;

pub use broken::BrokenStore;
pub use defect::Defect;
pub use journal::{Journal, JournalSchema, Line, Note, Page, Trouble};
pub use store::ReferenceStore;
pub use subject::{JournalStore, Journals};
