//! What came of many seeds, for people.

use std::{
    io::{self, Write},
    path::Path,
};

use ferry_sim::{
    Report,
    checkers::Violation,
    mutants::Mutant,
    points::{Group, Point},
};
use indicatif::HumanCount;

use crate::{
    cli::Which,
    counted::counted,
    failure::{self, Left},
    seeds::{Failed, Summary, Verdict},
};

/// Of so many seeds that failed it is told what is wrong with them.
const TOLD_MAX: usize = 10;

/// Of each it is told so much that is wrong; a replay tells the rest.
const VIOLATIONS_MAX: usize = 10;

/// So many steps of a story are told; the rest is in its file.
const STEPS_MAX: usize = 60;

/// Where something is left of the first that failed it is told what; and in which file it is drawn, or that it is not in the one
/// that was asked for.
pub(crate) fn tell(
    summary: &Summary,
    left: Option<&Left>,
    (drawn, asked): (Option<&Path>, Option<&Path>),
) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for group in Group::ALL {
        tell_group(&mut out, summary, *group)?;
    }
    for failed in summary.failed.iter().take(TOLD_MAX) {
        writeln!(out)?;
        match failed {
            Failed::Wrong(report) => tell_violations(
                &mut out,
                summary.which,
                summary.without,
                report,
                VIOLATIONS_MAX,
            )?,
            Failed::Panicked(seed) => {
                tell_replay(&mut out, summary.which, summary.without, *seed, "panicked")?
            }
        }
    }
    if let Some(left) = left {
        tell_left(&mut out, left)?;
    }
    match (drawn, asked) {
        (Some(file), _) => writeln!(
            out,
            "\nthe first seed that failed is drawn over time in {}",
            file.display()
        )?,
        (None, Some(file)) => tell_undrawn(&mut out, summary, file)?,
        (None, None) => {}
    }
    tell_speed(&mut out, summary)?;
    tell_verdict(&mut out, summary)?;
    out.flush()
}

/// Says why a page that was asked for is not there, and how it is had all the same.
fn tell_undrawn(out: &mut impl Write, summary: &Summary, asked: &Path) -> io::Result<()> {
    let (file, replay) = (
        asked.display(),
        failure::replay_of(summary.which, summary.from, summary.without),
    );
    if summary.failed.is_empty() {
        let asked = failure::quoted(asked);
        writeln!(
            out,
            "\nnothing is drawn in {file}, since no seed failed; one that held is drawn by"
        )?;
        writeln!(out, "  {replay} --html {asked}")
    } else {
        writeln!(
            out,
            "\nnothing is drawn in {file}, since a seed that panicks has no end"
        )
    }
}

fn tell_group(out: &mut impl Write, summary: &Summary, group: Group) -> io::Result<()> {
    let (points, whose) = (&summary.points, summary.which.whose());
    writeln!(out, "{}", group.words())?;
    for &point in Point::ALL.iter().filter(|point| point.group() == group) {
        let count = points.count(point);
        if count > 0 || point.least_per_thousand(whose) > 0 {
            let count = HumanCount(count).to_string();
            writeln!(out, "{count:>14}  {}", point.words())?;
        }
    }
    Ok(())
}

fn tell_speed(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let &Summary {
        took, cpu, jobs, ..
    } = summary;
    let threads = counted(jobs as u64, "job");
    write!(
        out,
        "\n{} events in {:.1} s with {threads}: {:.0} runs a second",
        HumanCount(summary.events),
        took.as_secs_f64(),
        summary.runs_per(took)
    )?;
    match cpu {
        Some(cpu) => writeln!(out, ", {:.0} per second of a core", summary.runs_per(cpu)),
        None => writeln!(out),
    }
}

fn tell_verdict(out: &mut impl Write, summary: &Summary) -> io::Result<()> {
    let (which, whose) = (summary.which, summary.which.whose());
    let (seeds, twice) = (counted(summary.seeds, "seed"), HumanCount(summary.twice));
    if let Some(Mutant { name, of, .. }) = summary.without {
        match summary.weakened {
            0 => writeln!(
                out,
                "mutant \"{name}\": made no difference in any seed; it is one of `{}`",
                of.name()
            )?,
            times => writeln!(
                out,
                "mutant \"{name}\": made a difference {} times",
                HumanCount(times)
            )?,
        }
    }
    match summary.verdict() {
        Verdict::Held => writeln!(out, "HELD: {which}, {seeds}, {twice} of them twice"),
        Verdict::Failed => {
            let failed = HumanCount(summary.failed.len() as u64);
            writeln!(out, "FAILED: {which}, {failed} of {seeds}")
        }
        Verdict::TooSeldom => {
            for (point, least) in summary.points.missing(whose, summary.seeds) {
                let (count, words) = (summary.points.count(point), point.words());
                let (count, least) = (HumanCount(count), HumanCount(least));
                writeln!(
                    out,
                    "too seldom: {words}: {count} times, and {least} are needed"
                )?;
            }
            let all =
                "all held, and it proves too little: what is listed above happened too seldom";
            writeln!(out, "FAILED: {which}, {seeds}: {all}")
        }
    }
}

/// Tells what is wrong with a seed, so many things at most.
pub(crate) fn tell_violations(
    out: &mut impl Write,
    which: Which,
    without: Option<&Mutant>,
    report: &Report,
    told_max: usize,
) -> io::Result<()> {
    let first = report.violations.first();
    let what = first.map_or_else(String::new, |first| {
        format!("violates {}", first.property())
    });
    tell_replay(out, which, without, report.seed, &what)?;
    tell_first(out, &report.violations, told_max, "its replay tells")
}

/// Tells so many of them, and who tells the rest.
fn tell_first(
    out: &mut impl Write,
    violations: &[Violation],
    told_max: usize,
    the_rest: &str,
) -> io::Result<()> {
    for violation in violations.iter().take(told_max) {
        writeln!(out, "  {}: {violation}", violation.property())?;
    }
    match violations.len().saturating_sub(told_max) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more, which {the_rest}"),
    }
}

fn tell_replay(
    out: &mut impl Write,
    which: Which,
    without: Option<&Mutant>,
    seed: u64,
    what: &str,
) -> io::Result<()> {
    writeln!(out, "seed {seed} {what}")?;
    writeln!(out, "  {}", failure::replay_of(which, seed, without))
}

/// Tells what is left of the first that failed.
fn tell_left(out: &mut impl Write, left: &Left) -> io::Result<()> {
    let shrunk = &left.shrunk;
    writeln!(
        out,
        "\nseed {} made smaller, from {} choices to {} in {} runs, still violates {}",
        shrunk.report.seed,
        HumanCount(shrunk.choices_before as u64),
        HumanCount(shrunk.choices.len() as u64),
        HumanCount(shrunk.runs),
        shrunk.property
    )?;
    for (at, event) in left.steps.iter().take(STEPS_MAX) {
        writeln!(out, "{}", failure::step(*at, event))?;
    }
    if let Some(more) = left.steps.len().checked_sub(STEPS_MAX + 1) {
        writeln!(out, "{:>12}  and {} more, in the file", "", more + 1)?;
    }
    tell_first(
        out,
        &shrunk.report.violations,
        VIOLATIONS_MAX,
        "are in the file",
    )?;
    writeln!(out, "  in {}", left.file.display())?;
    writeln!(out, "  {}", left.replay())?;
    writeln!(out, "  {}", left.draw())
}
