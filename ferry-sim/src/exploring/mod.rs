//! The exhaustive walk, its mutants, and one of its schedules again.

mod bounds;
mod catching;
mod schedules;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::{Args, builder::PossibleValuesParser};
use ferry_sim::explore::{self, Found, MUTANTS, Mutant, Point, Progress, Report, Scope};
use indicatif::{ProgressBar, ProgressStyle};

use self::{bounds::Bounds, schedules::Schedule};
use crate::{cli::Misuse, failure::quoted, json, output, pages};

#[derive(Debug, Args)]
pub(crate) struct Explore {
    #[command(flatten)]
    bounds: Bounds,
    /// Leaves out each safeguard in turn, and tells the property that fails without it
    #[arg(long, conflicts_with_all = ["mutant", "choices"])]
    mutants: bool,
    /// Leaves out this safeguard, and tells a shortest schedule that shows it
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(MUTANTS.iter().map(|mutant| mutant.name)))]
    mutant: Option<String>,
    /// Tells the one schedule of these choices, each counted from 0; what they do not say is 0
    #[arg(long, value_delimiter = ',', value_name = "N,N,...", value_parser = choice)]
    choices: Option<Vec<usize>>,
    /// Tells what came of it as one JSON document
    #[arg(long)]
    json: bool,
    /// Where a schedule that it tells is drawn, move by move; that of a walk that fails goes to a file in ./target, or in the
    /// folder for temporary files, unless it is said
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

fn choice(text: &str) -> Result<usize, &'static str> {
    text.parse()
        .map_err(|_| "give whole numbers with commas between, as in 1,0,2")
}

/// Walks; success when all held, and all was met that has to be.
pub(crate) fn run(explore: &Explore) -> anyhow::Result<ExitCode> {
    let scope = explore.bounds.scope();
    if let Err(error) = scope.check() {
        return Err(Misuse(error.to_string()).into());
    }
    if let Some(file) = &explore.html {
        output::check(file)?;
    }
    let mutant = explore.mutant.as_deref().and_then(Mutant::named);
    let is_held = match (&explore.choices, mutant) {
        (Some(choices), mutant) => schedules::again(explore, (scope, mutant), choices)?,
        (None, Some(mutant)) => catching::one(explore, scope, mutant)?,
        (None, None) if explore.mutants => catching::all(explore, scope)?,
        (None, None) => walk(explore, scope)?,
    };
    Ok(if is_held {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Walks it all; whether all held, and all was met.
fn walk(explore: &Explore, scope: Scope) -> anyhow::Result<bool> {
    let bar = progress_bar("")?;
    let report = explore::walk(scope, |progress| tick(&bar, progress))?;
    let took = bar.elapsed();
    bar.finish_and_clear();
    let found = report.found.as_ref();
    let schedule = found.map(|found| Schedule::found(scope, None, found));
    let schedule = schedule.transpose()?;
    let mut drawn = explore.html.clone();
    match &schedule {
        Some(schedule) => {
            let file = drawn.get_or_insert_with(|| pages::usual_file("explore"));
            pages::write(file, &schedule.page())?;
        }
        None => drawn = None,
    }
    if explore.json {
        let found = schedule.as_ref().map(Schedule::told);
        json::print(&json::of_walk(&report, None, took, found, drawn.as_deref()))?;
    } else {
        let mut out = io::BufWriter::new(io::stdout().lock());
        tell_walk(&mut out, &report, took)?;
        match (&schedule, &explore.html) {
            (Some(schedule), _) => schedule.tell(&mut out, drawn.as_deref())?,
            (None, Some(asked)) => tell_undrawn(&mut out, scope, None, asked)?,
            (None, None) => {}
        }
        out.flush()?;
    }
    Ok(schedule.is_none() && report.missing().next().is_none())
}

/// Says why a page that was asked for is not there, and how one is had all the same.
fn tell_undrawn(
    out: &mut impl Write,
    scope: Scope,
    mutant: Option<&'static Mutant>,
    asked: &Path,
) -> io::Result<()> {
    let file = asked.display();
    writeln!(
        out,
        "nothing is drawn in {file}, since every schedule held; one of them is drawn by"
    )?;
    let command = schedules::command(scope, mutant, &[0]);
    writeln!(out, "  {command} --html {}", quoted(asked))
}

fn tell_walk(out: &mut impl Write, report: &Report, took: Duration) -> io::Result<()> {
    for &point in Point::ALL {
        writeln!(out, "{:>10}  {}", report.count(point), point.words())?;
    }
    if let Some(Found {
        choices,
        violations,
        ..
    }) = &report.found
    {
        tell_counts(out, report, took)?;
        let property = violations[0].property();
        let moves = choices.len();
        return writeln!(out, "VIOLATES {property}, in {moves} moves at the least:");
    }
    let Report {
        schedules,
        depth_max,
        ends,
        ..
    } = report;
    writeln!(
        out,
        "{schedules} complete schedules of up to {depth_max} moves, with {ends} different ends"
    )?;
    tell_counts(out, report, took)?;
    let mut missing = report.missing().peekable();
    if missing.peek().is_none() {
        return writeln!(out, "HELD: every schedule");
    }
    for point in missing {
        writeln!(out, "never met: {}", point.words())?;
    }
    writeln!(out, "FAILED: all held, and it proves too little")
}

fn tell_counts(out: &mut impl Write, report: &Report, took: Duration) -> io::Result<()> {
    let Report {
        states,
        moves,
        places,
        ..
    } = report;
    writeln!(
        out,
        "{states} states, {moves} moves between them, {places} places of the machines; {:.1} s",
        took.as_secs_f64()
    )
}

fn progress_bar(what: &str) -> anyhow::Result<ProgressBar> {
    let style = "{spinner} {prefix}{human_pos} states, {per_sec}, {msg} {elapsed}";
    let bar = ProgressBar::no_length().with_style(ProgressStyle::with_template(style)?);
    Ok(bar.with_prefix(what.to_owned()))
}

fn tick(bar: &ProgressBar, progress: Progress) {
    bar.set_position(progress.states);
    bar.set_message(format!("{} ends,", progress.ends));
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Program {
        #[command(flatten)]
        explore: Explore,
    }

    fn parsed(arguments: &str) -> Result<Explore, String> {
        Program::try_parse_from(arguments.split_whitespace())
            .map(|program| program.explore)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn arguments_without_sense_are_refused() {
        assert!(
            parsed("explore --mutant x")
                .unwrap_err()
                .contains("no-dedup")
        );
        assert!(
            parsed("explore --mutants --choices 1")
                .unwrap_err()
                .contains("cannot be used")
        );
        assert!(
            parsed("explore --choices 1,x")
                .unwrap_err()
                .contains("invalid value 'x'")
        );
    }
}
