//! What was written down of runs.

use ferry_sim::behaviour::Met;
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
    mets: Vec<OfMet>,
}

#[derive(Serialize)]
struct OfBehaviour {
    seed: u64,
    key: u32,
    lines: usize,
    /// How it was spoiled, and its first line that is not as it was.
    doctor: Option<&'static str>,
    doctored: Option<usize>,
}

#[derive(Serialize)]
struct OfMet {
    name: String,
    words: &'static str,
    count: u64,
    /// How often it has to occur in so many seeds.
    least: u64,
}

pub(crate) fn of_behaviours(written: &Written) -> OfBehaviours {
    let missing = written.missing();
    let doctors = written.doctors.iter().map(|doctor| Some(doctor.name()));
    let doctors = doctors.chain(core::iter::repeat(None));
    let behaviours = written
        .behaviours
        .iter()
        .zip(doctors)
        .map(|(it, doctor)| OfBehaviour {
            seed: it.seed,
            key: it.key,
            lines: it.lines.len(),
            doctor,
            doctored: doctor.map(|_| it.doctored),
        });
    let whose = written.which.whose();
    let mets = Met::ALL.iter().map(|&met| OfMet {
        name: format!("{met:?}"),
        words: met.words(),
        count: written.mets.count(met),
        least: written.seeds * met.least(whose) / 200,
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
        mets: mets.collect(),
    }
}
