//! Slots with generations, and lists threaded through them.

use alloc::vec::Vec;
use core::num::NonZeroU32;

/// Where a value lies in a slab. Four bytes, also inside an `Option`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Index(NonZeroU32);

impl Index {
    fn at(position: usize) -> Option<Self> {
        let plus_one = u32::try_from(position).ok()?.checked_add(1)?;
        NonZeroU32::new(plus_one).map(Self)
    }

    pub(super) fn position(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// An index that knows whose turn at the slot it means: a slot is used again, a `Handle` is not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Handle {
    pub(super) index: Index,
    generation: u32,
}

impl Handle {
    /// Tells handles apart for a person; not for identity.
    pub(super) fn parts(self) -> (usize, u32) {
        (self.index.position(), self.generation)
    }

    pub(super) fn to_bits(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.index.0.get())
    }
}

enum Content<T> {
    Vacant { next: Option<Index> },
    Occupied(T),
}

struct Slot<T> {
    generation: u32,
    content: Content<T>,
}

/// A vector whose places are used again; it grows to the most values it ever held at once.
pub(super) struct Slab<T> {
    slots: Vec<Slot<T>>,
    vacant: Option<Index>,
    len: usize,
}

impl<T> Slab<T> {
    pub(super) const fn new() -> Self {
        Self {
            slots: Vec::new(),
            vacant: None,
            len: 0,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Hands the value back when all 2³² − 1 places are taken.
    pub(super) fn insert(&mut self, value: T) -> Result<Handle, T> {
        let index = match self.vacant {
            Some(index) => {
                let slot = &mut self.slots[index.position()];
                if let Content::Vacant { next } = slot.content {
                    self.vacant = next;
                }
                slot.content = Content::Occupied(value);
                index
            }
            None => {
                let Some(index) = Index::at(self.slots.len()) else {
                    return Err(value);
                };
                self.slots.push(Slot {
                    generation: 0,
                    content: Content::Occupied(value),
                });
                index
            }
        };
        self.len += 1;
        Ok(self.handle(index))
    }

    pub(super) fn handle(&self, index: Index) -> Handle {
        Handle {
            index,
            generation: self.slots[index.position()].generation,
        }
    }

    pub(super) fn contains(&self, handle: Handle) -> bool {
        self.get(handle).is_some()
    }

    pub(super) fn get(&self, handle: Handle) -> Option<&T> {
        match self.slots.get(handle.index.position())? {
            Slot {
                generation,
                content: Content::Occupied(value),
            } if *generation == handle.generation => Some(value),
            Slot { .. } => None,
        }
    }

    pub(super) fn remove(&mut self, index: Index) -> T {
        let slot = &mut self.slots[index.position()];
        let vacated = Content::Vacant { next: self.vacant };
        match core::mem::replace(&mut slot.content, vacated) {
            Content::Occupied(value) => {
                slot.generation = slot.generation.wrapping_add(1);
                self.vacant = Some(index);
                self.len -= 1;
                value
            }
            Content::Vacant { .. } => unreachable!("a linked slot is occupied"),
        }
    }
}

impl<T> core::ops::Index<Index> for Slab<T> {
    type Output = T;

    fn index(&self, index: Index) -> &T {
        match &self.slots[index.position()].content {
            Content::Occupied(value) => value,
            Content::Vacant { .. } => unreachable!("a linked slot is occupied"),
        }
    }
}

impl<T> core::ops::IndexMut<Index> for Slab<T> {
    fn index_mut(&mut self, index: Index) -> &mut T {
        match &mut self.slots[index.position()].content {
            Content::Occupied(value) => value,
            Content::Vacant { .. } => unreachable!("a linked slot is occupied"),
        }
    }
}

/// A value's neighbours in one list.
#[derive(Clone, Copy, Default)]
pub(super) struct Links {
    before: Option<Index>,
    after: Option<Index>,
}

/// A value that can stand in a list.
pub(super) trait Linked {
    fn links(&mut self) -> &mut Links;
}

/// The ends of a doubly linked list through a slab: append, unlink and look at the front in O(1).
#[derive(Clone, Copy)]
pub(super) struct List {
    first: Option<Index>,
    last: Option<Index>,
}

impl List {
    pub(super) const fn new() -> Self {
        Self {
            first: None,
            last: None,
        }
    }

    pub(super) fn first(&self) -> Option<Index> {
        self.first
    }

    pub(super) fn push<T: Linked>(&mut self, slab: &mut Slab<T>, index: Index) {
        *slab[index].links() = Links {
            before: self.last,
            after: None,
        };
        match self.last {
            Some(last) => slab[last].links().after = Some(index),
            None => self.first = Some(index),
        }
        self.last = Some(index);
    }

    /// Takes the first out.
    pub(super) fn pop<T: Linked>(&mut self, slab: &mut Slab<T>) {
        if let Some(first) = self.first {
            self.first = slab[first].links().after;
            match self.first {
                Some(first) => slab[first].links().before = None,
                None => self.last = None,
            }
        }
    }

    pub(super) fn unlink<T: Linked>(&mut self, slab: &mut Slab<T>, index: Index) {
        let Links { before, after } = core::mem::take(slab[index].links());
        match before {
            Some(before) => slab[before].links().after = after,
            None => self.first = after,
        }
        match after {
            Some(after) => slab[after].links().before = before,
            None => self.last = before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Node(u32, Links);

    impl Linked for Node {
        fn links(&mut self) -> &mut Links {
            &mut self.1
        }
    }

    fn walk(slab: &mut Slab<Node>, list: &List) -> Vec<u32> {
        let mut seen = Vec::new();
        let mut at = list.first();
        while let Some(index) = at {
            seen.push(slab[index].0);
            at = slab[index].links().after;
        }
        seen
    }

    #[test]
    fn a_slot_used_again_is_not_the_same_handle() {
        let mut slab = Slab::new();
        let first = slab.insert('a').unwrap();
        assert_eq!(slab.remove(first.index), 'a');
        let second = slab.insert('b').unwrap();
        assert_eq!(first.index, second.index);
        assert!(!slab.contains(first));
        assert!(slab.contains(second));
        assert_eq!(slab.len(), 1);
    }

    #[test]
    fn a_list_keeps_its_order_whatever_is_unlinked() {
        for gone in 0..4 {
            let mut slab = Slab::new();
            let mut list = List::new();
            let all: Vec<_> = (0..4)
                .map(|n| slab.insert(Node(n, Links::default())).ok().unwrap())
                .collect();
            for handle in &all {
                list.push(&mut slab, handle.index);
            }
            list.unlink(&mut slab, all[gone].index);
            let left: Vec<_> = (0..4).filter(|&n| n as usize != gone).collect();
            assert_eq!(walk(&mut slab, &list), left);
            for handle in all
                .iter()
                .enumerate()
                .filter(|(n, _)| *n != gone)
                .map(|(_, h)| h)
            {
                list.unlink(&mut slab, handle.index);
            }
            assert_eq!(walk(&mut slab, &list), []);
        }
    }
}
