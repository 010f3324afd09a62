//! What came of it, for programs: one document on standard output. Fields are added to it and keep their meaning;
//! `format` grows when one changes.

mod behaviours;
mod replays;
mod seeds;
mod stories;
mod walks;

use core::fmt;
use std::{
    io::{self, Write},
    path::Path,
};

use ferry_core::Instant;
use ferry_sim::{
    Event,
    checkers::{Property, Violation},
};
use serde::Serialize;

pub(crate) use self::{
    behaviours::of_behaviours,
    replays::of_replay,
    seeds::{OfMutant, of_mutants, of_seeds},
    stories::{of_list, of_story},
    walks::{OfCaught, of_caught, of_schedule, of_walk},
};

const FORMAT: u32 = 1;

#[derive(Serialize)]
struct OfViolation {
    /// As in `P3`.
    property: String,
    words: String,
}

impl OfViolation {
    fn of(property: Property, violation: &impl fmt::Display) -> Self {
        let (property, words) = (number(property), violation.to_string());
        Self { property, words }
    }
}

#[derive(Serialize)]
struct OfStep {
    nanos: u64,
    words: String,
}

fn of_violations(violations: &[Violation]) -> Vec<OfViolation> {
    let violations = violations.iter();
    violations
        .map(|violation| OfViolation::of(violation.property(), violation))
        .collect()
}

fn of_steps(steps: &[(Instant, Event)]) -> Vec<OfStep> {
    let steps = steps.iter().map(|(at, event)| OfStep {
        nanos: at.nanos(),
        words: event.to_string(),
    });
    steps.collect()
}

/// As in `P3`.
fn number(property: Property) -> String {
    format!("P{}", property.number())
}

fn held(is_held: bool) -> &'static str {
    if is_held { "held" } else { "failed" }
}

fn file(file: Option<&Path>) -> Option<String> {
    file.map(|file| file.display().to_string())
}

/// Prints a document.
pub(crate) fn print(document: &impl Serialize) -> anyhow::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    let written = serde_json::to_writer_pretty(&mut out, document).map_err(io::Error::from);
    written
        .and_then(|()| writeln!(out))
        .and_then(|()| out.flush())?;
    Ok(())
}
