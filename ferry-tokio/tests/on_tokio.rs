//! The suite of behaviours that every runtime has to show, on Tokio.
use std::{future::Future, marker::PhantomData};

use ferry_sim::runtimes::{Host, ShutsDown};
use ferry_tokio::Tokio;
use tokio::runtime::{Builder, Runtime};

struct On<F> {
    runtime: Runtime,
    adapter: Tokio,
    flavour: PhantomData<F>,
}

trait Flavour: 'static {
    fn build() -> Runtime;
}

impl<F: Flavour> Host for On<F> {
    type Runtime = Tokio;

    fn start() -> Self {
        let runtime = F::build();
        Self {
            adapter: Tokio::on(runtime.handle().clone()),
            runtime,
            flavour: PhantomData,
        }
    }

    fn runtime(&self) -> Tokio {
        self.adapter.clone()
    }

    fn run<T>(&self, story: impl Future<Output = T>) -> T {
        self.runtime.block_on(story)
    }
}

impl<F: Flavour> ShutsDown for On<F> {
    fn shut_down(self) {
        drop(self.runtime);
    }
}

struct Threads;

impl Flavour for Threads {
    fn build() -> Runtime {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2).enable_time().build().unwrap()
    }
}

struct OneThread;

impl Flavour for OneThread {
    fn build() -> Runtime {
        let mut builder = Builder::new_current_thread();
        builder.enable_time().build().unwrap()
    }
}

/// Time stands still while there is work, and jumps to the next timer when there is none.
struct Paused;

impl Flavour for Paused {
    fn build() -> Runtime {
        let mut builder = Builder::new_current_thread();
        builder.enable_time().start_paused(true).build().unwrap()
    }
}

type MultiThread = On<Threads>;
type CurrentThread = On<OneThread>;
type PausedTime = On<Paused>;

ferry_sim::runtime_behaviours!(multi_thread: MultiThread, [shuts_down, blocks, cuts_off_what_blocks, parallel]);
ferry_sim::runtime_behaviours!(current_thread: CurrentThread, [shuts_down, blocks, cuts_off_what_blocks]);
ferry_sim::runtime_behaviours!(paused_time: PausedTime, [shuts_down, blocks, cuts_off_what_blocks, exact_time]);
