//! The mutants, and which property catches each.

use core::ops::ControlFlow;
use std::{
    io::{self, Write},
    process::ExitCode,
};

use ferry_sim::mutants::{self, Mutant};
use indicatif::HumanCount;

use crate::{
    cli::Mutants,
    json::{self, OfMutant},
    listing, output, seeds,
};

/// Tells by which property each mutant is caught, and after how many seeds; failure if one is not.
pub(crate) fn run(asked: &Mutants) -> anyhow::Result<ExitCode> {
    if let Some(file) = &asked.table {
        output::check(file)?;
    }
    let mut all = Vec::new();
    let mut told = Ok(());
    let catch = |nth: u64| catch(&mutants::ALL[nth as usize], asked.seeds);
    let (count, jobs) = (
        mutants::ALL.len() as u64,
        seeds::jobs(asked.jobs, mutants::ALL.len() as u64),
    );
    seeds::each_in_order(count, jobs, catch, |_, mutant| {
        if !asked.json {
            told = tell(&mutant);
        }
        all.push(mutant);
        if told.is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    told?;
    let missed = all.iter().filter(|mutant| !mutant.caught).count();
    let count = all.len();
    let table = match &asked.table {
        Some(file) => {
            let page = listing::made_of(&all)?;
            output::write(file, |out| out.write_all(page.as_bytes()))
        }
        None => Ok(()),
    };
    if asked.json {
        json::print(&json::of_mutants(all))?;
    } else if missed == 0 {
        let impossible = mutants::IMPOSSIBLE.len();
        writeln!(
            io::stdout().lock(),
            "HELD: all {count} mutants were caught, and {impossible} do not compile"
        )?;
    } else {
        writeln!(
            io::stdout().lock(),
            "FAILED: {missed} of {count} mutants were not caught"
        )?;
    }
    table?;
    Ok(if missed == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn catch(mutant: &Mutant, seeds_max: u64) -> OfMutant {
    let caught = mutant.caught_within(0, seeds_max);
    OfMutant {
        name: mutant.name,
        of: mutant.of.name(),
        property: format!("P{}", mutant.fails.number()),
        caught: caught.is_some(),
        seeds: caught.as_ref().map_or(seeds_max, |caught| caught.seeds),
        seed: caught.map(|caught| caught.report.seed),
    }
}

fn tell(mutant: &OfMutant) -> io::Result<()> {
    let OfMutant {
        name,
        of,
        property,
        seeds,
        ..
    } = mutant;
    let seeds = HumanCount(*seeds);
    let caught = match mutant.seed {
        Some(seed) => format!("caught by {property} in seed {seed}"),
        None => format!("NOT caught by {property} in {seeds} seeds"),
    };
    writeln!(io::stdout().lock(), "{name:<40} {of:<10} {caught}")
}
