//! Runs the simulations: many seeds, or one again.

mod behaving;
mod bench;
mod catching;
mod cli;
mod counted;
mod cpu;
mod exploring;
mod failure;
mod json;
mod listing;
mod output;
mod pages;
mod replaying;
mod seeds;
mod stories;
mod summary;

use std::{
    io::{self, Write},
    process::ExitCode,
};

use clap::Parser;

use self::cli::{Arguments, Command, Misuse, Which};

fn main() -> ExitCode {
    let command = Arguments::parse().command;
    let error = match run(&command) {
        Ok(status) => return status,
        Err(error) => error,
    };
    if let Some(misuse) = error.downcast_ref::<Misuse>() {
        let _nobody_reads = misuse.of_command(command.name()).print();
        return ExitCode::from(2);
    }
    // Whoever reads has seen enough, as `head` has; that all held was not told.
    if !is_broken_pipe(&error) {
        let _nobody_reads = writeln!(io::stderr(), "error: {}", words(&error));
    }
    ExitCode::FAILURE
}

fn run(command: &Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Fenced(range) => seeds::run(Which::Fenced, range),
        Command::Projected(range) => seeds::run(Which::Projected, range),
        Command::Mutants(asked) => catching::run(asked),
        Command::Scenario(story) => stories::run(story),
        Command::Explore(explore) => exploring::run(explore),
        Command::Replay(replay) => replaying::run(replay),
        Command::Behaviour(asked) => behaving::run(asked),
        Command::Bench(bench) => bench::run(bench),
    }
}

/// What is not said of a file is of the output.
fn words(error: &anyhow::Error) -> String {
    match error.root_cause() {
        cause if error.chain().len() == 1 && cause.is::<io::Error>() => {
            format!("cannot write to the standard output: {error}")
        }
        _ => format!("{error:#}"),
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let error = error.downcast_ref::<io::Error>();
    error.is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
