//! What nodes do, and what is done to them.

use core::time::Duration;
use std::sync::Arc;

use ferry_core::drive::{Runtime, Stats};

use super::Stage;
use crate::{
    fleet::{Up, weather},
    history::Life,
    kind::Kind,
    purses::Purses,
};

impl<K: Kind<Load = Purses>> Stage<K> {
    pub(super) fn up(&self, node: usize) -> Up<K> {
        match self.world.up(node) {
            Some(up) => up,
            None => unreachable!("the story has taken node {node} down"),
        }
    }

    pub(in crate::scenario) fn crash(&mut self, node: usize) {
        let life = self.up(node).life;
        self.world.crash(life);
        self.forget_callers_of(life);
    }

    /// Those that waited at a node which has gone hear nothing.
    fn forget_callers_of(&mut self, life: Life) {
        let mut state = self.world.lock();
        for (caller, ear) in &self.ears {
            if ear.life == life {
                state.waiting.remove(&caller.0.0);
            }
        }
    }

    pub(in crate::scenario) fn restart(&mut self, node: usize) {
        self.world.start(node);
    }

    /// Nothing of the node runs for so long.
    pub(in crate::scenario) fn freeze(&mut self, node: usize, pause: Duration) {
        let frozen = weather::freeze_now(Arc::clone(&self.world), node, pause);
        self.world.process.spawn(frozen);
        self.run_for(Duration::ZERO);
    }

    /// It takes in no more, finishes what it has, and is gone.
    pub(in crate::scenario) fn shut_down(&mut self, node: usize) {
        let life = self.up(node).life;
        let shutting_down = Arc::clone(&self.world).shut_down(life);
        self.world.process.spawn(shutting_down);
        self.run_for(Duration::ZERO);
    }

    pub(in crate::scenario) fn stats(&self, node: usize) -> Stats {
        self.up(node).stats()
    }

    /// A node resumes a key.
    pub(in crate::scenario) fn resume(&mut self, node: usize, key: u32) {
        self.world.resume(self.up(node), key);
    }

    /// Every node sweeps from now on.
    pub(in crate::scenario) fn sweep(&mut self) {
        self.world.sweep_everywhere();
    }
}
