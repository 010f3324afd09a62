//! What is in front of a write: the handle, or what takes its place.

use core::{fmt, pin::Pin, time::Duration};
use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

use ferry_core::drive::{Builder, Carries, Ferry, Runtime, Stats, Submission};

use super::{callers::Callers, trip::Trips};
use crate::{
    executor::Process,
    fleet::Up,
    history::{Heard, HeardBy, Life, Why},
    kind::Kind,
    policy::{Front, Places, Resuming},
    sent::{Carried, Held, Sent},
    store::SimStore,
    workload::Workload,
    world::World,
};

/// What a node has beside its handle, where a safeguard is left out.
pub(crate) struct Aside<K: Kind> {
    /// Takes every other input, or whatever is resumed.
    second: Option<Ferry<K::Carries>>,
    callers: Option<Arc<Callers<K>>>,
    turns: AtomicUsize,
    /// Callers that wait for their answers, or are thought to.
    places: Arc<AtomicUsize>,
}

/// An answer that is waited for.
pub(crate) type Awaited<K> = Pin<Box<dyn Future<Output = HeardBy<<K as Kind>::Load>> + Send>>;

/// A caller's place in the queue.
struct Place<K: Kind> {
    places: Arc<AtomicUsize>,
    /// Where it is kept by those who do not wait for their answer.
    kept_in: Option<Arc<World<K>>>,
}

impl<K: Kind> Place<K> {
    /// Its caller has heard.
    fn leave(mut self) {
        self.kept_in = None;
    }
}

impl<K: Kind> Drop for Place<K> {
    fn drop(&mut self) {
        match self.kept_in.take() {
            Some(world) => world.weakened(),
            None => {
                self.places.fetch_sub(1, Relaxed);
            }
        }
    }
}

impl<K: Kind> Aside<K> {
    pub(crate) fn new(world: &Arc<World<K>>, life: Life, process: &Process) -> Self {
        let second = match (world.policy.front, world.policy.resuming) {
            (Front::TwoHandles, _) => Some(world.handle(life, process, |store| store)),
            (_, Resuming::Unfenced) => Some(world.handle(life, process, SimStore::unfenced)),
            _ => None,
        };
        let callers = match world.policy.front {
            Front::CarriedByTask | Front::CarriedByCaller => {
                let store = SimStore::new(Arc::clone(world), life, process.clone());
                let trips = Trips::new(world.carried(life), store);
                Some(Arc::new(Callers::new(trips)))
            }
            Front::OneHandle | Front::TwoHandles | Front::NoBatches => None,
        };
        Self {
            second,
            callers,
            turns: AtomicUsize::new(0),
            places: Arc::default(),
        }
    }
}

impl<K: Kind> World<K> {
    /// The fold, as a life of a node runs it.
    fn carried(self: &Arc<Self>, life: Life) -> Carried<K> {
        let stalled = Arc::downgrade(self);
        Carried {
            fold: self.load.fold(),
            stall: Box::new(move |pause| {
                if let Some(world) = stalled.upgrade() {
                    world.stall(life, pause);
                }
            }),
        }
    }

    /// A handle for a life of a node.
    pub(crate) fn handle(
        self: &Arc<Self>,
        life: Life,
        process: &Process,
        store: impl FnOnce(SimStore<K>) -> SimStore<K>,
    ) -> Ferry<K::Carries> {
        let store = store(SimStore::new(Arc::clone(self), life, process.clone()));
        let seed = self.lock().jitter.next();
        let settings = self.policy.settings;
        let (limits, retry) = (
            settings.limits(self.draws.limits),
            settings.retry(self.draws.retry),
        );
        self.weakened_if((limits, retry) != (self.draws.limits, self.draws.retry));
        // One shard: keys are spread over shards by a hash that differs from run to run.
        let builder = Builder::on(process.clone())
            .limits(limits)
            .retry(retry)
            .seed(seed)
            .shards(1);
        match K::build(builder, self.carried(life), store) {
            Ok(ferry) => ferry,
            Err(invalid) => unreachable!("a draw of settings makes sense: {invalid}"),
        }
    }
}

type SubmissionOf<K> =
    Submission<<<K as Kind>::Carries as Carries>::Answer, <<K as Kind>::Carries as Carries>::Error>;

/// Room in a node that is kept for one input.
pub(crate) type Kept<K> = ferry_core::drive::Place<<K as Kind>::Carries>;

fn heard<K: Kind>(answer: SubmissionOf<K>) -> Awaited<K> {
    Box::pin(async move { K::heard(answer.await) })
}

/// Takes an input in where room is kept for it; `None`: it is rejected.
pub(crate) fn submit_on<K: Kind>(
    kept: Kept<K>,
    world: &World<K>,
    key: u32,
    sent: Sent<K::Load>,
    within: Option<Duration>,
) -> Option<Awaited<K>> {
    let (key, held) = (world.key(key), Held::new(sent, world.process.clone()));
    let submitted = match within {
        Some(asked) => {
            let within = world.policy.settings.within(asked);
            world.weakened_if(within != asked);
            kept.submit_within(key, held, within)
        }
        None => kept.submit(key, held),
    };
    Some(heard::<K>(submitted.ok()?))
}

