//! Everything that can be told of happens in here.

use std::{sync::atomic::AtomicU32, sync::atomic::Ordering::SeqCst, time::Duration};

use ferry_tokio::{
    Builder, Ferry, FoldWrite, OwnCall, ProjectedWrite, Reason, ResumeError, Resumed, Retry,
    Schedule,
};

use super::purses::{Broken, CURSED, Goes, Input, Key, Purses, Shelf, What, input, put};

/// So few that the last comes soon.
const TRIES: u32 = 3;

pub(crate) fn builder() -> Builder {
    let retry = Retry {
        attempts: TRIES,
        ..Retry::default()
    };
    Builder::new().shards(1).seed(1).retry(retry)
}

/// A handle of each kind.
#[derive(Clone)]
pub(crate) struct Handles {
    pub(crate) writing: Ferry<FoldWrite<Purses>>,
    pub(crate) projecting: Ferry<ProjectedWrite<Purses>>,
    pub(crate) calling: Ferry<OwnCall<Key, Input, u32>>,
    shelf: Shelf,
    viewed: Shelf,
}

/// The shortest deadline there is: it passes in the first pause.
const NO_TIME: Duration = Duration::from_nanos(1);

async fn answers(_key: Key, inputs: Vec<Input>) -> Vec<u32> {
    match inputs[0].what {
        What::Poison => panic!("a call that panics"),
        What::Mismatch => Vec::new(),
        What::Put(_) | What::Take(_) | What::TooOld => {
            inputs.iter().map(|input| input.id).collect()
        }
    }
}

impl Handles {
    pub(crate) fn new() -> Self {
        let (shelf, viewed) = (Shelf::default(), Shelf::default());
        let bounded = || {
            let builder = builder().max_queueing(20).max_queueing_per_key(10);
            builder.max_weight(20)
        };
        Self {
            writing: (bounded().name("writing").fold_write(Purses, shelf.clone())).unwrap(),
            projecting: (bounded().name("projecting"))
                .projected_write(Purses, viewed.clone())
                .unwrap(),
            calling: bounded().name("calling").per_key(answers).unwrap(),
            shelf,
            viewed,
        }
    }

    /// All of it.
    pub(crate) async fn go_through_everything(&self) {
        self.bounds().await;
        self.commits().await;
        self.step_and_panics().await;
        self.own_calls().await;
        self.views().await;
        self.resumes().await;
        self.sweepers().await;
        self.writing.close().await;
        self.projecting.close().await;
        self.calling.close().await;
        let closed = self.writing.submit(Key::new(0), put(1)).unwrap_err();
        assert_eq!(closed.reason, Reason::Closed);
    }

    /// Over every bound, withdrawn, expired while it waits.
    async fn bounds(&self) {
        let submit = |key, id| self.writing.submit(Key::new(key), put(id));
        self.shelf.commits([Goes::Slow, Goes::Slow]);
        let mut kept: Vec<_> = (0..10).map(|id| submit(1, id).unwrap()).collect();
        assert_eq!(submit(1, 10).unwrap_err().reason, Reason::KeyFull);
        assert_eq!(submit(2, 99_000_000).unwrap_err().reason, Reason::TooHeavy);
        kept.extend((0..9).map(|id| submit(2, id).unwrap()));
        let second = Duration::from_secs(1);
        let short = self.writing.submit_within(Key::new(2), put(12), second);
        assert_eq!(submit(3, 1).unwrap_err().reason, Reason::QueueFull);
        drop(kept.pop());
        short.unwrap().await.unwrap_err();
        for submission in kept {
            submission.await.unwrap();
        }
    }

    /// One batch of these, whatever becomes of them, with a store that is as it is told to.
    async fn write(
        &self,
        reads: &[Goes],
        commits: &[Goes],
        inputs: impl IntoIterator<Item = Input>,
    ) {
        static KEYS: AtomicU32 = AtomicU32::new(10);
        let key = KEYS.fetch_add(1, SeqCst);
        let submit = |input| self.writing.submit(Key::new(key), input).unwrap();
        // The others come together, while the first is on its way.
        self.shelf.reads([Goes::Well]);
        self.shelf.commits([Goes::Slow]);
        let first = submit(put(900));
        let others: Vec<_> = inputs.into_iter().map(submit).collect();
        self.shelf.reads(reads.iter().copied());
        self.shelf.commits(commits.iter().copied());
        first.await.unwrap();
        for other in others {
            drop(other.await);
        }
    }

