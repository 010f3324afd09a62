//! Of walks over all schedules.

use std::{path::Path, time::Duration};

use ferry_sim::explore::{Mutant, Point, Replay, Report};
use serde::Serialize;

use super::{FORMAT, OfViolation, file, held, number};

/// What a walk has seen.
#[derive(Serialize)]
pub(crate) struct OfWalk {
    format: u32,
    command: &'static str,
    /// Of a walk `held`, `failed`, or `too_seldom`: all held, and something was never met that has to be. Of a mutant `held`
    /// if it was caught.
    verdict: &'static str,
    /// Without this safeguard.
    mutant: Option<&'static str>,
    /// Up to what was found, if something was.
    states: u64,
    moves: u64,
    ends: u64,
    /// Null where they are too many to be counted, or the walk has not come to its end.
    schedules: Option<u64>,
    moves_max: usize,
    seconds: f64,
    points: Vec<OfPoint>,
    /// A shortest schedule that violates something.
    found: Option<OfSchedule>,
    /// The file in which it is drawn.
    html: Option<String>,
}

#[derive(Serialize)]
struct OfPoint {
    name: String,
    words: &'static str,
    count: u64,
    /// Whether it has to be met, and was not.
    missing: bool,
}

/// One schedule.
#[derive(Serialize)]
struct OfSchedule {
    choices: Vec<usize>,
    /// The command that tells it again.
    replay: String,
    violations: Vec<OfViolation>,
    steps: Vec<OfMove>,
}

#[derive(Serialize)]
struct OfMove {
    choice: usize,
    of: usize,
    words: String,
    actions: Vec<&'static str>,
    heard: Vec<String>,
}

/// One schedule, told.
#[derive(Serialize)]
pub(crate) struct OfTold {
    format: u32,
    command: &'static str,
    verdict: &'static str,
    mutant: Option<&'static str>,
    #[serde(flatten)]
    schedule: OfSchedule,
    html: Option<String>,
}

/// How each mutant fared.
#[derive(Serialize)]
pub(crate) struct OfAllCaught {
    format: u32,
    command: &'static str,
    verdict: &'static str,
    mutants: Vec<OfCaught>,
    html: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct OfCaught {
    pub(crate) name: &'static str,
    /// Which property has to catch it.
    property: String,
    pub(crate) caught: bool,
    pub(crate) states: u64,
    /// Moves of a shortest schedule that shows it.
    pub(crate) moves: Option<usize>,
}

impl OfCaught {
    pub(crate) fn of(mutant: &'static Mutant, report: &Report) -> Self {
        Self {
            name: mutant.name,
            property: number(mutant.fails),
            caught: report.found.is_some(),
            states: report.states,
            moves: report.found.as_ref().map(|found| found.choices.len()),
        }
    }
}

/// `found`: the schedule, and the command that tells it again.
pub(crate) fn of_walk(
    report: &Report,
    mutant: Option<&'static Mutant>,
    took: Duration,
    found: Option<(&Replay, String)>,
    drawn: Option<&Path>,
) -> OfWalk {
    let is_missing = |point| report.missing().any(|missing| missing == point);
    let points = Point::ALL.iter().map(|&point| OfPoint {
        name: format!("{point:?}"),
        words: point.words(),
        count: report.count(point),
        missing: is_missing(point),
    });
    let is_counted = report.found.is_none() && report.schedules < u64::MAX;
    OfWalk {
        format: FORMAT,
        command: "explore",
        verdict: match (mutant, &report.found) {
            (Some(_), found) => held(found.is_some()),
            (None, Some(_)) => held(false),
            (None, None) if report.missing().next().is_some() => "too_seldom",
            (None, None) => held(true),
        },
        mutant: mutant.map(|mutant| mutant.name),
        states: report.states,
        moves: report.moves,
        ends: report.ends,
        schedules: is_counted.then_some(report.schedules),
        moves_max: report.depth_max,
        seconds: took.as_secs_f64(),
        points: points.collect(),
        found: found.map(|(replay, command)| told(replay, command)),
        html: file(drawn),
    }
}

pub(crate) fn of_schedule(
    replay: &Replay,
    mutant: Option<&'static Mutant>,
    command: String,
    drawn: Option<&Path>,
) -> OfTold {
    OfTold {
        format: FORMAT,
        command: "explore",
        verdict: held(replay.violations.is_empty()),
        mutant: mutant.map(|mutant| mutant.name),
        schedule: told(replay, command),
        html: file(drawn),
    }
}

pub(crate) fn of_caught(mutants: Vec<OfCaught>, drawn: Option<&Path>) -> OfAllCaught {
    OfAllCaught {
        format: FORMAT,
        command: "explore",
        verdict: held(mutants.iter().all(|mutant| mutant.caught)),
        mutants,
        html: file(drawn),
    }
}

fn told(replay: &Replay, command: String) -> OfSchedule {
    let violations = replay.violations.iter();
    let steps = replay.steps.iter().map(|step| OfMove {
        choice: step.choice,
        of: step.of,
        words: step.words.clone(),
        actions: step.actions.iter().map(|action| action.name()).collect(),
        heard: step.heard.clone(),
    });
    OfSchedule {
        choices: replay.steps.iter().map(|step| step.choice).collect(),
        replay: command,
        violations: violations
            .map(|violation| OfViolation::of(violation.property(), violation))
            .collect(),
        steps: steps.collect(),
    }
}
