//! Writes runs down as behaviours of the specification.

use std::{
    fs::File,
    io::{BufWriter, Write},
    process::ExitCode,
};

use anyhow::Context;
use ferry_sim::behaviour;

use crate::cli::Behave;

pub(crate) fn run(asked: &Behave) -> anyhow::Result<ExitCode> {
    let name = asked.out.file_stem().and_then(|name| name.to_str()).context("no name")?;
    let mut all = Vec::new();
    for seed in asked.from..asked.from + asked.seeds {
        let of_seed = behaviour::of_seed(asked.of.whose(), seed);
        match asked.key {
            Some(key) => all.extend(of_seed.into_iter().filter(|it| it.key == key)),
            None => {
                let nth = seed as usize % of_seed.len().max(1);
                all.extend(of_seed.into_iter().nth(nth));
            }
        }
    }
    let mut out = BufWriter::new(File::create(&asked.out)?);
    behaviour::write_module(&mut out, name, &all)?;
    out.flush()?;
    println!("{} traces, {} lines", all.len(), all.iter().map(|it| it.lines.len()).sum::<usize>());
    Ok(ExitCode::SUCCESS)
}
