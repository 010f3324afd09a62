//! Figures that repeat: a fixed number of inputs on one thread, for counting instructions and
//! allocations.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use crate::{Backend, Batcher, Config, Input, Visitor, Workload, answer, meter, workload::Keys};

/// So many inputs of a workload on a current-thread runtime.
#[derive(Clone, Copy, Debug)]
pub struct Steady<G> {
    /// What is run.
    pub workload: Workload,
    /// Inputs that are answered before anything counts.
    pub warm: u64,
    /// Inputs that count.
    pub counted: u64,
    /// Is read just before and just after these.
    pub gauge: G,
}

/// What counted, and the gauge before and after.
#[derive(Clone, Copy, Debug)]
pub struct Cost<T> {
    /// Inputs by batches.
    pub mean_batch: f64,
    /// What the gauge showed before.
    pub before: T,
    /// What the gauge showed after.
    pub after: T,
}

/// Counts answers, and reads the gauge when the time has come.
struct Tape<G, T> {
    gauge: G,
    warm: u64,
    end: u64,
    answers: u64,
    before: Option<(meter::Reading, T)>,
    after: Option<(meter::Reading, T)>,
}

impl<T, G: Fn() -> T> Tape<G, T> {
    fn is_over(&self) -> bool {
        self.answers >= self.end
    }

    fn answer(&mut self) {
        self.answers += 1;
        if self.answers == self.warm {
            let counted = meter::read();
            self.before = Some((counted, (self.gauge)()));
        }
        if self.answers == self.end {
            self.after = Some({
                let gauge = (self.gauge)();
                (meter::read(), gauge)
            });
        }
    }
}

impl<T: Send + 'static, G: Fn() -> T + Send + 'static> Visitor for Steady<G> {
    type Out = Cost<T>;

    fn visit<B: Batcher>(self) -> Cost<T> {
        let shape = self.workload.shape();
        let keys = Keys::draw(self.workload);
        let tape = Arc::new(Mutex::new(Tape {
            gauge: self.gauge,
            warm: self.warm,
            end: self.warm + self.counted,
            answers: 0,
            before: None,
            after: None,
        }));
        on_one_thread(async {
            let backend = Backend::new(shape.work, Config::default());
            let batcher = Arc::new(B::build(Config::default(), backend));
            let submitters: Vec<_> = (0..shape.submitters)
                .map(|submitter| {
                    let keys = keys.of(submitter, shape.submitters);
                    let (batcher, tape) = (Arc::clone(&batcher), Arc::clone(&tape));
                    tokio::spawn(async move {
                        let first = (submitter as Input) << 32;
                        for (input, key) in (first..).zip(keys) {
                            if lock(&tape).is_over() {
                                return;
                            }
                            let output = batcher.submit(key, input).await;
                            assert_eq!(output, Ok(answer(input)), "the answer to {input}");
                            lock(&tape).answer();
                        }
                    })
                })
                .collect();
            for submitter in submitters {
                submitter.await.expect("every submitter gets its answers");
            }
        });
        let mut tape = lock(&tape);
        let taken = (tape.before.take(), tape.after.take());
        let (Some((counted, before)), Some((end, after))) = taken else {
            panic!("a workload of fewer inputs than were to be counted")
        };
        let counted = end.since(&counted);
        Cost {
            mean_batch: counted.batched as f64 / counted.batches as f64,
            before,
            after,
        }
    }
}

/// What is left of a million keys that each had one input: a gauge before, at once after, and after
/// `pause` without anything.
#[derive(Clone, Copy, Debug)]
pub struct Heap<G> {
    /// How long nothing happens.
    pub pause: Duration,
    /// Is read three times.
    pub gauge: G,
}

impl<T, G: Fn() -> T> Visitor for Heap<G> {
    type Out = [T; 3];

    fn visit<B: Batcher>(self) -> [T; 3] {
        const SUBMITTERS: u64 = 1024;
        let shape = Workload::Idle.shape();
        let keys = shape.keys as u64;
        on_one_thread(async {
            let backend = Backend::new(shape.work, Config::default());
            let batcher = Arc::new(B::build(Config::default(), backend));
            // What is set up once, by as many as will be at it, is not counted by key.
            pass(&batcher, keys..keys + 8 * SUBMITTERS, SUBMITTERS).await;
            let before = (self.gauge)();
            pass(&batcher, 0..keys, SUBMITTERS).await;
            let answered = (self.gauge)();
            tokio::time::sleep(self.pause).await;
            [before, answered, (self.gauge)()]
        })
    }
}

/// Each key once, by so many submitters.
async fn pass<B: Batcher>(batcher: &Arc<B>, keys: std::ops::Range<u64>, submitters: u64) {
    let submitters: Vec<_> = (0..submitters)
        .map(|submitter| {
            let batcher = Arc::clone(batcher);
            let keys = (keys.start + submitter..keys.end).step_by(submitters as usize);
            tokio::spawn(async move {
                for key in keys {
                    assert_eq!(batcher.submit(key, key).await, Ok(answer(key)));
                }
            })
        })
        .collect();
    for submitter in submitters {
        submitter.await.expect("every submitter gets its answers");
    }
}

fn on_one_thread<T>(task: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .expect("a runtime");
    runtime.block_on(task)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}
