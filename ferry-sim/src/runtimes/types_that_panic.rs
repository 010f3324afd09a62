//! The types of a store whose own code panics: at worst, their batch pays for it.

use std::{
    convert::Infallible,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};

use ferry_core::{
    Cause, Commit, CommitError, Failure, Fault, Fold, Record, RecordOf, Schema, Step, StepOf,
    drive::Store,
};

use super::{bomb::Bomb, host::*, writes::at_once};

/// States, versions, entries and outcomes panic when they are dropped, at odd keys; versions also when
/// they are cloned, at the key of that name.
#[derive(Default)]
struct Arsenal {
    commits: AtomicUsize,
}

const UNCLONABLE: u64 = 100;

struct Version(Bomb, u64);

impl Clone for Version {
    fn clone(&self) -> Self {
        assert_ne!(self.1, UNCLONABLE, "a version panics");
        Self(Bomb(self.0.0), self.1)
    }
}

impl PartialEq for Version {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

fn bomb(key: u64) -> Bomb {
    Bomb(key % 2 == 1)
}

impl Schema for Arsenal {
    type Key = u64;
    type Id = u64;
    type State = Bomb;
    type Version = Version;
    type Entry = Bomb;
    type Error = Infallible;
}

impl Store for Arsenal {
    async fn read(
        &self,
        &key: &u64,
        _ids: &[u64],
    ) -> Result<Option<RecordOf<Self>>, Fault<Infallible>> {
        let (state, version) = (bomb(key), Version(bomb(key), key));
        Ok(Some(Record { state, version }))
    }

    async fn commit(
        &self,
        &key: &u64,
        _commit: Commit<'_, Self>,
    ) -> Result<Version, CommitError<Infallible>> {
        match self.commits.fetch_add(1, SeqCst) % 2 {
            // Whose version is cloned, to be remembered.
            0 => Err(CommitError::Refused),
            _ => Ok(Version(bomb(key), key)),
        }
    }
}

impl Fold for Arsenal {
    type Schema = Self;
    type Input = (u64, u64);
    type Outcome = Bomb;

    fn id(&self, &(_, input): &(u64, u64)) -> u64 {
        input
    }

    fn empty(&self, &key: &u64) -> Bomb {
        bomb(key)
    }

    fn step(&self, _state: &mut Bomb, &(key, input): &(u64, u64)) -> StepOf<Self> {
        match input {
            0 => Step::Refused(bomb(key)),
            _ => Step::Applied(bomb(key), bomb(key)),
        }
    }
}

pub fn drops_that_panic_change_no_answer<H: Host>(host: H) {
    let builder = host.builder().retry(at_once(4)).max_in_flight(1);
    let ferry = builder
        .fold_write(Arsenal::default(), Arsenal::default())
        .unwrap();
    host.run(async {
        for key in [1, 2, 3] {
            // Several in a batch, applied or not, and a second try.
            let all = [1, 2, 0, 3, 0].map(|input| ferry.submit(key, (key, input)).unwrap());
            for submission in all {
                submission.await.unwrap().defuse();
            }
        }
        ferry.close().await;
        assert_nothing_is_left(&ferry);
        assert_eq!(ferry.stats().counters.writes.failed, 0);
    });
}

pub fn a_panic_in_the_middle_of_a_round_trip_fails_its_batch_alone<H: Host>(host: H) {
    let builder = host
        .builder()
        .retry(at_once(4))
        .max_queueing(2)
        .max_in_flight(1)
        .shards(1);
    let ferry = builder
        .fold_write(Arsenal::default(), Arsenal::default())
        .unwrap();
    host.run(async {
        for _ in 0..4 {
            let bad = ferry.submit(UNCLONABLE, (UNCLONABLE, 1)).unwrap();
            let good = ferry.submit(2, (2, 1)).unwrap();
            let failure = bad.await.unwrap_err();
            assert!(
                matches!(failure, Failure::InDoubt(Cause::Panicked(_))),
                "{failure:?}"
            );
            good.await.unwrap();
            assert_nothing_is_left(&ferry);
        }
        let counters = ferry.stats().counters;
        assert_eq!((counters.batched, counters.writes.failed), (8, 4));
        ferry.close().await;
    });
}
