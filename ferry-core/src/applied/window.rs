//! Ids that are ordered by time: the largest N are remembered.

use alloc::collections::BTreeMap;
use core::num::NonZeroUsize;

use super::{Check, Fingerprint, NotNew};

/// Remembers the N largest ids that were applied, each with its fingerprint and its outcome.
///
/// # Promise
///
/// With a window of N:
///
/// - An id that was applied is never [`Check::New`] again, whatever happens in between.
/// - It is recognised, with its outcome, until N larger ids have been applied. From then on it is
///   [`Check::TooOld`].
/// - An id that was never applied is `TooOld` if N larger ones have been, else `New`. It is turned
///   away, because its outcome could not be kept: the retry of a commit in doubt would not find it.
/// - At most N outcomes are held, and one id more.
///
/// Which order the ids came in makes no difference to any of this.
///
/// # Ids
///
/// Their order must follow time, roughly: a ULID, a UUIDv7, a counter. Of random ids (UUIDv4) half
/// would be too old once 2 N have come in, and nearly all in the end; keep those in a table of the
/// store. The order is part of what is stored, so it must not change between versions.
///
/// A clock that is behind costs false `TooOld` answers, once N ids from better clocks are in: a
/// nuisance, never a second application. A clock that is ahead costs others the same, for as long
/// as it was ahead, once it has put N ids in; refuse ids from the future where clients come in.
///
/// # How large
///
/// N must span all inputs that can be applied to one key between the first try of an input and its
/// last retry, clients that come back after an outage included, and never be less than a batch can
/// hold. Too small: retries hear `TooOld` instead of their outcome. Too large: every read and write
/// of the record carries N outcomes.
///
/// Checks and records take O(log N).
///
/// ```
/// use core::num::NonZeroUsize;
/// use ferry_core::applied::{Applied, Check, Fingerprint};
///
/// let mut applied = Applied::new(NonZeroUsize::new(2).unwrap());
/// let content = Fingerprint::of(b"deposit 5");
/// applied.record(10, content, "first")?;
/// applied.record(30, content, "second")?;
///
/// assert_eq!(applied.check(&10, content), Check::Same(&"first"));
/// assert_eq!(applied.check(&10, Fingerprint::of(b"deposit 6")), Check::Mismatch);
/// assert_eq!(applied.check(&20, content), Check::New);
///
/// applied.record(40, content, "third")?; // forgets 10
/// assert_eq!(applied.check(&10, content), Check::TooOld);
/// assert_eq!(applied.check(&20, content), Check::TooOld); // two larger ones are in
/// # Ok::<(), ferry_core::applied::NotNew<i32, &str>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied<Id, O> {
    window: NonZeroUsize,
    held: BTreeMap<Id, Held<O>>,
    /// The largest id ever forgotten. Smaller than every id in `held`.
    forgotten: Option<Id>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Held<O> {
    fingerprint: Fingerprint,
    outcome: O,
}

impl<Id: Ord, O> Applied<Id, O> {
    /// Nothing applied yet, and room for `window` ids.
    ///
    /// A window of one recognises the largest id alone.
    #[must_use]
    pub const fn new(window: NonZeroUsize) -> Self {
        Self {
            window,
            held: BTreeMap::new(),
            forgotten: None,
        }
    }

    /// Whether an input with this id and content may be applied, and if not, what to answer.
    #[must_use]
    pub fn check(&self, id: &Id, fingerprint: Fingerprint) -> Check<'_, O> {
        match self.held.get(id) {
            Some(held) if held.fingerprint == fingerprint => Check::Same(&held.outcome),
            Some(_) => Check::Mismatch,
            None if self.floor().is_some_and(|floor| id <= floor) => Check::TooOld,
            None => Check::New,
        }
    }

    /// Holds a new id with its content and its outcome; where the window was full, forgets the
    /// smallest.
    ///
    /// # Errors
    ///
    /// [`NotNew`] unless [`check`](Self::check) says [`Check::New`]; nothing has changed then.
    pub fn record(
        &mut self,
        id: Id,
        fingerprint: Fingerprint,
        outcome: O,
    ) -> Result<(), NotNew<Id, O>> {
        if let Some(reason) = self.check(&id, fingerprint).not_new() {
            return Err(NotNew {
                id,
                outcome,
                reason,
            });
        }
        self.insert_new(id, fingerprint, outcome);
        Ok(())
    }

    /// Changes the window; does nothing where it is the same.
    ///
    /// Call it where the record is decoded, so that a new setting reaches old records. A smaller
    /// window forgets the smallest ids at once. A larger one brings nothing back: what was forgotten
    /// stays too old, and the window fills up with what comes.
    ///
    /// While processes with different windows write to one record, the smallest decides what is
    /// remembered. Nothing is applied twice.
    pub fn resize(&mut self, window: NonZeroUsize) {
        self.window = window;
        self.forget_beyond_window();
    }

    /// How many ids are held at most.
    #[must_use]
    pub fn window(&self) -> NonZeroUsize {
        self.window
    }

    /// How many ids are held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether no id is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// The largest id at which one that is not held is too old; `None` as long as none is.
    #[must_use]
    pub fn floor(&self) -> Option<&Id> {
        if self.held.len() < self.window.get() {
            self.forgotten.as_ref()
        } else {
            self.held.keys().next()
        }
    }

    /// What is held, from the smallest id to the largest.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Id, Fingerprint, &O)> {
        self.held
            .iter()
            .map(|(id, held)| (id, held.fingerprint, &held.outcome))
    }

    /// Holds an id that was checked to be new.
    pub(super) fn insert_new(&mut self, id: Id, fingerprint: Fingerprint, outcome: O) {
        let held = Held {
            fingerprint,
            outcome,
        };
        self.held.insert(id, held);
        self.forget_beyond_window();
    }

    fn forget_beyond_window(&mut self) {
        while self.held.len() > self.window.get() {
            self.forgotten = self.held.pop_first().map(|(id, _)| id);
        }
    }
}

