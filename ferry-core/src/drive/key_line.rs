//! Those who wait for room at a key that has as many inputs queueing as it may.

use alloc::{collections::BTreeMap, sync::Arc};

use crate::guard::discard;

use super::bound::Waiter;

/// A line for each key that somebody waits for.
///
/// Who is called has its place at the key set aside until it boards or goes, so nobody gets past it
/// on its way, and a call is never lost.
pub(super) struct KeyLines<K> {
    /// By the hash of the key. Keys whose hashes are the same each have their own.
    lines: BTreeMap<(u64, LineId), Line<K>>,
    opened: u64,
}

struct Line<K> {
    key: K,
    /// Not called yet, in the order of arrival.
    waiters: BTreeMap<u64, Arc<Waiter<()>>>,
    joined: u64,
    /// Called and on their way, each with a place set aside.
    called: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct LineId(u64);

/// Where a waiter stands, to leave from.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) hash: u64,
    line: LineId,
    turn: u64,
}

impl<K> Default for KeyLines<K> {
    fn default() -> Self {
        Self {
            lines: BTreeMap::new(),
            opened: 0,
        }
    }
}

impl<K> KeyLines<K> {
    /// Whether anyone waits for this key, or was called and is on its way.
    pub(super) fn has(&self, hash: u64, key: &K) -> bool
    where
        K: Eq,
    {
        !self.lines.is_empty() && self.find(hash, key).is_some()
    }

    pub(super) fn join(&mut self, hash: u64, key: &K) -> (Turn, Arc<Waiter<()>>)
    where
        K: Clone + Eq,
    {
        let id = match self.find(hash, key) {
            Some(id) => id,
            None => self.open(hash, key.clone()),
        };
        let waiter = Waiter::new();
        let mut turn = 0;
        if let Some(line) = self.lines.get_mut(&(hash, id)) {
            turn = line.joined;
            line.joined += 1;
            line.waiters.insert(turn, Arc::clone(&waiter));
        }
        let line = id;
        (Turn { hash, line, turn }, waiter)
    }

    /// Leaves the line, or gives up the place that was set aside. Returns the key of a line that has
    /// ended, for the caller to drop.
    pub(super) fn leave(&mut self, turn: Turn) -> Option<K> {
        let Turn {
            hash,
            line: id,
            turn,
        } = turn;
        let line = self.lines.get_mut(&(hash, id))?;
        if line.waiters.remove(&turn).is_none() {
            line.called -= 1;
        }
        if line.called > 0 || !line.waiters.is_empty() {
            return None;
        }
        self.lines.remove(&(hash, id)).map(|line| line.key)
    }

    /// Calls as many as there is room for, at each key of this hash.
    pub(super) fn call(
        &mut self,
        hash: u64,
        room_at: impl Fn(&K) -> usize,
        mut called: impl FnMut(Arc<Waiter<()>>),
    ) {
        if self.lines.is_empty() {
            return;
        }
        for line in self.lines.range_mut(of(hash)).map(|(_, line)| line) {
            let room = room_at(&line.key);
            while line.called < room {
                let Some((_, waiter)) = line.waiters.pop_first() else {
                    break;
                };
                line.called += 1;
                called(waiter);
            }
        }
    }

    /// Ends all lines, the one that was opened first before the others. What is returned is to be dropped unlocked; each waiter
    /// is to be told.
    pub(super) fn dismiss(&mut self) -> impl Iterator<Item = Arc<Waiter<()>>> + use<K> {
        let lines = core::mem::take(&mut self.lines);
        // Not by their hashes, which are others in every process.
        let lines: BTreeMap<_, _> = lines
            .into_iter()
            .map(|((_, id), line)| (id, line))
            .collect();
        lines.into_values().flat_map(|Line { key, waiters, .. }| {
            discard(key);
            waiters.into_values()
        })
    }

    fn find(&self, hash: u64, key: &K) -> Option<LineId>
    where
        K: Eq,
    {
        let mut of_hash = self.lines.range(of(hash));
        of_hash
            .find(|(_, line)| line.key == *key)
            .map(|(&(_, id), _)| id)
    }

    fn open(&mut self, hash: u64, key: K) -> LineId {
        let id = LineId(self.opened);
        self.opened += 1;
        let line = Line {
            key,
            waiters: BTreeMap::new(),
            joined: 0,
            called: 0,
        };
        self.lines.insert((hash, id), line);
        id
    }
}

fn of(hash: u64) -> core::ops::RangeInclusive<(u64, LineId)> {
    (hash, LineId(0))..=(hash, LineId(u64::MAX))
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    #[test]
    fn lines_end_in_the_order_in_which_they_were_opened_whatever_their_hashes() {
        let mut lines = KeyLines::default();
        let joined: Vec<_> = [(7, 'a'), (3, 'b'), (9, 'c'), (3, 'd'), (7, 'a')]
            .into_iter()
            .map(|(hash, key)| lines.join(hash, &key).1)
            .collect();
        let dismissed = lines.dismiss();
        let expected = [0, 4, 1, 2, 3].map(|nth| Arc::as_ptr(&joined[nth]));
        assert!(dismissed.map(|waiter| Arc::as_ptr(&waiter)).eq(expected));
    }
}
