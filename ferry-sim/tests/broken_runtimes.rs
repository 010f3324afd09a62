//! The suite notices a runtime that is broken.

use std::{
    panic,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use ferry_core::{
    Instant,
    drive::{Builder, Runtime},
};
use ferry_sim::{
    executor::{Executor, Process},
    runtimes::{self, Host, ShutsDown},
};

/// A runtime with a defect.
#[derive(Clone)]
struct Broken<D> {
    sound: Process,
    defect: D,
}

/// What is wrong with it. By default, nothing.
trait Defect: Default + Clone + Send + Sync + 'static {
    /// Short where all that can be seen of it is that nothing happens.
    const PATIENCE: Duration = Duration::from_secs(120);

    fn now(&self, sound: Instant) -> Instant {
        sound
    }

    fn sleep(&self, asked: Duration) -> Duration {
        asked
    }

    fn drops_tasks(&self) -> bool {
        false
    }

    fn drops_panics(&self) -> bool {
        false
    }

    fn outlives_its_end(&self) -> bool {
        false
    }
}

impl<D: Defect> Runtime for Broken<D> {
    fn now(&self) -> Instant {
        self.defect.now(self.sound.now())
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static {
        self.sound.sleep(self.defect.sleep(duration))
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        if self.defect.drops_tasks() {
            drop(task);
        } else {
            self.sound.spawn(task);
        }
    }

    fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        let work = self
            .sound
            .spawn_blocking(move || panic::catch_unwind(panic::AssertUnwindSafe(work)));
        let drops_panics = self.defect.drops_panics();
        async move {
            match work.await {
                Ok(output) => output,
                Err(_) if drops_panics => panic!("some other message"),
                Err(payload) => panic::resume_unwind(payload),
            }
        }
    }
}

struct On<D> {
    executor: Executor,
    runtime: Broken<D>,
}

impl<D: Defect> Host for On<D> {
    const PATIENCE: Duration = D::PATIENCE;

    type Runtime = Broken<D>;

    fn start() -> Self {
        let executor = Executor::new(7);
        let runtime = Broken {
            sound: executor.process(),
            defect: D::default(),
        };
        Self { executor, runtime }
    }

    fn runtime(&self) -> Broken<D> {
        self.runtime.clone()
    }

    fn run<T>(&self, story: impl Future<Output = T>) -> T {
        self.executor.block_on(story)
    }
}

impl<D: Defect> ShutsDown for On<D> {
    fn shut_down(self) {
        if self.runtime.defect.outlives_its_end() {
            // Nobody drops its tasks.
            std::mem::forget(self.executor);
        } else {
            self.runtime.sound.crash();
        }
    }
}

fn shows<D: Defect>(behaviour: fn(On<D>)) -> bool {
    panic::catch_unwind(|| runtimes::show(behaviour)).is_ok()
}

#[derive(Clone, Default)]
struct Nothing;

impl Defect for Nothing {}

#[test]
fn what_is_not_broken_is_sound() {
    assert!(shows::<Nothing>(
        runtimes::contract::a_sleep_is_over_no_sooner_than_asked_for
    ));
    assert!(shows::<Nothing>(runtimes::contract::clones_go_by_one_clock));
    assert!(shows::<Nothing>(
        runtimes::contract::a_panic_of_blocking_work_is_carried_to_who_awaits_it
    ));
    assert!(shows::<Nothing>(
        runtimes::contract::a_task_runs_to_its_end_though_nobody_waits_for_it
    ));
    assert!(shows::<Nothing>(
        runtimes::shutdown::what_lingers_was_not_committed
    ));
    assert!(shows::<Nothing>(
        runtimes::linger::a_lone_input_waits_for_company_exactly_so_long
    ));
}

/// Its sleeps are over too soon.
#[derive(Clone, Default)]
struct Hasty;

impl Defect for Hasty {
    fn sleep(&self, asked: Duration) -> Duration {
        asked / 2
    }
}

#[test]
fn sleeps_that_are_over_too_soon_are_noticed() {
    assert!(!shows::<Hasty>(
        runtimes::contract::a_sleep_is_over_no_sooner_than_asked_for
    ));
}

/// Its sleeps without end come to one.
#[derive(Clone, Default)]
struct Finite;

impl Defect for Finite {
    fn sleep(&self, asked: Duration) -> Duration {
        if asked == Duration::MAX {
            Duration::ZERO
        } else {
            asked
        }
    }
}

