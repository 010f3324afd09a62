//! Of many seeds, and of the mutants.

use std::path::Path;

use ferry_sim::points::Point;
use serde::Serialize;

use super::{FORMAT, OfStep, OfViolation, file, held, number, of_steps, of_violations};
use crate::{
    failure::{self, Left},
    seeds::{Failed, Summary, Verdict},
};

/// What came of many seeds.
#[derive(Serialize)]
pub(crate) struct OfSeeds {
    format: u32,
    /// `fenced` or `projected`.
    command: String,
    /// `held`, `failed`, or `too_seldom`: all held, and something happened less often than it has to.
    verdict: &'static str,
    from: u64,
    /// How many were run, and how many of them twice.
    seeds: u64,
    twice: u64,
    events: u64,
    jobs: usize,
    seconds: f64,
    /// Of all cores together; null where the system does not tell.
    cpu_seconds: Option<f64>,
    runs_per_second: f64,
    runs_per_cpu_second: Option<f64>,
    points: Vec<OfPoint>,
    /// All seeds that failed; one, unless it was to keep going.
    failures: Vec<OfFailure>,
    /// What is left of the first of them.
    shrunk: Option<OfShrunk>,
    /// The file in which the first of them is drawn over time.
    html: Option<String>,
}

#[derive(Serialize)]
struct OfPoint {
    name: String,
    group: &'static str,
    words: &'static str,
    count: u64,
    /// How often it has to happen in so many seeds.
    least: u64,
}

#[derive(Serialize)]
struct OfFailure {
    seed: u64,
    panicked: bool,
    violations: Vec<OfViolation>,
    /// The command that replays it.
    replay: String,
}

#[derive(Serialize)]
struct OfShrunk {
    seed: u64,
    property: String,
    choices: usize,
    choices_before: usize,
    runs: u64,
    hash: String,
    file: String,
    replay: String,
    violations: Vec<OfViolation>,
    steps: Vec<OfStep>,
}

/// How the mutants fared.
#[derive(Serialize)]
pub(crate) struct OfMutants {
    format: u32,
    command: &'static str,
    /// `held`: every one was caught; or `failed`.
    verdict: &'static str,
    mutants: Vec<OfMutant>,
}

#[derive(Serialize)]
pub(crate) struct OfMutant {
    pub(crate) name: &'static str,
    /// In which simulation.
    pub(crate) of: &'static str,
    /// Which property has to catch it.
    pub(crate) property: String,
    pub(crate) caught: bool,
    /// How many seeds were run.
    pub(crate) seeds: u64,
    /// The seed in which it was caught.
    pub(crate) seed: Option<u64>,
}

pub(crate) fn of_seeds(summary: &Summary, left: Option<&Left>, drawn: Option<&Path>) -> OfSeeds {
    let whose = summary.which.whose();
    let points = Point::ALL.iter().map(|&point| OfPoint {
        name: format!("{point:?}"),
        group: point.group().name(),
        words: point.words(),
        count: summary.points.count(point),
        least: summary.seeds * point.least_per_thousand(whose) / 1_000,
    });
    OfSeeds {
        format: FORMAT,
        command: summary.which.to_string(),
        verdict: match summary.verdict() {
            Verdict::Held => "held",
            Verdict::Failed => "failed",
            Verdict::TooSeldom => "too_seldom",
        },
        from: summary.from,
        seeds: summary.seeds,
        twice: summary.twice,
        events: summary.events,
        jobs: summary.jobs,
        seconds: summary.took.as_secs_f64(),
        cpu_seconds: summary.cpu.map(|cpu| cpu.as_secs_f64()),
        runs_per_second: summary.runs_per(summary.took),
        runs_per_cpu_second: summary.cpu.map(|cpu| summary.runs_per(cpu)),
        points: points.collect(),
        failures: (summary.failed.iter())
            .map(|failed| of_failure(summary, failed))
            .collect(),
        shrunk: left.map(of_left),
        html: file(drawn),
    }
}

fn of_failure(summary: &Summary, failed: &Failed) -> OfFailure {
    let (seed, panicked, violations) = match failed {
        Failed::Wrong(report) => (report.seed, false, of_violations(&report.violations)),
        Failed::Panicked(seed) => (*seed, true, Vec::new()),
    };
    OfFailure {
        seed,
        panicked,
        violations,
        replay: failure::replay_of(summary.which, seed, summary.without),
    }
}

fn of_left(left: &Left) -> OfShrunk {
    let shrunk = &left.shrunk;
    OfShrunk {
        seed: shrunk.report.seed,
        property: number(shrunk.property),
        choices: shrunk.choices.len(),
        choices_before: shrunk.choices_before,
        runs: shrunk.runs,
        hash: format!("{:016x}", shrunk.report.hash),
        file: left.file.display().to_string(),
        replay: left.replay(),
        violations: of_violations(&shrunk.report.violations),
        steps: of_steps(&left.steps),
    }
}

pub(crate) fn of_mutants(mutants: Vec<OfMutant>) -> OfMutants {
    OfMutants {
        format: FORMAT,
        command: "mutants",
        verdict: held(mutants.iter().all(|mutant| mutant.caught)),
        mutants,
    }
}
