//! Where a story is told: the simulation's own world, real nodes in it, and no chance but that of the nodes' own pauses
//! and of who goes first of those that are ready at the same moment.

use core::time::Duration;
use std::{collections::BTreeMap, sync::Arc};

use ferry_core::{
    Instant,
    drive::{Runtime, Stats},
};
use futures_channel::oneshot;
use futures_lite::future::or;

use super::{expected::Expected, setting::Setting};
use crate::{
    chance::Streams,
    checkers::{Violation, check},
    event::Event,
    executor::Executor,
    fleet::{Up, weather},
    history::{Heard, History, Life, SubmissionId, What},
    kind::Kind,
    policy::Policy,
    purses::{Amount, Outcome, Purses},
    sent::{Quirk, Sent},
    simulation::heal_and_end,
    store::{
        Fate, Layout,
        script::{Cue, Op, Script, Turn},
    },
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

/// What a caller still waits by.
struct Ear {
    life: Life,
    /// It polls from here on.
    listens: Option<oneshot::Sender<()>>,
    /// It drops what it waits for.
    goes: oneshot::Sender<()>,
}

/// How an input is sent.
#[derive(Clone, Copy, Debug, Default)]
struct How {
    quirk: Quirk,
    within: Option<Duration>,
    /// Its caller does not poll until it is told to.
    is_held: bool,
}

pub(super) struct Stage<K: Kind<Load = Purses>> {
    executor: Executor,
    world: Arc<World<K>>,
    load: Purses,
    contents: BTreeMap<(u64, i64), Arc<Amount>>,
    ears: BTreeMap<Caller, Ear>,
    surprises: Vec<String>,
}

/// What is left when a story is over.
pub(super) struct Left {
    pub(super) history: History<Purses>,
    pub(super) events: Vec<(Instant, Event)>,
    pub(super) surprises: Vec<String>,
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

    // ---- callers ----------------------------------------------------------------------------------

    /// A caller sends an input with this number, of so many cents, to a node.
    pub(super) fn submit(&mut self, node: usize, key: u32, number: u64, cents: i64) -> Caller {
        self.submit_as(node, key, (number, cents), How::default())
    }

    /// With a deadline.
    pub(super) fn submit_within(
        &mut self,
        node: usize,
        key: u32,
        (number, cents): (u64, i64),
        within: Duration,
    ) -> Caller {
        let how = How {
            within: Some(within),
            ..How::default()
        };
        self.submit_as(node, key, (number, cents), how)
    }

    /// An input that something is wrong with.
    pub(super) fn submit_bad(
        &mut self,
        node: usize,
        key: u32,
        number: u64,
        quirk: Quirk,
    ) -> Caller {
        let how = How {
            quirk,
            ..How::default()
        };
        self.submit_as(node, key, (number, 1), how)
    }

    /// By a caller that polls nothing until it is to [`listen`](Self::listen).
    pub(super) fn submit_unheeded(
        &mut self,
        node: usize,
        key: u32,
        number: u64,
        cents: i64,
    ) -> Caller {
        let how = How {
            is_held: true,
            ..How::default()
        };
        self.submit_as(node, key, (number, cents), how)
    }

    fn submit_as(&mut self, node: usize, key: u32, content: (u64, i64), how: How) -> Caller {
        let up = self.up(node);
        let (number, cents) = content;
        let content = self.contents.entry(content).or_insert_with(|| {
            let id = number;
            Arc::new(Amount { id, cents })
        });
        let content = Arc::clone(content);
        let submission = (self.world).submitted(up.life, key, number, &content, how.quirk);
        let caller = Caller(submission);
        let sent = Sent {
            number,
            content,
            submission,
            quirk: how.quirk,
        };
        let submitted = match how.within {
            Some(within) => up.ferry.submit_within(self.world.key(key), sent, within),
            None => up.ferry.submit(self.world.key(key), sent),
        };
        let Ok(answer) = submitted else {
            self.world.answered(submission, Heard::Rejected);
            return caller;
        };
        self.world
            .lock()
            .waiting
            .insert(submission.0, (number, key));
        let (listens, listened) = oneshot::channel::<()>();
        let (goes, gone) = oneshot::channel::<()>();
        let world = Arc::clone(&self.world);
        up.process.spawn(async move {
            let _listening = listened.await;
            let heard = async { Some(K::heard(answer.await)) };
            let left = async {
                let _left = gone.await;
                None
            };
            match or(heard, left).await {
                Some(heard) => world.answered(submission, heard),
                None => world.tell(Event::Deserted { submission }),
            }
            world.lock().waiting.remove(&submission.0);
        });
        let ear = Ear {
            life: up.life,
            listens: Some(listens),
            goes,
        };
        self.ears.insert(caller, ear);
        if !how.is_held {
            self.listen(caller);
        }
        caller
    }

    /// Its caller polls from now on.
    pub(super) fn listen(&mut self, caller: Caller) {
        let ear = self.ears.get_mut(&caller);
        if let Some(listens) = ear.and_then(|ear| ear.listens.take()) {
            let _listening = listens.send(());
        }
    }

    /// The caller drops what it waits for.
    pub(super) fn drop_caller(&mut self, caller: Caller) {
        self.listen(caller);
        if let Some(ear) = self.ears.remove(&caller) {
            let _gone = ear.goes.send(());
        }
        self.run_for(Duration::ZERO);
    }

    // ---- nodes ------------------------------------------------------------------------------------

    fn up(&self, node: usize) -> Up<K> {
        match self.world.up(node) {
            Some(up) => up,
            None => unreachable!("the story has taken node {node} down"),
        }
    }

    pub(super) fn crash(&mut self, node: usize) {
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

    pub(super) fn restart(&mut self, node: usize) {
        self.world.start(node);
    }

    /// Nothing of the node runs for so long.
    pub(super) fn freeze(&mut self, node: usize, pause: Duration) {
        let frozen = weather::freeze_now(Arc::clone(&self.world), node, pause);
        self.world.process.spawn(frozen);
        self.run_for(Duration::ZERO);
    }

    /// It takes in no more, finishes what it has, and is gone.
    pub(super) fn shut_down(&mut self, node: usize) {
        let life = self.up(node).life;
        let shutting_down = Arc::clone(&self.world).shut_down(life);
        self.world.process.spawn(shutting_down);
        self.run_for(Duration::ZERO);
    }

    pub(super) fn stats(&self, node: usize) -> Stats {
        self.up(node).ferry.stats()
    }

    /// A node resumes a key.
    pub(super) fn resume(&mut self, node: usize, key: u32) {
        let up = self.up(node);
        self.world.tell(Event::Resume { node, key });
        let resuming = K::resume(&up, &self.world.key(key));
        let world = Arc::clone(&self.world);
        up.process.spawn(async move {
            resuming.await;
            world.tell(Event::Resumed { node, key });
        });
    }

    /// Every node sweeps from now on.
    pub(super) fn sweep(&mut self) {
        self.world.sweep_everywhere();
    }

    // ---- the store --------------------------------------------------------------------------------

    fn cue(&mut self, op: Op, key: u32, node: Option<usize>, turn: Turn) {
        let cue = Cue {
            op,
            key,
            node,
            is_lasting: false,
        };
        if let Some(script) = &mut self.world.lock().script {
            script.add(cue, turn);
        }
    }

    fn from_now_on(&mut self, op: Op, key: u32, fate: Fate) {
        let cue = Cue {
            op,
            key,
            node: None,
            is_lasting: true,
        };
        if let Some(script) = &mut self.world.lock().script {
            script.add(cue, Turn::of(fate));
        }
    }

    /// Where a projection's first call goes.
    fn projection(&self) -> Op {
        match self.world.draws.layout {
            Layout::Together => Op::Project,
            Layout::Apart => Op::Show,
        }
    }

    pub(super) fn next_commit(&mut self, key: u32, fate: Fate) {
        self.cue(Op::Commit, key, None, Turn::of(fate));
    }

    /// The next commit that this node sends.
    pub(super) fn next_commit_of(&mut self, node: usize, key: u32, fate: Fate) {
        self.cue(Op::Commit, key, Some(node), Turn::of(fate));
    }

    /// The next commit that this node sends is on its way for so much longer, and then as usual.
    pub(super) fn slow_commit_of(&mut self, node: usize, key: u32, slow: Duration) {
        self.cue(Op::Commit, key, Some(node), Turn::slow(slow));
    }

    pub(super) fn every_commit(&mut self, key: u32, fate: Fate) {
        self.from_now_on(Op::Commit, key, fate);
    }

    pub(super) fn next_projection(&mut self, key: u32, fate: Fate) {
        self.cue(self.projection(), key, None, Turn::of(fate));
    }

    /// The next projection is on its way for so much longer, and then as usual.
    pub(super) fn slow_projection(&mut self, key: u32, slow: Duration) {
        self.cue(self.projection(), key, None, Turn::slow(slow));
    }

    pub(super) fn every_projection(&mut self, key: u32, fate: Fate) {
        self.from_now_on(self.projection(), key, fate);
    }

    /// The next projection brings so many entries into the view, and says so.
    pub(super) fn next_projection_in_part(&mut self, key: u32, entries: usize) {
        if let Some(script) = &mut self.world.lock().script {
            script.add_part(key, entries);
        }
    }

    /// The next move of a marker whose view is in another store is on its way for so much longer.
    pub(super) fn slow_mark(&mut self, key: u32, slow: Duration) {
        self.cue(Op::Mark, key, None, Turn::slow(slow));
    }

    pub(super) fn next_read_fails(&mut self, key: u32) {
        self.cue(Op::Read, key, None, Turn::of(Fate::Busy));
    }

    /// What the next read of this node finds is on its way for so much longer.
    pub(super) fn slow_read_of(&mut self, node: usize, key: u32, slow: Duration) {
        self.cue(Op::Read, key, Some(node), Turn::slow(slow));
    }

    /// Whatever was said of calls to come is void.
    pub(super) fn lift(&mut self) {
        if let Some(script) = &mut self.world.lock().script {
            script.clear();
        }
    }

    pub(super) fn delete(&mut self, key: u32) {
        weather::delete_now(&self.world, key);
    }

    // ---- time -------------------------------------------------------------------------------------

    pub(super) fn run_for(&mut self, duration: Duration) {
        let until = self.now() + duration;
        let _halt = self.executor.run_until(until);
    }

    pub(super) fn now(&self) -> Instant {
        self.world.process.now()
    }

    // ---- what is to be seen -----------------------------------------------------------------------

    pub(super) fn expect(&mut self, is_so: bool, what: impl FnOnce() -> String) {
        if !is_so {
            let nanos = self.now().nanos();
            let at = Duration::from_nanos(nanos);
            self.surprises.push(format!("at {at:?}: {}", what()));
        }
    }

    /// The caller has heard this by now.
    pub(super) fn hears(&mut self, caller: Caller, expected: Expected) {
        let heard = {
            let state = self.world.lock();
            let answer = &state.history.submissions[caller.0.0 as usize].answer;
            answer.as_ref().map(|(_, heard)| heard.clone())
        };
        self.expect(expected.is_met_by(heard.as_ref()), || {
            let heard = heard.map_or("nothing".to_owned(), |heard| format!("\"{heard}\""));
            format!("{} was to hear {expected}, and heard {heard}", caller.0)
        });
    }

    /// The record has these inputs, in this order.
    pub(super) fn holds(&mut self, key: u32, expected: &[u64]) {
        let held = self.world.lock().history.shown(key, usize::MAX);
        self.expect(held == expected, || {
            format!("the record of key {key} was to hold {expected:?}, and holds {held:?}")
        });
    }

    /// The caller has heard by now that its input is applied, wherever that is.
    pub(super) fn hears_applied(&mut self, caller: Caller) {
        let is_applied = {
            let state = self.world.lock();
            let answer = &state.history.submissions[caller.0.0 as usize].answer;
            let outcome = answer.as_ref().and_then(|(_, heard)| match heard {
                Heard::Outcome(told, _) => Some(told.outcome),
                Heard::NotCommitted(_) | Heard::InDoubt(_) | Heard::Rejected => None,
            });
            matches!(outcome, Some(Outcome::Applied(_)))
        };
        self.expect(is_applied, || {
            format!("{} was to hear that its input is applied", caller.0)
        });
    }

    /// So many ids are remembered by the record.
    pub(super) fn remembers(&mut self, key: u32, expected: usize) {
        let (record, _) = self.world.lock().table.read(key, false);
        let remembered = record.map_or(0, |record| record.state.applied.len());
        self.expect(remembered == expected, || {
            format!("the record of key {key} was to remember {expected} ids, not {remembered}")
        });
    }

    /// The view shows these.
    pub(super) fn shows(&mut self, key: u32, expected: &[u64]) {
        let shown = self.shown(key);
        self.expect(shown == expected, || {
            format!("the view of key {key} was to show {expected:?}, and shows {shown:?}")
        });
    }

    fn shown(&self, key: u32) -> Vec<u64> {
        let state = self.world.lock();
        let of_key = state
            .history
            .log
            .iter()
            .filter(|written| written.key == key);
        let mut shown = 0;
        for written in of_key {
            match written.what {
                What::Delete => shown = 0,
                What::Show { to, .. } => shown = shown.max(to),
                What::ShowInstead(to) => shown = to,
                What::Commit(_) | What::Mark(_) => {}
            }
        }
        state.history.shown(key, shown)
    }

    /// The record is pending.
    pub(super) fn owes(&mut self, key: u32, expected: bool) {
        let owes = self
            .world
            .lock()
            .table
            .pending(&self.world.fold)
            .contains(&key);
        self.expect(owes == expected, || {
            let owes = if owes { "is" } else { "is not" };
            format!("the record of key {key} {owes} pending")
        });
    }

    /// When commits of the key were asked for.
    pub(super) fn commits(&self, key: u32) -> Vec<Instant> {
        self.asked(Op::Commit, key)
    }

    /// When projections of the key were asked for.
    pub(super) fn projections(&self, key: u32) -> Vec<Instant> {
        self.asked(self.projection(), key)
    }

    fn asked(&self, op: Op, key: u32) -> Vec<Instant> {
        let state = self.world.lock();
        let script = state.script.as_ref();
        script.map_or(Vec::new(), |script| script.asked(op, key).collect())
    }

    // ---- the end ----------------------------------------------------------------------------------

    /// Everything is healed and runs until nothing moves any more.
    pub(super) fn end(mut self) -> Left {
        let callers: Vec<_> = self.ears.keys().copied().collect();
        callers.into_iter().for_each(|caller| self.listen(caller));
        self.world.lock().is_healed = true;
        self.world.sweep_everywhere();
        let history = heal_and_end(&self.executor, &self.world);
        let violations = check(&self.load, &history);
        let weakened = self.world.times_weakened();
        drop(self.ears);
        let (_, _, kept) = self.executor.end().end();
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
