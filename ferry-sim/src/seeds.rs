//! Many seeds, on all cores: what came of them does not depend on how many there are.

use core::ops::ControlFlow;
use std::{
    collections::BTreeMap,
    num::NonZeroUsize,
    panic,
    process::ExitCode,
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::Duration,
};

use ferry_sim::{Report, mutants::Mutant, points::Points};
use indicatif::{ProgressBar, ProgressStyle};

use crate::{
    cli::{Misuse, Seeds, Which},
    cpu, failure, json, output, pages, summary,
};

/// Below so many, chance decides whether a point is reached.
pub(crate) const SEEDS_MIN_FOR_POINTS: u64 = 500;

/// What came of many seeds.
pub(crate) struct Summary {
    pub(crate) which: Which,
    pub(crate) without: Option<&'static Mutant>,
    pub(crate) from: u64,
    pub(crate) seeds: u64,
    pub(crate) twice: u64,
    pub(crate) events: u64,
    /// How often what was left out made a difference.
    pub(crate) weakened: u64,
    pub(crate) points: Points,
    pub(crate) failed: Vec<Failed>,
    pub(crate) jobs: usize,
    pub(crate) took: Duration,
    /// `None` where the system does not tell.
    pub(crate) cpu: Option<Duration>,
}

pub(crate) enum Failed {
    Wrong(Report),
    Panicked(u64),
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Held,
    Failed,
    TooSeldom,
}

/// Runs the seeds; success when all held and everything happened that has to.
pub(crate) fn run(which: Which, range: &Seeds) -> anyhow::Result<ExitCode> {
    for file in range.html.iter() {
        output::check(file)?;
    }
    for folder in range.keep_in.iter() {
        output::check_folder(folder)?;
    }
    let summary = gather(which, range)?;
    // A file that cannot be written is told last: what failed is not lost over it.
    let shrunk = failure::shrunk_first(&summary, range);
    let left = shrunk.as_ref().ok().and_then(Option::as_ref);
    let drawn = pages::draw_first(&summary, range, left);
    let page = drawn.as_ref().ok().and_then(Option::as_deref);
    if range.json {
        json::print(&json::of_seeds(&summary, left, page))?;
    } else {
        summary::tell(&summary, left, (page, range.html.as_deref()))?;
    }
    shrunk?;
    drawn?;
    Ok(match summary.verdict() {
        Verdict::Held => ExitCode::SUCCESS,
        Verdict::Failed | Verdict::TooSeldom => ExitCode::FAILURE,
    })
}

