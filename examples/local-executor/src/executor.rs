//! An executor for one thread, as a program may have one for its event loop: tasks need not be `Send`.

use std::{
    cell::RefCell,
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, VecDeque},
    future::{Future, poll_fn},
    pin::{Pin, pin},
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
    time::Duration,
};

use ferry_core::Instant;

/// Clones are one executor.
#[derive(Clone)]
pub(crate) struct Executor(Rc<Shared>);

struct Shared {
    tasks: RefCell<Tasks>,
    timers: RefCell<BinaryHeap<Reverse<Timer>>>,
    ready: Arc<Ready>,
    start: std::time::Instant,
}

#[derive(Default)]
struct Tasks {
    last: u64,
    /// Those that are not being polled.
    resting: BTreeMap<u64, Pin<Box<dyn Future<Output = ()>>>>,
}

/// The main future has this number.
const MAIN: u64 = 0;

/// Which tasks were woken. A waker may be used on any thread.
struct Ready {
    woken: Mutex<VecDeque<u64>>,
    thread: Thread,
}

struct TaskWaker {
    task: u64,
    ready: Arc<Ready>,
}

struct Timer {
    due: Instant,
    waker: Waker,
}

impl Executor {
    pub(crate) fn new() -> Self {
        Self(Rc::new(Shared {
            tasks: RefCell::default(),
            timers: RefCell::default(),
            ready: Arc::new(Ready {
                woken: Mutex::default(),
                thread: thread::current(),
            }),
            start: std::time::Instant::now(),
        }))
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::EPOCH + self.0.start.elapsed()
    }

    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + 'static) {
        let mut tasks = self.0.tasks.borrow_mut();
        tasks.last += 1;
        let number = tasks.last;
        tasks.resting.insert(number, Box::pin(task));
        self.0.ready.wake(number);
    }

    pub(crate) fn sleep(&self, duration: Duration) -> impl Future<Output = ()> + 'static {
        let executor = self.clone();
        let due = self.now() + duration;
        poll_fn(move |context| {
            if executor.now() >= due {
                return Poll::Ready(());
            }
            let waker = context.waker().clone();
            let mut timers = executor.0.timers.borrow_mut();
            timers.push(Reverse(Timer { due, waker }));
            Poll::Pending
        })
    }

    /// Runs the future to its end, and the tasks meanwhile.
    pub(crate) fn run<T>(&self, main: impl Future<Output = T>) -> T {
        let mut main = pin!(main);
        self.0.ready.wake(MAIN);
        loop {
            self.ring();
            match self.0.ready.next() {
                Some(MAIN) => {
                    let waker = self.waker(MAIN);
                    if let Poll::Ready(output) =
                        main.as_mut().poll(&mut Context::from_waker(&waker))
                    {
                        return output;
                    }
                }
                Some(task) => self.poll(task),
                None => self.rest(),
            }
        }
    }

    fn waker(&self, task: u64) -> Waker {
        let ready = Arc::clone(&self.0.ready);
        Waker::from(Arc::new(TaskWaker { task, ready }))
    }

    fn poll(&self, number: u64) {
        // Nothing is borrowed meanwhile: a task may spawn others.
        let task = self.0.tasks.borrow_mut().resting.remove(&number);
        let Some(mut task) = task else { return };
        let waker = self.waker(number);
        if task
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
        {
            self.0.tasks.borrow_mut().resting.insert(number, task);
        }
    }

    /// Wakes who waits for a time that has come.
    fn ring(&self) {
        let now = self.now();
        let mut timers = self.0.timers.borrow_mut();
        while timers.peek().is_some_and(|Reverse(timer)| timer.due <= now) {
            if let Some(Reverse(timer)) = timers.pop() {
                timer.waker.wake();
            }
        }
    }

    /// Until a timer is due, or a waker is used on another thread.
    fn rest(&self) {
        let next = self
            .0
            .timers
            .borrow()
            .peek()
            .map(|Reverse(timer)| timer.due);
        match next {
            Some(due) => thread::park_timeout(due - self.now()),
            None => thread::park(),
        }
    }
}

impl Ready {
    fn wake(&self, task: u64) {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        woken.push_back(task);
        drop(woken);
        self.thread.unpark();
    }

    fn next(&self) -> Option<u64> {
        let mut woken = self.woken.lock().unwrap_or_else(PoisonError::into_inner);
        woken.pop_front()
    }
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.ready.wake(self.task);
    }
}

impl PartialEq for Timer {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}

impl Eq for Timer {}

impl PartialOrd for Timer {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timer {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.due.cmp(&other.due)
    }
}
