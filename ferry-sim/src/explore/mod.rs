//! All schedules of a small scope: two processes, two inputs, a crash, a late write, a lost answer and a resume, unless
//! said otherwise, walked to the end.
//!
//! ```
//! use ferry_sim::explore::{Scope, walk};
//!
//! let scope = Scope { lost: 0, late: 0, ..Scope::default() };
//! let report = walk(scope, |_progress| ())?;
//! assert!(report.found.is_none(), "{:?}", report.found);
//! println!("all {} schedules held", report.schedules);
//! # Ok::<_, ferry_sim::explore::InvalidScope>(())
//! ```
//!
//! The seeds of the other simulations draw some schedules of a large world. This is every schedule of a small one.
//! The machines are the real ones: the batching machine, the round trip and the resume of `ferry-core`, driven by hand.
//! The store is as small as it can be; there is no clock, and a pause ends as soon as it begins.
//!
//! # What is chosen
//!
//! Who takes the next step; to which process a client goes; whether a write is served, arrives with its answer lost, or
//! is given up and arrives at any later time or never; where somebody crashes, and whether the write in its hand has
//! arrived, is lost, or is late; when a client that does not know what became of its input sends it again; and when
//! whoever resumes takes each of its steps.
//!
//! # Why it ends soon
//!
//! A schedule is a list of choices, but many schedules come to the same state, and what follows from there is walked
//! once. Machines cannot be compared. But each is pure, so that the events that it was told say where it is: a state
//! holds its place in the tree of those (`unfolded.rs`). Left out are choices that make no difference:
//!
//! - What touches nothing that others can see (a fold, a pause, an answer being heard) is no step of its own, but comes
//!   with the step before it. It would make no difference where between two steps of others it were: it commutes with
//!   them. Answers are judged as soon as they can be given, when the least is in the log and in the view.
//! - A crash is looked at before each step, not between an answer and what follows from it alone, for the same reason. A
//!   crash after a write has arrived and before that is heard is a choice of its own.
//! - Of processes to which nothing has happened yet, the first is taken; of deposits that are still to be sent, too.
//! - A process that has nothing to do does not crash: it has nothing to lose.
//! - A client gives up, and a late write is found never to arrive, only when nobody else has a step left: until then
//!   both may as well be late.
//! - Who has come to its end and will not be given anything is forgotten, and so is what no check can depend on any more.
//!
//! A client that still waits sends its input again to another process only. The same input twice in one batch is left to the
//! simulations.
//!
//! # Where to read
//!
//! | to see | read |
//! | --- | --- |
//! | how much may happen | `scope.rs` |
//! | what may happen next | `moves.rs`, `telling.rs` in words, `actions.rs` as the specification has it, and `events.rs` as events that are drawn |
//! | what comes of it | `world.rs`, `state.rs` |
//! | the machines, driven by hand | `process.rs`, `resumer.rs`, `machine.rs`, `unfolded.rs` |
//! | the store, and what is folded on it | `store.rs`, `account.rs` |
//! | what has to hold, and how it is judged | `violation.rs`, `judge.rs` |
//! | what has to be met on the way | `points.rs`, `meeting.rs` |
//! | the walk, and what a state is known by | `walk.rs`, `fingerprint.rs` |
//! | the shortest way to what it found; one schedule again | `shortest.rs`, `choices.rs` |
//! | that the judge notices | `mutants.rs`, `flaw.rs` |

mod account;
mod actions;
mod choices;
mod events;
mod fingerprint;
mod flaw;
mod judge;
mod machine;
mod meeting;
mod moves;
mod mutants;
mod points;
mod process;
mod resumer;
mod scope;
mod shortest;
mod state;
mod store;
mod telling;
mod unfolded;
mod violation;
mod walk;
mod world;

pub use account::Submission;
pub use actions::{Action, BESIDE};
pub use choices::{NoReplay, Replay, Step, replay};
pub use mutants::{MUTANTS, Mutant};
pub use points::Point;
pub use scope::{InvalidScope, Scope};
pub use violation::Violation;
pub use walk::{Found, Progress, Report, walk};
