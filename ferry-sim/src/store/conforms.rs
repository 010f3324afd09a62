//! The simulated store keeps the contract that real ones have to keep, and without a safeguard it does not.

use core::{
    num::NonZeroUsize,
    pin::pin,
    task::{Context, Poll},
    time::Duration,
};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    task::Waker,
};

use ferry_core::drive::Runtime;

use super::{Layout, SimStore};
use crate::{
    chance::Streams,
    conformance::{Deletion, ProjectedSubject, Report, Subject, check_projected_store},
    executor::Executor,
    fleet::weather,
    history::{Life, SubmissionId, What},
    kind::Projected,
    policy::{Fence, MarkerOnCommit, Policy, ProjectionFence, Reading, Telling, Versions},
    purses::{Amount, Purse, Purses},
    sent::{Carried, Held, Quirk, Sent},
    swarm::{Draws, Size},
    trace::{Keep, Trace},
    world::World,
};

type Kind = Projected<Purses>;

/// As many as the kit asks for at once, and those before them.
const IDS: NonZeroUsize = NonZeroUsize::new(1_024).unwrap();

/// More than the kit uses.
const KEYS: u32 = 1_000;

struct Simulated {
    world: Arc<World<Kind>>,
    fold: Carried<Kind>,
    keys: AtomicU32,
    submissions: AtomicU64,
}

impl Subject for Simulated {
    type Fold = Carried<Kind>;
    type Store = SimStore<Kind>;

    fn fold(&self) -> &Carried<Kind> {
        &self.fold
    }

    async fn open(&self) -> SimStore<Kind> {
        let life = Life { node: 0, nth: 1 };
        SimStore::new(Arc::clone(&self.world), life, self.world.process.another())
    }

    fn fresh_key(&self) -> u32 {
        self.keys.fetch_add(1, Relaxed)
    }

    fn input(&self, number: u32) -> Held<Purses> {
        let (id, cents) = (u64::from(number), i64::from(number));
        let sent = Sent {
            number: id,
            content: Arc::new(Amount { id, cents }),
            submission: SubmissionId(self.submissions.fetch_add(1, Relaxed)),
            quirk: Quirk::None,
        };
        Held::new(sent, self.world.process.clone())
    }

    fn is_same(&self, read: &Purse, committed: &Purse) -> bool {
        read.standing == committed.standing
    }

    async fn delete(&self, _: &SimStore<Kind>, key: &u32) -> Deletion {
        weather::delete_now(&self.world, *key);
        Deletion::Done
    }

    async fn pause(&self) {
        self.world.process.sleep(Duration::from_millis(1)).await;
    }
}

impl ProjectedSubject for Simulated {
    type Picture = Vec<u64>;

    async fn shown(&self, _: &SimStore<Kind>, key: &u32) -> Vec<u64> {
        let state = self.world.lock();
        let (mut entries, mut view) = (Vec::new(), Vec::new());
        for written in state
            .history
            .log
            .iter()
            .filter(|written| written.key == *key)
        {
            match &written.what {
                What::Commit(added) => entries.extend(added.iter().map(|sent| sent.number)),
                What::Delete => {
                    entries.clear();
                    view.clear();
                }
                &What::Show {
                    from,
                    to,
                    is_by_position,
                } => {
                    let from = if is_by_position {
                        from.max(view.len())
                    } else {
                        from
                    };
                    view.extend(entries.get(from..to).unwrap_or_default());
                }
                What::ShowInstead(to) => view = entries.get(..*to).unwrap_or_default().to_vec(),
                What::Mark(_) => {}
            }
        }
        view
    }

    async fn finds_pending(&self, _: &SimStore<Kind>, key: &u32) -> Option<bool> {
        let pending = self.world.lock().table.pending(&self.world.fold);
        Some(pending.contains(key))
    }

    fn picture(&self, applied: &[u32]) -> Vec<u64> {
        applied.iter().copied().map(u64::from).collect()
    }
}

fn checked(layout: Layout, policy: Policy) -> Report {
    let Streams {
        faults,
        jitter,
        schedule,
        ..
    } = Streams::of(1, None);
    let executor = Executor::with(schedule, Trace::new(Keep::Nothing));
    let size = Size {
        keys: KEYS,
        ..Size::default()
    };
    let draws = Draws {
        layout,
        ..Draws::still(size)
    };
    let load = Purses::default().remembering(IDS);
    let subject = Simulated {
        world: World::new(
            executor.process(),
            draws,
            policy,
            load.clone(),
            faults,
            jitter,
        ),
        fold: Carried {
            fold: load,
            stall: Box::new(|_| ()),
        },
        keys: AtomicU32::new(0),
        submissions: AtomicU64::new(0),
    };
    let mut checking = pin!(check_projected_store(&subject));
    let mut cx = Context::from_waker(Waker::noop());
    loop {
        if let Poll::Ready(report) = checking.as_mut().poll(&mut cx) {
            return report;
        }
        let _moved = executor.run_until(subject.world.process.now() + Duration::from_millis(1));
    }
}

#[test]
fn the_simulated_store_keeps_its_contract() {
    for layout in [Layout::Together, Layout::Apart] {
        checked(layout, Policy::WHOLE).assert_held();
    }
}

#[test]
fn without_a_safeguard_it_does_not() {
    let whole = Policy::WHOLE;
    let weak = [
        Policy {
            fence: Fence::Ignored,
            ..whole
        },
        Policy {
            reading: Reading::Stale,
            ..whole
        },
        Policy {
            versions: Versions::Restart,
            ..whole
        },
        Policy {
            projection_fence: ProjectionFence::Ignored,
            ..whole
        },
        Policy {
            projection_fence: ProjectionFence::MarkerAlone,
            ..whole
        },
        Policy {
            projection_fence: ProjectionFence::VersionAlone,
            ..whole
        },
        Policy {
            marker_on_commit: MarkerOnCommit::AsItWasRead,
            ..whole
        },
        Policy {
            telling: Telling::AtCommit,
            ..whole
        },
    ];
    for policy in weak {
        let report = checked(Layout::Together, policy);
        assert!(report.broken().next().is_some(), "{policy:?}\n{report}");
    }
}
