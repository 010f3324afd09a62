//! The fleet: nodes with a real handle each, which crash, restart and freeze.

pub(crate) mod client;
pub(crate) mod weather;

use core::mem;
use std::sync::Arc;

use ferry_core::{
    drive::{Builder, Ferry, Stats},
    fold_write::FoldWrite,
};

use crate::{
    event::Event,
    executor::Process,
    fold::Purses,
    history::{Life, NodeEnd},
    points::Point,
    store::SimStore,
    world::World,
};

pub(crate) type Handle = Ferry<FoldWrite<Purses>>;

/// A node, up or down.
#[derive(Debug)]
pub(crate) struct Node {
    life: Life,
    up: Option<Up>,
}

/// A node that is up.
#[derive(Clone, Debug)]
pub(crate) struct Up {
    pub(crate) life: Life,
    pub(crate) process: Process,
    pub(crate) ferry: Handle,
}

impl Node {
    pub(crate) fn new(node: usize) -> Self {
        let life = Life { node, nth: 0 };
        Self { life, up: None }
    }

    pub(crate) fn is_living(&self, life: Life) -> bool {
        self.up.as_ref().is_some_and(|up| up.life == life)
    }

    pub(crate) fn is_up(&self) -> bool {
        self.up.is_some()
    }
}

impl World {
    pub(crate) fn up(&self, node: usize) -> Option<Up> {
        self.lock().nodes[node].up.clone()
    }

    /// Starts a node that is down.
    pub(crate) fn start(self: &Arc<Self>, node: usize) {
        let mut state = self.lock();
        if state.nodes[node].is_up() {
            return;
        }
        let Life { nth, .. } = state.nodes[node].life;
        let life = Life { node, nth: nth + 1 };
        let seed = state.jitter.next();
        drop(state);
        let process = self.process.another();
        let store = SimStore::new(Arc::clone(self), life, process.clone());
        let fold = Purses {
            dedup: self.policy.dedup,
            weakened: Arc::clone(&self.weakened),
        };
        // One shard: keys are spread over shards by a hash that differs from run to run.
        let built = Builder::on(process.clone())
            .limits(self.draws.limits)
            .retry(self.draws.retry)
            .seed(seed)
            .shards(1)
            .fold_write(fold, store);
        let ferry = match built {
            Ok(ferry) => ferry,
            Err(invalid) => unreachable!("a draw of settings makes sense: {invalid}"),
        };
        self.tell(Event::Restarted { node });
        let up = Some(Up {
            life,
            process,
            ferry,
        });
        self.lock().nodes[node] = Node { life, up };
    }

    /// Takes a node down in mid-flight.
    pub(crate) fn crash(self: &Arc<Self>, life: Life) {
        let mut state = self.lock();
        if !state.is_alive(life) {
            return;
        }
        let up = mem::take(&mut state.nodes[life.node].up);
        state.points.met(Point::Crash);
        drop(state);
        self.tell(Event::Crashed { node: life.node });
        if let Some(up) = up {
            up.process.crash();
        }
        weather::restart_later(self, life.node);
    }

    /// Whether the node that is at a step of a store call crashes there, which it then has.
    pub(crate) fn crashes_at_step(self: &Arc<Self>, life: Life) -> bool {
        let mut state = self.lock();
        let rate = state.rates.crash_at_step;
        if !state.faults.happens(rate) || !state.is_alive(life) {
            return false;
        }
        state.points.met(Point::CrashAtStep);
        drop(state);
        self.crash(life);
        true
    }

    /// What the nodes show once nothing moves any more.
    pub(crate) fn stats(&self) -> Vec<(Up, Stats)> {
        let nodes = 0..self.draws.size.nodes;
        let ups = nodes.filter_map(|node| self.up(node));
        ups.map(|up| {
            let stats = up.ferry.stats();
            (up, stats)
        })
        .collect()
    }

    /// Closes the nodes and lets go of them; `settled` lets everything run to its end.
    pub(crate) fn close(&self, settled: impl Fn()) -> Vec<NodeEnd> {
        let ups = self.stats();
        for (up, _) in &ups {
            let (node, closing, process) = (up.life.node, up.ferry.close(), &up.process);
            let world = self.process.clone();
            ferry_core::drive::Runtime::spawn(process, async move {
                closing.await;
                world.tell(Event::Closed { node });
            });
        }
        settled();
        for node in &mut self.lock().nodes {
            node.up = None;
        }
        let processes: Vec<_> = (ups.into_iter())
            .map(|(up, stats)| (up.life.node, up.process, stats))
            .collect();
        settled();
        let ends = processes.into_iter().map(|(node, process, stats)| NodeEnd {
            node,
            stats,
            tasks_left: process.tasks(),
        });
        ends.collect()
    }
}
