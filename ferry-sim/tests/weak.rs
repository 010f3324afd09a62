//! What is written by hand to have mistakes made in it is sound without them: or a mutant would prove nothing.

use std::time::Duration;

use ferry_sim::{
    ByHandWriterSimulation, FencedWriterSimulation, ProjectedWriterSimulation, Report, Size,
    policy::{Front, Policy},
};

const SMALL: Size = Size::new()
    .keys(4)
    .inputs(60)
    .duration(Duration::from_secs(120));

const BY_CALLERS: Policy = Policy {
    front: Front::CarriedByTask,
    ..Policy::WHOLE
};

fn assert_sound(seeds: u64, run: impl Fn(u64) -> Report) {
    for seed in 0..seeds {
        let report = run(seed);
        let violations = &report.violations;
        assert!(violations.is_empty(), "seed {seed}: {violations:#?}");
        assert_eq!(report.weakened, 0, "seed {seed}");
    }
}

#[test]
fn a_driver_by_hand_without_a_mistake_is_sound() {
    let simulation = ByHandWriterSimulation {
        size: SMALL,
        ..ByHandWriterSimulation::default()
    };
    assert_sound(300, |seed| simulation.run(seed));
}

#[test]
fn callers_that_form_a_batch_among_themselves_are_sound_when_a_task_carries_it() {
    let simulation = FencedWriterSimulation {
        size: SMALL,
        policy: BY_CALLERS,
        ..FencedWriterSimulation::default()
    };
    assert_sound(300, |seed| simulation.run(seed));
}

#[test]
fn a_seed_gives_the_same_run_every_time_by_hand_too() {
    let simulation = ByHandWriterSimulation::default();
    assert_sound(3, |seed| simulation.run_twice(seed));
    let simulation = ProjectedWriterSimulation::default();
    assert_sound(3, |seed| simulation.run_twice(seed));
}