    /// Each answer of reads and commits, to an end that is well and to one that is not.
    async fn commits(&self) {
        for go in [Goes::Transient, Goes::Throttled, Goes::Permanent] {
            self.write(&[go], &[], [put(1)]).await;
        }
        for go in [
            Goes::Refused,
            Goes::Transient,
            Goes::Throttled,
            Goes::Lost,
            Goes::InDoubt,
            Goes::Permanent,
        ] {
            self.write(&[], &[go], [put(1), put(1), put(2)]).await;
        }
        for go in [Goes::Refused, Goes::Transient] {
            self.write(&[], &[go; TRIES as usize], [put(1), put(2)])
                .await;
        }
        // Declined, and out of its place by the time it would not be.
        let overtaken = [put(1), input(2, What::Take(5)), input(3, What::Put(9))];
        self.write(&[], &[Goes::InDoubt], overtaken).await;
        self.shelf.commits([Goes::Lost]);
        let expires = self.writing.submit_within(Key::new(4), put(1), NO_TIME);
        expires.unwrap().await.unwrap_err();
    }

    async fn step_and_panics(&self) {
        let told = [What::Take(99), What::Mismatch, What::TooOld, What::Poison];
        let told = (1..).zip(told).map(|(id, what)| input(id, what));
        self.write(&[], &[], told).await;
        self.write(&[Goes::Panics], &[], [put(1)]).await;
        self.write(&[], &[Goes::Panics], [put(1)]).await;
        // It takes the batch along.
        self.write(&[], &[], [put(CURSED), put(CURSED)]).await;
    }

    async fn own_calls(&self) {
        let submit = |what| self.calling.submit(Key::new(1), input(7, what)).unwrap();
        submit(What::Poison).await.unwrap_err();
        submit(What::Mismatch).await.unwrap_err();
        assert_eq!(submit(What::Put(1)).await.unwrap(), 7);
    }

    /// Each answer of projections, to an end that is well and to one that is not.
    async fn views(&self) {
        let submit = |id| self.projecting.submit(Key::new(1), put(id)).unwrap();
        for (id, go) in (1..).zip([
            Goes::Well,
            Goes::Refused,
            Goes::Transient,
            Goes::Throttled,
            Goes::InDoubt,
            Goes::Lost,
            Goes::Part(0),
        ]) {
            self.viewed.projections([go]);
            submit(id).await.unwrap();
        }
        let refused = [Goes::Refused; TRIES as usize];
        for (id, goes) in (20..).zip([&refused[..], &[Goes::Permanent], &[Goes::Panics]]) {
            self.viewed.projections(goes.iter().copied());
            submit(id).await.unwrap();
        }
        self.viewed.projections([Goes::Transient]);
        let short = self.projecting.submit_within(Key::new(1), put(30), NO_TIME);
        short.unwrap().await.unwrap();
    }

    /// Leaves the record of a key pending.
    async fn owe(&self, key: u32) {
        self.viewed.projections([Goes::Permanent]);
        let late = self.projecting.submit(Key::new(key), put(1)).unwrap();
        late.await.unwrap();
    }

    async fn resume(&self, goes: &[Goes]) -> Result<Resumed, ResumeError<Broken>> {
        self.viewed.projections(goes.iter().copied());
        self.projecting.resume(&Key::new(2)).await
    }

    async fn resumes(&self) {
        self.owe(2).await;
        let failing = [
            [Goes::Refused; TRIES as usize],
            [Goes::Transient; TRIES as usize],
        ];
        for goes in failing {
            self.resume(&goes).await.unwrap_err();
        }
        self.resume(&[Goes::Panics]).await.unwrap_err();
        // As the pass begins, and the key has been cloned twice already.
        Key::panics_after(2);
        self.resume(&[]).await.unwrap_err();
        self.viewed.reads([Goes::Panics]);
        self.resume(&[]).await.unwrap_err();
        self.viewed.reads([Goes::Transient, Goes::Throttled]);
        assert_eq!(self.resume(&[]).await.unwrap(), Resumed::Projected);
        assert_eq!(self.resume(&[]).await.unwrap(), Resumed::NothingPending);
    }

    async fn sweepers(&self) {
        self.owe(3).await;
        self.viewed.projections([Goes::Refused, Goes::Transient]);
        let report = self.projecting.sweep([Key::new(2), Key::new(3)]).await;
        assert_eq!((report.nothing_pending, report.projected), (1, 1));

        let mut turns = 0;
        let query = move || {
            turns += 1;
            async move {
                match turns {
                    1 => Ok(vec![Key::new(2)]),
                    2 => Err(Broken),
                    _ => panic!("a query that panics"),
                }
            }
        };
        let sweeper = self.projecting.sweeper(Schedule::default(), query).unwrap();
        tokio::time::sleep(Duration::from_secs(60)).await;
        assert!(sweeper.health().query_error.is_some());
        sweeper.close().await;
    }
}
