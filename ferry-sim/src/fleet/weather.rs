//! What comes over nodes: crashes, restarts and freezes, and at last the healing.

use std::sync::Arc;

use ferry_core::drive::Runtime;

use crate::{chance::Stream, event::Event, points::Point, world::World};

/// How long a node is down, or frozen, at most.
const AWAY_MAX_MILLIS: u64 = 20_000;

/// Draws when each node crashes and freezes.
pub(crate) fn brew(world: &Arc<World>, chance: &mut Stream) {
    for node in 0..world.draws.size.nodes {
        for _ in 0..world.draws.crashes {
            world
                .process
                .spawn(crash(Arc::clone(world), node, chance.fork()));
        }
        for _ in 0..world.draws.freezes {
            world
                .process
                .spawn(freeze(Arc::clone(world), node, chance.fork()));
        }
    }
}

async fn crash(world: Arc<World>, node: usize, mut chance: Stream) {
    let until = chance.between(core::time::Duration::ZERO, world.draws.size.duration);
    world.process.sleep(until).await;
    if let Some(up) = world.up(node) {
        let life = up.life;
        drop(up);
        world.crash(life);
    }
}

async fn freeze(world: Arc<World>, node: usize, mut chance: Stream) {
    let pause = chance.millis(10, AWAY_MAX_MILLIS);
    let begin = chance.between(core::time::Duration::ZERO, world.draws.size.duration);
    world.process.sleep(begin).await;
    let Some(process) = world.up(node).map(|up| up.process) else {
        return;
    };
    world.met(Point::Freeze);
    world.tell(Event::Frozen { node, pause });
    process.freeze();
    world.process.sleep(pause).await;
    world.tell(Event::Thawed { node });
    process.thaw();
}

/// A node that is down comes back by and by.
pub(crate) fn restart_later(world: &Arc<World>, node: usize) {
    let pause = world.lock().faults.millis(10, AWAY_MAX_MILLIS);
    let again = Arc::clone(world);
    world.process.spawn(async move {
        again.process.sleep(pause).await;
        again.start(node);
    });
}

/// No fault comes from now on, and every node is up.
pub(crate) fn heal(world: &Arc<World>) {
    world.tell(Event::Healed);
    let mut state = world.lock();
    state.rates = state.rates.healed();
    drop(state);
    for node in 0..world.draws.size.nodes {
        match world.up(node) {
            Some(up) => up.process.thaw(),
            None => world.start(node),
        }
    }
}
