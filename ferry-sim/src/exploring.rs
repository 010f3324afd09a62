//! The exhaustive walk, its mutants, and one of its schedules again.

use std::{
    fmt,
    io::{self, Write},
    process::ExitCode,
    time::Duration,
};

use clap::{Args, builder::PossibleValuesParser};
use ferry_sim::explore::{self, Found, MUTANTS, Mutant, Point, Progress, Report, Scope};
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli;

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
    #[arg(long, value_delimiter = ',', value_name = "N,N,...")]
    choices: Option<Vec<usize>>,
}

/// How much may happen in a schedule.
#[derive(Debug, Args)]
#[command(next_help_heading = "How much may happen in a schedule")]
struct Bounds {
    /// Processes that take inputs, 1 to 4
    #[arg(long, default_value_t = Scope::default().processes)]
    processes: u8,
    /// Inputs, each of a client of its own, 1 to 6
    #[arg(long, default_value_t = Scope::default().inputs)]
    inputs: u8,
    /// The last input takes out what those before it bring in
    #[arg(long)]
    withdrawal: bool,
    /// How often a client may send its input again, up to 4
    #[arg(long, default_value_t = Scope::default().resends)]
    resends: u8,
    /// Resumes of the account, up to 4
    #[arg(long, default_value_t = Scope::default().resumes)]
    resumes: u8,
    /// Crashes, up to 4
    #[arg(long, default_value_t = Scope::default().crashes)]
    crashes: u8,
    /// Writes that may arrive later, or never, up to 4
    #[arg(long, default_value_t = Scope::default().late)]
    late: u8,
    /// Writes whose answer may be lost, up to 4
    #[arg(long, default_value_t = Scope::default().lost)]
    lost: u8,
    /// Calls that may fail without effect, up to 4
    #[arg(long, default_value_t = Scope::default().failed)]
    failed: u8,
    /// How often a client may send its input again while it still waits, up to 4
    #[arg(long, default_value_t = Scope::default().impatient)]
    impatient: u8,
    /// Tries of each round trip and of each projection, 1 to 4
    #[arg(long, default_value_t = Scope::default().attempts)]
    attempts: u8,
}

/// Walks; success when all held, and all was met that has to be.
pub(crate) fn run(explore: &Explore) -> anyhow::Result<ExitCode> {
    let scope = explore.bounds.scope();
    if let Err(error) = scope.check() {
        cli::refuse(&error.to_string());
    }
    let mutant = explore.mutant.as_deref().and_then(Mutant::named);
    let mut out = io::BufWriter::new(io::stdout().lock());
    let status = match (&explore.choices, mutant) {
        (Some(choices), mutant) => tell_schedule(&mut out, scope, mutant, choices)?,
        (None, Some(mutant)) => catch(&mut out, scope, mutant)?,
        (None, None) if explore.mutants => catch_all(&mut out, scope)?,
        (None, None) => walk(&mut out, scope)?,
    };
    out.flush()?;
    Ok(status)
}