impl<K: Kind> Up<K> {
    /// Takes in an input; `None`: it is rejected.
    pub(crate) fn submit(
        &self,
        world: &Arc<World<K>>,
        key: u32,
        sent: Sent<K::Load>,
        within: Option<Duration>,
    ) -> Option<Awaited<K>> {
        let places = &self.aside.places;
        let is_kept = world.policy.places == Places::KeptWhenDropped;
        if is_kept && places.load(Relaxed) >= world.draws.limits.max_queueing {
            return None;
        }
        let answer = match &self.aside.callers {
            None => self.handed(world, key, sent, within)?,
            Some(callers) => self.carried_by_callers(world, callers, key, sent),
        };
        places.fetch_add(1, Relaxed);
        let place = Place {
            places: Arc::clone(places),
            kept_in: is_kept.then(|| Arc::clone(world)),
        };
        Some(Box::pin(async move {
            let heard = answer.await;
            place.leave();
            heard
        }))
    }

    fn handed(
        &self,
        world: &Arc<World<K>>,
        key: u32,
        sent: Sent<K::Load>,
        within: Option<Duration>,
    ) -> Option<Awaited<K>> {
        let own;
        let ferry = match (world.policy.front, &self.aside.second) {
            (Front::TwoHandles, Some(second))
                if self.aside.turns.fetch_add(1, Relaxed) % 2 == 1 =>
            {
                world.weakened();
                second
            }
            (Front::NoBatches, _) => {
                world.weakened();
                own = world.handle(self.life, &self.process, |store| store);
                &own
            }
            _ => &self.ferry,
        };
        let (key, held) = (world.key(key), Held::new(sent, world.process.clone()));
        let submitted = match within {
            Some(asked) => {
                let within = world.policy.settings.within(asked);
                world.weakened_if(within != asked);
                ferry.submit_within(key, held, within)
            }
            None => ferry.submit(key, held),
        };
        Some(heard::<K>(submitted.ok()?))
    }

    /// Whether there is a handle in front, and nothing beside it, so that a caller can wait for room.
    pub(crate) fn can_wait(&self, world: &World<K>) -> bool {
        let policy = &world.policy;
        policy.front == Front::OneHandle && policy.places == Places::Returned
    }

    /// Waits for room, and has it kept; `None`: the node takes in no more.
    pub(crate) fn reserve(&self) -> impl Future<Output = Option<Kept<K>>> + Send + use<K> {
        let reserving = self.ferry.reserve();
        async move { reserving.await.ok() }
    }

    /// Waits for room, and takes the input in; `None`: it is rejected.
    pub(crate) fn submit_when_free(
        &self,
        world: &World<K>,
        key: u32,
        held: Held<K::Load>,
    ) -> impl Future<Output = Option<Awaited<K>>> + Send + use<K> {
        let submitting = self.ferry.submit_when_free(world.key(key), held);
        async move { Some(heard::<K>(submitting.await.ok()?)) }
    }

    fn carried_by_callers(
        &self,
        world: &Arc<World<K>>,
        callers: &Arc<Callers<K>>,
        key: u32,
        sent: Sent<K::Load>,
    ) -> Awaited<K> {
        let (heard, is_first) = callers.join(key, sent);
        let mut carrying = is_first.then(|| Arc::clone(callers).carry(Arc::clone(world), key));
        if world.policy.front == Front::CarriedByTask {
            if let Some(carrying) = carrying.take() {
                self.process.spawn(carrying);
            }
        }
        Box::pin(async move {
            if let Some(carrying) = carrying {
                carrying.await;
            }
            heard.await.unwrap_or(Heard::InDoubt(Why::Abandoned))
        })
    }

    /// The handle by which keys are resumed.
    pub(crate) fn resumer(&self) -> &Ferry<K::Carries> {
        self.aside.second.as_ref().unwrap_or(&self.ferry)
    }

    pub(crate) fn stats(&self) -> Stats {
        let mut stats = self.ferry.stats();
        if let Some(second) = &self.aside.second {
            let second = second.stats();
            stats.waiting += second.waiting;
            stats.queueing += second.queueing;
            stats.batches_in_flight += second.batches_in_flight;
            stats.keys += second.keys;
        }
        if let Some(callers) = &self.aside.callers {
            stats.waiting += callers.waiting();
        }
        stats.queueing = stats.queueing.max(self.aside.places.load(Relaxed));
        stats
    }

    /// Takes in no more, and completes once what there is is carried.
    pub(crate) fn close(&self) -> impl Future<Output = ()> + Send + use<K> {
        let first = self.ferry.close();
        let second = self.aside.second.as_ref().map(Ferry::close);
        async move {
            first.await;
            if let Some(second) = second {
                second.await;
            }
        }
    }
}

impl<K: Kind> fmt::Debug for Aside<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Aside")
    }
}
