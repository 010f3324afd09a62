//! Figures by the clock: one workload on one peer, on Tokio with two workers.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use crate::{
    Backend, Batcher, Config, Input, Visitor, Workload, answer, meter,
    workload::{Keys, SubmitterKeys},
};

/// One input in so many has its latency taken, since reading the clock costs as much as a fast submit.
const SAMPLED: u64 = 8;

/// One run by the clock.
#[derive(Clone, Copy, Debug)]
pub struct Timed {
    /// What is run.
    pub workload: Workload,
    /// Threads that carry tasks.
    pub workers: usize,
    /// Before anything counts.
    pub warm: Duration,
    /// How long it counts. `idle` ends by itself.
    pub measured: Duration,
}

/// What a run by the clock showed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Figures {
    /// Answers a second.
    pub inputs_per_s: f64,
    /// Processor time of the whole process by answers, submitters included.
    pub cpu_ns_per_input: f64,
    /// The median from `submit` to its answer.
    pub p50_us: f64,
    /// The 99th percentile.
    pub p99_us: f64,
    /// The 99.9th percentile.
    pub p999_us: f64,
    /// Inputs by batches.
    pub mean_batch: f64,
}

impl Visitor for Timed {
    type Out = Figures;

    fn visit<B: Batcher>(self) -> Figures {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(self.workers)
            .enable_time()
            .build()
            .expect("a runtime");
        let figures = runtime.block_on(self.run::<B>());
        runtime.shutdown_background();
        figures
    }
}

impl Timed {
    async fn run<B: Batcher>(self) -> Figures {
        let shape = self.workload.shape();
        let keys = Keys::draw(self.workload);
        let backend = Backend::new(shape.work, Config::default());
        let batcher = Arc::new(B::build(Config::default(), backend.clone()));
        let stop = Arc::new(AtomicBool::new(false));
        let is_endless = self.workload != Workload::Idle;

        let submitters: Vec<_> = (0..shape.submitters)
            .map(|submitter| {
                let keys = keys.of(submitter, shape.submitters);
                let first = (submitter as Input) << 32;
                tokio::spawn(submit(Arc::clone(&batcher), keys, first, Arc::clone(&stop)))
            })
            .collect();
        if is_endless {
            tokio::time::sleep(self.warm).await;
        }
        let (before, cpu_before, start) = (meter::read(), cpu(), Instant::now());
        if is_endless {
            tokio::time::sleep(self.measured).await;
        } else {
            join(submitters).await;
            return figures(before, cpu_before, start);
        }
        let figures = figures(before, cpu_before, start);
        stop.store(true, Relaxed);
        join(submitters).await;
        assert!(!backend.is_violated(), "a batch was empty or too large");
        figures
    }
}

async fn submit<B: Batcher>(
    batcher: Arc<B>,
    keys: SubmitterKeys,
    first: Input,
    stop: Arc<AtomicBool>,
) {
    for (input, key) in (first..).zip(keys) {
        if stop.load(Relaxed) {
            return;
        }
        let start = (input % SAMPLED == 0).then(Instant::now);
        let output = batcher.submit(key, input).await;
        assert_eq!(output, Ok(answer(input)), "the answer to {input}");
        if let Some(start) = start {
            meter::count_latency(start.elapsed().as_nanos() as u64);
        }
        meter::count_answer();
    }
}

async fn join(submitters: Vec<tokio::task::JoinHandle<()>>) {
    for submitter in submitters {
        submitter.await.expect("every submitter gets its answers");
    }
}

fn figures(before: meter::Reading, cpu_before: Duration, start: Instant) -> Figures {
    let elapsed = start.elapsed().as_secs_f64();
    let cpu = cpu() - cpu_before;
    let counted = meter::read().since(&before);
    let inputs = counted.answered as f64;
    let us = |part| counted.quantile(part) / 1e3;
    Figures {
        inputs_per_s: inputs / elapsed,
        cpu_ns_per_input: cpu.as_nanos() as f64 / inputs,
        p50_us: us(0.5),
        p99_us: us(0.99),
        p999_us: us(0.999),
        mean_batch: counted.batched as f64 / counted.batches as f64,
    }
}

/// Processor time that this process has had.
fn cpu() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
