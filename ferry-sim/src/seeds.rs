//! Many seeds, with a progress bar and a summary.

use std::{
    io::{self, Write},
    panic,
    process::ExitCode,
};

use ferry_sim::{
    FencedWriterSimulation, ProjectedWriterSimulation, Report,
    points::{Point, Points, Whose},
};
use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::{self, Seeds, Which};

/// Below so many, chance decides whether a point is reached.
const SEEDS_MIN_FOR_POINTS: u64 = 500;

/// Of so many seeds that failed it is told what is wrong with them.
const TOLD_MAX: usize = 10;

struct Summary {
    which: Which,
    seeds: u64,
    twice: u64,
    events: u64,
    points: Points,
    failed: Vec<Failed>,
}

enum Failed {
    Wrong(Report),
    Panicked(u64),
}

/// Runs the seeds; success when all held and everything happened that has to.
pub(crate) fn run(which: Which, range: &Seeds) -> anyhow::Result<ExitCode> {
    let Some(last) = range.from.checked_add(range.seeds - 1) else {
        cli::refuse(&format!(
            "there are no {} seeds from {} on",
            range.seeds, range.from
        ))
    };
    let bar = progress_bar(range.seeds)?;
    let mut summary = Summary::new(which);
    for seed in range.from..=last {
        summary.add(range, seed);
        bar.inc(1);
        if !summary.failed.is_empty() && !range.keep_going {
            break;
        }
    }
    let per_second = bar.per_sec();
    bar.finish_and_clear();
    summary.tell(per_second)
}

fn progress_bar(seeds: u64) -> anyhow::Result<ProgressBar> {
    let style = "{bar:40} {human_pos} of {human_len} seeds, {per_sec}, {eta} left";
    Ok(ProgressBar::new(seeds).with_style(ProgressStyle::with_template(style)?))
}

impl Which {
    fn run(self, seed: u64, is_twice: bool) -> Report {
        match self {
            Self::Fenced => {
                let simulation = FencedWriterSimulation::default();
                if is_twice {
                    simulation.run_twice(seed)
                } else {
                    simulation.run(seed)
                }
            }
            Self::Projected => {
                let simulation = ProjectedWriterSimulation::default();
                if is_twice {
                    simulation.run_twice(seed)
                } else {
                    simulation.run(seed)
                }
            }
        }
    }

    fn whose(self) -> Whose {
        match self {
            Self::Fenced => Whose::Fenced,
            Self::Projected => Whose::Projected,
        }
    }
}

impl Summary {
    fn new(which: Which) -> Self {
        Self {
            which,
            seeds: 0,
            twice: 0,
            events: 0,
            points: Points::default(),
            failed: Vec::new(),
        }
    }

    fn add(&mut self, range: &Seeds, seed: u64) {
        let is_twice = range.twice_in > 0 && (seed - range.from) % range.twice_in == 0;
        self.seeds += 1;
        self.twice += u64::from(is_twice);
        match panic::catch_unwind(|| self.which.run(seed, is_twice)) {
            Ok(report) => {
                self.events += report.events as u64;
                self.points.add(&report.points);
                if !report.violations.is_empty() {
                    self.failed.push(Failed::Wrong(report));
                }
            }
            Err(_told_by_the_hook) => self.failed.push(Failed::Panicked(seed)),
        }
    }

    fn tell(&self, per_second: f64) -> anyhow::Result<ExitCode> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        let whose = self.which.whose();
        let met =
            |point: &&Point| self.points.count(**point) > 0 || point.least_per_thousand(whose) > 0;
        for point in Point::ALL.iter().filter(met) {
            writeln!(out, "{:>10}  {}", self.points.count(*point), point.words())?;
        }
        let &Self {
            seeds,
            twice,
            events,
            ..
        } = self;
        writeln!(
            out,
            "{seeds} seeds ({twice} of them twice), {events} events, {per_second:.0} seeds a second"
        )?;
        let mut status = ExitCode::SUCCESS;
        for failed in self.failed.iter().take(TOLD_MAX) {
            status = ExitCode::FAILURE;
            match failed {
                Failed::Wrong(report) => status = tell_violations(&mut out, self.which, report)?,
                Failed::Panicked(seed) => tell_replay(&mut out, self.which, *seed, "panicked")?,
            }
        }
        if !self.failed.is_empty() {
            writeln!(out, "{} of {seeds} seeds FAILED", self.failed.len())?;
        } else if seeds >= SEEDS_MIN_FOR_POINTS {
            for (point, least) in self.points.missing(whose, seeds) {
                status = ExitCode::FAILURE;
                let (count, words) = (self.points.count(point), point.words());
                writeln!(
                    out,
                    "TOO SELDOM: {words}: {count} times, and {least} are needed"
                )?;
            }
        }
        out.flush()?;
        Ok(status)
    }
}

/// Tells what is wrong with a seed, if anything is.
pub(crate) fn tell_violations(
    out: &mut impl Write,
    which: Which,
    report: &Report,
) -> anyhow::Result<ExitCode> {
    let Some(first) = report.violations.first() else {
        writeln!(out, "all held")?;
        return Ok(ExitCode::SUCCESS);
    };
    tell_replay(
        out,
        which,
        report.seed,
        &format!("violates {}", first.property()),
    )?;
    for violation in &report.violations {
        writeln!(out, "  {}: {violation}", violation.property())?;
    }
    Ok(ExitCode::FAILURE)
}

fn tell_replay(out: &mut impl Write, which: Which, seed: u64, what: &str) -> anyhow::Result<()> {
    writeln!(out, "seed {seed} {what}")?;
    writeln!(
        out,
        "  cargo run --release -p ferry-sim -- replay {seed} --of {which}"
    )?;
    Ok(())
}
