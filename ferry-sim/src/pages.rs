//! Timelines in files.

use std::{
    env,
    fs::File,
    io::{BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;
use ferry_core::Instant;
use ferry_sim::{Event, Report, timeline};

use crate::{
    cli::{Replay, Seeds, Which},
    seeds::{Failed, Summary},
};

/// Draws the first seed that failed, and tells where; `None` where none did, or it panicked.
pub(crate) fn draw_first(summary: &Summary, range: &Seeds) -> anyhow::Result<Option<PathBuf>> {
    let wrong = summary.failed.iter().find_map(|failed| match failed {
        Failed::Wrong(report) => Some(report),
        Failed::Panicked(_) => None,
    });
    let Some(wrong) = wrong else {
        return Ok(None);
    };
    let usual = || usual_file(summary.which, wrong.seed);
    let file = range.html.clone().unwrap_or_else(usual);
    let (_, events) = summary.which.simulation(summary.without).replay(wrong.seed);
    // This report tells, too, where a second run differed.
    write(&file, summary.which, wrong, &events)?;
    Ok(Some(file))
}

/// Draws what was replayed: of several runs the first in which something is wrong.
pub(crate) fn draw_replayed(
    replay: &Replay,
    which: Which,
    runs: &[(Report, Vec<(Instant, Event)>)],
) -> anyhow::Result<()> {
    let is_wrong = |(report, _): &&(Report, _)| !report.violations.is_empty();
    let run = runs.iter().find(is_wrong).or(runs.first());
    match (&replay.html, run) {
        (Some(file), Some((report, events))) => write(file, which, report, events),
        (None, _) | (_, None) => Ok(()),
    }
}

/// Beside what Cargo builds, or among temporary files.
fn usual_file(which: Which, seed: u64) -> PathBuf {
    let target = Path::new("target");
    let folder = if target.is_dir() {
        target.into()
    } else {
        env::temp_dir()
    };
    folder.join(format!("ferry-sim-{which}-{seed}.html"))
}

fn write(
    file: &Path,
    which: Which,
    report: &Report,
    events: &[(Instant, Event)],
) -> anyhow::Result<()> {
    let cannot = || format!("cannot write the timeline to {}", file.display());
    let mut out = BufWriter::new(File::create(file).with_context(cannot)?);
    timeline::write_html(&mut out, &which.to_string(), report, events)
        .and_then(|()| out.flush())
        .with_context(cannot)
}
