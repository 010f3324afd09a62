//! The executor's tasks, groups and timers.

use core::{
    fmt, mem,
    pin::Pin,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    task::{Context, Waker},
};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    task::Wake,
};

use ferry_core::Instant;

use crate::{
    chance::Chance,
    event::Event,
    trace::{Keep, Trace},
};

/// More sleeps than that are not over before they begin at one moment, unless something spins.
const OVER_AT_ONCE_MAX: u64 = 100_000;

pub(super) type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Names one task; never used again, though its slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskId {
    slot: usize,
    pub(super) nth: u64,
}

/// When a timer is due, and which of those that are due then.
pub(super) type TimerId = (u64, u64);

/// What the handles of one executor share. No lock is held while a task is polled or dropped.
pub(super) struct Core {
    now: AtomicU64,
    /// Sleeps that were over before they began, since time passed last.
    over_at_once: AtomicU64,
    state: Mutex<State>,
    trace: Mutex<Trace>,
}

struct State {
    slots: Vec<Option<Task>>,
    slots_free: Vec<usize>,
    tasks_spawned: u64,
    ready: Vec<TaskId>,
    timers: BTreeMap<TimerId, Waker>,
    timers_set: u64,
    groups: Vec<Group>,
    schedule: Chance,
}

struct Task {
    nth: u64,
    group: usize,
    /// `None` while it is polled.
    job: Option<Job>,
    waker: Waker,
    is_woken: bool,
}

/// The tasks of one process.
enum Group {
    Running,
    /// Those that were woken meanwhile.
    Frozen(Vec<TaskId>),
    Dead,
}

struct TaskWaker {
    core: Weak<Core>,
    task: TaskId,
}

impl Wake for TaskWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if let Some(core) = self.core.upgrade() {
            core.lock().wake(self.task);
        }
    }
}

impl State {
    fn task(&mut self, id: TaskId) -> Option<&mut Task> {
        let task = self.slots[id.slot].as_mut();
        task.filter(|task| task.nth == id.nth)
    }

    fn remove(&mut self, id: TaskId) -> Option<Task> {
        self.task(id)?;
        self.slots_free.push(id.slot);
        self.slots[id.slot].take()
    }

    fn tasks(&self) -> impl Iterator<Item = (TaskId, &Task)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(slot, task)| {
            let task = task.as_ref()?;
            let nth = task.nth;
            Some((TaskId { slot, nth }, task))
        })
    }

    fn wake(&mut self, id: TaskId) {
        let Some(task) = self.task(id) else {
            return;
        };
        if mem::replace(&mut task.is_woken, true) {
            return;
        }
        let group = task.group;
        match &mut self.groups[group] {
            Group::Running => self.ready.push(id),
            Group::Frozen(woken) => woken.push(id),
            Group::Dead => {}
        }
    }
}