#[test]
fn an_end_of_what_has_none_is_noticed() {
    assert!(!shows::<Finite>(
        runtimes::contract::a_sleep_without_end_goes_on
    ));
}

/// Its clock goes back now and then.
#[derive(Clone, Default)]
struct Swaying(Arc<AtomicU64>);

impl Defect for Swaying {
    fn now(&self, sound: Instant) -> Instant {
        let back = self.0.fetch_add(1, Relaxed) % 2;
        sound + Duration::from_nanos(1 - back)
    }
}

#[test]
fn a_clock_that_goes_back_is_noticed() {
    assert!(!shows::<Swaying>(
        runtimes::contract::clones_go_by_one_clock
    ));
}

/// It forgets its tasks.
#[derive(Clone, Default)]
struct Forgetful;

impl Defect for Forgetful {
    fn drops_tasks(&self) -> bool {
        true
    }
}

#[test]
fn tasks_that_are_dropped_are_noticed() {
    assert!(!shows::<Forgetful>(
        runtimes::contract::a_task_runs_to_its_end_though_nobody_waits_for_it
    ));
    assert!(!shows::<Forgetful>(
        runtimes::order::each_caller_hears_its_own_answer
    ));
}

/// It tells that blocking work panicked, but not how.
#[derive(Clone, Default)]
struct Vague;

impl Defect for Vague {
    fn drops_panics(&self) -> bool {
        true
    }
}

#[test]
fn panics_that_are_not_carried_are_noticed() {
    assert!(!shows::<Vague>(
        runtimes::contract::a_panic_of_blocking_work_is_carried_to_who_awaits_it
    ));
}

/// Its clock goes on by itself.
#[derive(Clone, Default)]
struct Restless(Arc<AtomicU64>);

impl Defect for Restless {
    fn now(&self, sound: Instant) -> Instant {
        sound + Duration::from_nanos(self.0.fetch_add(1, Relaxed))
    }
}

#[test]
fn time_that_is_not_exact_is_noticed() {
    assert!(!shows::<Restless>(
        runtimes::linger::a_lone_input_waits_for_company_exactly_so_long
    ));
}

/// Its tasks are still there when it says that they are not.
#[derive(Clone, Default)]
struct Lingering;

impl Defect for Lingering {
    const PATIENCE: Duration = Duration::from_secs(1);

    fn outlives_its_end(&self) -> bool {
        true
    }
}

#[test]
fn tasks_that_outlive_the_end_are_noticed() {
    assert!(!shows::<Lingering>(
        runtimes::shutdown::what_lingers_was_not_committed
    ));
}

/// It has one thread, and says that it has more.
#[derive(Clone, Default)]
struct Boastful;

impl Defect for Boastful {
    const PATIENCE: Duration = Duration::from_secs(1);
}

#[test]
fn blocking_work_that_holds_up_the_tasks_is_noticed() {
    assert!(!shows::<Boastful>(
        runtimes::blocking::a_call_that_blocks_holds_nobody_else_up
    ));
}

#[test]
fn tasks_that_do_not_run_at_once_are_noticed() {
    assert!(!shows::<Boastful>(
        runtimes::threads::close_waits_for_answers_that_are_held_up
    ));
}

/// A runtime that panics instead of running a task.
#[derive(Clone)]
struct Unable(Process);

impl Runtime for Unable {
    fn now(&self) -> Instant {
        self.0.now()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static {
        self.0.sleep(duration)
    }

    fn spawn(&self, _task: impl Future<Output = ()> + Send + 'static) {
        panic!("no task can be run")
    }

    fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        self.0.spawn_blocking(work)
    }
}

#[test]
fn what_was_in_flight_stays_counted_where_no_task_can_be_run() {
    let executor = Executor::new(7);
    let ferry = Builder::on(Unable(executor.process()))
        .per_key(|_key: u8, inputs: Vec<u8>| async { inputs })
        .expect("the bounds are not zero");
    let submitted = panic::catch_unwind(panic::AssertUnwindSafe(|| ferry.submit(1, 1)));
    assert!(submitted.is_err(), "the panic is the submitter's");
    let stats = ferry.stats();
    assert_eq!((stats.queueing, stats.batches_in_flight), (1, 1));
    assert!(ferry.submit(1, 2).is_err(), "the handle is closed");
}
