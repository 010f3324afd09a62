//! The round trip of a fenced write, by hand: read, fold, commit, and again until it is known how it ended.

use core::{fmt, panic::AssertUnwindSafe, time::Duration};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use ferry_core::{
    Class, Commit, CommitError, Instant, Retry,
    drive::{Runtime, Store},
};
use futures_lite::FutureExt;

use super::folded::Batch;
use crate::{
    chance::Chance,
    history::{Heard, HeardBy, Why},
    kind::{Kind, RecordOf},
    policy::Mistake,
    sent::{Carried, Sent},
    store::SimStore,
    workload::{KeyOf, VersionOf},
};

/// What carries the batches of one process.
pub(crate) struct Trips<K: Kind> {
    pub(super) fold: Carried<K>,
    store: SimStore<K>,
    chance: Mutex<Chance>,
}

impl<K: Kind> fmt::Debug for Trips<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trips")
    }
}

/// The tries of some inputs together.
struct Tries<K: Kind> {
    open: Vec<usize>,
    failed: u32,
    /// The record as it was read first. Of use to a mistake alone.
    first: Option<RecordOf<K::Load>>,
}

/// How a try ended.
enum Tried {
    Landed,
    Refused,
    InDoubt(Why),
    NotLanded(Why, Class),
    /// A call of the store did.
    Panicked,
    /// There was nothing to commit, and everyone is answered.
    Settled,
    /// There was nothing to commit, and a commit that may still land is waited for.
    Open,
}

impl<K: Kind> Trips<K> {
    pub(crate) fn new(fold: Carried<K>, store: SimStore<K>) -> Self {
        let seed = store.world().lock().jitter.next();
        Self {
            fold,
            store,
            chance: Mutex::new(Chance::new(seed)),
        }
    }

    pub(super) fn mistakes(&self, mistake: Mistake) -> bool {
        self.store.world().policy.mistake == mistake
    }

    pub(super) fn weakened(&self) {
        self.weakened_if(true);
    }

    pub(super) fn weakened_if(&self, is_weakened: bool) {
        self.store.world().weakened_if(is_weakened);
    }

    fn retry(&self) -> Retry {
        self.store.world().draws.retry
    }

    /// Carries a batch to its end, with an answer for each of its inputs, in their order.
    pub(crate) async fn carry(
        &self,
        key: &KeyOf<K::Load>,
        inputs: Vec<Sent<K::Load>>,
    ) -> Vec<HeardBy<K::Load>> {
        let all = (0..inputs.len()).collect();
        let mut batch = Batch {
            key: key.clone(),
            answers: vec![None; inputs.len()],
            inputs,
            started: self.store.process().now(),
            doubted_for: None,
            in_doubt: BTreeMap::new(),
            landed: BTreeSet::new(),
        };
        // The next one last.
        let mut groups: Vec<Vec<usize>> = vec![all];
        while let Some(open) = groups.pop() {
            self.tries(&mut batch, open, &mut groups).await;
        }
        let unheard = Heard::InDoubt(Why::Other);
        let answers = batch.answers.into_iter();
        answers
            .map(|answer| answer.unwrap_or(unheard.clone()))
            .collect()
    }

    async fn tries(&self, batch: &mut Batch<K>, open: Vec<usize>, groups: &mut Vec<Vec<usize>>) {
        let mut tries = Tries {
            open,
            failed: 0,
            first: None,
        };
        loop {
            let (why, class) = match self.try_once(batch, &mut tries).await {
                Tried::Landed | Tried::Settled => return,
                Tried::NotLanded(why, Class::Permanent) => {
                    return self.turned_away(batch, tries.open, why, groups);
                }
                Tried::NotLanded(why, class) => (why, class),
                Tried::Panicked => {
                    batch.doubted_for = Some(Why::CallPanicked);
                    return self.turned_away(batch, tries.open, Why::CallPanicked, groups);
                }
                Tried::InDoubt(why) => {
                    batch.doubted_for = Some(why);
                    (why, Class::Transient)
                }
                Tried::Open => {
                    let why = batch.doubted_for.unwrap_or(Why::Other);
                    (why, Class::Transient)
                }
                Tried::Refused => {
                    batch.doubted_for = Some(Why::Refused);
                    if self.mistakes(Mistake::FenceBeforeDedup) {
                        self.weakened();
                        let heard = Heard::NotCommitted(Why::Refused);
                        return batch.tell_all(&tries.open, &heard);
                    }
                    if self.mistakes(Mistake::NotWoken) {
                        self.weakened();
                        core::future::pending::<()>().await;
                    }
                    (Why::Refused, Class::Transient)
                }
            };
            if !self.pauses(batch.started, &mut tries, class).await {
                return self.gives_up(batch, &tries.open, why);
            }
        }
    }

