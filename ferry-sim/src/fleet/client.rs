//! Clients: they send an input to any node, the same again until they hear an answer, and some of them misbehave.

use core::time::Duration;
use std::sync::Arc;

use ferry_core::{Fold, Instant, drive::Runtime};
use futures_channel::oneshot;
use futures_lite::future::or;

use super::taking_in::{Request, Way};
use crate::{
    chance::Chance,
    event::Event,
    executor::Process,
    history::{Heard, HeardBy},
    kind::Kind,
    points::Point,
    sent::Quirk,
    swarm::{Rates, Routing},
    workload::{InputOf, Workload},
    world::World,
};

/// How long a client waits at most before its second attempt; it waits longer from one to the next, as clients should.
const PAUSE_MAX_MILLIS: u64 = 1_000;

/// How often that is doubled: not so often that none comes soon after the healing.
const PAUSES_DOUBLED: u32 = 4;

/// What a client is about to do.
#[derive(Debug)]
pub(super) struct Errand<W: Workload> {
    pub(super) key: u32,
    pub(super) number: u64,
    pub(super) content: Arc<InputOf<W>>,
    pub(super) quirk: Quirk,
    start: Duration,
    /// After so many attempts it gives up.
    attempts_max: u32,
    /// So long after it was answered it sends the input once more.
    again_after: Option<Duration>,
}

impl<W: Workload> Clone for Errand<W> {
    fn clone(&self) -> Self {
        Self {
            content: Arc::clone(&self.content),
            ..*self
        }
    }
}

/// Draws what the clients do, and lets them begin. Each has draws of its own, so that it can be left out.
pub(crate) fn begin<K: Kind>(world: &Arc<World<K>>, chance: &mut Chance) {
    // Well before the end, so that most of them meet the faults alone.
    let span = world.draws.size.duration.mul_f64(0.8);
    let bursts: Vec<_> = (0..8 * world.draws.size.times())
        .map(|_| chance.between(Duration::ZERO, span))
        .collect();
    let mut clients = Vec::new();
    for _ in 0..world.draws.size.inputs {
        let mut chance = chance.fork();
        if !chance.is_there() {
            continue;
        }
        let start = if chance.happens(world.draws.bursts) {
            chance.pick(&bursts) + chance.millis(0, 50)
        } else {
            chance.between(Duration::ZERO, span)
        };
        clients.push((start, chance));
    }
    clients.sort_by_key(|&(start, _)| start);
    for (number, (start, mut chance)) in (1..).zip(clients) {
        begin_one(world, number, start, &mut chance);
    }
}

/// Sends an input, and what else this client sends with the same id.
fn begin_one<K: Kind>(world: &Arc<World<K>>, number: u64, start: Duration, chance: &mut Chance) {
    let rates = world.draws.rates;
    let quirk = draw_quirk(&rates, chance);
    let gives_up = quirk != Quirk::None || chance.happens(rates.gives_up);
    let errand = Errand::<K::Load> {
        key: chance.below(u64::from(world.draws.keys_used)) as u32,
        number,
        content: Arc::new(world.load.input(number, chance)),
        quirk,
        start,
        attempts_max: if gives_up { 3 } else { u32::MAX },
        again_after: chance
            .happens(rates.late_retry)
            .then(|| chance.millis(1_000, 60_000)),
    };
    send(world, errand.clone(), chance);
    if chance.happens(rates.sent_twice) {
        world.met(Point::SentTwice);
        send(world, errand.clone(), chance);
    }
    let is_mistaken = chance.happens(rates.other_content);
    let other = is_mistaken.then(|| world.load.other_content(&errand.content));
    if let Some(other) = other.flatten() {
        let other = Errand {
            content: Arc::new(other),
            start: start + chance.millis(0, 30_000),
            ..errand
        };
        send(world, other, chance);
    }
}

fn draw_quirk(rates: &Rates, chance: &mut Chance) -> Quirk {
    if chance.happens(rates.poison) {
        Quirk::Poison
    } else if chance.happens(rates.panics) {
        Quirk::Panics
    } else if chance.happens(rates.slow_step) {
        Quirk::Slow(chance.millis(10, 500))
    } else if rates.startles > 0 && chance.happens(rates.startles) {
        Quirk::Startles(chance.pick(&[2, 3, 4, 5, 6]))
    } else {
        Quirk::None
    }
}

/// By which call of the handle an attempt hands its input in.
fn draw_way(rates: &Rates, chance: &mut Chance) -> Way {
    if rates.waits == 0 || !chance.happens(rates.waits) {
        return Way::AtOnce;
    }
    chance.pick(&[Way::WhenFree, Way::Reserving])
}

fn send<K: Kind>(world: &Arc<World<K>>, errand: Errand<K::Load>, chance: &mut Chance) {
    // Nobody sends what is too heavy to go at all.
    if world.fold.weight(&errand.content) > world.draws.limits.max_weight {
        return;
    }
    let mut state = world.lock();
    let client = state.waiting.len() as u64;
    state.waiting.insert(client, (errand.number, errand.key));
    drop(state);
    let running = run(Arc::clone(world), client, errand, chance.fork());
    world.process.spawn(running);
}

