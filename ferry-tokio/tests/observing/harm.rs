//! Subscribers and recorders that panic, or use the handle that they are told of, harm nobody.

use std::{
    cell::Cell,
    sync::{
        Arc, Mutex, OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};

use ferry_tokio::{Answer, Ferry, ProjectedWrite, Stats, Submission};
use metrics::{
    Counter, CounterFn, Gauge, GaugeFn, Histogram, HistogramFn, Key as MetricKey, KeyName,
    Metadata as MetricMetadata, Recorder, SharedString, Unit,
};
use tracing::{
    Event, Metadata, Subscriber,
    span::{Attributes, Id, Record},
    subscriber::{Interest, set_default},
};
use tracing_core::span::Current;

use super::{
    purses::{Broken, Key, Purses, Shelf, put},
    seeing::keep_callsites_known,
    stories::{Handles, builder},
};

/// Calls `harms` wherever foreign code is called, with its name.
struct Harmful<F>(Arc<F>);

impl<F> Clone for Harmful<F> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

trait Harms: Fn(&'static str) + Send + Sync + 'static {}

impl<F: Fn(&'static str) + Send + Sync + 'static> Harms for F {}

impl<F: Harms> Subscriber for Harmful<F> {
    /// A panic in here harms `tracing` itself, for the whole process.
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::sometimes()
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        (self.0)("enabled");
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        static IDS: AtomicU64 = AtomicU64::new(1);
        (self.0)("new_span");
        let _ = ANY.set(span.metadata());
        Id::from_u64(IDS.fetch_add(1, SeqCst))
    }

    fn record(&self, _: &Id, _: &Record<'_>) {
        (self.0)("record");
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {
        (self.0)("record_follows_from");
    }

    fn event(&self, _: &Event<'_>) {
        (self.0)("event");
    }

    fn enter(&self, _: &Id) {
        (self.0)("enter");
    }

    fn exit(&self, _: &Id) {
        (self.0)("exit");
    }

    fn clone_span(&self, id: &Id) -> Id {
        (self.0)("clone_span");
        id.clone()
    }

    fn try_close(&self, _: Id) -> bool {
        (self.0)("try_close");
        true
    }

    fn current_span(&self) -> Current {
        (self.0)("current_span");
        ANY.get()
            .map_or_else(Current::none, |any| Current::new(Id::from_u64(1), any))
    }
}

/// Of a span that is said to be current.
static ANY: OnceLock<&'static Metadata<'static>> = OnceLock::new();

const OF_SUBSCRIBERS: [&str; 9] = [
    "enabled",
    "new_span",
    "record",
    "record_follows_from",
    "event",
    "enter",
    "exit",
    "try_close",
    "current_span",
];

impl<F: Harms> Recorder for Harmful<F> {
    fn describe_counter(&self, _: KeyName, _: Option<Unit>, _: SharedString) {
        (self.0)("describe");
    }

    fn describe_gauge(&self, _: KeyName, _: Option<Unit>, _: SharedString) {
        (self.0)("describe");
    }

    fn describe_histogram(&self, _: KeyName, _: Option<Unit>, _: SharedString) {
        (self.0)("describe");
    }

    fn register_counter(&self, _: &MetricKey, _: &MetricMetadata<'_>) -> Counter {
        (self.0)("register");
        Counter::from_arc(Arc::new(self.clone()))
    }

    fn register_gauge(&self, _: &MetricKey, _: &MetricMetadata<'_>) -> Gauge {
        (self.0)("register");
        Gauge::from_arc(Arc::new(self.clone()))
    }

    fn register_histogram(&self, _: &MetricKey, _: &MetricMetadata<'_>) -> Histogram {
        (self.0)("register");
        Histogram::from_arc(Arc::new(self.clone()))
    }
}

impl<F: Harms> CounterFn for Harmful<F> {
    fn increment(&self, _: u64) {
        (self.0)("count");
    }

    fn absolute(&self, _: u64) {
        (self.0)("count");
    }
}

impl<F: Harms> GaugeFn for Harmful<F> {
    fn increment(&self, _: f64) {
        (self.0)("raise");
    }

    fn decrement(&self, _: f64) {
        (self.0)("lower");
    }

    fn set(&self, _: f64) {
        (self.0)("raise");
    }
}

impl<F: Harms> HistogramFn for Harmful<F> {
    fn record(&self, _: f64) {
        (self.0)("spread");
    }
}

impl<F> Drop for Harmful<F> {
    fn drop(&mut self) {
        DROPPED.set(DROPPED.get() + 1);
        assert!(!DROPS_PANIC.get() || std::thread::panicking(), "dropped");
    }
}

thread_local! {
    static DROPS_PANIC: Cell<bool> = const { Cell::new(false) };
    static DROPPED: Cell<u32> = const { Cell::new(0) };
}

const OF_RECORDERS: [&str; 6] = ["describe", "register", "count", "raise", "lower", "spread"];

/// What becomes of everything while `harmful` is told of it.
fn everything<R>(within: impl FnOnce(&dyn Fn() -> Handles) -> (Handles, R)) -> [Stats; 3] {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = runtime.enable_time().start_paused(true).build().unwrap();
    let _inside = runtime.enter();
    let (handles, _kept) = within(&Handles::new);
    let whole = Duration::from_secs(1_000_000_000);
    let story = async { tokio::time::timeout(whole, handles.go_through_everything()).await };
    runtime.block_on(story).expect("somebody waits for ever");
    [
        handles.writing.stats(),
        handles.projecting.stats(),
        handles.calling.stats(),
    ]
}

fn undisturbed() -> [Stats; 3] {
    everything(|make| (make(), ()))
}

/// Panics wherever it is called so, and counts how often.
fn panics_at(place: &'static str) -> (Harmful<impl Harms>, Arc<AtomicU32>) {
    let times = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&times);
    let harms = move |at| {
        if at == place {
            counted.fetch_add(1, SeqCst);
            panic!("at {place}");
        }
    };
    (Harmful(Arc::new(harms)), times)
}

#[test]
fn a_subscriber_that_panics_harms_nobody() {
    keep_callsites_known();
    let expected = undisturbed();
    for place in OF_SUBSCRIBERS {
        let (subscriber, times) = panics_at(place);
        let stats = everything(|make| {
            let guard = set_default(subscriber);
            (make(), guard)
        });
        eprintln!("{place}: {times:?} panics");
        assert_eq!(stats, expected, "{place}");
        assert_ne!(times.load(SeqCst), 0, "{place}");
    }
}

#[test]
fn a_recorder_that_panics_harms_nobody() {
    let expected = undisturbed();
    for place in OF_RECORDERS {
        let (recorder, times) = panics_at(place);
        let stats = everything(|make| (metrics::with_local_recorder(&recorder, make), ()));
        eprintln!("{place}: {times:?} panics");
        assert_eq!(stats, expected, "{place}");
        assert_ne!(times.load(SeqCst), 0, "{place}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_recorder_gave_may_panic_as_it_is_dropped() {
    let recorder = Harmful(Arc::new(|_: &'static str| {}));
    let make = || builder().fold_write(Purses, Shelf::default()).unwrap();
    // No task of it is there that would let go of them later.
    let ferry = metrics::with_local_recorder(&recorder, make);
    DROPS_PANIC.set(true);
    drop(ferry);
    DROPS_PANIC.set(false);
    assert_eq!(DROPPED.get(), 34);
}

type Projecting = Ferry<ProjectedWrite<Purses>>;

type SubmissionOf = Submission<Answer<u32, Broken>, Broken>;

/// Submits to the handle wherever it is called, and resumes a key, so many times; and asks it how it is.
struct Meddler {
    ferry: OnceLock<Projecting>,
    left: AtomicU32,
    submitted: Mutex<Vec<SubmissionOf>>,
}

thread_local! {
    static MEDDLES: Cell<bool> = const { Cell::new(false) };
}

impl Meddler {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            ferry: OnceLock::new(),
            left: AtomicU32::new(300),
            submitted: Mutex::default(),
        })
    }

    /// What it does is told to it, too: that much is its own affair.
    fn meddle(&self) {
        let Some(ferry) = self.ferry.get() else {
            return;
        };
        if MEDDLES.replace(true) {
            return;
        }
        if let Ok(left) = self
            .left
            .fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1))
        {
            let id = 1000 + left;
            let submission = ferry.submit(Key::new(left % 3), put(id)).unwrap();
            if left % 5 > 0 {
                self.submitted.lock().unwrap().push(submission);
            }
            drop(ferry.resume(&Key::new(left % 3)));
            assert!(ferry.stats().queueing > 0);
        }
        MEDDLES.set(false);
    }
}

async fn meddled_with(meddler: &Meddler, ferry: Projecting) {
    assert!(meddler.ferry.set(ferry.clone()).is_ok());
    for id in 0..100 {
        ferry
            .submit(Key::new(id % 3), put(id))
            .unwrap()
            .await
            .unwrap();
    }
    drop(ferry.reserve().await.unwrap());
    ferry.sweep((0..3).map(Key::new)).await;
    loop {
        let submitted = std::mem::take(&mut *meddler.submitted.lock().unwrap());
        if submitted.is_empty() {
            break;
        }
        for submission in submitted {
            submission.await.unwrap();
        }
    }
    assert_eq!(meddler.left.load(SeqCst), 0);
}

#[tokio::test(start_paused = true)]
async fn a_subscriber_may_use_the_handle() {
    keep_callsites_known();
    let meddler = Meddler::new();
    let meddles = Arc::clone(&meddler);
    let _guard = set_default(Harmful(Arc::new(move |_: &'static str| meddles.meddle())));
    let ferry = builder().projected_write(Purses, Shelf::default()).unwrap();
    meddled_with(&meddler, ferry).await;
}

#[tokio::test(start_paused = true)]
async fn a_recorder_may_use_the_handle() {
    let meddler = Meddler::new();
    let meddles = Arc::clone(&meddler);
    let recorder = Harmful(Arc::new(move |_: &'static str| meddles.meddle()));
    let make = || builder().projected_write(Purses, Shelf::default()).unwrap();
    let ferry = metrics::with_local_recorder(&recorder, make);
    meddled_with(&meddler, ferry).await;
}