    async fn try_once(&self, batch: &mut Batch<K>, tries: &mut Tries<K>) -> Tried {
        let is_unnamed = self.mistakes(Mistake::IdsUnnamed);
        self.weakened_if(is_unnamed);
        let inputs = tries.open.iter().map(|&at| &batch.inputs[at]);
        let ids: Vec<_> = inputs
            .filter(|_| !is_unnamed)
            .map(|sent| self.fold.id_of(sent))
            .collect();
        let read = self.store.read(&batch.key, &ids);
        let record = match AssertUnwindSafe(read).catch_unwind().await {
            Ok(Ok(record)) => record,
            Ok(Err(fault)) => return Tried::NotLanded(Why::Store(fault.error), fault.class),
            Err(_) => return Tried::Panicked,
        };
        let record = self.folded_on(tries, record);
        self.prove(batch, &tries.open, record.as_ref());
        let folded = self.fold(batch, &mut tries.open, record.as_ref());
        if folded.entries.is_empty() {
            tries.open = self.answer_settled(batch, folded, record.as_ref());
            return match tries.open.is_empty() {
                true => Tried::Settled,
                false => Tried::Open,
            };
        }
        let commit = Commit {
            expected: record.as_ref().map(|record| &record.version),
            state: &folded.state,
            entries: &folded.entries,
        };
        let committing = AssertUnwindSafe(self.store.commit(&batch.key, commit));
        let committed: Result<Result<VersionOf<K::Load>, _>, _> = committing.catch_unwind().await;
        if matches!(
            committed,
            Err(_) | Ok(Err(CommitError::Refused | CommitError::InDoubt(_)))
        ) {
            let based = record.as_ref().map(|record| &record.version);
            let carried = folded.entries.iter();
            let in_doubt = carried.map(|sent| (sent.number, based.cloned()));
            batch.in_doubt.extend(in_doubt);
        }
        match committed {
            Ok(Ok(_)) => {
                let carried = folded.entries.iter().map(|sent| sent.number);
                batch.landed.extend(carried);
                batch.answer(folded.outcomes);
                Tried::Landed
            }
            Ok(Err(CommitError::Refused)) => Tried::Refused,
            Ok(Err(CommitError::InDoubt(error))) => Tried::InDoubt(Why::Store(error)),
            Ok(Err(CommitError::NotLanded(fault))) => {
                Tried::NotLanded(Why::Store(fault.error), fault.class)
            }
            Err(_) => Tried::Panicked,
        }
    }

    /// The record as it was just read.
    fn folded_on(
        &self,
        tries: &mut Tries<K>,
        read: Option<RecordOf<K::Load>>,
    ) -> Option<RecordOf<K::Load>> {
        let read = read?;
        if !self.mistakes(Mistake::FoldedOnFirst) {
            return Some(read);
        }
        let first = tries.first.get_or_insert_with(|| RecordOf::<K::Load> {
            state: read.state.clone(),
            version: read.version.clone(),
        });
        self.weakened_if(first.version != read.version);
        Some(RecordOf::<K::Load> {
            state: first.state.clone(),
            version: read.version,
        })
    }

    /// Something in it will fail every time: the halves apart, the first one first.
    fn turned_away(
        &self,
        batch: &mut Batch<K>,
        mut open: Vec<usize>,
        why: Why,
        groups: &mut Vec<Vec<usize>>,
    ) {
        let is_whole = self.mistakes(Mistake::NotSplit);
        self.weakened_if(is_whole && open.len() > 1);
        if is_whole || open.len() == 1 {
            return self.fail_all(batch, &open, why);
        }
        let second = open.split_off(open.len().div_ceil(2));
        if self.mistakes(Mistake::SecondHalfLeft) {
            self.weakened();
            self.fail_all(batch, &second, Why::Refused);
        } else {
            groups.push(second);
        }
        groups.push(open);
    }

    /// Whether there is a further try, which begins after a pause.
    async fn pauses(&self, started: Instant, tries: &mut Tries<K>, class: Class) -> bool {
        let retry = self.retry();
        tries.failed += 1;
        let is_endless = self.mistakes(Mistake::NoEnd);
        self.weakened_if(is_endless && tries.failed >= retry.attempts);
        if tries.failed >= retry.attempts && !is_endless {
            return false;
        }
        let pause = self.pause(&retry, tries.failed, class);
        let process = self.store.process();
        if process.now() + pause > started + retry.total && !is_endless {
            return false;
        }
        if self.mistakes(Mistake::NoBackoff) {
            self.weakened();
        } else {
            process.sleep(pause).await;
        }
        true
    }

    fn pause(&self, retry: &Retry, failed: u32, class: Class) -> Duration {
        let growth = retry.factor.saturating_pow(failed - 1);
        let most = retry.base.saturating_mul(growth).min(retry.cap);
        let is_even = self.mistakes(Mistake::NoJitter);
        self.weakened_if(is_even);
        let mut chance = self.chance.lock().unwrap_or_else(PoisonError::into_inner);
        let mut up_to = |most| match is_even {
            true => most,
            false => chance.between(Duration::ZERO, most),
        };
        match class {
            Class::Transient | Class::Permanent => up_to(most),
            Class::Throttled(hint) => {
                hint.map_or(most / 2, |hint| hint.max(most / 2)) + up_to(most / 2)
            }
        }
    }

    /// Its attempts are over.
    fn gives_up(&self, batch: &mut Batch<K>, open: &[usize], why: Why) {
        let is_bold = self.mistakes(Mistake::NoProof);
        self.weakened_if(is_bold && batch.is_in_doubt());
        match is_bold {
            true => batch.tell_all(open, &Heard::NotCommitted(why)),
            false => self.fail_all(batch, open, why),
        }
    }
}
