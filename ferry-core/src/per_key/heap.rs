//! A binary heap that can find, move and remove its members.

use alloc::vec::Vec;

use super::slab::Index;

const ABSENT: u32 = u32::MAX;

/// Slab indices by rank, the least first; each index is in at most once.
///
/// Looking at the least is O(1), everything else O(log members).
pub(super) struct Heap<R> {
    members: Vec<(R, Index)>,
    /// Where each index stands among `members`.
    places: Vec<u32>,
}

impl<R: Copy + Ord> Heap<R> {
    pub(super) const fn new() -> Self {
        Self {
            members: Vec::new(),
            places: Vec::new(),
        }
    }

    #[cfg(any(feature = "drive", test))]
    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    pub(super) fn least(&self) -> Option<(R, Index)> {
        self.members.first().copied()
    }

    /// The least, if its rank passes.
    pub(super) fn least_if(&self, passes: impl FnOnce(R) -> bool) -> Option<Index> {
        let (rank, index) = self.least()?;
        passes(rank).then_some(index)
    }

    pub(super) fn pop(&mut self) -> Option<Index> {
        let (_, index) = self.least()?;
        self.remove(index);
        Some(index)
    }

    /// Puts the index in with this rank, or gives it this rank.
    pub(super) fn set(&mut self, index: Index, rank: R) {
        match self.place(index) {
            Some(place) if self.members[place].0 == rank => {}
            Some(place) => {
                self.members[place].0 = rank;
                self.settle(place);
            }
            None => {
                if self.places.len() <= index.position() {
                    self.places.resize(index.position() + 1, ABSENT);
                }
                self.members.push((rank, index));
                self.settle(self.members.len() - 1);
            }
        }
    }

    /// Takes the index out, if it is in.
    pub(super) fn remove(&mut self, index: Index) {
        let Some(place) = self.place(index) else {
            return;
        };
        self.places[index.position()] = ABSENT;
        self.members.swap_remove(place);
        if place < self.members.len() {
            self.settle(place);
        }
    }

    fn place(&self, index: Index) -> Option<usize> {
        match self.places.get(index.position()) {
            None | Some(&ABSENT) => None,
            Some(&place) => Some(place as usize),
        }
    }

    /// Moves the member at `place` to where its rank belongs.
    fn settle(&mut self, mut place: usize) {
        let moving = self.members[place];
        while place > 0 {
            let parent = (place - 1) / 2;
            if self.members[parent].0 <= moving.0 {
                break;
            }
            self.put(place, self.members[parent]);
            place = parent;
        }
        loop {
            let left = 2 * place + 1;
            let Some(&(mut rank, _)) = self.members.get(left) else {
                break;
            };
            let mut child = left;
            let right = self.members.get(left + 1).map(|&(right, _)| right);
            if let Some(right) = right.filter(|right| *right < rank) {
                (rank, child) = (right, left + 1);
            }
            if moving.0 <= rank {
                break;
            }
            self.put(place, self.members[child]);
            place = child;
        }
        self.put(place, moving);
    }

    fn put(&mut self, place: usize, member: (R, Index)) {
        self.members[place] = member;
        self.places[member.1.position()] = place as u32;
    }
}

#[cfg(test)]
mod tests {
    use alloc::collections::BTreeMap;

    use quickcheck::quickcheck;

    use super::{super::slab::Slab, *};

    quickcheck! {
        fn pops_in_order_of_rank(changes: Vec<(u8, Option<u16>)>) -> bool {
            let mut slab = Slab::new();
            let indices: Vec<_> = (0..=255u8).map(|n| slab.insert(n).unwrap().index).collect();
            let (mut heap, mut model) = (Heap::new(), BTreeMap::new());
            for (member, rank) in changes {
                let index = indices[member as usize];
                match rank {
                    Some(rank) => {
                        // Ranks are told apart by the member, so that the order is total.
                        let rank = u64::from(rank) << 8 | u64::from(member);
                        heap.set(index, rank);
                        model.insert(member, rank);
                    }
                    None => {
                        heap.remove(index);
                        model.remove(&member);
                    }
                }
                let least = model.values().min().copied();
                if heap.least().map(|(rank, _)| rank) != least {
                    return false;
                }
            }
            let mut expected: Vec<_> = model.into_iter().map(|(m, rank)| (rank, m)).collect();
            expected.sort_unstable();
            expected.into_iter().all(|(_, member)| heap.pop() == Some(indices[member as usize]))
                && heap.is_empty()
        }
    }
}
