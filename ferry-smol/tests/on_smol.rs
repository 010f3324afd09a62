//! The suite of behaviours that every runtime has to show, on smol.

use std::{
    future::Future,
    sync::Arc,
    thread::{self, JoinHandle},
};

use ferry_sim::runtimes::{Host, ShutsDown};
use ferry_smol::Smol;
use smol::{
    Executor,
    channel::{self, RecvError, Sender},
};

/// An executor that the story's own thread runs.
struct OneThread {
    executor: Arc<Executor<'static>>,
    adapter: Smol,
}

impl Host for OneThread {
    type Runtime = Smol;

    fn start() -> Self {
        let executor = Arc::default();
        let adapter = Smol::on(&executor);
        Self { executor, adapter }
    }

    fn runtime(&self) -> Smol {
        self.adapter.clone()
    }

    fn run<T>(&self, story: impl Future<Output = T>) -> T {
        smol::block_on(self.executor.run(story))
    }
}

impl ShutsDown for OneThread {
    fn shut_down(self) {
        drop(self.executor);
    }
}

/// An executor that two threads run.
struct TwoThreads {
    executor: Arc<Executor<'static>>,
    adapter: Smol,
    threads: Vec<JoinHandle<RecvError>>,
    running: Sender<()>,
}

impl Host for TwoThreads {
    type Runtime = Smol;

    fn start() -> Self {
        let executor = Arc::new(Executor::new());
        let adapter = Smol::on(&executor);
        let (running, is_over) = channel::bounded::<()>(1);
        let run = || {
            let (executor, is_over) = (Arc::clone(&executor), is_over.clone());
            // It is never sent anything, and ends when nobody can.
            thread::spawn(move || smol::block_on(executor.run(is_over.recv())).unwrap_err())
        };
        let threads = vec![run(), run()];
        Self {
            executor,
            adapter,
            threads,
            running,
        }
    }

    fn runtime(&self) -> Smol {
        self.adapter.clone()
    }

    fn run<T>(&self, story: impl Future<Output = T>) -> T {
        smol::block_on(story)
    }
}

impl ShutsDown for TwoThreads {
    fn shut_down(self) {
        drop(self.running);
        for thread in self.threads {
            thread.join().unwrap();
        }
        drop(self.executor);
    }
}

/// smol's own executor, which is never shut down.
struct Global(Smol);

impl Host for Global {
    type Runtime = Smol;

    fn start() -> Self {
        Self(Smol::default())
    }

    fn runtime(&self) -> Smol {
        self.0.clone()
    }

    fn run<T>(&self, story: impl Future<Output = T>) -> T {
        smol::block_on(story)
    }
}

#[test]
fn an_executor_that_is_there_to_the_end_is_referred_to_as_such() {
    static EXECUTOR: Executor<'static> = Executor::new();
    let ferry = ferry_smol::Builder::on(Smol::on_static(&EXECUTOR))
        .per_key(|_key: u8, inputs: Vec<u8>| async { inputs })
        .unwrap();
    smol::block_on(EXECUTOR.run(async {
        assert_eq!(ferry.submit(1, 2).unwrap().await.unwrap(), 2);
        ferry.close().await;
    }));
}

ferry_sim::runtime_behaviours!(one_thread: OneThread, [shuts_down, blocks, cuts_off_what_blocks]);
ferry_sim::runtime_behaviours!(two_threads: TwoThreads, [shuts_down, blocks, cuts_off_what_blocks, parallel]);
ferry_sim::runtime_behaviours!(global: Global, [blocks]);
