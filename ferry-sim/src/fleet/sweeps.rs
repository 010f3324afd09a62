//! Who resumes pending records: a sweeper on each node, and now and then somebody by hand.

use core::time::Duration;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ferry_core::drive::{Runtime, Schedule};

use super::{Sweeping, Up};
use crate::{
    chance::Chance,
    event::Event,
    history::{Life, Resume, Resumed},
    kind::{Kind, Projected, Sweep},
    points::Point,
    policy::Resuming,
    purses::StoreError,
    weak::OnePace,
    workload::{KeyOf, ProjectedWorkload},
    world::{State, World},
};

/// Starts a node's sweeper, unless nobody is to sweep.
pub(crate) fn start<W: ProjectedWorkload>(
    world: &Arc<World<Projected<W>>>,
    up: &Up<Projected<W>>,
) -> Option<Sweeping> {
    if world.policy.resuming == Resuming::Nobody {
        world.weakened();
        return None;
    }
    if world.policy.resuming == Resuming::AtOnePace {
        return Some(Sweeping::new(OnePace::start(world, up)));
    }
    let (every, pause_max) = world.draws.sweeps;
    let schedule = Schedule {
        every,
        pause_max,
        concurrency: (world.policy.settings).at_once(world.draws.sweeps_at_once),
    };
    world.weakened_if(schedule.concurrency != world.draws.sweeps_at_once);
    let asked = Arc::clone(world);
    let life = up.life;
    let query = move || Arc::clone(&asked).pending(life);
    match up.resumer().sweeper(schedule, query) {
        Ok(sweeper) => Some(Sweeping::new(sweeper)),
        Err(invalid) => unreachable!("the schedule makes sense: {invalid}"),
    }
}

impl<K: Kind> World<K> {
    /// The query of a sweeper.
    pub(crate) async fn pending(
        self: Arc<Self>,
        life: Life,
    ) -> Result<Vec<KeyOf<K::Load>>, StoreError> {
        let (latency, failed) = {
            let state = &mut *self.lock();
            let mut chance = state.faults.queries.fork();
            let failed = chance.happens(state.rates.query_failed);
            (state.latency(&mut chance), failed)
        };
        self.process.sleep(latency).await;
        if failed {
            self.met(Point::QueryFailed);
            return Err(StoreError::Busy);
        }
        let mut pending = self.lock().table.pending(&self.fold);
        let found = pending.len();
        match self.policy.resuming {
            Resuming::BlindForSome => {
                pending.retain(|&key| self.lock().table.entries(key) % 2 == 1);
            }
            Resuming::FromMemory => pending.retain(|&key| {
                let state = self.lock();
                let last = (key, state.table.last(key));
                state.writers.get(&last) == Some(&life)
            }),
            Resuming::Swept
            | Resuming::Nobody
            | Resuming::AtOnePace
            | Resuming::Unfenced
            | Resuming::ToldByOlder => {}
        }
        self.weakened_if(pending.len() < found);
        if !pending.is_empty() {
            self.met(Point::Swept);
        }
        Ok(pending.into_iter().map(|key| self.key(key)).collect())
    }
}

