//! The suite of behaviours that every runtime has to show, on the simulator's.

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
