//! The checkers: what a run left behind, held against the store's own true log. They know nothing of how it
//! came about, and take a time that grows with the run's length alone (times the logarithm of a look-up).

mod answers;
mod ends;
mod lines;
mod order;
mod violation;

pub use violation::{Property, Violation};

use self::lines::Lines;
use crate::history::History;

/// All that is wrong with a run; empty where nothing is.
#[must_use]
pub fn check(history: &History) -> Vec<Violation> {
    let mut found = Vec::new();
    let lines = Lines::of(history, &mut found);
    answers::check(history, &lines, &mut found);
    order::check(history, &mut found);
    ends::check(history, &mut found);
    found
}
