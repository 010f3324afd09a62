//! The fleet: nodes with a real handle each, which crash, restart, freeze and shut down.

pub(crate) mod client;
pub(crate) mod sweeps;
mod taking_in;
pub(crate) mod weather;

use core::{fmt, mem, time::Duration};
use std::sync::Arc;

use ferry_core::drive::{Ferry, Runtime, Stats};

use crate::{
    event::Event,
    executor::Process,
    history::{Life, Look, NodeEnd},
    kind::Kind,
    lives::Lived,
    points::Point,
    swarm::Broken,
    weak::Aside,
    world::World,
};

/// A node, up or down.
#[derive(Debug)]
pub(crate) struct Node<K: Kind> {
    life: Life,
    up: Option<Up<K>>,
    /// What resumes pending records there.
    sweeper: Option<Sweeping>,
}

/// A node that is up.
pub(crate) struct Up<K: Kind> {
    pub(crate) life: Life,
    pub(crate) process: Process,
    pub(crate) ferry: Ferry<K::Carries>,
    pub(crate) aside: Arc<Aside<K>>,
}

/// What resumes pending records on a node, until it is dropped.
#[derive(Debug)]
pub(crate) struct Sweeping {
    _keeps_going: Box<dyn fmt::Debug + Send>,
}

impl Sweeping {
    pub(crate) fn new(keeps_going: impl fmt::Debug + Send + 'static) -> Self {
        Self {
            _keeps_going: Box::new(keeps_going),
        }
    }
}

impl<K: Kind> Clone for Up<K> {
    fn clone(&self) -> Self {
        Self {
            life: self.life,
            process: self.process.clone(),
            ferry: self.ferry.clone(),
            aside: Arc::clone(&self.aside),
        }
    }
}

impl<K: Kind> fmt::Debug for Up<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Up")
            .field("life", &self.life)
            .finish_non_exhaustive()
    }
}

impl<K: Kind> Node<K> {
    pub(crate) fn new(node: usize) -> Self {
        Self {
            life: Life { node, nth: 0 },
            up: None,
            sweeper: None,
        }
    }

    pub(crate) fn is_living(&self, life: Life) -> bool {
        self.up.as_ref().is_some_and(|up| up.life == life)
    }

    pub(crate) fn is_up(&self) -> bool {
        self.up.is_some()
    }
}

impl<K: Kind> World<K> {
    pub(crate) fn up(&self, node: usize) -> Option<Up<K>> {
        self.lock().nodes[node].up.clone()
    }

    /// Starts a node that is down.
    pub(crate) fn start(self: &Arc<Self>, node: usize) {
        let mut state = self.lock();
        let is_gone = state.is_healed && state.broken == Broken::Node(node);
        if state.nodes[node].is_up() || is_gone {
            return;
        }
        let Life { nth, .. } = state.nodes[node].life;
        let life = Life { node, nth: nth + 1 };
        let drift = self.draws.drift;
        let drift = match i64::try_from(drift) {
            Ok(0) | Err(_) => 0,
            // From none at all to either side.
            Ok(_) => match state.faults.of_node(node).below(2 * drift + 1) as i64 {
                odd if odd % 2 == 1 => (odd + 1) / 2,
                even => -(even / 2),
            },
        };
        drop(state);
        let process = self.process.another();
        process.drift(drift);
        self.note(life, |lived| lived.drift = drift);
        let ferry = self.handle(life, &process, |store| store);
        let aside = Arc::new(Aside::new(self, life, &process));
        self.tell(Event::Restarted { node });
        let up = Up {
            life,
            process,
            ferry,
            aside,
        };
        let sweeper = if self.is_swept() {
            K::sweep(self, &up)
        } else {
            None
        };
        self.lock().nodes[node] = Node {
            life,
            up: Some(up),
            sweeper,
        };
    }

    /// Whether sweepers are there from the start; in a story they come when it says so.
    fn is_swept(&self) -> bool {
        let state = self.lock();
        state.script.is_none() || state.is_healed
    }

    /// Lets every node that is up and has no sweeper begin to sweep.
    pub(crate) fn sweep_everywhere(self: &Arc<Self>) {
        for node in 0..self.draws.size.nodes {
            let has_one = self.lock().nodes[node].sweeper.is_some();
            if let Some(up) = self.up(node).filter(|_| !has_one) {
                let sweeper = K::sweep(self, &up);
                self.lock().nodes[node].sweeper = sweeper;
            }
        }
    }

    /// Takes a node down in mid-flight.
    pub(crate) fn crash(self: &Arc<Self>, life: Life) {
        let Some((up, sweeper)) = self.taken_down(life) else {
            return;
        };
        self.met(Point::Crash);
        self.tell(Event::Crashed { node: life.node });
        up.process.crash();
        drop(sweeper);
        weather::restart_later(self, life.node);
    }

    /// Takes a node out of the fleet: nothing finds it any more.
    fn taken_down(&self, life: Life) -> Option<(Up<K>, Option<Sweeping>)> {
        let mut state = self.lock();
        if !state.is_alive(life) {
            return None;
        }
        state.history.ended.push(life);
        let lived = state.history.lives.entry(life).or_default();
        lived.closing = Some(self.process.now());
        let node = &mut state.nodes[life.node];
        let up = mem::take(&mut node.up)?;
        Some((up, mem::take(&mut node.sweeper)))
    }

