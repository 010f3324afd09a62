//! What is to become of calls of the store.

use core::time::Duration;

use super::Stage;
use crate::{
    fleet::weather,
    kind::Kind,
    purses::Purses,
    store::{
        Fate, Layout,
        script::{Course, Cue, Op},
    },
};

impl<K: Kind<Load = Purses>> Stage<K> {
    fn cue(&mut self, op: Op, key: u32, node: Option<usize>, course: Course) {
        let cue = Cue {
            op,
            key,
            node,
            is_lasting: false,
        };
        if let Some(script) = &mut self.world.lock().script {
            script.add(cue, course);
        }
    }

    fn every(&mut self, op: Op, key: u32, fate: Fate) {
        let cue = Cue {
            op,
            key,
            node: None,
            is_lasting: true,
        };
        if let Some(script) = &mut self.world.lock().script {
            script.add(cue, Course::of(fate));
        }
    }

    /// Where a projection's first call goes.
    fn projection(&self) -> Op {
        match self.world.draws.layout {
            Layout::Together => Op::Project,
            Layout::Apart => Op::Show,
        }
    }

    pub(in crate::scenario) fn next_commit(&mut self, key: u32, fate: Fate) {
        self.cue(Op::Commit, key, None, Course::of(fate));
    }

    /// The next commit that this node sends.
    pub(in crate::scenario) fn next_commit_of(&mut self, node: usize, key: u32, fate: Fate) {
        self.cue(Op::Commit, key, Some(node), Course::of(fate));
    }

    /// The next commit that this node sends is on its way for so much longer, and then as usual.
    pub(in crate::scenario) fn slow_commit_of(&mut self, node: usize, key: u32, slow: Duration) {
        self.cue(Op::Commit, key, Some(node), Course::slow(slow));
    }

    /// The next commit panics once its node has waited for the answer.
    pub(in crate::scenario) fn next_commit_panics(&mut self, key: u32) {
        if let Some(script) = &mut self.world.lock().script {
            script.add_panic(key);
        }
    }

    pub(in crate::scenario) fn every_commit(&mut self, key: u32, fate: Fate) {
        self.every(Op::Commit, key, fate);
    }

    pub(in crate::scenario) fn next_projection(&mut self, key: u32, fate: Fate) {
        self.cue(self.projection(), key, None, Course::of(fate));
    }

    /// The next projection is on its way for so much longer, and then as usual.
    pub(in crate::scenario) fn slow_projection(&mut self, key: u32, slow: Duration) {
        self.cue(self.projection(), key, None, Course::slow(slow));
    }

    pub(in crate::scenario) fn every_projection(&mut self, key: u32, fate: Fate) {
        self.every(self.projection(), key, fate);
    }

    /// The next projection brings so many entries into the view, and says so.
    pub(in crate::scenario) fn next_projection_in_part(&mut self, key: u32, entries: usize) {
        if let Some(script) = &mut self.world.lock().script {
            script.add_part(key, entries);
        }
    }

    /// The next move of a marker whose view is in another store is on its way for so much longer.
    pub(in crate::scenario) fn slow_mark(&mut self, key: u32, slow: Duration) {
        self.cue(Op::Mark, key, None, Course::slow(slow));
    }

    /// So many reads find what there is.
    pub(in crate::scenario) fn next_reads(&mut self, key: u32, reads: usize) {
        for _ in 0..reads {
            self.cue(Op::Read, key, None, Course::of(Fate::Plain));
        }
    }

    pub(in crate::scenario) fn next_read_fails(&mut self, key: u32) {
        self.cue(Op::Read, key, None, Course::of(Fate::Busy));
    }

    /// What the next read of this node finds is on its way for so much longer.
    pub(in crate::scenario) fn slow_read_of(&mut self, node: usize, key: u32, slow: Duration) {
        self.cue(Op::Read, key, Some(node), Course::slow(slow));
    }

    /// Whatever was said of calls to come is void.
    pub(in crate::scenario) fn lift(&mut self) {
        if let Some(script) = &mut self.world.lock().script {
            script.clear();
        }
    }

    pub(in crate::scenario) fn delete(&mut self, key: u32) {
        weather::delete_now(&self.world, key);
    }
}