#[cfg(feature = "serde")]
impl<Id: Ord, O> Applied<Id, O> {
    /// The largest id ever forgotten.
    pub(super) fn forgotten(&self) -> Option<&Id> {
        self.forgotten.as_ref()
    }

    /// The inverse of [`window`](Self::window), [`forgotten`](Self::forgotten) and
    /// [`iter`](Self::iter).
    pub(super) fn restore(
        window: NonZeroUsize,
        forgotten: Option<Id>,
        held: impl IntoIterator<Item = (Id, Fingerprint, O)>,
    ) -> Result<Self, super::encoding::Inconsistent> {
        use super::encoding::Inconsistent;

        let mut applied = Self {
            window,
            held: BTreeMap::new(),
            forgotten,
        };
        for (id, fingerprint, outcome) in held {
            let below = applied.held.keys().next_back();
            if below
                .or(applied.forgotten())
                .is_some_and(|below| id <= *below)
            {
                return Err(Inconsistent::OutOfOrder);
            }
            let held = Held {
                fingerprint,
                outcome,
            };
            applied.held.insert(id, held);
        }
        if applied.len() > window.get() {
            return Err(Inconsistent::TooMany {
                held: applied.len(),
                bound: window,
            });
        }
        Ok(applied)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::applied::NotNewReason;

    const A: Fingerprint = Fingerprint::of(b"a");
    const B: Fingerprint = Fingerprint::of(b"b");

    fn window(n: usize) -> NonZeroUsize {
        NonZeroUsize::new(n).unwrap()
    }

    fn with(n: usize, ids: &[u32]) -> Applied<u32, u32> {
        let mut applied = Applied::new(window(n));
        for &id in ids {
            applied.record(id, A, id * 10).unwrap();
        }
        applied
    }

    #[test]
    fn an_applied_id_is_answered_by_its_content() {
        let applied = with(3, &[5]);
        assert_eq!(applied.check(&5, A), Check::Same(&50));
        assert_eq!(applied.check(&5, B), Check::Mismatch);
        assert_eq!(applied.check(&4, A), Check::New);
        assert_eq!(applied.check(&6, A), Check::New);
    }

    #[test]
    fn a_full_window_takes_only_what_it_can_keep() {
        let mut applied = with(2, &[10, 30]);
        assert_eq!(applied.floor(), Some(&10));
        assert_eq!(applied.check(&9, A), Check::TooOld);
        assert_eq!(applied.check(&20, A), Check::New);

        applied.record(20, A, 200).unwrap(); // between the two: 10 goes, not 20
        assert_eq!(applied.check(&20, A), Check::Same(&200));
        assert_eq!(applied.check(&10, A), Check::TooOld);
        assert_eq!(applied.len(), 2);
    }

    #[test]
    fn a_window_of_one_knows_the_largest() {
        let mut applied = with(1, &[5]);
        assert_eq!(applied.check(&4, A), Check::TooOld);
        assert_eq!(applied.check(&5, A), Check::Same(&50));
        applied.record(6, A, 60).unwrap();
        assert_eq!(applied.check(&5, A), Check::TooOld);
        assert_eq!(applied.check(&6, A), Check::Same(&60));
        assert_eq!(applied.check(&7, A), Check::New);
    }

    #[test]
    fn what_is_not_new_comes_back_and_changes_nothing() {
        let mut applied = with(2, &[10, 20, 30]);
        let before = applied.clone();
        for (id, fingerprint, reason) in [
            (30, A, NotNewReason::Same),
            (30, B, NotNewReason::Mismatch),
            (10, A, NotNewReason::TooOld),
            (15, A, NotNewReason::TooOld),
        ] {
            let outcome = 7;
            assert_eq!(
                applied.record(id, fingerprint, outcome),
                Err(NotNew {
                    id,
                    outcome,
                    reason
                })
            );
            assert_eq!(applied, before);
        }
    }

    #[test]
    fn a_smaller_window_forgets_the_smallest() {
        let mut applied = with(4, &[10, 20, 30]);
        applied.resize(window(2));
        assert_eq!(applied.len(), 2);
        assert_eq!(applied.check(&10, A), Check::TooOld);
        assert_eq!(applied.check(&20, A), Check::Same(&200));
    }

    #[test]
    fn a_larger_window_brings_nothing_back() {
        let mut applied = with(2, &[10, 20, 40]);
        applied.resize(window(4));
        assert_eq!(applied.check(&10, A), Check::TooOld);
        assert_eq!(applied.check(&9, A), Check::TooOld);
        // Above all that was ever forgotten: what is not held was not applied.
        assert_eq!(applied.check(&15, A), Check::New);
        applied.record(15, A, 150).unwrap();
        assert_eq!(applied.check(&15, A), Check::Same(&150));
        assert_eq!(applied.check(&20, A), Check::Same(&200));
    }
}
