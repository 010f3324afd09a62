//! Where a story is told: the simulation's own world, real nodes in it, and no chance but that of the nodes' own pauses
//! and of who goes first of those that are ready at the same moment.

mod callers;
mod calls;
mod nodes;
mod seen;

use core::time::Duration;
use std::{collections::BTreeMap, sync::Arc};

use ferry_core::{Instant, drive::Runtime};

use self::callers::Ear;
use super::{performance::Surprise, setting::Setting};
use crate::{
    chance::Streams,
    checkers::{Violation, check},
    event::Event,
    executor::Executor,
    history::{History, SubmissionId},
    kind::Kind,
    policy::Policy,
    purses::{Amount, Purses},
    simulation::heal_and_end,
    store::{Layout, script::Script},
    trace::{Keep, Trace},
    world::World,
};

pub(super) const NODE_A: usize = 0;
pub(super) const NODE_B: usize = 1;
pub(super) const NODE_C: usize = 2;

/// The key that a story is about.
pub(super) const KEY: u32 = 0;
/// And its neighbour.
pub(super) const OTHER: u32 = 1;

pub(super) fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

pub(super) fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A caller that was given something to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Caller(SubmissionId);

/// Where a story is told.
pub(super) struct Stage<K: Kind<Load = Purses>> {
    executor: Executor,
    world: Arc<World<K>>,
    load: Purses,
    contents: BTreeMap<(u64, i64), Arc<Amount>>,
    ears: BTreeMap<Caller, Ear>,
    surprises: Vec<Surprise>,
}

/// What is left when a story is over.
pub(super) struct Left {
    pub(super) history: History<Purses>,
    pub(super) events: Vec<(Instant, Event)>,
    pub(super) surprises: Vec<Surprise>,
    pub(super) violations: Vec<Violation>,
    pub(super) weakened: u64,
}

impl<K: Kind<Load = Purses>> Stage<K> {
    /// Before the first act: every node is up, and nothing is stored. The seed is that of what chance there is.
    pub(super) fn set(setting: &Setting, layout: Layout, policy: Policy, seed: u64) -> Self {
        let Streams {
            faults,
            jitter,
            schedule,
            ..
        } = Streams::of(seed, None);
        let executor = Executor::with(schedule, Trace::new(Keep::Events(Vec::new())));
        let load = setting.purses(&policy);
        let draws = setting.draws(layout);
        let nodes = draws.size.nodes;
        let (process, of) = (executor.process(), load.clone());
        let world = World::<K>::new(process, draws, policy, of, faults, jitter);
        world.lock().script = Some(Script::default());
        (0..nodes).for_each(|node| world.start(node));
        Self {
            executor,
            world,
            load,
            contents: BTreeMap::new(),
            ears: BTreeMap::new(),
            surprises: Vec::new(),
        }
    }

    pub(super) fn run_for(&mut self, duration: Duration) {
        let until = self.now() + duration;
        let _halt = self.executor.run_until(until);
    }

    pub(super) fn now(&self) -> Instant {
        self.world.process.now()
    }

    /// Everything is healed and runs until nothing moves any more.
    pub(super) fn end(mut self) -> Left {
        let callers: Vec<_> = self.ears.keys().copied().collect();
        callers.into_iter().for_each(|caller| self.listen(caller));
        self.world.sweep_everywhere();
        let history = heal_and_end(&self.executor, &self.world);
        let violations = check(&self.load, &history);
        let weakened = self.world.times_weakened();
        drop(self.ears);
        let (_, _, kept) = self.executor.end();
        let Keep::Events(events) = kept else {
            unreachable!("it keeps what it was told to keep")
        };
        Left {
            history,
            events,
            surprises: self.surprises,
            violations,
            weakened,
        }
    }
}