fn gather(which: Which, range: &Seeds) -> anyhow::Result<Summary> {
    if range.from.checked_add(range.seeds - 1).is_none() {
        let Seeds { from, seeds, .. } = range;
        let last = u64::MAX;
        let why = format!("there are no {seeds} seeds from {from} on; the last is {last}");
        return Err(Misuse(why).into());
    }
    which.check(range.without)?;
    let bar = progress_bar(range.seeds)?;
    let mut summary = Summary::new(which, range);
    let cpu_before = cpu::spent();
    let is_twice = |nth| range.twice_in > 0 && nth % range.twice_in == 0;
    let run = |nth| {
        let seed = range.from + nth;
        let simulation = which.simulation(range.without);
        let run = || {
            if is_twice(nth) {
                simulation.run_twice(seed)
            } else {
                simulation.run(seed)
            }
        };
        // Its hook has told of it.
        panic::catch_unwind(panic::AssertUnwindSafe(run)).map_err(|_| seed)
    };
    each_in_order(range.seeds, summary.jobs, run, |nth, done| {
        bar.inc(1);
        summary.add(is_twice(nth), done);
        if summary.failed.is_empty() || range.keep_going {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    summary.took = bar.elapsed();
    summary.cpu = cpu::since(cpu_before);
    bar.finish_and_clear();
    Ok(summary)
}

/// How many threads are used for so many things: as many as are asked for, or as there are cores, and none that has nothing
/// to do.
pub(crate) fn jobs(asked: Option<NonZeroUsize>, times: u64) -> usize {
    let available = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let jobs = asked.map_or_else(available, NonZeroUsize::get);
    jobs.min(usize::try_from(times).unwrap_or(usize::MAX))
}

fn progress_bar(seeds: u64) -> anyhow::Result<ProgressBar> {
    let style = "{bar:40} {human_pos} of {human_len} seeds, {per_sec}, {eta} left";
    Ok(ProgressBar::new(seeds).with_style(ProgressStyle::with_template(style)?))
}

/// Does so many things on so many threads, and takes what came of them in their order, until it has enough.
pub(crate) fn each_in_order<T: Send>(
    times: u64,
    jobs: usize,
    does: impl Fn(u64) -> T + Sync,
    mut takes: impl FnMut(u64, T) -> ControlFlow<()>,
) {
    let (next, is_enough) = (AtomicU64::new(0), AtomicBool::new(false));
    let (done, arrived) = mpsc::channel();
    let work = |done: mpsc::Sender<(u64, T)>| {
        while !is_enough.load(Relaxed) {
            let nth = next.fetch_add(1, Relaxed);
            if nth >= times || done.send((nth, does(nth))).is_err() {
                return;
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..jobs {
            let (work, done) = (&work, done.clone());
            scope.spawn(move || work(done));
        }
        drop(done);
        let (mut early, mut due) = (BTreeMap::new(), 0);
        for (nth, result) in arrived {
            early.insert(nth, result);
            while let Some(result) = early.remove(&due) {
                if takes(due, result).is_break() {
                    is_enough.store(true, Relaxed);
                    return;
                }
                due += 1;
            }
        }
    });
}

impl Summary {
    fn new(which: Which, range: &Seeds) -> Self {
        Self {
            which,
            without: range.without,
            from: range.from,
            seeds: 0,
            twice: 0,
            events: 0,
            weakened: 0,
            points: Points::default(),
            failed: Vec::new(),
            jobs: jobs(range.jobs, range.seeds),
            took: Duration::ZERO,
            cpu: None,
        }
    }

    fn add(&mut self, is_twice: bool, done: Result<Report, u64>) {
        self.seeds += 1;
        self.twice += u64::from(is_twice);
        match done {
            Ok(report) => {
                self.events += report.events as u64;
                self.weakened += report.weakened;
                self.points.add(&report.points);
                if !report.violations.is_empty() {
                    self.failed.push(Failed::Wrong(report));
                }
            }
            Err(seed) => self.failed.push(Failed::Panicked(seed)),
        }
    }

    pub(crate) fn verdict(&self) -> Verdict {
        let whose = self.which.whose();
        if !self.failed.is_empty() {
            Verdict::Failed
        } else if self.seeds >= SEEDS_MIN_FOR_POINTS
            && self.points.missing(whose, self.seeds).next().is_some()
        {
            Verdict::TooSeldom
        } else {
            Verdict::Held
        }
    }

    /// Runs, of which some seeds have two.
    pub(crate) fn runs_per(&self, took: Duration) -> f64 {
        (self.seeds + self.twice) as f64 / took.as_secs_f64().max(f64::EPSILON)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(jobs: usize) -> Seeds {
        Seeds {
            seeds: 12,
            from: 3,
            twice_in: 5,
            keep_going: true,
            without: None,
            jobs: NonZeroUsize::new(jobs),
            json: false,
            shrink_runs: 0,
            keep_in: None,
            html: None,
        }
    }

    #[test]
    fn what_came_of_the_seeds_does_not_depend_on_the_number_of_jobs() {
        let told = |jobs| {
            let summary = gather(Which::Fenced, &range(jobs)).unwrap();
            (summary.seeds, summary.twice, summary.events, summary.points)
        };
        assert_eq!(told(1), told(4));
        assert_eq!(told(1).1, 3);
        assert_eq!(jobs(NonZeroUsize::new(64), 12), 12);
    }

    #[test]
    fn results_come_in_order_and_no_more_than_are_wanted() {
        for jobs in [1, 3] {
            let mut taken = Vec::new();
            each_in_order(
                1_000,
                jobs,
                |nth| nth * 2,
                |nth, result| {
                    taken.push((nth, result));
                    if nth == 9 {
                        ControlFlow::Break(())
                    } else {
                        ControlFlow::Continue(())
                    }
                },
            );
            let all: Vec<_> = (0..10).map(|nth| (nth, nth * 2)).collect();
            assert_eq!(taken, all);
        }
    }
}
