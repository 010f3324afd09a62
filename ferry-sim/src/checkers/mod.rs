//! The checkers: what a run left behind, held against the store's own true log. They know nothing of how it
//! came about, and take a time that grows with the run's length alone (times the logarithm of a look-up).

mod answers;
mod bounds;
mod doubts;
mod ends;
mod lines;
mod moments;
mod order;
mod property;
mod view;
mod violation;
mod work;

pub use property::Property;
pub use violation::Violation;

use self::lines::Lines;
use crate::{history::History, workload::Workload};

/// All that is wrong with a run of this workload; empty where nothing is.
#[must_use]
pub fn check<W: Workload>(load: &W, history: &History<W>) -> Vec<Violation> {
    let mut found = Vec::new();
    let load = load.reference();
    let lines = Lines::of(&load, history, &mut found);
    answers::check(&load, history, &lines, &mut found);
    moments::check(&load, history, &lines, &mut found);
    doubts::check(&load, history, &lines, &mut found);
    order::check(history, &mut found);
    view::check(history, &lines, &mut found);
    ends::check(history, &mut found);
    bounds::check(&load, history, &mut found);
    work::check(history, &mut found);
    found
}
