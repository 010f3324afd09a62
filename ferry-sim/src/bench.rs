//! How fast it is, on one core.

use core::time::Duration;
use std::{
    io::{self, Write},
    process::ExitCode,
};

use ferry_sim::{BuiltIn, Size, points::Whose};
use indicatif::HumanCount;

use crate::{cli::Bench, cpu};

/// Inputs a second in the long runs.
const INPUTS_PER_SECOND: u64 = 10;

/// How long the long runs are, in simulated minutes. The figures fall a little from one to the next, as memory gets farther away.
const MINUTES: [u64; 4] = [5, 10, 20, 60];

/// Tells of each simulation how many seeds, and how many simulated hours, a second of a core is enough for.
pub(crate) fn run(bench: &Bench) -> anyhow::Result<ExitCode> {
    let mut out = io::stdout().lock();
    if cpu::spent().is_none() {
        anyhow::bail!("this system does not tell how much of a core a program uses");
    }
    for whose in [Whose::Fenced, Whose::Projected] {
        let name = whose.name();
        let short = BuiltIn::of(whose, None);
        let (seeds, took) = spent(bench.seeds, |seed| short.run(seed).events);
        let rate = bench.seeds as f64 / took;
        writeln!(
            out,
            "{name:<10} {rate:>8.0} seeds a CPU second; {} events",
            HumanCount(seeds)
        )?;
        for minutes in MINUTES {
            let size = Size::new()
                .inputs(minutes * 60 * INPUTS_PER_SECOND)
                .duration(Duration::from_secs(minutes * 60));
            let long = BuiltIn::of(whose, None).sized(size);
            let (events, took) = spent(bench.long, |seed| long.run(seed).events);
            let hours = (bench.long * minutes) as f64 / 60.0 / took;
            writeln!(
                out,
                "{name:<10} {hours:>8.2} simulated hours a CPU second, in runs of {minutes} minutes with \
                 {INPUTS_PER_SECOND} inputs a second; {} events",
                HumanCount(events)
            )?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// How many events the seeds have, and how many seconds of a core they take.
fn spent(seeds: u64, run: impl Fn(u64) -> usize) -> (u64, f64) {
    let before = cpu::spent();
    let events = (0..seeds).map(|seed| run(seed) as u64).sum();
    let took = cpu::since(before).unwrap_or_default();
    (events, took.as_secs_f64().max(f64::EPSILON))
}
