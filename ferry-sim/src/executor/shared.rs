//! What the handles of one executor share.

use core::{
    fmt,
    ops::ControlFlow,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    task::Waker,
};
use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::Wake,
};

use ferry_core::Instant;

use super::{
    Halt,
    tasks::{Job, Running, TaskId, Tasks},
    timers::{Sleeper, TimerId, Timers},
};
use crate::{
    chance::Chance,
    event::Event,
    trace::{Keep, Trace},
};

/// More sleeps than that are not over before they begin at one moment, unless something spins.
const OVER_AT_ONCE_MAX: u64 = 100_000;

/// What the handles of one executor share. No lock is held while a task is polled or dropped.
pub(super) struct Core {
    now: AtomicU64,
    /// Sleeps that were over before they began, since time passed last.
    over_at_once: AtomicU64,
    trace: Trace,
    state: Mutex<State>,
}

struct State {
    tasks: Tasks,
    timers: Timers,
    /// Which task is polled, or was last.
    polled: Option<TaskId>,
    schedule: Chance,
}

/// A task whose turn it is to be polled, and with whoever polls it until the next turn.
pub(super) struct Polled {
    id: TaskId,
    pub(super) running: Running,
}

/// As tasks do, it holds the executor that holds it, until its task is over or the executor is dropped.
struct TaskWaker {
    core: Arc<Core>,
    task: TaskId,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.core.lock().tasks.wake(self.task);
    }
}