fn walk(out: &mut impl Write, scope: Scope) -> anyhow::Result<ExitCode> {
    let bar = progress_bar("")?;
    let report = explore::walk(scope, |progress| tick(&bar, progress))?;
    let took = bar.elapsed();
    bar.finish_and_clear();
    for &point in Point::ALL {
        writeln!(out, "{:>10}  {}", report.count(point), point.words())?;
    }
    if let Some(found) = &report.found {
        tell_counts(out, &report, took)?;
        let property = found.violations[0].property();
        writeln!(
            out,
            "VIOLATES {property}, in {} moves at the least:",
            found.choices.len()
        )?;
        tell_schedule(out, scope, None, &found.choices)?;
        tell_command(out, scope, None, found)?;
        return Ok(ExitCode::FAILURE);
    }
    writeln!(
        out,
        "{} complete schedules of up to {} moves, with {} different ends",
        report.schedules, report.depth_max, report.ends
    )?;
    tell_counts(out, &report, took)?;
    let mut status = ExitCode::SUCCESS;
    for point in report.missing() {
        status = ExitCode::FAILURE;
        writeln!(out, "NEVER MET: {}", point.words())?;
    }
    if status == ExitCode::SUCCESS {
        writeln!(out, "all held")?;
    }
    Ok(status)
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

fn catch_all(out: &mut impl Write, scope: Scope) -> anyhow::Result<ExitCode> {
    let mut status = ExitCode::SUCCESS;
    for mutant in MUTANTS {
        let Mutant { name, fails, .. } = mutant;
        let bar = progress_bar(name)?;
        let report = mutant.walk(scope, |progress| tick(&bar, progress))?;
        bar.finish_and_clear();
        match report.found {
            Some(found) => writeln!(
                out,
                "{name:<34} caught by {fails} after {} states; {} moves show it",
                report.states,
                found.choices.len()
            )?,
            None => {
                status = ExitCode::FAILURE;
                writeln!(
                    out,
                    "{name:<34} NOT caught by {fails} in {} states",
                    report.states
                )?;
            }
        }
    }
    writeln!(out, "`--mutant NAME` tells the moves")?;
    Ok(status)
}

fn catch(out: &mut impl Write, scope: Scope, mutant: &Mutant) -> anyhow::Result<ExitCode> {
    let Mutant { name, fails, .. } = mutant;
    let bar = progress_bar(name)?;
    let report = mutant.walk(scope, |progress| tick(&bar, progress))?;
    bar.finish_and_clear();
    let Some(found) = report.found else {
        writeln!(
            out,
            "{name} is NOT caught by {fails} in {} states",
            report.states
        )?;
        return Ok(ExitCode::FAILURE);
    };
    tell_schedule(out, scope, Some(mutant), &found.choices)?;
    tell_command(out, scope, Some(mutant), &found)?;
    writeln!(out, "{name} is caught by {fails}")?;
    Ok(ExitCode::SUCCESS)
}

/// Tells a schedule, and what is wrong with it; failure if something is.
fn tell_schedule(
    out: &mut impl Write,
    scope: Scope,
    mutant: Option<&Mutant>,
    choices: &[usize],
) -> anyhow::Result<ExitCode> {
    let replay = match explore::replay(scope, mutant, choices) {
        Ok(replay) => replay,
        Err(error) => cli::refuse(&error.to_string()),
    };
    for (nth, step) in replay.steps.iter().enumerate() {
        let of = format!("{} of 0-{}", step.choice, step.of - 1);
        writeln!(out, "{:>4}. {:<11}  {}", nth + 1, of, step.words)?;
    }
    for violation in &replay.violations {
        writeln!(out, "  {}: {violation}", violation.property())?;
    }
    if replay.violations.is_empty() {
        writeln!(out, "all held")?;
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}

fn tell_command(
    out: &mut impl Write,
    scope: Scope,
    mutant: Option<&Mutant>,
    found: &Found,
) -> io::Result<()> {
    write!(
        out,
        "  cargo run --release -p ferry-sim -- explore{}",
        Options(scope)
    )?;
    if let Some(Mutant { name, .. }) = mutant {
        write!(out, " --mutant {name}")?;
    }
    let choices: Vec<_> = found.choices.iter().map(ToString::to_string).collect();
    writeln!(out, " --choices {}", choices.join(","))
}

fn progress_bar(what: &str) -> anyhow::Result<ProgressBar> {
    let style = "{spinner} {human_pos} states, {per_sec}, {msg} {elapsed}";
    let bar = ProgressBar::no_length().with_style(ProgressStyle::with_template(style)?);
    Ok(bar.with_message(what.to_owned()))
}

fn tick(bar: &ProgressBar, progress: Progress) {
    bar.set_position(progress.states);
    bar.set_message(format!("{} ends,", progress.ends));
}

impl Bounds {
    fn scope(&self) -> Scope {
        Scope {
            processes: self.processes,
            inputs: self.inputs,
            withdrawal: self.withdrawal,
            resends: self.resends,
            resumes: self.resumes,
            crashes: self.crashes,
            late: self.late,
            lost: self.lost,
            failed: self.failed,
            impatient: self.impatient,
            attempts: self.attempts,
        }
    }
}

/// A scope as arguments; what is as it is anyway is not said.
struct Options(Scope);

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (is, usual) = (&self.0, Scope::default());
        let bounds = [
            ("processes", is.processes, usual.processes),
            ("inputs", is.inputs, usual.inputs),
            ("resends", is.resends, usual.resends),
            ("resumes", is.resumes, usual.resumes),
            ("crashes", is.crashes, usual.crashes),
            ("late", is.late, usual.late),
            ("lost", is.lost, usual.lost),
            ("failed", is.failed, usual.failed),
            ("impatient", is.impatient, usual.impatient),
            ("attempts", is.attempts, usual.attempts),
        ];
        for (name, is, usual) in bounds {
            if is != usual {
                write!(f, " --{name} {is}")?;
            }
        }
        if is.withdrawal {
            write!(f, " --withdrawal")?;
        }
        Ok(())
    }
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
    fn a_scope_is_told_as_the_arguments_that_give_it() {
        let scopes = [
            Scope::default(),
            Scope {
                processes: 3,
                withdrawal: true,
                failed: 1,
                ..Scope::default()
            },
        ];
        for scope in scopes {
            let told = format!("explore{}", Options(scope));
            assert_eq!(parsed(&told).unwrap().bounds.scope(), scope, "{told}");
        }
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
