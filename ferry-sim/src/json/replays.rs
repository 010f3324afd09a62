//! Of runs that were replayed.

use std::path::Path;

use ferry_core::Instant;
use ferry_sim::{Event, Report};
use serde::Serialize;

use super::{FORMAT, OfStep, OfViolation, file, held, of_steps, of_violations};

/// What happened in runs that were replayed.
#[derive(Serialize)]
pub(crate) struct OfReplay {
    format: u32,
    command: &'static str,
    /// `held` or `failed`: something is violated, or it is another run than the one that was written down.
    verdict: &'static str,
    runs: Vec<OfRun>,
    /// The file in which they are drawn over time.
    html: Option<String>,
}

#[derive(Serialize)]
struct OfRun {
    seed: u64,
    hash: String,
    /// With the executor's own, which are among the steps only with `--all`.
    events: usize,
    violations: Vec<OfViolation>,
    steps: Vec<OfStep>,
}

pub(crate) fn of_replay(
    runs: &[(Report, Vec<(Instant, Event)>)],
    is_held: bool,
    drawn: Option<&Path>,
) -> OfReplay {
    let runs = runs.iter().map(|(report, events)| OfRun {
        seed: report.seed,
        hash: format!("{:016x}", report.hash),
        events: report.events,
        violations: of_violations(&report.violations),
        steps: of_steps(events),
    });
    OfReplay {
        format: FORMAT,
        command: "replay",
        verdict: held(is_held),
        runs: runs.collect(),
        html: file(drawn),
    }
}
