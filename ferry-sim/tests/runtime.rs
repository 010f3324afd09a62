//! The suite of behaviours that every runtime has to show, on the simulator's.

use std::{
    task::{Context, Waker},
    time::Duration,
};

use ferry_core::{Instant, drive::Runtime};
use ferry_sim::{
    executor::{Executor, Process},
    runtimes::{Host, ShutsDown},
};

struct Simulated {
    executor: Executor,
    process: Process,
}

impl Host for Simulated {
    type Runtime = Process;

    fn start() -> Self {
        let executor = Executor::new(7);
        let process = executor.process();
        Self { executor, process }
    }

    fn runtime(&self) -> Process {
        self.process.clone()
    }

    fn run<T>(&self, story: impl Future<Output = T>) -> T {
        self.executor.block_on(story)
    }
}

impl ShutsDown for Simulated {
    fn shut_down(self) {
        self.process.crash();
    }
}

// Its blocking work runs as a task does, and all of it on one thread.
ferry_sim::runtime_behaviours!(simulated: Simulated, [shuts_down, exact_time]);

/// The same, but that a task is begun by whoever spawns it.
struct Eager(Simulated);

#[derive(Clone)]
struct EagerProcess(Process);

impl Runtime for EagerProcess {
    fn now(&self) -> Instant {
        self.0.now()
    }

    fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + Send + 'static {
        self.0.sleep(duration)
    }

    fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut task = Box::pin(task);
        let polled = task.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        if polled.is_pending() {
            self.0.spawn(task);
        }
    }

    fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> impl Future<Output = T> + Send + 'static {
        self.0.spawn_blocking(work)
    }
}

impl Host for Eager {
    type Runtime = EagerProcess;

    fn start() -> Self {
        Self(Simulated::start())
    }

    fn runtime(&self) -> EagerProcess {
        EagerProcess(self.0.runtime())
    }

    fn run<T>(&self, story: impl Future<Output = T>) -> T {
        self.0.run(story)
    }
}

ferry_sim::runtime_behaviours!(eager: Eager, [exact_time]);
