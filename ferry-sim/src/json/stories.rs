//! Of stories.

use std::path::Path;

use ferry_core::Instant;
use ferry_sim::{
    Event,
    checkers::Property,
    scenario::{Performance, Scenario},
};
use serde::Serialize;

use super::{FORMAT, OfStep, OfViolation, file, held, number, of_steps, of_violations};

/// Which stories there are.
#[derive(Serialize)]
pub(crate) struct OfList {
    format: u32,
    command: &'static str,
    stories: Vec<OfEntry>,
}

#[derive(Serialize)]
struct OfEntry {
    name: &'static str,
    /// Of which ways of going wrong it is.
    rows: &'static [u8],
    gist: &'static str,
    without: Vec<OfSafeguard>,
}

#[derive(Serialize)]
struct OfSafeguard {
    safeguard: &'static str,
    /// The properties that fail without it, as in `P3`.
    fails: Vec<String>,
}

/// A story, as it went on each kind of write, with its safeguard and without.
#[derive(Serialize)]
pub(crate) struct OfStory {
    format: u32,
    command: &'static str,
    /// `held`: all went as it is told, with what was to fail without a safeguard; or `failed`.
    verdict: &'static str,
    name: &'static str,
    gist: &'static str,
    seed: u64,
    runs: Vec<OfPerformance>,
    /// The file in which they are drawn over time.
    html: Option<String>,
}

#[derive(Serialize)]
struct OfPerformance {
    /// On which kind of write.
    on: &'static str,
    /// The safeguard that was left out.
    without: Option<&'static str>,
    /// The properties that were to fail.
    fails: Vec<String>,
    went_as_told: bool,
    /// What was otherwise than the story says; without a safeguard much is.
    surprises: Vec<OfStep>,
    /// What each caller heard.
    heard: Vec<String>,
    violations: Vec<OfViolation>,
    steps: Vec<OfStep>,
}

pub(crate) fn of_list(stories: &[&'static Scenario]) -> OfList {
    let stories = stories.iter().map(|story| OfEntry {
        name: story.name,
        rows: story.rows,
        gist: story.gist,
        without: (story.safeguards())
            .map(|(safeguard, fails)| OfSafeguard {
                safeguard,
                fails: numbers(fails),
            })
            .collect(),
    });
    OfList {
        format: FORMAT,
        command: "scenario",
        stories: stories.collect(),
    }
}

pub(crate) fn of_story(
    story: &Scenario,
    seed: u64,
    performances: &[Performance],
    drawn: Option<&Path>,
) -> OfStory {
    OfStory {
        format: FORMAT,
        command: "scenario",
        verdict: held(performances.iter().all(Performance::went_as_told)),
        name: story.name,
        gist: story.gist,
        seed,
        runs: performances.iter().map(of_performance).collect(),
        html: file(drawn),
    }
}

fn of_performance(performance: &Performance) -> OfPerformance {
    let surprises = performance.surprises.iter().map(|surprise| OfStep {
        nanos: surprise.at.nanos(),
        words: surprise.words.clone(),
    });
    let story: Vec<(Instant, Event)> = (performance.events.iter())
        .filter(|(_, event)| event.is_story())
        .cloned()
        .collect();
    OfPerformance {
        on: performance.on,
        without: performance.without,
        fails: numbers(performance.fails),
        went_as_told: performance.went_as_told(),
        surprises: surprises.collect(),
        heard: performance.heard.clone(),
        violations: of_violations(&performance.violations),
        steps: of_steps(&story),
    }
}

fn numbers(properties: &[Property]) -> Vec<String> {
    properties.iter().copied().map(number).collect()
}
