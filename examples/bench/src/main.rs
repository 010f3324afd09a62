//! `ferry-bench`: Ferry beside what people would pick instead. `--help` tells what it can do.
#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program: its tables go to the one, its progress to the other"
)]

use std::{error::Error, process::ExitCode, time::Duration};

use clap::{Parser, Subcommand, ValueEnum};
use ferry_bench::{Check, Peer, Probe, Steady, Timed, Workload, compare, instructions};

/// Measures Ferry beside what people would pick instead.
#[derive(Parser)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// The peers and the workloads.
    List,
    /// One run by the clock, as JSON.
    One {
        peer: Peer,
        workload: Workload,
        /// Threads of the runtime.
        #[arg(long, default_value_t = 2)]
        workers: usize,
        /// Before anything counts.
        #[arg(long, default_value_t = 300)]
        warm_ms: u64,
        /// How long it counts; `idle` ends by itself.
        #[arg(long, default_value_t = 1200)]
        measured_ms: u64,
    },
    /// So many inputs on one thread, for a profiler.
    Steady {
        peer: Peer,
        workload: Workload,
        #[arg(long, default_value_t = 1_000_000)]
        inputs: u64,
    },
    /// Whether each keeps its contract while nothing goes wrong.
    Check { peers: Vec<Peer> },
    /// What becomes of the guarantees when something does, as a table.
    Probe { peers: Vec<Peer> },
    /// By the clock, in pairs with a baseline, as tables.
    All {
        /// How many pairs of each.
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// What each is paired with.
        #[arg(long, default_value = "ferry")]
        baseline: Peer,
        /// Only these workloads.
        #[arg(long, value_delimiter = ',')]
        workloads: Vec<Workload>,
        peers: Vec<Peer>,
    },
    /// Instructions per input on one thread, by callgrind, as a table.
    Instructions {
        /// Only these workloads.
        #[arg(long, value_delimiter = ',')]
        workloads: Vec<Workload>,
        peers: Vec<Peer>,
    },
}

fn main() -> ExitCode {
    match run(Args::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("ferry-bench: {error}");
            ExitCode::from(2)
        }
    }
}

fn run(command: Command) -> Result<ExitCode, Box<dyn Error>> {
    match command {
        Command::List => {
            let names = |names: Vec<String>| names.join(" ");
            println!("peers: {}", names(all(vec![]).map(Peer::name).collect()));
            println!(
                "workloads: {}",
                names(all(vec![]).map(Workload::name).collect())
            );
        }
        Command::One {
            peer,
            workload,
            workers,
            warm_ms,
            measured_ms,
        } => {
            let run = Timed {
                workload,
                workers,
                warm: Duration::from_millis(warm_ms),
                measured: Duration::from_millis(measured_ms),
            };
            println!("{}", serde_json::to_string(&peer.visit(run))?);
        }
        Command::Steady {
            peer,
            workload,
            inputs,
        } => {
            let run = Steady {
                workload,
                warm: 1,
                counted: inputs,
                gauge: || (),
            };
            println!("mean batch {:.1}", peer.visit(run).mean_batch);
        }
        Command::Check { peers } => return Ok(check(peers)),
        Command::Probe { peers } => probe(all(peers).collect()),
        Command::All {
            rounds,
            baseline,
            workloads,
            peers,
        } => {
            let (peers, workloads): (Vec<_>, Vec<_>) =
                (all(peers).collect(), all(workloads).collect());
            let tables = compare(baseline, &peers, &workloads, rounds.max(1), progress)?;
            println!("{tables}");
        }
        Command::Instructions { workloads, peers } => {
            let (peers, workloads): (Vec<_>, Vec<_>) =
                (all(peers).collect(), all(workloads).collect());
            println!("{}", instructions(&peers, &workloads, progress)?);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Those that were named, or all where none was.
fn all<T: ValueEnum + Clone + 'static>(named: Vec<T>) -> impl Iterator<Item = T> {
    let named = if named.is_empty() {
        T::value_variants().to_vec()
    } else {
        named
    };
    named.into_iter()
}

fn progress(what: &str) {
    eprintln!("{what}");
}

fn check(peers: Vec<Peer>) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for peer in all(peers) {
        match peer.visit(Check) {
            Ok(()) => println!("{}: ok", peer.name()),
            Err(violation) => {
                println!("{}: {violation}", peer.name());
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

fn probe(peers: Vec<Peer>) {
    let found: Vec<_> = peers.iter().map(|peer| peer.visit(Probe)).collect();
    let names: Vec<_> = peers.iter().map(|peer| peer.name()).collect();
    println!("| | {} |", names.join(" | "));
    println!("|---|{}", "---|".repeat(names.len()));
    let questions = found.first().map_or(0, Vec::len);
    for question in 0..questions {
        let (asked, _) = found[0][question];
        let outcomes: Vec<_> = found
            .iter()
            .map(|found| found[question].1.to_string())
            .collect();
        println!("| {asked} | {} |", outcomes.join(" | "));
    }
}
