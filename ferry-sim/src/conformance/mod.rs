//! The conformance kit: whether a store keeps the contract that Ferry's promises rest on, clause by clause.
//!
//! The contract is that of [`Store`](ferry_core::drive::Store) and [`ProjectedStore`](ferry_core::drive::ProjectedStore).
//! Point the kit at a store of your own by telling it what it needs to know, as a [`Subject`]; a [`ProjectedSubject`] if the
//! store has views. Wrap a store whose calls block in [`Blocking`]. Then, on whatever executor the store runs on:
//!
//! ```
//! use std::{
//!     collections::BTreeMap,
//!     convert::Infallible,
//!     sync::{Arc, Mutex, atomic::{AtomicU64, Ordering}},
//! };
//!
//! use ferry_core::{
//!     Commit, CommitError, Fault, Fold, Record, RecordOf, Schema, Step, StepOf, drive::Store,
//! };
//! use ferry_sim::conformance::{self, Subject};
//!
//! /// The store to be checked: sums in memory, none of which is ever deleted.
//! #[derive(Clone, Default)]
//! struct Sums(Arc<Mutex<BTreeMap<u64, Record<Sum, u64>>>>);
//!
//! #[derive(Clone, Default)]
//! struct Sum {
//!     total: u32,
//!     applied: BTreeMap<u32, u32>, // id -> the total that it led to
//! }
//!
//! impl Schema for Sums {
//!     type Key = u64;
//!     type Id = u32;
//!     type State = Sum;
//!     type Version = u64;
//!     type Entry = u32;
//!     type Error = Infallible;
//! }
//!
//! impl Store for Sums {
//!     async fn read(&self, key: &u64, _: &[u32]) -> Result<Option<RecordOf<Self>>, Fault<Infallible>> {
//!         Ok(self.0.lock().unwrap().get(key).cloned())
//!     }
//!
//!     async fn commit(&self, key: &u64, commit: Commit<'_, Self>) -> Result<u64, CommitError<Infallible>> {
//!         let mut sums = self.0.lock().unwrap();
//!         if sums.get(key).map(|sum| &sum.version) != commit.expected {
//!             return Err(CommitError::Refused);
//!         }
//!         let (state, version) = (commit.state.clone(), commit.expected.map_or(1, |last| last + 1));
//!         sums.insert(*key, Record { state, version });
//!         Ok(version)
//!     }
//! }
//!
//! /// The fold that goes with it.
//! struct Adding;
//!
//! impl Fold for Adding {
//!     type Schema = Sums;
//!     type Input = u32; // a number to be added, and its own id
//!     type Outcome = u32;
//!
//!     fn id(&self, number: &u32) -> u32 {
//!         *number
//!     }
//!
//!     fn empty(&self, _: &u64) -> Sum {
//!         Sum::default()
//!     }
//!
//!     fn step(&self, sum: &mut Sum, number: &u32) -> StepOf<Self> {
//!         if let Some(&total) = sum.applied.get(number) {
//!             return Step::Already(total);
//!         }
//!         sum.total += number;
//!         sum.applied.insert(*number, sum.total);
//!         Step::Applied(*number, sum.total)
//!     }
//! }
//!
//! /// What the kit is told.
//! #[derive(Default)]
//! struct Kept {
//!     sums: Sums,
//!     keys: AtomicU64,
//! }
//!
//! impl Subject for Kept {
//!     type Fold = Adding;
//!     type Store = Sums;
//!
//!     fn fold(&self) -> &Adding {
//!         &Adding
//!     }
//!
//!     async fn open(&self) -> Sums {
//!         self.sums.clone() // of a database: another connection
//!     }
//!
//!     fn fresh_key(&self) -> u64 {
//!         self.keys.fetch_add(1, Ordering::Relaxed)
//!     }
//!
//!     fn input(&self, number: u32) -> u32 {
//!         number
//!     }
//!
//!     fn is_same(&self, read: &Sum, committed: &Sum) -> bool {
//!         read.total == committed.total
//!     }
//! }
//!
//! # use futures_lite::future::block_on;
//! let report = block_on(conformance::check_store(&Kept::default()));
//! report.assert_held();
//! ```
//!
//! What is not kept is told with the clause, what was expected and what was seen, and where to look. A check is also a value
//! of its own, with a name and nothing borrowed, for a test harness that is given its tests at run time:
//!
//! ```
//! use ferry_sim::conformance::{self, reference::{Journals, ReferenceStore}};
//! # use futures_lite::future::block_on;
//!
//! for check in conformance::store_checks() {
//!     let subject = Journals::<ReferenceStore>::default();
//!     println!("{}: {}", check.name(), check.clause());
//!     block_on(check.run(&subject)).assert_held();
//! }
//! ```
//!
//! # What the kit does
//!
//! It makes states and entries by the fold's own steps, and needs to know no type of the schema. It draws nothing at random and
//! reads no clock. Several handles are several processes: their calls are polled in turn, from a few points apart, or made on
//! threads where they block. A lost answer is a future that is dropped, at each of its polls. A late request is a commit that
//! was made of an old read. Faults that pass, and doubts, are met as the driver meets them: the call is made again, from a
//! fresh read where it has to be.
//!
//! # What it cannot see
//!
//! - That what landed outlives a power failure, or the loss of a machine.
//! - That a time-out, or a connection that breaks, is told as in doubt: it has no hand on the network. Check that with a proxy
//!   between, or by the errors that your client makes.
//! - That every call ends. A call that hangs hangs the check: give the test a time-out.
//! - That a read is linearizable where replicas lag only under load.
//! - What goes wrong only after thousands of commits to one key, such as a version that is cut to two bytes.
//! - What shows only where a count gains a digit, if versions are counted over all keys and it gains none in 300 commits.
//! - What goes wrong with kinds of keys, ids and contents that the subject does not give.
//!
//! | to see | read |
//! | --- | --- |
//! | what you implement, and what it is asked | [`Subject`], [`ProjectedSubject`] |
//! | the checks | `store/`, `projected/` |
//! | the steps that they are told in | `case.rs`, `shows.rs`, `projected/steps.rs` |
//! | a store that keeps the contract, and what is found of each defect | [`mod@reference`] |

