//! Runs the simulations: many seeds, or one again.

mod cli;
mod exploring;
mod seeds;
mod stories;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;
use ferry_sim::{FencedWriterSimulation, ProjectedWriterSimulation, mutants};

use self::cli::{Arguments, Command, Mutants, Replay, Which};

fn main() -> anyhow::Result<ExitCode> {
    let told = match Arguments::parse().command {
        Command::Fenced(range) => seeds::run(Which::Fenced, &range),
        Command::Projected(range) => seeds::run(Which::Projected, &range),
        Command::Mutants(mutants) => catch_mutants(mutants),
        Command::Scenario(story) => stories::run(&story),
        Command::Replay(replay) => replay_seed(replay),
        Command::Explore(explore) => exploring::run(&explore),
    };
    match told {
        // Whoever reads has seen enough, as `head` has.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::SUCCESS),
        told => told,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// Tells by which property each mutant is caught, and after how many seeds; failure if one is not.
fn catch_mutants(Mutants { seeds }: Mutants) -> anyhow::Result<ExitCode> {
    let mut status = ExitCode::SUCCESS;
    for mutant in mutants::ALL {
        let caught = match mutant.caught_within(0, seeds) {
            Some(caught) => format!("caught by {} in seed {}", mutant.fails, caught.report.seed),
            None => {
                status = ExitCode::FAILURE;
                format!("NOT caught by {} in {seeds} seeds", mutant.fails)
            }
        };
        writeln!(io::stdout().lock(), "{:<34} {caught}", mutant.name)?;
    }
    Ok(status)
}

/// Tells what happens in a seed, and what is wrong with it.
fn replay_seed(replay: Replay) -> anyhow::Result<ExitCode> {
    let (report, events) = match replay.of {
        Which::Fenced => FencedWriterSimulation::default().replay(replay.seed),
        Which::Projected => ProjectedWriterSimulation::default().replay(replay.seed),
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (at, event) in &events {
        if replay.all || event.is_story() {
            let millis = at.nanos() / 1_000_000;
            let micros = at.nanos() / 1_000 % 1_000;
            writeln!(out, "{millis:>8}.{micros:03} ms  {event}")?;
        }
    }
    writeln!(
        out,
        "seed {}: {} events, hash {:016x}",
        replay.seed,
        events.len(),
        report.hash
    )?;
    let status = seeds::tell_violations(&mut out, replay.of, &report)?;
    out.flush()?;
    Ok(status)
}
