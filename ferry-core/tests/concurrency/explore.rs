//! Tells a story in many orders.

use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

use shuttle::{
    Config, MaxSteps, Runner,
    scheduler::{PctScheduler, RandomScheduler, Scheduler},
};

/// How many schedules each scheduler makes, unless `FERRY_SCHEDULES` says otherwise.
const SCHEDULES: usize = 3000;

/// So that a run is the same every time; `SHUTTLE_RANDOM_SEED` takes its place.
const SEED: u64 = 7;

/// Far beyond what any story takes: who gets there goes round in circles.
const STEPS_MAX: usize = 50_000;

/// Runs the story under a scheduler that draws each step at random, and under ones that give tasks priorities and change
/// them in a few places only, which finds what takes few but unlikely turns.
///
/// Where it fails, the schedule is printed. `FERRY_REPLAY`, set to it, runs the one test that is named beside it in that
/// order and no other.
pub(crate) fn explore(story: fn()) {
    if let Ok(schedule) = env::var("FERRY_REPLAY") {
        return shuttle::replay(story, schedule.trim());
    }
    let schedules = env::var("FERRY_SCHEDULES")
        .ok()
        .map_or(SCHEDULES, |given| given.parse().expect("a number"));
    run(
        "random",
        RandomScheduler::new_from_seed(SEED, schedules),
        story,
    );
    for depth in [2, 4] {
        let name = format!("priorities, {} changes", depth - 1);
        run(
            &name,
            PctScheduler::new_from_seed(SEED, depth, schedules),
            story,
        );
    }
}

fn run(name: &str, scheduler: impl Scheduler + 'static, story: fn()) {
    let mut config = Config::new();
    config.max_steps = MaxSteps::FailAfter(STEPS_MAX);
    let told = Told {
        name,
        times: Arc::default(),
    };
    let times = Arc::clone(&told.times);
    Runner::new(scheduler, config).run(move || {
        times.fetch_add(1, Relaxed);
        story();
    });
}

/// Says at the end, if it is a bad one, which telling it was.
struct Told<'a> {
    name: &'a str,
    times: Arc<AtomicUsize>,
}

impl Drop for Told<'_> {
    #[expect(clippy::print_stderr, reason = "beside what the scheduler prints")]
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!(
                "{}: failed in schedule {}",
                self.name,
                self.times.load(Relaxed)
            );
        }
    }
}
