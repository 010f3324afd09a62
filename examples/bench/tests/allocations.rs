//! Ferry allocates nothing for an input in a steady state. One test alone in its process, since the
//! allocator counts for all.

use std::alloc::System;

use ferry_bench::{Peer, Steady, Workload};
use stats_alloc::{INSTRUMENTED_SYSTEM, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const COUNTED: u64 = 100_000;

/// Mean batch, and allocations by input.
fn measure(peer: Peer, workload: Workload) -> (f64, f64) {
    let run = Steady {
        workload,
        warm: 200_000,
        counted: COUNTED,
        gauge: || ALLOCATOR.stats(),
    };
    let cost = peer.visit(run);
    let change = cost.after - cost.before;
    let allocations = change.allocations + change.reallocations;
    (cost.mean_batch, allocations as f64 / COUNTED as f64)
}

#[test]
fn a_steady_state_allocates_next_to_nothing() {
    for peer in [Peer::Ferry, Peer::FerryWrite] {
        let (batch, allocations) = measure(peer, Workload::Hot);
        assert!(batch > 30.0, "{peer:?}: full batches, not {batch}");
        assert!(
            allocations < 0.001,
            "{peer:?}: {allocations} in full batches"
        );

        let (batch, allocations) = measure(peer, Workload::Spread128);
        assert!(batch < 1.1, "{peer:?}: batches of one, not {batch}");
        assert!(
            allocations < 0.05,
            "{peer:?}: {allocations} with batches of one"
        );
    }
    // So many at once that Tokio's own lists grow now and then.
    let (_, allocations) = measure(Peer::Ferry, Workload::Spread);
    assert!(
        allocations < 0.5,
        "{allocations} with 4,096 batches of one in flight"
    );

    // That the counting counts: a oneshot for each input.
    let (_, allocations) = measure(Peer::MutexSpawn, Workload::Hot);
    assert!(
        allocations >= 1.0,
        "{allocations} with a oneshot for each input"
    );
}