impl Core {
    pub(super) fn new(schedule: Chance, trace: Trace) -> Self {
        Self {
            now: AtomicU64::new(0),
            over_at_once: AtomicU64::new(0),
            state: Mutex::new(State {
                slots: Vec::new(),
                slots_free: Vec::new(),
                tasks_spawned: 0,
                ready: Vec::new(),
                timers: BTreeMap::new(),
                timers_set: 0,
                groups: Vec::new(),
                schedule,
            }),
            trace: Mutex::new(trace),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn trace(&self) -> MutexGuard<'_, Trace> {
        self.trace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn now(&self) -> Instant {
        Instant::from_nanos(self.now.load(Relaxed))
    }

    pub(super) fn tell(&self, event: Event) {
        self.trace().add(self.now(), event);
    }

    pub(super) fn take_trace(&self) -> Trace {
        mem::replace(&mut *self.trace(), Trace::new(Keep::Nothing))
    }

    // ---- tasks ------------------------------------------------------------------------------------

    /// Starts a task; in a dead group it is dropped at once.
    pub(super) fn spawn(self: &Arc<Self>, group: usize, job: Job) {
        let mut state = self.lock();
        if matches!(state.groups[group], Group::Dead) {
            drop(state);
            drop(job);
            return;
        }
        state.tasks_spawned += 1;
        let nth = state.tasks_spawned;
        let slot = state.slots_free.pop().unwrap_or(state.slots.len());
        let id = TaskId { slot, nth };
        let core = Arc::downgrade(self);
        let waker = Waker::from(Arc::new(TaskWaker { core, task: id }));
        let task = Task {
            nth,
            group,
            job: Some(job),
            waker,
            is_woken: false,
        };
        if slot == state.slots.len() {
            state.slots.push(Some(task));
        } else {
            state.slots[slot] = Some(task);
        }
        state.wake(id);
    }

    /// Draws which of the ready tasks goes next.
    pub(super) fn pick(&self) -> Option<TaskId> {
        let mut state = self.lock();
        if state.ready.is_empty() {
            return None;
        }
        let drawn = match state.ready.len() {
            1 => 0,
            ready => state.schedule.index(ready),
        };
        Some(state.ready.remove(drawn))
    }

    pub(super) fn poll(&self, id: TaskId) {
        let mut state = self.lock();
        let Some(task) = state.task(id) else {
            return;
        };
        task.is_woken = false;
        let (job, waker) = (task.job.take(), task.waker.clone());
        drop(state);
        let Some(mut job) = job else { return };
        let is_over = job
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_ready();
        let mut state = self.lock();
        let done = if is_over {
            state.remove(id)
        } else if let Some(task) = state.task(id) {
            task.job = Some(job);
            return;
        } else {
            None // Its process crashed while it ran.
        };
        drop(state);
        drop(done);
    }

    // ---- groups -----------------------------------------------------------------------------------

    pub(super) fn add_group(&self) -> usize {
        let mut state = self.lock();
        state.groups.push(Group::Running);
        state.groups.len() - 1
    }

    pub(super) fn tasks_of(&self, group: usize) -> usize {
        let state = self.lock();
        state
            .tasks()
            .filter(|(_, task)| task.group == group)
            .count()
    }

    /// Drops the tasks of a group, in an order that is drawn. One that is being polled goes when its poll
    /// is over.
    pub(super) fn crash(&self, group: usize) {
        let mut state = self.lock();
        state.groups[group] = Group::Dead;
        let ids: Vec<_> = (state.tasks())
            .filter(|(_, task)| task.group == group)
            .map(|(id, _)| id)
            .collect();
        let mut tasks: Vec<_> = ids.iter().filter_map(|&id| state.remove(id)).collect();
        let mut ready = mem::take(&mut state.ready);
        ready.retain(|&id| state.task(id).is_some());
        state.ready = ready;
        let mut order = state.schedule.fork();
        drop(state);
        while !tasks.is_empty() {
            let drawn = order.index(tasks.len());
            drop(tasks.remove(drawn));
        }
    }

    pub(super) fn crash_all(&self) {
        let groups = self.lock().groups.len();
        (0..groups).for_each(|group| self.crash(group));
    }

    pub(super) fn freeze(&self, group: usize) {
        let mut state = self.lock();
        if !matches!(state.groups[group], Group::Running) {
            return;
        }
        let ready = mem::take(&mut state.ready);
        let of_group = |id: &TaskId| state.task(*id).is_some_and(|task| task.group == group);
        let (woken, ready) = ready.into_iter().partition(of_group);
        state.ready = ready;
        state.groups[group] = Group::Frozen(woken);
    }

    pub(super) fn thaw(&self, group: usize) {
        let mut state = self.lock();
        if !matches!(state.groups[group], Group::Frozen(_)) {
            return;
        }
        if let Group::Frozen(woken) = mem::replace(&mut state.groups[group], Group::Running) {
            state.ready.extend(woken);
        }
    }

    // ---- time -------------------------------------------------------------------------------------

    pub(super) fn next_timer(&self) -> Option<Instant> {
        let state = self.lock();
        let (due, _) = *state.timers.first_key_value()?.0;
        // The last moment is "never".
        (due < u64::MAX).then_some(Instant::from_nanos(due))
    }

    /// Whether a sleep that is over before it began may be over at once: one after the other without an end, in a poll that never
    /// ends, would keep the executor from noticing.
    pub(super) fn may_be_over_at_once(&self) -> bool {
        self.over_at_once.fetch_add(1, Relaxed) < OVER_AT_ONCE_MAX
    }

    /// Sets the clock, and wakes who is due by then.
    pub(super) fn jump(&self, to: Instant) {
        self.now.store(to.nanos(), Relaxed);
        self.over_at_once.store(0, Relaxed);
        let mut state = self.lock();
        let mut due = Vec::new();
        while let Some(first) = state.timers.first_entry() {
            if first.key().0 > to.nanos() {
                break;
            }
            due.push(first.remove());
        }
        drop(state);
        due.into_iter().for_each(Waker::wake);
    }

    pub(super) fn set_timer(&self, due: Instant, waker: Waker) -> TimerId {
        let mut state = self.lock();
        state.timers_set += 1;
        let id = (due.nanos(), state.timers_set);
        state.timers.insert(id, waker);
        id
    }

    pub(super) fn clear_timer(&self, id: TimerId) {
        let cleared = self.lock().timers.remove(&id);
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
