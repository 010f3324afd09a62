//! `ledger`: see `ledger --help`.
#![forbid(unsafe_code)]

mod modes;

use std::{fs::File, io, path::Path, process::ExitCode};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use ferry_ledger::{
    options::{Chore, Options},
    place::Place,
    stop::Stop,
    store::Store,
};
use modes::{Input, WRONG, audit_alone, carry_and_audit, note, simulate_and_audit, sweep};
use tokio::runtime::{self, Runtime};

/// Nothing was done. What clap answers to options that it does not take, too.
const UNUSABLE: u8 = 2;

fn main() -> ExitCode {
    let options = Options::parse();
    let place = match &options.chore {
        Some(chore) => chore.place(),
        None => options.which.place(),
    };
    let (runtime, input, store) = match prepare(&options, &place) {
        Ok(prepared) => prepared,
        Err(error) => return fail(UNUSABLE, &error),
    };
    let done = runtime.block_on(async {
        match (&options.chore, input) {
            // Neither heeds Ctrl-C, so it ends them where they stand: nothing is lost by that.
            (Some(Chore::Sweep(_)), _) => sweep(&place).await,
            (Some(Chore::Audit(_)), _) => audit_alone(&place, &store).await,
            (None, Some(input)) => carry_and_audit(&place, &store, input, Stop::on_ctrl_c()).await,
            (None, None) => {
                simulate_and_audit(&options.simulation, &place, &store, Stop::on_ctrl_c()).await
            }
        }
    });
    store.close();
    match done {
        Ok(exit) => ExitCode::from(exit),
        Err(error) => fail(WRONG, &error),
    }
}

/// Everything that can be found to be unusable before anything is done.
fn prepare(options: &Options, place: &Place) -> Result<(Runtime, Option<Input>, Store)> {
    let input = options.input.as_deref().map(open_input).transpose()?;
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("cannot start threads")?;
    let store = runtime.block_on(async {
        match options.chore {
            Some(_) => Store::open_existing(place).await,
            None => Store::open(place).await,
        }
    })?;
    store.check()?;
    Ok((runtime, input, store))
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