impl Core {
    pub(super) fn new(schedule: Chance, trace: Trace) -> Self {
        Self {
            now: AtomicU64::new(0),
            over_at_once: AtomicU64::new(0),
            trace,
            state: Mutex::new(State {
                tasks: Tasks::default(),
                timers: Timers::default(),
                polled: None,
                schedule,
            }),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) -> Instant {
        Instant::from_nanos(self.now.load(Relaxed))
    }

    pub(super) fn tell(&self, event: Event) {
        self.trace.add(self.now(), event);
    }

    pub(super) fn end_trace(&self) -> (u64, usize, Keep) {
        self.trace.end()
    }

    // ---- tasks ------------------------------------------------------------------------------------

    /// Starts a task; in a dead group it is dropped at once.
    pub(super) fn spawn(self: &Arc<Self>, group: usize, job: Job) {
        let core = Arc::clone(self);
        let waker = |task| Waker::from(Arc::new(TaskWaker { core, task }));
        let spawned = self.lock().tasks.spawn(group, job, waker);
        drop(spawned);
    }

    /// Takes back the task that was polled and is not over, and draws which of those that are ready goes next: it may be over, and
    /// have been woken by its last poll. While none is ready the clock jumps to the next timer, and there were no polls yet; but
    /// beyond this moment nothing happens.
    pub(super) fn turn(
        &self,
        end: Instant,
        polled: &mut Option<Polled>,
        polls: &mut u32,
    ) -> ControlFlow<Halt> {
        let mut state = self.lock();
        if let Some(Polled { id, running }) = polled.take() {
            if let Some(crashed) = state.tasks.bring_back(id, running) {
                // Its process crashed while it ran.
                drop(state);
                drop(crashed);
                state = self.lock();
            }
        }
        while state.tasks.ready() == 0 {
            state = self.jump(state, end)?;
            *polls = 0;
        }
        let drawn = match state.tasks.ready() {
            1 => 0,
            ready => state.schedule.index(ready),
        };
        let (id, running) = state.tasks.take(drawn);
        *polled = running.map(|running| Polled { id, running });
        state.polled = Some(id);
        self.trace.polled(self.now(), id.nth);
        ControlFlow::Continue(())
    }

    /// Takes back a task that was polled and is not over, when no turn follows.
    pub(super) fn rest(&self, polled: Option<Polled>) {
        let back = |Polled { id, running }| self.lock().tasks.bring_back(id, running);
        drop(polled.map(back));
    }

    /// A task is over.
    pub(super) fn end(&self, polled: Option<Polled>) {
        let ended = (polled.as_ref()).map(|polled| self.lock().tasks.remove(polled.id));
        drop((polled, ended));
    }

    // ---- groups -----------------------------------------------------------------------------------

    pub(super) fn add_group(&self) -> usize {
        self.lock().tasks.add_group()
    }

    pub(super) fn tasks_of(&self, group: usize) -> usize {
        self.lock().tasks.of_group(group).count()
    }

    /// Drops the tasks of a group, in an order that is drawn. One that is being polled goes when its poll
    /// is over.
    pub(super) fn crash(&self, group: usize) {
        let mut state = self.lock();
        let mut killed = state.tasks.kill(group);
        let mut order = state.schedule.fork();
        drop(state);
        while !killed.is_empty() {
            let drawn = order.index(killed.len());
            drop(killed.remove(drawn));
        }
    }

    pub(super) fn crash_all(&self) {
        let groups = self.lock().tasks.groups();
        (0..groups).for_each(|group| self.crash(group));
    }

    pub(super) fn freeze(&self, group: usize) {
        self.lock().tasks.freeze(group);
    }

    pub(super) fn thaw(&self, group: usize) {
        self.lock().tasks.thaw(group);
    }

    // ---- time -------------------------------------------------------------------------------------

    /// To the next timer, whenever it is due, unless a task is ready. Who is woken there that is no task is to be asked before the
    /// clock goes on.
    pub(super) fn jump_if_idle(&self) -> ControlFlow<Halt> {
        let state = self.lock();
        if state.tasks.ready() == 0 {
            drop(self.jump(state, Instant::from_nanos(u64::MAX))?);
        }
        ControlFlow::Continue(())
    }

    /// To the next timer, if it is due by then.
    fn jump<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        end: Instant,
    ) -> ControlFlow<Halt, MutexGuard<'a, State>> {
        match state.timers.next() {
            // The last moment is "never".
            None | Some(u64::MAX) => ControlFlow::Break(Halt::Quiet),
            Some(due) if due <= end.nanos() => {
                self.set_clock(due);
                ControlFlow::Continue(self.wake_who_is_due(state, due))
            }
            Some(_) => {
                self.set_clock(end.nanos());
                ControlFlow::Break(Halt::TimeUp)
            }
        }
    }

    fn set_clock(&self, nanos: u64) {
        self.now.store(nanos, Relaxed);
        self.over_at_once.store(0, Relaxed);
    }

    fn wake_who_is_due<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        by: u64,
    ) -> MutexGuard<'a, State> {
        while let Some(sleeper) = state.timers.go_off(by) {
            match sleeper {
                Sleeper::Task(task) => state.tasks.wake(task),
                Sleeper::Other(waker) => {
                    drop(state);
                    waker.wake();
                    state = self.lock();
                }
            }
        }
        state
    }

    /// Whether a sleep that is over before it began may be over at once: one after the other without an end, in a poll that never
    /// ends, would keep the executor from noticing.
    pub(super) fn may_be_over_at_once(&self) -> bool {
        self.over_at_once.fetch_add(1, Relaxed) < OVER_AT_ONCE_MAX
    }

    /// Sets a timer that wakes whom this waker wakes, in place of the one that was set before.
    pub(super) fn set_timer(
        &self,
        due: Instant,
        waker: &Waker,
        before: Option<TimerId>,
    ) -> TimerId {
        let mut state = self.lock();
        let State {
            tasks,
            timers,
            polled,
            ..
        } = &mut *state;
        // Most have the waker of the task that is polled: it takes no copy to name that.
        let task = polled.filter(|&id| tasks.is_own(id, waker));
        if let Some(before) = before {
            let is_same = match timers.sleeper(before) {
                Some(Sleeper::Task(set)) => Some(*set) == task,
                Some(Sleeper::Other(set)) => set.will_wake(waker),
                None => false,
            };
            if is_same {
                return before;
            }
        }
        let cleared = before.and_then(|before| timers.clear(before));
        let sleeper = task.map_or_else(|| Sleeper::Other(waker.clone()), Sleeper::Task);
        let timer = timers.set(due.nanos(), sleeper);
        drop(state);
        drop(cleared);
        timer
    }

    pub(super) fn clear_timer(&self, id: TimerId) {
        let cleared = self.lock().timers.clear(id);
        drop(cleared);
    }
}

impl fmt::Debug for Core {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Core")
            .field("now", &self.now())
            .finish_non_exhaustive()
    }
}
