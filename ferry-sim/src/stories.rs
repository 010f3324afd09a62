//! Stories, told one at a time.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use ferry_sim::scenario::{self, Scenario};

use crate::cli::{self, Story};

/// Tells a story; or which there are.
pub(crate) fn run(asked: &Story) -> anyhow::Result<ExitCode> {
    match &asked.name {
        None => list(),
        Some(name) => match scenario::find(name) {
            Some(story) => tell(story, asked.seed),
            None => cli::refuse(&format!("there is no story \"{name}\"")),
        },
    }
}

fn list() -> anyhow::Result<ExitCode> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for story in scenario::in_order() {
        writeln!(
            out,
            "{:<26} {:<7} {}",
            story.name,
            story.rows_in_words(),
            story.gist
        )?;
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn tell(story: &Scenario, seed: u64) -> anyhow::Result<ExitCode> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    writeln!(out, "{}: {}", story.name, story.gist)?;
    if let Some(by_type) = story.by_type {
        writeln!(out, "By type, too: {by_type}")?;
    }
    let mut status = ExitCode::SUCCESS;
    for performance in story.tell(seed) {
        writeln!(out, "\n{performance}")?;
        if !performance.went_as_told() {
            status = ExitCode::FAILURE;
        }
    }
    out.flush()?;
    Ok(status)
}
