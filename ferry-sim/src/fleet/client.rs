//! Clients: they send an input to any node, the same again until they hear an answer, and some of them misbehave.

use core::time::Duration;
use std::sync::Arc;

use ferry_core::{drive::Runtime, per_key::Rejected};
use futures_channel::oneshot;
use futures_lite::future::or;

use super::Up;
use crate::{
    chance::Stream,
    event::Event,
    executor::Process,
    fold::Input,
    history::{Answer, Ask},
    points::Point,
    swarm::Routing,
    world::World,
};

/// What a client is about to do.
#[derive(Clone, Copy, Debug)]
struct Errand {
    ask: Ask,
    is_poison: bool,
    start: Duration,
    /// After so many attempts it gives up.
    attempts_max: u32,
}

/// Draws what the clients do, and lets them begin.
pub(crate) fn begin(world: &Arc<World>, chance: &mut Stream) {
    let size = world.draws.size;
    // They begin well before the end, so that most of them meet the faults alone.
    let span = size.duration.mul_f64(0.8);
    let bursts: Vec<_> = (0..8)
        .map(|_| chance.between(Duration::ZERO, span))
        .collect();
    for id in 1..=size.inputs {
        let rates = world.draws.rates;
        let start = if chance.happens(world.draws.bursts) {
            chance.pick(&bursts) + chance.millis(0, 50)
        } else {
            chance.between(Duration::ZERO, span)
        };
        let key = chance.below(u64::from(size.keys)) as u32;
        let cents = chance.below(160) as i64 - 50;
        let is_poison = chance.happens(rates.poison);
        let gives_up = is_poison || chance.happens(rates.gives_up);
        let errand = Errand {
            ask: Ask { key, id, cents },
            is_poison,
            start,
            attempts_max: if gives_up { 3 } else { u32::MAX },
        };
        send(world, errand, chance);
        if chance.happens(rates.sent_twice) {
            world.met(Point::SentTwice);
            send(world, errand, chance);
        }
        if chance.happens(rates.other_content) {
            let ask = Ask {
                cents: cents + 1,
                ..errand.ask
            };
            let start = start + chance.millis(0, 30_000);
            send(
                world,
                Errand {
                    ask,
                    start,
                    ..errand
                },
                chance,
            );
        }
    }
}

fn send(world: &Arc<World>, errand: Errand, chance: &mut Stream) {
    let mut state = world.lock();
    let client = state.waiting.len() as u64;
    state.waiting.insert(client, errand.ask.id);
    drop(state);
    let running = run(Arc::clone(world), client, errand, chance.fork());
    world.process.spawn(running);
}

async fn run(world: Arc<World>, client: u64, errand: Errand, mut chance: Stream) {
    world.process.sleep(errand.start).await;
    let mut attempts = 0;
    loop {
        let heard = attempt(&world, errand, &mut chance).await;
        if matches!(heard, Some(Answer::Outcome(_))) {
            break;
        }
        attempts += 1;
        if attempts >= errand.attempts_max {
            world.tell(Event::GaveUp { id: errand.ask.id });
            world.met(Point::GaveUp);
            break;
        }
        world.met(Point::Repeated);
        world.process.sleep(chance.millis(1, 2_000)).await;
    }
    world.lock().waiting.remove(&client);
}

/// Sends the input to a node, and waits as long as the client's patience lasts.
async fn attempt(world: &Arc<World>, errand: Errand, chance: &mut Stream) -> Option<Answer> {
    let (rates, latency) = {
        let mut state = world.lock();
        (state.rates, state.latency())
    };
    world.process.sleep(latency).await;
    let node = route(world, errand.ask.key, chance);
    let Some(up) = world.up(node) else {
        let id = errand.ask.id;
        world.tell(Event::Unreachable { node, id });
        world.met(Point::Unreachable);
        return None;
    };
    let is_impatient = chance.happens(rates.impatient);
    let patience = if is_impatient {
        chance.millis(0, 100)
    } else {
        chance.millis(5_000, 10_000)
    };
    let within = (chance.happens(rates.deadline)).then(|| chance.millis(0, 2_000));
    // A caller in the node's own process outlives its tasks, and hears what becomes of them.
    let is_embedded = chance.happens(rates.embedded);
    let home: Process = if is_embedded {
        world.process.clone()
    } else {
        up.process.clone()
    };
    let drops_its_future = chance.happens(5_000);
    let (reply, heard) = oneshot::channel();
    let taken_in = Arc::clone(world).taken_in(up, errand, within, reply, drops_its_future);
    home.spawn(taken_in);
    let answer = async { heard.await.ok() };
    let gone = async {
        world.process.sleep(patience).await;
        None
    };
    or(answer, gone).await
}

impl World {
    /// What a node does with a request.
    async fn taken_in(
        self: Arc<Self>,
        up: Up,
        errand: Errand,
        within: Option<Duration>,
        mut reply: oneshot::Sender<Answer>,
        drops_its_future: bool,
    ) {
        let Errand { ask, is_poison, .. } = errand;
        let submission = self.submitted(up.life, ask);
        let input = Input {
            id: ask.id,
            cents: ask.cents,
            submission,
            is_poison,
        };
        let submitted = match within {
            Some(within) => up.ferry.submit_within(ask.key, input, within),
            None => up.ferry.submit(ask.key, input),
        };
        drop(up);
        let answer = match submitted {
            Err(Rejected { .. }) => Some(Answer::Rejected),
            Ok(answer) if drops_its_future => {
                let answer = async { Some(Answer::from(answer.await)) };
                let gone = async {
                    reply.cancellation().await;
                    None
                };
                or(answer, gone).await
            }
            Ok(answer) => Some(Answer::from(answer.await)),
        };
        match answer {
            Some(answer) => {
                self.answered(submission, answer);
                // Its client may have gone.
                let _heard = reply.send(answer);
            }
            None => {
                self.tell(Event::Deserted { submission });
                self.met(Point::Deserted);
            }
        }
    }
}

/// Which node a client goes to.
fn route(world: &World, key: u32, chance: &mut Stream) -> usize {
    let state = world.lock();
    let nodes = state.nodes.len();
    let at_home = key as usize % nodes;
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
