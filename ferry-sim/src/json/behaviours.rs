//! What was written down of runs.

use ferry_sim::behaviour::Point;
use serde::Serialize;

use super::FORMAT;
use crate::behaving::Written;

/// What was written down of runs.
#[derive(Serialize)]
pub(crate) struct OfBehaviours {
    format: u32,
    command: &'static str,
    /// `written`, `too_few` or `too_seldom`: enough were written down, and something occurs in them less often than it has to.
    verdict: &'static str,
    of: String,
    from: u64,
    last: u64,
    seeds: u64,
    lines: usize,
    behaviours: Vec<OfBehaviour>,
    /// Seeds in which every key's record was deleted, which the specification does not have.
    left_out: Vec<u64>,
    /// Seeds in which nothing was submitted to the key.
    untouched: Vec<u64>,
    points: Vec<OfPoint>,
}

#[derive(Serialize)]
struct OfBehaviour {
    seed: u64,
    key: u32,
    lines: usize,
    /// How it was spoiled, and its first line that is not as it was.
    corruption: Option<&'static str>,
    corrupted_at: Option<usize>,
}

#[derive(Serialize)]
struct OfPoint {
    name: String,
    words: &'static str,
    count: u64,
    /// How often it has to occur in so many seeds.
    least: u64,
}

pub(crate) fn of_behaviours(written: &Written) -> OfBehaviours {
    let missing = written.missing();
    let corruptions = (written.corruptions.iter()).map(|corruption| Some(corruption.name()));
    let corruptions = corruptions.chain(core::iter::repeat(None));
    let behaviours = written
        .behaviours
        .iter()
        .zip(corruptions)
        .map(|(it, corruption)| OfBehaviour {
            seed: it.seed,
            key: it.key,
            lines: it.lines.len(),
            corruption,
            corrupted_at: it.corrupted_at,
        });
    let whose = written.which.whose();
    let points = Point::ALL.iter().map(|&point| OfPoint {
        name: format!("{point:?}"),
        words: point.words(),
        count: written.points.count(point),
        least: written.seeds * point.least(whose) / 200,
    });
    OfBehaviours {
        format: FORMAT,
        command: "behaviour",
        verdict: match (written.is_enough(), missing.is_empty()) {
            (false, _) => "too_few",
            (true, false) => "too_seldom",
            (true, true) => "written",
        },
        of: written.which.to_string(),
        from: written.from,
        last: written.last,
        seeds: written.seeds,
        lines: written.lines(),
        behaviours: behaviours.collect(),
        left_out: written.left_out.clone(),
        untouched: written.untouched.clone(),
        points: points.collect(),
    }
}
