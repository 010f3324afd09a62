//! `allocations`: how often each peer allocates for an input, and what it keeps for a key. On one
//! thread, so that the figures repeat.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "a program: it prints its tables")]

use std::{alloc::System, time::Duration};

use clap::{Parser, ValueEnum};
use ferry_bench::{Heap, Peer, Steady, Workload};
use stats_alloc::{INSTRUMENTED_SYSTEM, Stats, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How often each peer allocates for an input, and what it keeps for a key.
#[derive(Parser)]
struct Args {
    peers: Vec<Peer>,
}

fn main() {
    let named = Args::parse().peers;
    let peers = if named.is_empty() {
        Peer::value_variants().to_vec()
    } else {
        named
    };
    let workloads = Workload::value_variants();
    let names: Vec<String> = workloads.iter().map(|workload| workload.name()).collect();
    println!(
        "| allocations by input | {} | bytes by key, answered | idle for 2 s |",
        names.join(" | ")
    );
    println!("|---|{}", "---:|".repeat(workloads.len() + 2));
    for peer in peers {
        let allocations: Vec<String> = workloads
            .iter()
            .map(|&workload| format!("{:.2}", by_input(peer, workload)))
            .collect();
        let [answered, idle] = bytes_by_key(peer);
        println!(
            "| {} | {} | {answered:.0} | {idle:.0} |",
            peer.name(),
            allocations.join(" | "),
        );
    }
}

fn by_input(peer: Peer, workload: Workload) -> f64 {
    const COUNTED: u64 = 200_000;
    let run = Steady {
        workload,
        warm: 200_000,
        counted: COUNTED,
        gauge: || ALLOCATOR.stats(),
    };
    let cost = peer.visit(run);
    let Stats {
        allocations,
        reallocations,
        ..
    } = cost.after - cost.before;
    (allocations + reallocations) as f64 / COUNTED as f64
}

fn bytes_by_key(peer: Peer) -> [f64; 2] {
    let run = Heap {
        pause: Duration::from_secs(2),
        gauge: || ALLOCATOR.stats(),
    };
    let [before, answered, idle] = peer.visit(run);
    let by_key = |after: Stats| {
        let change = after - before;
        let live = change.bytes_allocated as f64 - change.bytes_deallocated as f64;
        live / 1e6
    };
    [by_key(answered), by_key(idle)]
}
