//! The executor: order, time, crash and freeze.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use ferry_core::{Instant, drive::Runtime};
use ferry_sim::executor::{Executor, Halt, Process};

type Log = Arc<Mutex<Vec<(u64, u32)>>>;

/// A task that notes the moment at which it is done sleeping.
fn note(process: &Process, log: &Log, millis: u64, name: u32) {
    let (asleep, clock, log) = (process.clone(), process.clone(), Arc::clone(log));
    process.spawn(async move {
        asleep.sleep(Duration::from_millis(millis)).await;
        let now = clock.now().nanos() / 1_000_000;
        log.lock().unwrap().push((now, name));
    });
}

fn at(millis: u64) -> Instant {
    Instant::EPOCH + Duration::from_millis(millis)
}

fn noted(log: &Log) -> Vec<(u64, u32)> {
    log.lock().unwrap().clone()
}

#[test]
fn time_jumps_to_the_next_timer_and_stops_where_it_is_told_to() {
    let (executor, log) = (Executor::new(1), Log::default());
    let process = executor.process();
    for (millis, name) in [(30, 3), (10, 1), (20, 2)] {
        note(&process, &log, millis, name);
    }
    assert_eq!(executor.run_until(at(20)), Halt::TimeUp);
    assert_eq!(noted(&log), [(10, 1), (20, 2)]);
    assert_eq!(process.now(), at(20));
    assert_eq!(executor.run_until(at(1_000)), Halt::Quiet);
    assert_eq!(noted(&log).last(), Some(&(30, 3)));
    assert_eq!(process.now(), at(30), "nothing was left to wait for");
    assert_eq!(process.tasks(), 0);
}

#[test]
fn the_schedule_is_drawn_from_the_seed() {
    let order = |seed| {
        let (executor, log) = (Executor::new(seed), Log::default());
        let process = executor.process();
        (0..6).for_each(|name| note(&process, &log, 5, name));
        assert_eq!(executor.run_until(at(10)), Halt::Quiet);
        noted(&log)
    };
    assert_eq!(order(1), order(1));
    assert!((2..10).any(|seed| order(seed) != order(1)));
}

#[test]
fn a_crash_drops_the_tasks_of_its_process_and_no_other() {
    let (executor, log) = (Executor::new(1), Log::default());
    let (doomed, other) = (executor.process(), executor.process());
    note(&doomed, &log, 10, 1);
    note(&other, &log, 10, 2);
    assert_eq!(executor.run_until(at(5)), Halt::TimeUp);
    doomed.crash();
    assert_eq!((doomed.tasks(), other.tasks()), (0, 1));
    note(&doomed, &log, 1, 3);
    assert_eq!(doomed.tasks(), 0, "what starts after is dropped at once");
    assert_eq!(executor.run_until(at(100)), Halt::Quiet);
    assert_eq!(noted(&log), [(10, 2)]);
}

#[test]
fn a_task_that_crashes_its_own_process_is_not_polled_again() {
    let (executor, log) = (Executor::new(1), Log::default());
    let process = executor.process();
    let (own, noted_by) = (process.clone(), Arc::clone(&log));
    process.spawn(async move {
        own.crash();
        own.sleep(Duration::from_millis(1)).await;
        noted_by.lock().unwrap().push((0, 0));
    });
    assert_eq!(executor.run_until(at(100)), Halt::Quiet);
    assert_eq!(noted(&log), []);
    assert_eq!(Arc::strong_count(&log), 1, "it was dropped");
}

#[test]
fn a_frozen_process_goes_on_when_it_is_thawed() {
    let (executor, log) = (Executor::new(1), Log::default());
    let (cold, other) = (executor.process(), executor.process());
    note(&cold, &log, 10, 1);
    note(&other, &log, 20, 2);
    cold.freeze();
    assert_eq!(executor.run_until(at(50)), Halt::Quiet);
    assert_eq!(noted(&log), [(20, 2)]);
    cold.thaw();
    assert_eq!(executor.run_until(at(50)), Halt::Quiet);
    assert_eq!(noted(&log), [(20, 2), (30, 1)], "its sleep began late");
}

#[test]
fn what_keeps_itself_busy_is_noticed() {
    let executor = Executor::new(1);
    executor.process().spawn(std::future::poll_fn(|cx| {
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    }));
    assert_eq!(executor.run_until(at(1)), Halt::Spinning);
}

#[test]
fn what_sleeps_for_no_time_without_an_end_is_noticed() {
    let executor = Executor::new(1);
    let process = executor.process();
    let restless = process.clone();
    process.spawn(async move {
        loop {
            restless.sleep(Duration::ZERO).await;
        }
    });
    assert_eq!(executor.run_until(at(1)), Halt::Spinning);
}

#[test]
fn blocking_work_completes_and_its_panic_is_carried_over() {
    let (executor, log) = (Executor::new(1), Log::default());
    let process = executor.process();
    let (worker, noted_by) = (process.clone(), Arc::clone(&log));
    process.spawn(async move {
        let worked = worker.spawn_blocking(|| 7).await;
        noted_by.lock().unwrap().push((0, worked));
    });
    assert_eq!(executor.run_until(at(1)), Halt::Quiet);
    assert_eq!(noted(&log), [(0, 7)]);

    let worker = process.clone();
    process.spawn(async move {
        let silent = || std::panic::resume_unwind(Box::new("of the work"));
        worker.spawn_blocking::<()>(silent).await;
    });
    let run = std::panic::AssertUnwindSafe(|| executor.run_until(at(2)));
    let panicked = std::panic::catch_unwind(run).unwrap_err();
    assert_eq!(panicked.downcast_ref(), Some(&"of the work"));
}