mod case;
mod check;
mod handle;
mod polls;
mod projected;
pub mod reference;
mod report;
mod shows;
mod store;
mod subject;

pub use check::{Check, CheckResult, Checked, Finding, Lack};
pub use handle::{Blocking, CommitResult, Handle, ProjectedHandle, ReadResult};
pub use report::Report;
pub use subject::{Deletion, InputOf, KeyOf, ProjectedSubject, SchemaOf, StateOf, Subject};

/// The checks of the contract of a [`Store`](ferry_core::drive::Store), to be run one by one.
pub fn store_checks<S: Subject>() -> Vec<Check<S>> {
    store::checks()
}

/// The checks that the contract of a [`ProjectedStore`](ferry_core::drive::ProjectedStore) adds, to be run one by one.
pub fn projection_checks<S: ProjectedSubject>() -> Vec<Check<S>> {
    projected::checks()
}

/// Runs the [`store_checks`] one after the other.
///
/// # Panics
///
/// Where the subject or the store does.
///
/// # Cancel safety
///
/// Whether it ends or is dropped, it leaves records behind on keys of its own.
pub async fn check_store<S: Subject>(subject: &S) -> Report {
    let mut report = Report::default();
    report.add(&store_checks(), subject).await;
    report
}

/// Runs the [`store_checks`] and then the [`projection_checks`], one after the other.
///
/// # Panics
///
/// As [`check_store`].
///
/// # Cancel safety
///
/// As [`check_store`].
pub async fn check_projected_store<S: ProjectedSubject>(subject: &S) -> Report {
    let mut report = Report::default();
    report.add(&store_checks(), subject).await;
    report.add(&projection_checks(), subject).await;
    report
}
