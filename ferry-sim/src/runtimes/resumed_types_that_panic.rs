//! Keys and errors whose own code panics while a key is resumed: who asked hears, nobody else does, and the
//! key can be resumed after.

use std::{
    fmt,
    future::ready,
    hash::{Hash, Hasher},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering::SeqCst},
    },
    time::Duration,
};

use ferry_core::{
    Cause, Class, Commit, CommitError, Coverage, Fault, Fold, ProjectResult, Projection, RecordOf,
    Schema, Step, StepOf,
    drive::{ProjectedStore, ResumeError, Runtime, Schedule, Store},
    projected_write::resume::Resumed,
};

use super::{
    bank::deposit,
    gallery::{Gallery, Numbered},
    host::*,
    mishap::Trouble,
    projecting::projected,
    walls::Pictures,
    writes::at_once,
};

/// Which of its uses a key panics at, counted down.
#[derive(Default)]
pub struct Fuse {
    clone: AtomicU32,
    hash: AtomicU32,
    eq: AtomicU32,
    drop: AtomicU32,
}

impl Fuse {
    /// Of these uses, the n-th panics.
    fn light(&self, which: Which, uses: u32) {
        which(self).store(uses, SeqCst);
    }

    fn put_out(&self) {
        for which in WHICH {
            which(self).store(0, SeqCst);
        }
    }
}

type Which = fn(&Fuse) -> &AtomicU32;

const WHICH: [Which; 4] = [
    |fuse| &fuse.clone,
    |fuse| &fuse.hash,
    |fuse| &fuse.eq,
    |fuse| &fuse.drop,
];

fn burn(fuse: &AtomicU32) {
    let left = fuse.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1));
    assert_ne!(left, Ok(1), "a key panics");
}

pub struct Key {
    number: u64,
    fuse: Arc<Fuse>,
}

impl Clone for Key {
    fn clone(&self) -> Self {
        burn(&self.fuse.clone);
        let fuse = self.fuse.clone();
        Self { fuse, ..*self }
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        burn(&self.fuse.hash);
        self.number.hash(state);
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        burn(&self.fuse.eq);
        self.number == other.number
    }
}

impl Eq for Key {}

impl Drop for Key {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            burn(&self.fuse.drop);
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number.fmt(f)
    }
}

impl Numbered for Key {
    fn number(&self) -> u64 {
        self.number
    }
}

pub fn a_key_that_panics_at_any_use_costs_who_asked_for_it_alone<H: Host>(host: H) {
    for which in WHICH {
        // Beyond any number of times that a resume could want it.
        for uses in 1..=12 {
            for is_beside_another in [false, true] {
                resume_with_a_fuse(&host, which, uses, is_beside_another);
            }
        }
    }
}

fn resume_with_a_fuse<H: Host>(host: &H, which: Which, uses: u32, is_beside_another: bool) {
    let gallery = Gallery::new();
    let builder = host.builder().retry(at_once(4));
    let curator = builder
        .projected_write(Pictures::new(), gallery.clone())
        .unwrap();
    let fuse = Arc::<Fuse>::default();
    let key = || Key {
        number: 7,
        fuse: fuse.clone(),
    };
    let (one, other) = (key(), key());
    host.run(async {
        gallery.walls.owe(7, deposit(1, 1));
        let mut asked = Vec::new();
        if is_beside_another {
            gallery.way.before_read.close();
            asked.push(curator.resume(&one));
            gallery.way.before_read.reached(1).await;
        }
        fuse.light(which, uses);
        asked.extend(catch_unwind(AssertUnwindSafe(|| curator.resume(&other))));
        gallery.way.before_read.open();
        for resume in asked {
            match resume.await {
                Ok(_) | Err(ResumeError::StillPending(Cause::Panicked(_))) => {}
                Err(error) => panic!("{error:?}"),
            }
        }
        fuse.put_out();
        let _heard = curator.resume(&one).await.unwrap();
        gallery.walls.assert_all_is_shown();
        projected(curator.submit(key(), deposit(2, 1)).unwrap().await.unwrap());
        curator.close().await;
        assert_nothing_is_left(&curator);
    });
}