async fn run<K: Kind>(
    world: Arc<World<K>>,
    client: u64,
    errand: Errand<K::Load>,
    mut chance: Chance,
) {
    world.process.sleep(errand.start).await;
    until_answered(&world, &errand, &mut chance).await;
    let again = Instant::EPOCH + world.draws.size.duration;
    let again = errand
        .again_after
        .filter(|pause| world.process.now() + *pause < again);
    if let Some(pause) = again {
        world.process.sleep(pause).await;
        world.met(Point::RepeatedLate);
        until_answered(&world, &errand, &mut chance).await;
    }
    world.lock().waiting.remove(&client);
}

async fn until_answered<K: Kind>(
    world: &Arc<World<K>>,
    errand: &Errand<K::Load>,
    chance: &mut Chance,
) {
    let mut attempts = 0;
    loop {
        let heard = attempt(world, errand, chance).await;
        if matches!(heard, Some(Heard::Outcome(..))) {
            return;
        }
        attempts += 1;
        // A key that is broken for good has no better answer for anybody.
        let is_hopeless = world.is_hopeless(errand.key);
        if attempts >= errand.attempts_max || is_hopeless {
            let number = errand.number;
            world.tell(Event::GaveUp { number });
            world.met(Point::GaveUp);
            return;
        }
        world.met(Point::Repeated);
        // Everyone is to be answered soon once the world is healthy, whichever node is not there still.
        let doubled = if world.lock().is_healed {
            0
        } else {
            attempts.min(PAUSES_DOUBLED)
        };
        let pause_max = PAUSE_MAX_MILLIS << doubled;
        world.process.sleep(chance.millis(1, pause_max)).await;
    }
}

/// Sends the input to a node, and waits as long as the client's patience lasts.
async fn attempt<K: Kind>(
    world: &Arc<World<K>>,
    errand: &Errand<K::Load>,
    chance: &mut Chance,
) -> Option<HeardBy<K::Load>> {
    let (rates, latency) = {
        let mut state = world.lock();
        (state.rates, state.latency(chance))
    };
    world.process.sleep(latency).await;
    let node = route(world, errand.key, chance);
    let Some(up) = world.up(node) else {
        let number = errand.number;
        world.tell(Event::Unreachable { node, number });
        world.met(Point::Unreachable);
        return None;
    };
    let is_impatient = chance.happens(rates.impatient);
    let patience = if is_impatient {
        chance.millis(0, 100)
    } else if world.is_stuck(errand.key) {
        Duration::from_secs(24 * 3_600)
    } else {
        chance.millis(5_000, 10_000)
    };
    let deadline_max = world.draws.deadline_max_millis;
    let within = (chance.happens(rates.deadline)).then(|| chance.millis(0, deadline_max));
    let way = draw_way(&rates, chance);
    // A caller in the node's own process outlives its tasks, and hears what becomes of them.
    let is_embedded = chance.happens(rates.embedded);
    let home: Process = if is_embedded {
        world.process.clone()
    } else {
        up.process.clone()
    };
    let drops_its_future = chance.happens(5_000);
    let (reply, heard) = oneshot::channel();
    let request = Request {
        errand: errand.clone(),
        within,
        way,
        drops_its_future,
    };
    home.spawn(Arc::clone(world).taken_in(up, request, reply));
    let answer = async { heard.await.ok() };
    let gone = async {
        world.process.sleep(patience).await;
        None
    };
    or(answer, gone).await
}

impl<K: Kind> World<K> {
    /// Whether no input to this key will ever be committed.
    fn is_hopeless(&self, key: u32) -> bool {
        let state = self.lock();
        state.is_healed && state.is_broken(key, true)
    }

    /// Whether whoever is to be answered at this key has to wait until the tries of many batches are exhausted.
    fn is_stuck(&self, key: u32) -> bool {
        self.lock().is_healed && self.draws.broken.key() == Some(key)
    }
}

/// Which node a client goes to.
fn route<K: Kind>(world: &World<K>, key: u32, chance: &mut Chance) -> usize {
    let state = &mut *world.lock();
    let nodes = state.nodes.len();
    let at_home = key as usize % nodes;
    if chance.happens(state.rates.misrouted) {
        state.points.met(Point::Misrouted);
        return chance.index(nodes);
    }
    match world.draws.routing {
        Routing::Random => chance.index(nodes),
        Routing::TwoOwners => (at_home + chance.index(2)) % nodes,
        Routing::Rendezvous => {
            // The first of the key's own order of nodes that is up.
            let own_order = (0..nodes).map(|nth| (at_home + nth) % nodes);
            let mut up = own_order.filter(|&node| state.nodes[node].is_up());
            up.next().unwrap_or(at_home)
        }
    }
}
