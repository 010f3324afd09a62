//! Runs the simulations: many seeds, or one again.

mod bench;
mod catching;
mod cli;
mod cpu;
mod exploring;
mod failure;
mod json;
mod listing;
mod pages;
mod replaying;
mod seeds;
mod stories;
mod summary;

use std::{io, process::ExitCode};

use clap::Parser;

use self::cli::{Arguments, Command, Which};

fn main() -> anyhow::Result<ExitCode> {
    let told = match Arguments::parse().command {
        Command::Fenced(range) => seeds::run(Which::Fenced, &range),
        Command::Projected(range) => seeds::run(Which::Projected, &range),
        Command::Mutants(asked) => catching::run(&asked),
        Command::Scenario(story) => stories::run(&story),
        Command::Explore(explore) => exploring::run(&explore),
        Command::Replay(replay) => replaying::run(&replay),
        Command::Bench(bench) => bench::run(&bench),
    };
    match told {
        // Whoever reads has seen enough, as `head` has; that all held was not told.
        Err(error) if is_broken_pipe(&error) => Ok(ExitCode::FAILURE),
        told => told,
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
