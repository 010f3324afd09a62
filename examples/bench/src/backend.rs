//! What the batches are for: a store that is not there.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use tokio::sync::Semaphore;

use crate::{Config, Input, Key, meter};

/// What one batch takes.
#[derive(Clone, Copy, Debug)]
pub enum Work {
    /// One turn of the scheduler.
    Yield,
    /// So long.
    Sleep(Duration),
    /// A permit of the gate, which [`Backend::open_one`] and [`Backend::open`] give.
    Gate,
}

/// Called once for each batch. Clones are one.
#[derive(Clone, Debug)]
pub struct Backend(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    work: Work,
    max_batch: usize,
    watch: Option<Mutex<Watch>>,
    is_violated: AtomicBool,
    panics_next: AtomicBool,
    gate: Semaphore,
}

/// What is remembered where batches are watched.
#[derive(Debug, Default)]
struct Watch {
    in_flight: HashSet<Key>,
    started: HashSet<Input>,
    finished: HashSet<Input>,
}

impl Backend {
    /// One that only takes its time.
    #[must_use]
    pub fn new(work: Work, config: Config) -> Self {
        Self::with(work, config, None)
    }

    /// One that also watches: which keys have a batch in flight, which inputs it saw.
    #[must_use]
    pub fn watching(work: Work, config: Config) -> Self {
        Self::with(work, config, Some(Mutex::default()))
    }

    fn with(work: Work, config: Config, watch: Option<Mutex<Watch>>) -> Self {
        Self(Arc::new(Inner {
            work,
            max_batch: config.max_batch,
            watch,
            is_violated: AtomicBool::new(false),
            panics_next: AtomicBool::new(false),
            gate: Semaphore::new(0),
        }))
    }

    /// Carries one batch.
    ///
    /// # Panics
    ///
    /// When told to by [`panic_next`](Self::panic_next).
    pub async fn run(&self, key: Key, inputs: &[Input]) {
        let inner = &*self.0;
        meter::count_batch(inputs.len());
        if inputs.is_empty() || inputs.len() > inner.max_batch {
            inner.is_violated.store(true, SeqCst);
        }
        self.watch(|watch| {
            watch.started.extend(inputs);
            watch.in_flight.insert(key)
        });
        if inner.panics_next.load(SeqCst) && inner.panics_next.swap(false, SeqCst) {
            self.watch(|watch| watch.in_flight.remove(&key));
            panic!("the backend was told to");
        }
        match inner.work {
            Work::Yield => tokio::task::yield_now().await,
            Work::Sleep(duration) => tokio::time::sleep(duration).await,
            Work::Gate => match inner.gate.acquire().await {
                Ok(permit) => permit.forget(),
                Err(_) => unreachable!("the gate is never closed"),
            },
        }
        self.watch(|watch| {
            watch.finished.extend(inputs);
            watch.in_flight.remove(&key)
        });
    }

    /// `false` from `look` says that a key had two batches in flight.
    fn watch(&self, look: impl FnOnce(&mut Watch) -> bool) {
        let Some(watch) = &self.0.watch else { return };
        let is_right = look(&mut watch.lock().unwrap_or_else(|e| e.into_inner()));
        if !is_right {
            self.0.is_violated.store(true, SeqCst);
        }
    }

    /// Whether a batch was empty or too large, or, where that is watched, a key had two in flight.
    #[must_use]
    pub fn is_violated(&self) -> bool {
        self.0.is_violated.load(SeqCst)
    }

    /// Lets one batch through the gate.
    pub fn open_one(&self) {
        self.0.gate.add_permits(1);
    }

    /// Lets all batches through the gate from now on.
    pub fn open(&self) {
        self.0.gate.add_permits(1 << 20);
    }

    /// The next batch panics.
    pub fn panic_next(&self) {
        self.0.panics_next.store(true, SeqCst);
    }

    /// Whether a batch with this input was begun, where that is watched.
    #[must_use]
    pub fn has_started(&self, input: Input) -> bool {
        self.saw(|watch| watch.started.contains(&input))
    }

    /// Whether a batch with this input came to its end, where that is watched.
    #[must_use]
    pub fn has_finished(&self, input: Input) -> bool {
        self.saw(|watch| watch.finished.contains(&input))
    }

    fn saw(&self, look: impl FnOnce(&Watch) -> bool) -> bool {
        let watch = self.0.watch.as_ref();
        watch.is_some_and(|watch| look(&watch.lock().unwrap_or_else(|e| e.into_inner())))
    }
}
