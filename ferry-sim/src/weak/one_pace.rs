//! A sweeper whose pauses do not grow.

use std::sync::Arc;

use ferry_core::{Retry, drive::Runtime};
use futures_channel::oneshot;
use futures_lite::future::or;

use crate::{fleet::Up, kind::Projected, workload::ProjectedWorkload, world::World};

/// Tries whatever is pending, turn after turn, until it is dropped.
#[derive(Debug)]
pub(crate) struct OnePace {
    _stops_when_dropped: oneshot::Sender<()>,
}

impl OnePace {
    pub(crate) fn start<W: ProjectedWorkload>(
        world: &Arc<World<Projected<W>>>,
        up: &Up<Projected<W>>,
    ) -> Self {
        let (stop, mut stopped) = oneshot::channel::<()>();
        let (world, ferry, process) = (Arc::clone(world), up.ferry.clone(), up.process.clone());
        let (every, _) = world.draws.sweeps;
        let life = up.life;
        up.process.spawn(async move {
            let once = Retry {
                attempts: 1,
                ..Retry::default()
            };
            loop {
                let rested = async {
                    process.sleep(every).await;
                    true
                };
                let is_stopped = async {
                    let _dropped = (&mut stopped).await;
                    false
                };
                if !or(rested, is_stopped).await {
                    return;
                }
                if let Ok(keys) = Arc::clone(&world).pending(life).await {
                    world.weakened_if(!keys.is_empty());
                    // Whatever came of it, the store tells.
                    let _report = ferry.sweep(keys).retry(once).await;
                }
            }
        });
        Self {
            _stops_when_dropped: stop,
        }
    }
}
