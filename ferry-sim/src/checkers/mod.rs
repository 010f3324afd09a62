//! The checkers: what a run left behind, held against the store's own true log. They know nothing of how it
//! came about, and take a time that grows with the run's length alone (times the logarithm of a look-up).
//!
//! | to see | read |
//! | --- | --- |
//! | what there is to find, by the property that it violates | `violation.rs` |
//! | the log, and what was answered from it | `lines.rs`, `answers.rs`, `moments.rs`, `doubts.rs`, `twins.rs`, `order.rs` |
//! | views, and who resumes them | `view.rs`, `resumes.rs`, `sweeps.rs` |
//! | batches, as their calls show them | `batches.rs` |
//! | when they leave, how they are tried, and how often | `leaving.rs`, `tries.rs`, `work.rs` |
//! | who finds room, and who is out of time | `rooms.rs`, `bounds.rs`, `deadlines.rs` |
//! | what nodes count, and what they leave | `counters.rs`, `ends.rs` |

mod answers;
mod batches;
mod bounds;
mod counters;
mod deadlines;
mod doubts;
mod ends;
mod leaving;
mod lines;
mod moments;
mod order;
mod places;
mod property;
mod resumes;
mod rooms;
mod sweeps;
mod tries;
mod twins;
mod view;
mod violation;
mod work;

pub use property::Property;
pub use violation::Violation;

use self::{batches::Batches, lines::Lines, places::Places};
use crate::{history::History, workload::Workload};

/// All that is wrong with a run of this workload; empty where nothing is.
#[must_use]
pub fn check<W: Workload>(load: &W, history: &History<W>) -> Vec<Violation> {
    judge(load, history).0
}

/// The same, with how often a sweeper went out of the order of the keys.
pub(crate) fn judge<W: Workload>(load: &W, history: &History<W>) -> (Vec<Violation>, u64) {
    let mut found = Vec::new();
    let load = load.reference();
    let places = Places::of(history);
    let lines = Lines::of(&load, history, &mut found);
    answers::check(&load, history, &lines, &mut found);
    moments::check(&load, history, &lines, &mut found);
    order::check(history, &mut found);
    view::check(history, &lines, &mut found);
    ends::check(history, &places, &mut found);
    bounds::check(&load, history, &places, &mut found);
    work::check(history, &places, &mut found);
    let batches = Batches::of(history, &places);
    doubts::check(&load, history, &lines, &batches, &mut found);
    twins::check(history, &lines, &batches, &mut found);
    leaving::check(history, &batches, &mut found);
    rooms::check(history, &batches, &mut found);
    deadlines::check(history, &batches, &mut found);
    tries::check(history, &batches, &mut found);
    counters::check(history, &batches, &mut found);
    let shuffled = sweeps::check(history, &batches, &mut found);
    resumes::check(history, &lines, &mut found);
    (found, shuffled)
}
