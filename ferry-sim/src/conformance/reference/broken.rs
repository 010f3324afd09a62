//! The store with one thing wrong with it.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "what one defect changes, the others leave as it is"
)]

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt, mem,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ferry_core::{Commit, CommitError, Fault, RecordOf, Schema, drive::Store};
use futures_lite::future::yield_now;

use super::{
    defect::Defect,
    guards::{Harm, OnDrop},
    journal::{Line, Page, Trouble},
    shelf::{Kept, Shelf},
};

/// Beyond this, a page is long, in bytes.
const LONG: usize = 64 * 1024;

/// Beyond this there are many entries, or ids.
pub(super) const HUNDREDS: usize = 400;

/// As [`ReferenceStore`](super::ReferenceStore), but for one [`Defect`].
pub struct BrokenStore {
    pub(super) defect: Defect,
    pub(super) flawed: Arc<Mutex<Flawed>>,
    /// What this handle has read, or has found when it was refused.
    pub(super) cache: Mutex<BTreeMap<u32, Option<Kept>>>,
    /// What there was before this handle's last commit to each key.
    before: Mutex<BTreeMap<u32, (u64, Option<Kept>)>>,
}

#[derive(Default)]
pub(super) struct Flawed {
    pub(super) shelf: Shelf,
    /// Keys that a call that was dropped has left locked.
    pub(super) locked: BTreeSet<u32>,
    /// Keys of which a commit has written one half.
    pub(super) writing: BTreeSet<u32>,
    /// Of each version, how many commits there were to its record with it.
    pub(super) counts: BTreeMap<u64, u64>,
    /// Pages from before the last commit to them that was answered.
    pub(super) old: BTreeMap<u32, Option<Kept>>,
    /// Keys to which a commit is under way.
    pub(super) under_way: BTreeSet<u32>,
    /// All commits to each key.
    commits: BTreeMap<u32, u64>,
    /// The version of the last commit to any key.
    pub(super) last: u64,
}

impl Flawed {
    pub(super) fn is_last(&self, version: u64) -> bool {
        self.last == version
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl fmt::Debug for BrokenStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrokenStore")
            .field("defect", &self.defect)
            .finish_non_exhaustive()
    }
}

impl BrokenStore {
    /// A store with this defect, and no journals.
    pub fn new(defect: Defect) -> Self {
        Self::on(defect, Arc::default())
    }

    /// Another handle on the same journals.
    #[must_use]
    pub fn another(&self) -> Self {
        Self::on(self.defect, Arc::clone(&self.flawed))
    }

    fn on(defect: Defect, flawed: Arc<Mutex<Flawed>>) -> Self {
        Self {
            defect,
            flawed,
            cache: Mutex::default(),
            before: Mutex::default(),
        }
    }

    /// The ids that the key's view includes, in order.
    pub fn shown(&self, key: u32) -> Vec<u32> {
        let flawed = self.flawed();
        let kept = flawed.shelf.pages.get(&key);
        kept.map(|kept| kept.shown.clone()).unwrap_or_default()
    }

    /// The keys whose views lack something, in their order.
    pub fn pending(&self) -> Vec<u32> {
        let flawed = self.flawed();
        let mut pending = flawed.shelf.pending();
        if self.has(Defect::QueryMisses) {
            pending.retain(|key| flawed.shelf.pages[key].marker == 0);
        }
        pending
    }

    /// Deletes the key's page.
    pub fn delete(&self, key: u32) {
        locked(&self.cache).remove(&key);
        let mut flawed = self.flawed();
        if self.has(Defect::DeleteLeavesNothing) {
            flawed.shelf.pages.remove(&key);
            return;
        }
        flawed.shelf.delete(key);
        let blank = match self.defect {
            Defect::VersionRestarts => 0,
            Defect::VersionIsFingerprint => fingerprint(""),
            _ => return,
        };
        if let Some(kept) = flawed.shelf.pages.get_mut(&key) {
            kept.version = blank;
            kept.marker = blank;
        }
    }

    pub(super) fn has(&self, defect: Defect) -> bool {
        self.defect == defect
    }

