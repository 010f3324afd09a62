//! `ledger`: see `ledger --help`.
#![forbid(unsafe_code)]

mod modes;

use std::{fs::File, io, path::Path, process::ExitCode};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use ferry_ledger::{file, fold::Store, options::Options, stop::Stop};
use modes::{Input, WRONG, carry_and_audit, note, simulate_and_audit};
use tokio::runtime::{self, Runtime};

/// Nothing was done. What clap answers to options that it does not take, too.
const UNUSABLE: u8 = 2;

fn main() -> ExitCode {
    let options = Options::parse();
    let (runtime, input, store) = match prepare(&options) {
        Ok(prepared) => prepared,
        Err(error) => return fail(UNUSABLE, &error),
    };
    let done = runtime.block_on(async {
        let stop = Stop::on_ctrl_c();
        match input {
            Some(input) => carry_and_audit(&store, input, stop).await,
            None => simulate_and_audit(&options.simulation, &options.file, &store, stop).await,
        }
    });
    store.close();
    match done {
        Ok(exit) => ExitCode::from(exit),
        Err(error) => fail(WRONG, &error),
    }
}

/// Everything that can be found to be unusable before anything is done.
fn prepare(options: &Options) -> Result<(Runtime, Option<Input>, Store)> {
    let input = options.input.as_deref().map(open_input).transpose()?;
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    Ok((
        runtime.context("cannot start threads")?,
        input,
        file::open(&options.file)?,
    ))
}

fn open_input(path: &Path) -> Result<Input> {
    if path.as_os_str() == "-" {
        return Ok(Box::new(io::stdin()));
    }
    let name = path.display();
    let input = File::open(path).with_context(|| format!("cannot read {name}"))?;
    let metadata = input
        .metadata()
        .with_context(|| format!("cannot read {name}"))?;
    ensure!(!metadata.is_dir(), "cannot read {name}: it is a folder");
    Ok(Box::new(input))
}

fn fail(exit: u8, error: &anyhow::Error) -> ExitCode {
    note(format_args!("{error:#}"));
    ExitCode::from(exit)
}