    /// Lets a node finish what it has, and then go.
    pub(crate) async fn shut_down(self: Arc<Self>, life: Life) {
        let Some((up, sweeper)) = self.taken_down(life) else {
            return;
        };
        let Life { node, .. } = life;
        self.met(Point::ShutDown);
        self.tell(Event::ShutDown { node });
        drop(sweeper);
        let (done, closed) = futures_channel::oneshot::channel();
        let closing = up.close();
        up.process.spawn(async move {
            closing.await;
            let _heard = done.send(());
        });
        // It may have been killed meanwhile.
        if closed.await.is_ok() {
            self.tell(Event::Closed { node });
            let now = self.process.now();
            self.note(life, |lived| lived.closed = Some(now));
        }
        // Callers in it still have to be told.
        self.process.sleep(Duration::from_millis(10)).await;
        up.process.crash();
        weather::restart_later(&self, node);
    }

    /// A step holds up its whole process.
    pub(crate) fn stall(self: &Arc<Self>, life: Life, pause: Duration) {
        let Some(up) = self.up(life.node).filter(|up| up.life == life) else {
            return;
        };
        self.met(Point::Stall);
        let node = life.node;
        self.tell(Event::Stalled { node, pause });
        self.hold_up(life, &up.process);
        let world = Arc::clone(self);
        self.process.spawn(async move {
            world.process.sleep(pause).await;
            world.let_go(life, &up.process);
        });
    }

    /// Nothing of a node runs, until it is let go.
    pub(crate) fn hold_up(&self, life: Life, process: &Process) {
        let now = self.process.now();
        self.note(life, |lived| lived.is_held_up(now));
        process.freeze();
    }

    pub(crate) fn let_go(&self, life: Life, process: &Process) {
        let now = self.process.now();
        self.note(life, |lived| lived.goes_on(now));
        process.thaw();
    }

    /// Notes what comes over a life.
    pub(crate) fn note(&self, life: Life, change: impl FnOnce(&mut Lived)) {
        change(self.lock().history.lives.entry(life).or_default());
    }

    /// Somebody looks at what a node shows of itself.
    pub(crate) fn look(&self, up: &Up<K>) {
        let (life, at, stats) = (up.life, self.process.now(), up.ferry.stats());
        let mut state = self.lock();
        if !state.is_alive(life) {
            return;
        }
        let history = &mut state.history;
        let submitted = history.submissions.len();
        history.looks.push(Look {
            life,
            at,
            submitted,
            stats,
        });
    }

    /// Whether the node that is at a step of a store call crashes there, which it then has.
    pub(crate) fn crashes_at_step(self: &Arc<Self>, life: Life, key: u32) -> bool {
        let mut state = self.lock();
        let rate = state.rates.crash_at_step;
        let is_drawn = state.faults.of_steps(life.node, key).happens(rate);
        if !is_drawn || !state.is_alive(life) {
            return false;
        }
        state.points.met(Point::CrashAtStep);
        drop(state);
        self.crash(life);
        true
    }

    /// Whether the store call that a node waits for panics.
    pub(crate) fn call_panics(&self, life: Life, key: u32) -> bool {
        let state = &mut *self.lock();
        let rate = state.rates.call_panics;
        // Where it never does, nothing is drawn.
        let panics = rate > 0 && state.faults.of_steps(life.node, key).happens(rate);
        if panics {
            state.points.met(Point::CallPanicked);
        }
        panics
    }

    /// The same of a commit, which in a story panics where the script says so.
    pub(crate) fn commit_panics(&self, life: Life, key: u32) -> bool {
        let by_script = self.lock().script.as_mut().map(|script| script.panics(key));
        by_script.unwrap_or_else(|| self.call_panics(life, key))
    }

    /// What the nodes show once nothing moves any more.
    pub(crate) fn stats(&self) -> Vec<(Up<K>, Stats)> {
        let nodes = 0..self.draws.size.nodes;
        let ups = nodes.filter_map(|node| self.up(node));
        ups.map(|up| {
            let stats = up.stats();
            (up, stats)
        })
        .collect()
    }

    /// Lets nobody sweep any more.
    pub(crate) fn stop_sweeping(&self) {
        let nodes = &mut self.lock().nodes;
        let sweepers: Vec<_> = nodes
            .iter_mut()
            .map(|node| mem::take(&mut node.sweeper))
            .collect();
        drop(sweepers);
    }

    /// Closes the nodes and lets go of them; `settled` lets everything run to its end.
    pub(crate) fn close(&self, settled: impl Fn()) -> Vec<NodeEnd> {
        let ups = self.stats();
        for (up, _) in &ups {
            let (node, closing, process) = (up.life.node, up.close(), &up.process);
            let world = self.process.clone();
            process.spawn(async move {
                closing.await;
                world.tell(Event::Closed { node });
            });
        }
        settled();
        let gone: Vec<_> = {
            let nodes = &mut self.lock().nodes;
            nodes
                .iter_mut()
                .map(|node| mem::take(&mut node.up))
                .collect()
        };
        drop(gone);
        let processes: Vec<_> = (ups.into_iter())
            .map(|(up, stats)| (up.life, up.process, stats))
            .collect();
        settled();
        let ends = processes.into_iter().map(|(life, process, stats)| NodeEnd {
            life,
            stats,
            tasks_left: process.tasks(),
        });
        ends.collect()
    }
}
