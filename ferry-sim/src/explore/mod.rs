//! The exhaustive walk.

mod account;
mod choices;
mod flaw;
mod judge;
mod machine;
mod moves;
mod points;
mod process;
mod resumer;
mod scope;
mod state;
mod store;
mod telling;
mod unfolded;
mod violation;
mod walk;
mod world;

pub use account::Submission;
pub use choices::{NoReplay, Replay, Step, replay, shrink};
pub use flaw::Flaw;
pub use points::Point;
pub use scope::{InvalidScope, Scope};
pub use violation::{Property, Violation};
pub use walk::{Found, Progress, Report, walk, walk_without};
