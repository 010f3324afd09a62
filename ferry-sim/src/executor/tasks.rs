//! Tasks, which of them are ready, and the groups that they belong to.

use core::{
    mem,
    pin::Pin,
    task::{Context, Poll, Waker},
};

/// So many tasks at most keep their order when one that was ready before them is taken. Where more are ready at one moment, as
/// all clients are at first, it would take a time that grows with the square of how many there are.
const MOVED_MAX: usize = 1_000;

pub(super) type Job = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Names one task; never used again, though its slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TaskId {
    pub(super) slot: usize,
    pub(super) nth: u64,
}

/// A task with the waker that its polls are given. Whoever polls it has it, and brings it back.
pub(super) struct Running {
    pub(super) job: Job,
    pub(super) waker: Waker,
}

impl Running {
    pub(super) fn poll(&mut self) -> Poll<()> {
        let mut context = Context::from_waker(&self.waker);
        self.job.as_mut().poll(&mut context)
    }
}

pub(super) struct Task {
    nth: u64,
    group: usize,
    /// `None` while it is polled.
    running: Option<Running>,
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

#[derive(Default)]
pub(super) struct Tasks {
    slots: Vec<Option<Task>>,
    slots_free: Vec<usize>,
    spawned: u64,
    ready: Vec<TaskId>,
    groups: Vec<Group>,
}

impl Tasks {
    fn task(&mut self, id: TaskId) -> Option<&mut Task> {
        let task = self.slots[id.slot].as_mut();
        task.filter(|task| task.nth == id.nth)
    }

    /// Starts a task, whose waker is made once it has a name; in a dead group it is given back.
    pub(super) fn spawn(
        &mut self,
        group: usize,
        job: Job,
        waker: impl FnOnce(TaskId) -> Waker,
    ) -> Result<(), Job> {
        if matches!(self.groups[group], Group::Dead) {
            return Err(job);
        }
        self.spawned += 1;
        let nth = self.spawned;
        let slot = self.slots_free.pop().unwrap_or(self.slots.len());
        let id = TaskId { slot, nth };
        let waker = waker(id);
        let task = Some(Task {
            nth,
            group,
            running: Some(Running {
                job,
                waker: waker.clone(),
            }),
            waker,
            is_woken: false,
        });
        if slot == self.slots.len() {
            self.slots.push(task);
        } else {
            self.slots[slot] = task;
        }
        self.wake(id);
        Ok(())
    }

    pub(super) fn wake(&mut self, id: TaskId) {
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

    pub(super) fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Takes one of those that are ready, to be polled. It may be over, and have been woken by its last poll.
    pub(super) fn take(&mut self, ready: usize) -> (TaskId, Option<Running>) {
        let behind = self.ready.len() - ready - 1;
        let id = if (1..=MOVED_MAX).contains(&behind) {
            self.ready.remove(ready)
        } else {
            self.ready.swap_remove(ready)
        };
        let running = self.task(id).and_then(|task| {
            task.is_woken = false;
            task.running.take()
        });
        (id, running)
    }

    /// It was polled, and is not over. If its process has crashed meanwhile, it is given back.
    pub(super) fn bring_back(&mut self, id: TaskId, running: Running) -> Option<Running> {
        match self.task(id) {
            Some(task) => {
                task.running = Some(running);
                None
            }
            None => Some(running),
        }
    }

    pub(super) fn remove(&mut self, id: TaskId) -> Option<Task> {
        let removed = self.slots[id.slot].take_if(|task| task.nth == id.nth)?;
        self.slots_free.push(id.slot);
        Some(removed)
    }

    /// Whether this is the waker that the task itself is given.
    pub(super) fn is_own(&self, id: TaskId, waker: &Waker) -> bool {
        let task = self.slots[id.slot].as_ref();
        task.is_some_and(|task| task.nth == id.nth && task.waker.will_wake(waker))
    }

    // ---- groups -----------------------------------------------------------------------------------

    pub(super) fn add_group(&mut self) -> usize {
        self.groups.push(Group::Running);
        self.groups.len() - 1
    }

    pub(super) fn groups(&self) -> usize {
        self.groups.len()
    }

    pub(super) fn of_group(&self, group: usize) -> impl Iterator<Item = TaskId> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(move |(slot, task)| {
            let task = task.as_ref().filter(|task| task.group == group)?;
            let nth = task.nth;
            Some(TaskId { slot, nth })
        })
    }

    /// Takes all tasks of a group, which gets no others. One that is being polled is there without its job.
    pub(super) fn kill(&mut self, group: usize) -> Vec<Task> {
        self.groups[group] = Group::Dead;
        let ids: Vec<_> = self.of_group(group).collect();
        let killed = ids.into_iter().filter_map(|id| self.remove(id)).collect();
        let mut ready = mem::take(&mut self.ready);
        ready.retain(|&id| self.task(id).is_some());
        self.ready = ready;
        killed
    }

    pub(super) fn freeze(&mut self, group: usize) {
        if !matches!(self.groups[group], Group::Running) {
            return;
        }
        let ready = mem::take(&mut self.ready);
        let of_group = |id: &TaskId| self.task(*id).is_some_and(|task| task.group == group);
        let (woken, ready) = ready.into_iter().partition(of_group);
        self.ready = ready;
        self.groups[group] = Group::Frozen(woken);
    }

    pub(super) fn thaw(&mut self, group: usize) {
        if !matches!(self.groups[group], Group::Frozen(_)) {
            return;
        }
        if let Group::Frozen(woken) = mem::replace(&mut self.groups[group], Group::Running) {
            self.ready.extend(woken);
        }
    }
}