pub fn a_key_that_panics_costs_a_sweeper_no_more_than_a_turn<H: Host>(host: H) {
    for which in WHICH {
        for uses in 1..=20 {
            sweep_with_a_fuse(&host, which, uses);
        }
    }
}

fn sweep_with_a_fuse<H: Host>(host: &H, which: Which, uses: u32) {
    let gallery = Gallery::new();
    let builder = host.builder().retry(at_once(4));
    let curator = builder
        .projected_write(Pictures::new(), gallery.clone())
        .unwrap();
    let fuse = Arc::<Fuse>::default();
    let every = Duration::from_millis(1);
    let schedule = Schedule {
        every,
        pause_max: every,
        ..Schedule::default()
    };
    host.run(async {
        let (walls, of_keys) = (gallery.walls.clone(), fuse.clone());
        let query = move || {
            let key = |number| Key {
                number,
                fuse: of_keys.clone(),
            };
            ready(Ok::<Vec<_>, Trouble>(
                walls.pending().into_iter().map(key).collect(),
            ))
        };
        let sweeper = curator.sweeper(schedule, query).unwrap();
        fuse.light(which, uses);
        for room in 0..4 {
            gallery.walls.owe(room, deposit(1, 1));
        }
        while !gallery.walls.pending().is_empty() {
            host.runtime().sleep(every).await;
        }
        fuse.put_out();
        let turns = sweeper.health().turns;
        while sweeper.health().turns < turns + 2 {
            host.runtime().sleep(every).await;
        }
        let health = sweeper.health();
        assert!(health.is_running);
        assert_eq!((health.pending, health.oldest_debt), (0, None));
        sweeper.close().await;
        curator.close().await;
    });
}

/// Panics when it is dropped.
#[derive(Debug, PartialEq)]
struct Explosive;

impl Drop for Explosive {
    fn drop(&mut self) {
        panic!("an error panics");
    }
}

/// A store whose every error is explosive, and that knows nothing else.
struct Mine;

impl Schema for Mine {
    type Key = u64;
    type Id = u64;
    type State = ();
    type Version = u64;
    type Entry = ();
    type Error = Explosive;
}

impl Store for Mine {
    async fn read(
        &self,
        &key: &u64,
        _: &[u64],
    ) -> Result<Option<RecordOf<Self>>, Fault<Explosive>> {
        match key {
            0 => Ok(None),
            _ => Err(Fault {
                error: Explosive,
                class: Class::Permanent,
            }),
        }
    }

    async fn commit(&self, _: &u64, _: Commit<'_, Self>) -> Result<u64, CommitError<Explosive>> {
        Ok(1)
    }
}

impl ProjectedStore for Mine {
    type View = ();

    async fn project(&self, _: &u64, _: &RecordOf<Self>) -> ProjectResult<(), Explosive> {
        Ok(Coverage::Whole)
    }
}

impl Fold for Mine {
    type Schema = Self;
    type Input = u64;
    type Outcome = ();

    fn id(&self, &id: &u64) -> u64 {
        id
    }

    fn empty(&self, _: &u64) {}

    fn step(&self, (): &mut (), _: &u64) -> StepOf<Self> {
        Step::Applied((), ())
    }
}

impl Projection for Mine {
    type View = ();

    fn pending(&self, _: &RecordOf<Self>) -> bool {
        true
    }
}

pub fn an_error_that_panics_when_dropped_harms_nobody<H: Host>(host: H) {
    let builder = host.builder().retry(at_once(2));
    let ferry = builder.projected_write(Mine, Mine).unwrap();
    host.run(async {
        for _ in 0..3 {
            // Nobody is there to hear it, or who goes has it in hand.
            drop(catch_unwind(AssertUnwindSafe(|| drop(ferry.resume(&1)))));
            let sweep = in_a_task(&host, {
                let ferry = ferry.clone();
                async move { ferry.sweep([0]).await.nothing_pending }
            });
            assert_eq!(sweep.await, 1);
        }
        assert_eq!(ferry.resume(&0).await, Ok(Resumed::NothingPending));
        ferry.submit(0, 1).unwrap().await.unwrap();
        ferry.close().await;
    });
}
