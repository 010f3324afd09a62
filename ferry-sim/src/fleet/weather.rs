//! What comes over nodes: crashes, restarts and freezes, and at last the healing.

use core::time::Duration;
use std::sync::Arc;

use ferry_core::{Fold, drive::Runtime};

use crate::{
    chance::Chance,
    event::Event,
    history::{What, Written},
    kind::Kind,
    points::Point,
    policy::Versions,
    swarm::{Broken, Draws},
    world::World,
};

/// How long a node is down, or frozen, at most.
const AWAY_MAX_MILLIS: u64 = 20_000;

/// Draws when each node crashes, freezes and so on, and when records are deleted.
pub(crate) fn brew<K: Kind>(world: &Arc<World<K>>, chance: &mut Chance) {
    let Draws {
        size,
        crashes,
        blackouts,
        freezes,
        shutdowns,
        jumps,
        deletes,
        ..
    } = world.draws;
    let mut each = |times, begin: &dyn Fn(Chance)| {
        for _ in 0..times {
            let mut chance = chance.fork();
            if chance.is_there() {
                begin(chance);
            }
        }
    };
    let process = &world.process;
    for node in 0..size.nodes {
        each(crashes, &|chance| {
            process.spawn(crash(Arc::clone(world), node, chance));
        });
        each(freezes, &|chance| {
            process.spawn(freeze(Arc::clone(world), node, chance));
        });
        each(shutdowns, &|chance| {
            process.spawn(shut_down(Arc::clone(world), node, chance));
        });
        each(jumps, &|chance| {
            process.spawn(jump(Arc::clone(world), node, chance));
        });
    }
    each(blackouts, &|chance| {
        process.spawn(blackout(Arc::clone(world), chance));
    });
    each(deletes, &|chance| {
        process.spawn(delete(Arc::clone(world), chance));
    });
}

/// Some moment before the healing.
async fn moment<K: Kind>(world: &World<K>, chance: &mut Chance) {
    let until = chance.between(Duration::ZERO, world.draws.size.duration);
    world.process.sleep(until).await;
}

async fn crash<K: Kind>(world: Arc<World<K>>, node: usize, mut chance: Chance) {
    moment(&world, &mut chance).await;
    if let Some(life) = world.up(node).map(|up| up.life) {
        world.crash(life);
    }
}

async fn blackout<K: Kind>(world: Arc<World<K>>, mut chance: Chance) {
    moment(&world, &mut chance).await;
    let lives = (0..world.draws.size.nodes).filter_map(|node| Some(world.up(node)?.life));
    let lives: Vec<_> = lives.collect();
    if !lives.is_empty() {
        world.met(Point::Blackout);
    }
    lives.into_iter().for_each(|life| world.crash(life));
}

async fn shut_down<K: Kind>(world: Arc<World<K>>, node: usize, mut chance: Chance) {
    moment(&world, &mut chance).await;
    if let Some(life) = world.up(node).map(|up| up.life) {
        world.shut_down(life).await;
    }
}

async fn jump<K: Kind>(world: Arc<World<K>>, node: usize, mut chance: Chance) {
    let most = chance.pick(&[100, 10_000, 3_600_000]);
    let by = chance.millis(1, most);
    moment(&world, &mut chance).await;
    if let Some(up) = world.up(node) {
        world.met(Point::ClockJump);
        world.tell(Event::ClockJumped { node, by });
        let now = world.process.now();
        world.note(up.life, |lived| lived.jumps.push((now, by)));
        up.process.jump(by);
    }
}

async fn delete<K: Kind>(world: Arc<World<K>>, mut chance: Chance) {
    let any = chance.below(u64::from(world.draws.size.keys)) as u32;
    let key = world.draws.deletes_of.unwrap_or(any);
    moment(&world, &mut chance).await;
    delete_now(&world, key);
}

/// Deletes a record, if it is there.
pub(crate) fn delete_now<K: Kind>(world: &World<K>, key: u32) {
    let empty = world.fold.empty(&world.key(key));
    let state = &mut *world.lock();
    if state.table.delete(key, empty, &world.policy) {
        world.weakened_if(world.policy.versions != Versions::GoOn);
        state.points.met(Point::Deleted);
        world.tell(Event::Deleted { key });
        state.history.log.push(Written {
            at: world.process.now(),
            key,
            by: None,
            what: What::Delete,
        });
    }
}

async fn freeze<K: Kind>(world: Arc<World<K>>, node: usize, mut chance: Chance) {
    let pause = chance.millis(10, AWAY_MAX_MILLIS);
    moment(&world, &mut chance).await;
    freeze_now(world, node, pause).await;
}

/// Freezes a node, if it is up, and thaws it after the pause.
pub(crate) async fn freeze_now<K: Kind>(world: Arc<World<K>>, node: usize, pause: Duration) {
    let Some(up) = world.up(node) else {
        return;
    };
    let (life, process) = (up.life, up.process);
    world.met(Point::Freeze);
    world.tell(Event::Frozen { node, pause });
    world.hold_up(life, &process);
    world.process.sleep(pause).await;
    world.let_go(life, &process);
    // It may have crashed, cold as it was. One that is to shut down is of the fleet no more, and has that to do.
    if world.lock().is_alive(life) || process.tasks() > 0 {
        world.tell(Event::Thawed { node });
    }
}

/// A node that is down comes back by and by.
pub(crate) fn restart_later<K: Kind>(world: &Arc<World<K>>, node: usize) {
    let mut state = world.lock();
    if state.script.is_some() {
        return;
    }
    let pause = (state.faults).of_node(node).millis(10, AWAY_MAX_MILLIS);
    drop(state);
    let again = Arc::clone(world);
    world.process.spawn(async move {
        again.process.sleep(pause).await;
        again.start(node);
    });
}

/// No fault comes from now on, and every node is up; but for what is broken for good.
pub(crate) fn heal<K: Kind>(world: &Arc<World<K>>) {
    let mut state = world.lock();
    state.is_healed = true;
    state.rates = state.rates.healed();
    if let Some(script) = &mut state.script {
        script.clear();
    }
    let broken = state.broken;
    drop(state);
    if broken != Broken::Nothing {
        world.met(Point::BrokenForGood);
    }
    let words = broken.words();
    world.tell(Event::Healed { broken: words });
    for node in 0..world.draws.size.nodes {
        match world.up(node) {
            Some(up) if broken == Broken::Node(node) => world.crash(up.life),
            Some(up) => world.let_go(up.life, &up.process),
            None => world.start(node),
        }
    }
}
