//! What is done with a seed that failed: it is shrunk, and what is left goes into a file.

use std::{
    env,
    io::Write,
    path::{Path, PathBuf},
};

use ferry_core::Instant;
use ferry_sim::{Event, Moment, Shrunk, kept::Kept, mutants::Mutant};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{
    cli::{Seeds, Which},
    output,
    seeds::{Failed, Summary},
};

/// What is left of a failure.
pub(crate) struct Left {
    pub(crate) shrunk: Shrunk,
    /// Its story.
    pub(crate) steps: Vec<(Instant, Event)>,
    /// Where it was written to.
    pub(crate) file: PathBuf,
}

impl Left {
    pub(crate) fn replay(&self) -> String {
        format!("{PROGRAM} replay --choices {}", quoted(&self.file))
    }

    /// The same, drawn over time.
    pub(crate) fn draw(&self) -> String {
        let page = self.file.with_extension("html");
        format!("{} --html {}", self.replay(), quoted(&page))
    }
}

/// How the program is run from where it is built.
pub(crate) const PROGRAM: &str = "cargo run --release -p ferry-sim --";

/// A file as a shell takes it.
pub(crate) fn quoted(file: &Path) -> String {
    word(&file.display().to_string())
}

/// What a shell takes as one word.
fn word(said: &str) -> String {
    format!("'{}'", said.replace('\'', r"'\''"))
}

/// How a seed is replayed.
pub(crate) fn replay_of(which: Which, seed: u64, without: Option<&Mutant>) -> String {
    let without = without.map_or_else(String::new, |mutant| {
        format!(" --without {}", word(mutant.name))
    });
    format!("{PROGRAM} replay {seed} --of {which}{without}")
}

/// Shrinks the first that failed, and writes down what is left. `None` where nothing failed, or cannot be shrunk: it
/// panicked, or failed in a second run alone.
pub(crate) fn shrunk_first(summary: &Summary, range: &Seeds) -> anyhow::Result<Option<Left>> {
    let first = summary.failed.iter().find_map(|failed| match failed {
        Failed::Wrong(report) => Some((report.seed, report.violations.first()?.property())),
        Failed::Panicked(_) => None,
    });
    let Some((seed, property)) = first.filter(|_| range.shrink_runs > 0) else {
        return Ok(None);
    };
    let bar = progress_bar(range.shrink_runs)?;
    let simulation = summary.which.simulation(range.without);
    let shrunk = simulation.shrink(seed, property, range.shrink_runs, |progress| {
        bar.set_position(progress.runs);
        bar.set_message(format!("{}", progress.choices));
    });
    bar.finish_and_clear();
    let Some(shrunk) = shrunk else {
        return Ok(None);
    };
    let (_, events) = simulation.replay_choices(seed, &shrunk.choices);
    let steps: Vec<_> = (events.into_iter())
        .filter(|(_, event)| event.is_story())
        .collect();
    let file = folder(range).join(format!("ferry-sim-{}-{seed}.kept", summary.which));
    let kept = Kept::shrunk(summary.which.whose(), range.without, &shrunk);
    output::write(&file, |out| {
        out.write_all(text(&kept, &shrunk, &steps).as_bytes())
    })?;
    Ok(Some(Left {
        shrunk,
        steps,
        file,
    }))
}

fn folder(range: &Seeds) -> PathBuf {
    let asked = range.keep_in.clone();
    asked.unwrap_or_else(env::temp_dir)
}

fn text(kept: &Kept, shrunk: &Shrunk, steps: &[(Instant, Event)]) -> String {
    let mut text = format!("{kept}#\n");
    for (at, event) in steps {
        text.push_str(&format!("# {}\n", step(*at, event)));
    }
    for violation in &shrunk.report.violations {
        text.push_str(&format!("# {}: {violation}\n", violation.property()));
    }
    text
}

/// One line of a story.
pub(crate) fn step(at: Instant, event: &Event) -> String {
    format!("{:>15}  {event}", Moment(at))
}

fn progress_bar(runs: u64) -> anyhow::Result<ProgressBar> {
    let style = "{bar:40} shrinking: run {human_pos} of {human_len} at most, {msg} choices left";
    Ok(ProgressBar::new(runs).with_style(ProgressStyle::with_template(style)?))
}
