//! What a handle does, as its user sees it: the same on every runtime.
//!
//! Whoever writes a [`Runtime`](ferry_core::drive::Runtime) says how one is started, as a [`Host`], and names the suite in a
//! test crate of their own, once for each flavour of it:
//!
//! ```
//! use ferry_sim::{executor::{Executor, Process}, runtimes::{Host, ShutsDown}};
//!
//! struct Simulated(Executor, Process);
//!
//! impl Host for Simulated {
//!     type Runtime = Process;
//!
//!     fn start() -> Self {
//!         let executor = Executor::new(7);
//!         let process = executor.process();
//!         Self(executor, process)
//!     }
//!
//!     fn runtime(&self) -> Process {
//!         self.1.clone()
//!     }
//!
//!     fn run<T>(&self, story: impl Future<Output = T>) -> T {
//!         self.0.block_on(story)
//!     }
//! }
//!
//! impl ShutsDown for Simulated {
//!     fn shut_down(self) {
//!         self.1.crash();
//!     }
//! }
//!
//! ferry_sim::runtime_behaviours!(simulated: Simulated, [shuts_down, exact_time]);
//! # fn main() {}
//! ```
//!
//! Each behaviour becomes a test. Some ask for more than any runtime has, and are shown where the host is said to have it:
//!
//! | in brackets | says of the host that |
//! | --- | --- |
//! | `shuts_down` | it is a [`ShutsDown`]: all tasks can be dropped in mid-way |
//! | `blocks` | blocking work runs beside the tasks, and holds none of them up |
//! | `cuts_off_what_blocks` | both: it can be shut down while work blocks |
//! | `exact_time` | its clock moves only when nothing else can, and then to the next timer |
//! | `parallel` | tasks run at once, on two threads at least |
//!
//! | to see | read |
//! | --- | --- |
//! | all behaviours by name | `suite.rs` |
//! | what a handle relies on, of a runtime's own | `contract.rs` |
//! | who waits for whom, and in which order | `order.rs`, `batching.rs` |
//! | how much there may be at once | `bounds.rs`, `fairness.rs`, `room.rs`, `reserving.rs` |
//! | fenced writes | `writes.rs`, `blocking.rs`, `nodes.rs` |
//! | commit, then project | `projecting.rs`, `projecting_by_the_clock.rs` |
//! | the projection alone | `resuming.rs`, `sharing_a_run.rs` |
//! | the projection of many keys | `sweeping.rs`, `sweeping_by_the_clock.rs`, `sweeps_cut_short.rs` |
//! | sweeping on a schedule | `sweepers.rs`, `sweepers_by_the_clock.rs`, `sweepers_ending.rs` |
//! | clocks | `linger.rs`, `deadlines.rs`, `retries.rs` |
//! | callers who go | `dropping.rs` |
//! | user code that panics | `panics.rs`, `drops_that_panic.rs`, `types_that_panic.rs`, `keys_that_panic.rs`, `resumed_types_that_panic.rs` |
//! | user code that uses the handle | `calling_back.rs` |
//! | the end | `closing.rs`, `orphans.rs`, `shutdown.rs` |
//! | what takes two threads | `threads.rs` |
//! | everything at once | `soak.rs`, `projecting_soak.rs` |
//! | what the behaviours are told with | `host.rs`, `gate.rs`, `courier.rs`, `mishap.rs`, `bank.rs`, `gallery.rs`, `walls.rs`, `bomb.rs`, `reaction.rs` |
#![expect(
    clippy::disallowed_methods,
    missing_debug_implementations,
    unnameable_types,
    unreachable_pub,
    reason = "nobody but the macro names what is in here; and runtimes that are not simulated have threads"
)]

#[doc(hidden)]
pub mod batching;
#[doc(hidden)]
pub mod blocking;
#[doc(hidden)]
pub mod bounds;
#[doc(hidden)]
pub mod calling_back;
#[doc(hidden)]
pub mod closing;
#[doc(hidden)]
pub mod contract;
#[doc(hidden)]
pub mod deadlines;
#[doc(hidden)]
pub mod dropping;
#[doc(hidden)]
pub mod drops_that_panic;
#[doc(hidden)]
pub mod fairness;
#[doc(hidden)]
pub mod keys_that_panic;
#[doc(hidden)]
pub mod linger;
#[doc(hidden)]
pub mod nodes;
#[doc(hidden)]
pub mod order;
#[doc(hidden)]
pub mod orphans;
#[doc(hidden)]
pub mod panics;
#[doc(hidden)]
pub mod projecting;
#[doc(hidden)]
pub mod projecting_by_the_clock;
#[doc(hidden)]
pub mod projecting_soak;
#[doc(hidden)]
pub mod reserving;
#[doc(hidden)]
pub mod resumed_types_that_panic;
#[doc(hidden)]
pub mod resuming;
#[doc(hidden)]
pub mod retries;
#[doc(hidden)]
pub mod room;
#[doc(hidden)]
pub mod sharing_a_run;
#[doc(hidden)]
pub mod shutdown;
#[doc(hidden)]
pub mod soak;
#[doc(hidden)]
pub mod sweepers;
#[doc(hidden)]
pub mod sweepers_by_the_clock;
#[doc(hidden)]
pub mod sweepers_ending;
#[doc(hidden)]
pub mod sweeping;
#[doc(hidden)]
pub mod sweeping_by_the_clock;
#[doc(hidden)]
pub mod sweeps_cut_short;
#[doc(hidden)]
pub mod threads;
#[doc(hidden)]
pub mod types_that_panic;
#[doc(hidden)]
pub mod writes;

mod bank;
mod bomb;
mod courier;
mod gallery;
mod gate;
mod host;
mod mishap;
mod reaction;
mod suite;
mod walls;

pub use host::{Host, ShutsDown, show};
