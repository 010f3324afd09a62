//! Timelines in files.

use std::{
    env,
    path::{Path, PathBuf},
};

use ferry_core::Instant;
use ferry_sim::{Event, Report, mutants::Mutant, timeline::Page};

use crate::{
    cli::{Seeds, Which},
    failure::Left,
    output,
    seeds::{Failed, Summary},
};

/// Draws the first seed that failed, with what is left of it, and tells where; `None` where none did, or it panicked.
pub(crate) fn draw_first(
    summary: &Summary,
    range: &Seeds,
    left: Option<&Left>,
) -> anyhow::Result<Option<PathBuf>> {
    let wrong = summary.failed.iter().find_map(|failed| match failed {
        Failed::Wrong(report) => Some(report),
        Failed::Panicked(_) => None,
    });
    let Some(wrong) = wrong else {
        return Ok(None);
    };
    let (which, without) = (summary.which, summary.without);
    let usual = || usual_file(&format!("{which}-{}", wrong.seed));
    let file = range.html.clone().unwrap_or_else(usual);
    let mut page = Page::of(title(which, &format!("seed {}", wrong.seed), without));
    if let Some(left) = left {
        page = page.run("made smaller", &left.shrunk.report, &left.steps);
    }
    let (_, events) = which.simulation(without).replay(wrong.seed);
    // This report tells, too, where a second run differed.
    let page = page.run("the whole seed", wrong, &events);
    write(&file, &page)?;
    Ok(Some(file))
}

/// Draws what was replayed.
pub(crate) fn draw_replayed(
    file: &Path,
    (which, without): (Which, Option<&Mutant>),
    is_shrunk: bool,
    runs: &[(Report, Vec<(Instant, Event)>)],
) -> anyhow::Result<()> {
    let what = match runs {
        [(report, _)] if is_shrunk => format!("what is left of seed {}", report.seed),
        [(report, _)] => format!("seed {}", report.seed),
        _ => format!("{} seeds", runs.len()),
    };
    let page = Page::of(title(which, &what, without));
    let page = runs.iter().fold(page, |page, (report, events)| {
        page.run(&format!("seed {}", report.seed), report, events)
    });
    write(file, &page)
}

/// What it is of, with the safeguard that it lacks.
fn title(which: Which, what: &str, without: Option<&Mutant>) -> String {
    match without {
        None => format!("{which}, {what}"),
        Some(mutant) => format!("{which}, {what}, mutant \"{}\"", mutant.name),
    }
}

/// Where a page goes if nobody says: beside what Cargo builds, or among temporary files.
pub(crate) fn usual_file(name: &str) -> PathBuf {
    let target = Path::new("target");
    let folder = if target.is_dir() {
        target.into()
    } else {
        env::temp_dir()
    };
    folder.join(format!("ferry-sim-{name}.html"))
}

pub(crate) fn write(file: &Path, page: &Page) -> anyhow::Result<()> {
    output::write(file, |out| page.write(out))
}
