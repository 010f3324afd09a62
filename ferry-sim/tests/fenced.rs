//! Some hundreds of seeds of the fenced write, and that a seed gives the same run whenever it is run.

use std::time::Duration;

use ferry_sim::{
    FencedWriterSimulation, Size,
    points::{Point, Points, Whose},
};

/// Small enough for many seeds in a build without optimisation.
const SMALL: Size = Size::new()
    .keys(4)
    .inputs(60)
    .duration(Duration::from_secs(120));

#[test]
fn everything_holds_in_every_seed_and_everything_happens_in_some() {
    let simulation = FencedWriterSimulation {
        size: SMALL,
        ..FencedWriterSimulation::default()
    };
    let mut points = Points::default();
    for seed in 0..300 {
        let report = simulation.run(seed);
        assert!(
            report.violations.is_empty(),
            "seed {seed}: {:#?}",
            report.violations
        );
        assert_eq!(report.weakened, 0, "seed {seed}");
        points.add(&report.points);
    }
    let never: Vec<_> = (Point::ALL.iter())
        .filter(|&&point| point.least_per_thousand(Whose::Fenced) > 0 && points.count(point) == 0)
        .collect();
    assert!(never.is_empty(), "never happened: {never:?}");
}

#[test]
fn a_seed_gives_the_same_run_every_time_and_another_gives_another() {
    let simulation = FencedWriterSimulation::default();
    for seed in 0..8 {
        let report = simulation.run_twice(seed);
        assert!(report.violations.is_empty(), "{:?}", report.violations);
        let (replayed, events) = simulation.replay(seed);
        assert_eq!(replayed.hash, report.hash);
        assert_eq!(events.len(), report.events);
        assert_ne!(simulation.run(seed + 1).hash, report.hash);
    }
}