fn take<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<K: Kind> World<K> {
    /// A commit has landed: now and then somebody follows what lands, and has the key resumed at once.
    pub(crate) fn heeded(self: &Arc<Self>, state: &mut State<K>, key: u32) {
        if !K::IS_PROJECTED || state.script.is_some() || state.is_healed {
            return;
        }
        let node = key as usize % self.draws.size.nodes;
        let mut chance = state.faults.of_request(node, key);
        if !chance.happens(self.draws.heeds) {
            return;
        }
        let (world, pause) = (Arc::clone(self), chance.millis(0, 2));
        self.process.spawn(async move {
            world.process.sleep(pause).await;
            if let Some(up) = world.up(node) {
                world.resume(up, key);
            }
        });
    }

    /// Somebody tells a node to resume a key.
    pub(crate) fn resume(self: &Arc<Self>, up: Up<K>, key: u32) {
        let (life, process) = (up.life, up.process.clone());
        let node = life.node;
        self.met(Point::Resumed);
        let nth = self.resumes(life, key);
        let resuming = K::resume(&up, &self.key(key));
        drop(up);
        let world = Arc::clone(self);
        process.spawn(async move {
            let resumed = resuming.await;
            world.resumed(nth, resumed);
            world.tell(Event::Resumed { node, key });
        });
    }

    /// Notes that somebody tells a node to resume a key.
    fn resumes(&self, life: Life, key: u32) -> usize {
        let node = life.node;
        self.tell(Event::Resume { node, key });
        let resumes = &mut self.lock().history.resumes;
        resumes.push(Resume {
            life,
            key,
            at: self.process.now(),
            answer: None,
        });
        resumes.len() - 1
    }

    /// Somebody has a node resume all keys that are pending.
    fn sweep(self: &Arc<Self>, up: &Up<K>, at_once: usize, is_stream: bool) {
        let (life, process) = (up.life, &up.process);
        let node = life.node;
        let pending = self.lock().table.pending(&self.fold);
        self.met(Point::SweptByHand);
        // Those of which nothing is told yet.
        let asked = pending.iter().map(|&key| (key, self.resumes(life, key)));
        let asked: Arc<Mutex<BTreeMap<u32, usize>>> = Arc::new(Mutex::new(asked.collect()));
        let sweep = Sweep::<K> {
            keys: pending.into_iter().map(|key| self.key(key)).collect(),
            at_once,
            is_stream,
        };
        let (world, left) = (Arc::clone(self), Arc::clone(&asked));
        let told = Box::new(move |key: &KeyOf<K::Load>, resumed| {
            let key = world.number_of(key);
            if let Some(nth) = take(&left).remove(&key) {
                world.resumed(nth, resumed);
                world.tell(Event::Resumed { node, key });
            }
        });
        let sweeping = K::sweep_once(up, sweep, told);
        let world = Arc::clone(self);
        process.spawn(async move {
            sweeping.await;
            for (key, nth) in core::mem::take(&mut *take(&asked)) {
                world.resumed(nth, Resumed::Closed);
                world.tell(Event::Resumed { node, key });
            }
        });
    }

    fn resumed(&self, nth: usize, resumed: Resumed) {
        let answer = (self.process.now(), resumed);
        let resumes = &mut self.lock().history.resumes;
        let (life, key) = (resumes[nth].life, resumes[nth].key);
        resumes[nth].answer.get_or_insert(answer);
        if self.policy.resuming == Resuming::ToldByOlder {
            let is_younger = |resume: &&mut Resume| {
                resume.life == life && resume.key == key && resume.answer.is_none()
            };
            for younger in resumes[nth..].iter_mut().filter(is_younger) {
                younger.answer = Some(answer);
                self.weakened();
            }
        }
    }
}

/// What somebody has resumed.
#[derive(Clone, Copy)]
enum By {
    /// One key.
    Key,
    /// All that are pending.
    Sweep,
    /// The same, as they come.
    Stream,
}

/// Draws when somebody resumes what.
pub(crate) fn begin<K: Kind>(world: &Arc<World<K>>, chance: &mut Chance) {
    if !K::IS_PROJECTED {
        return;
    }
    for _ in 0..world.draws.resumes {
        let mut chance = chance.fork();
        if !chance.is_there() {
            continue;
        }
        let at = chance.between(Duration::ZERO, world.draws.size.duration);
        let key = chance.below(u64::from(world.draws.size.keys)) as u32;
        let node = chance.index(world.draws.size.nodes);
        let by = chance.pick(&[By::Key, By::Key, By::Sweep, By::Stream]);
        let at_once = chance.pick(&[1, 2, 8]);
        let world = Arc::clone(world);
        let ground = world.process.clone();
        ground.spawn(async move {
            world.process.sleep(at).await;
            let Some(up) = world.up(node) else { return };
            match by {
                By::Key => world.resume(up, key),
                By::Sweep => world.sweep(&up, at_once, false),
                By::Stream => world.sweep(&up, at_once, true),
            }
        });
    }
}