    pub(super) fn flawed(&self) -> MutexGuard<'_, Flawed> {
        locked(&self.flawed)
    }

    pub(super) fn forget(&self, key: u32) {
        locked(&self.cache).remove(&key);
    }

    /// Until the half that is missing is written.
    async fn until_whole(&self, key: u32) {
        while self.flawed().writing.contains(&key) {
            yield_now().await;
        }
    }

    fn draw(&self, flawed: &mut Flawed, key: u32, text: &str, expected: Option<u64>) -> u64 {
        let commits = flawed.commits.entry(key).or_default();
        *commits += 1;
        let commits = *commits;
        let before = expected.and_then(|version| flawed.counts.get(&version));
        let count = before.copied().unwrap_or(0) + 1;
        let version = match self.defect {
            Defect::VersionWraps => 1 + commits % 255,
            Defect::VersionRestarts => expected.unwrap_or(0) + 1,
            Defect::VersionIsFingerprint => fingerprint(text),
            _ => flawed.shelf.draw(),
        };
        flawed.counts.insert(version, count);
        flawed.last = version;
        version
    }

    /// What a commit does in one step.
    pub(super) fn write(
        &self,
        key: u32,
        commit: Commit<'_, Self>,
    ) -> Result<u64, CommitError<Trouble>> {
        let mut flawed = self.flawed();
        let mut text = commit.state.text.clone();
        let mut lines = commit.entries.to_vec();
        match self.defect {
            Defect::LargeIsCut => text.truncate(LONG),
            Defect::LargeIsRefused if text.len() > LONG => {
                return Err(Fault::permanent(Trouble::TooLong).into());
            }
            Defect::LongBatchIsCut => lines.truncate(4),
            Defect::FullBatchIsCut => lines.truncate(HUNDREDS),
            _ => {}
        }
        let before = flawed.shelf.pages.get(&key).cloned();
        flawed.old.insert(key, before.clone());
        let version = self.draw(&mut flawed, key, &text, commit.expected.copied());
        flawed.shelf.write(key, &text, &lines, version);
        if let Some(kept) = flawed.shelf.pages.get_mut(&key) {
            match self.defect {
                Defect::CommitMovesMarker => kept.marker = version,
                Defect::CommitRestoresMarker => kept.marker = commit.state.marker,
                _ => {}
            }
        }
        drop(flawed);
        locked(&self.before).insert(key, (version, before));
        match self.defect {
            Defect::AnswersGuessedVersion => Ok(version + 1_000_000),
            _ => Ok(version),
        }
    }

    /// The entries first, and the rest a little later.
    async fn write_in_halves(&self, key: u32, commit: Commit<'_, Self>) -> u64 {
        let version = {
            let mut flawed = self.flawed();
            let version = flawed.shelf.draw();
            let lines = commit.entries.iter().map(|line| (version, line.clone()));
            if let Some(kept) = flawed.shelf.pages.get_mut(&key) {
                kept.lines.extend(lines);
            }
            flawed.writing.insert(key);
            version
        };
        let text = commit.state.text.clone();
        let rest = OnDrop::new(&self.flawed, key, Harm::Finish { text, version });
        yield_now().await;
        yield_now().await;
        drop(rest);
        version
    }

    /// What is written is there for a while, and then is not.
    async fn write_and_undo(&self, key: u32, commit: Commit<'_, Self>) {
        let undo = {
            let mut flawed = self.flawed();
            let before = flawed.shelf.pages.get(&key).cloned();
            let version = before.as_ref().map_or(0, |before| before.version);
            let (text, lines) = (&commit.state.text, commit.entries);
            flawed.shelf.write(key, text, lines, version);
            flawed.writing.insert(key);
            drop(flawed);
            OnDrop::new(&self.flawed, key, Harm::Undo(before))
        };
        yield_now().await;
        yield_now().await;
        drop(undo);
    }

    /// All pages as they were a while ago, but for this one.
    async fn write_all(
        &self,
        key: u32,
        commit: Commit<'_, Self>,
    ) -> Result<u64, CommitError<Trouble>> {
        let mut pages = self.flawed().shelf.pages.clone();
        yield_now().await;
        if !self.is_at(key, commit.expected.copied()) {
            return Err(CommitError::Refused);
        }
        {
            let mut flawed = self.flawed();
            let own = flawed.shelf.pages.remove(&key);
            pages.remove(&key);
            pages.extend(own.map(|own| (key, own)));
            flawed.shelf.pages = pages;
        }
        self.write(key, commit)
    }

    async fn try_commit(
        &self,
        key: u32,
        commit: Commit<'_, Self>,
    ) -> Result<u64, CommitError<Trouble>> {
        if let Some(answer) = self.before_the_fence(key, commit) {
            return answer;
        }
        if !self.is_at(key, commit.expected.copied()) {
            if self.has(Defect::RefusalIsSeen) {
                self.write_and_undo(key, commit).await;
            }
            return self.refuse(key, commit);
        }
        match (self.defect, commit.expected) {
            (Defect::CreateInTwoSteps, None) | (Defect::UpdateInTwoSteps, Some(_)) => {
                yield_now().await;
            }
            (Defect::KeysShareAPage, _) => return self.write_all(key, commit).await,
            (Defect::HalfIsSeen, Some(_)) => return Ok(self.write_in_halves(key, commit).await),
            (Defect::DropLeavesHalf | Defect::DropKeepsLock, _) => {
                let harm = match self.defect {
                    Defect::DropKeepsLock => Harm::Lock,
                    _ => Harm::Half(commit.entries.to_vec()),
                };
                let on_drop = OnDrop::new(&self.flawed, key, harm);
                yield_now().await;
                on_drop.disarm();
                // Nothing but this harm is wrong with it.
                if !self.is_at(key, commit.expected.copied()) {
                    return Err(CommitError::Refused);
                }
            }
            _ => {}
        }
        self.write(key, commit)
    }
}

/// Of a page's content.
fn fingerprint(text: &str) -> u64 {
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, fold)
}

impl Drop for BrokenStore {
    fn drop(&mut self) {
        if !self.has(Defect::LostWithHandle) {
            return;
        }
        let mut flawed = self.flawed();
        for (key, (version, before)) in mem::take(&mut *locked(&self.before)) {
            if flawed.shelf.is_at(key, Some(version)) {
                flawed.shelf.pages.remove(&key);
                flawed
                    .shelf
                    .pages
                    .extend(before.map(|before| (key, before)));
            }
        }
    }
}

impl Schema for BrokenStore {
    type Key = u32;
    type Id = u32;
    type State = Page;
    type Version = u64;
    type Entry = Line;
    type Error = Trouble;
}

impl Store for BrokenStore {
    async fn read(&self, key: &u32, ids: &[u32]) -> Result<Option<RecordOf<Self>>, Fault<Trouble>> {
        Ok(self.read_page(*key, ids).await)
    }

    async fn commit(
        &self,
        key: &u32,
        commit: Commit<'_, Self>,
    ) -> Result<u64, CommitError<Trouble>> {
        self.forget(*key);
        yield_now().await;
        self.until_whole(*key).await;
        if self.has(Defect::ReadsOldSnapshot) {
            self.flawed().under_way.insert(*key);
            yield_now().await;
        }
        let answer = self.try_commit(*key, commit).await;
        yield_now().await;
        self.flawed().under_way.remove(key);
        answer
    }
}
