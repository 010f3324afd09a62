//! Ids that are a client's session and its own counter: the last sequences of each are remembered.

use alloc::collections::BTreeMap;
use core::{mem, num::NonZeroUsize};

use super::{Applied, Check, Fingerprint, NotNew};

/// What a [`Sessions`] holds at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How many sessions are held; beyond it, the one that has been idle longest is forgotten.
    ///
    /// It must span the clients that write to one key within the time that any of them retries, and
    /// never be less than a batch can hold.
    pub sessions: NonZeroUsize,
    /// How many sequences of each session are held: how many requests a client may have under way
    /// for a key. One is enough for clients that wait for each answer.
    pub window: NonZeroUsize,
}

/// Remembers the last sequences of each client's session, with their fingerprints and outcomes.
///
/// An input's id is a session and a sequence: the client draws an id for its session once, and
/// numbers its inputs itself, upwards, gaps allowed. Memory then grows with the clients, not with
/// the inputs.
///
/// # Promise
///
/// With bounds of C sessions and a window of W:
///
/// - An id that was applied is never [`Check::New`] again, whatever happens in between.
/// - Within a held session, sequences are remembered as [`Applied`] remembers ids. So a client that
///   sends sequence *s* only once all sequences up to *s* − W are answered is never told
///   [`Check::TooOld`] while its session is held, however its requests overtake each other.
/// - A session is held until C other sessions have had inputs applied since its own last one; then
///   it is forgotten whole.
/// - A session that is not held is new if its id is larger than any that was ever forgotten, and
///   `TooOld` otherwise. As long as no more than C clients ever write to a key, nothing is forgotten.
/// - At most C × W outcomes are held.
///
/// # Session ids
///
/// Their order must follow the time they were drawn, roughly (a ULID, a UUIDv7, or a counter that
/// the service hands out), because that is how a forgotten session is told from a new one. Let a
/// client draw one when it first writes to a key, not once for its lifetime: an id that is older
/// than a forgotten session is too old at its first input already. For the same reason refuse ids
/// from the future where clients come in: one of them, forgotten, makes all others too old.
///
/// A client that has lost its counter, or is told `TooOld`, draws a new session. What it had under
/// way in the old one may or may not have been applied. A session id must never be used again with
/// a counter that starts over.
///
/// Checks and records take O(log C + log W). A check is not a use: a session stays held by what is
/// applied, not by what is asked.
///
/// ```
/// use core::num::NonZeroUsize;
/// use ferry_core::applied::{Bounds, Check, Fingerprint, Sessions};
///
/// let mut sessions = Sessions::new(Bounds {
///     sessions: NonZeroUsize::new(100).unwrap(),
///     window: NonZeroUsize::new(2).unwrap(),
/// });
/// let content = Fingerprint::of(b"deposit 5");
/// sessions.record("7f3a", 2, content, "second")?; // overtook sequence 1
/// assert_eq!(sessions.check(&"7f3a", 1, content), Check::New);
/// assert_eq!(sessions.check(&"7f3a", 2, content), Check::Same(&"second"));
///
/// sessions.record("7f3a", 3, content, "third")?;
/// assert_eq!(sessions.check(&"7f3a", 1, content), Check::TooOld);
/// # Ok::<(), ferry_core::applied::NotNew<(&str, u64), &str>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sessions<Id, O> {
    bounds: Bounds,
    held: BTreeMap<Id, Held<O>>,
    /// The sessions in `held` by when they were last recorded in; what is recorded later has the
    /// larger key.
    by_use: BTreeMap<u64, Id>,
    /// The largest session ever forgotten. Held ones may be smaller, never the same.
    forgotten: Option<Id>,
}

#[derive(Clone, Debug)]
struct Held<O> {
    sequences: Applied<u64, O>,
    /// Its key in `by_use`.
    used: u64,
}

impl<Id: Ord + Clone, O> Sessions<Id, O> {
    /// Nothing applied yet.
    #[must_use]
    pub const fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            held: BTreeMap::new(),
            by_use: BTreeMap::new(),
            forgotten: None,
        }
    }

    /// Whether an input with this session, sequence and content may be applied, and if not, what to
    /// answer.
    #[must_use]
    pub fn check(&self, session: &Id, sequence: u64, fingerprint: Fingerprint) -> Check<'_, O> {
        match self.held.get(session) {
            Some(held) => held.sequences.check(&sequence, fingerprint),
            None if self.is_too_old(session) => Check::TooOld,
            None => Check::New,
        }
    }

    /// Holds a new sequence with its content and its outcome; forgets the longest idle session where
    /// a new one is one too many.
    ///
    /// # Errors
    ///
    /// [`NotNew`] unless [`check`](Self::check) says [`Check::New`]; nothing has changed then.
    pub fn record(
        &mut self,
        session: Id,
        sequence: u64,
        fingerprint: Fingerprint,
        outcome: O,
    ) -> Result<(), NotNew<(Id, u64), O>> {
        let check = self.check(&session, sequence, fingerprint);
        if let Some(reason) = check.not_new() {
            let id = (session, sequence);
            return Err(NotNew {
                id,
                outcome,
                reason,
            });
        }
        self.touch(session)
            .insert_new(sequence, fingerprint, outcome);
        self.forget_beyond_bound();
        Ok(())
    }

    /// Changes the bounds; does nothing where they are the same.
    ///
    /// Call it where the record is decoded, so that new settings reach old records. Smaller bounds
    /// forget at once; larger ones bring nothing back. See [`Applied::resize`], which also says what
    /// happens while processes disagree. Takes time in proportion to what is held.
    pub fn resize(&mut self, bounds: Bounds) {
        if self.bounds == bounds {
            return;
        }
        self.bounds = bounds;
        for held in self.held.values_mut() {
            held.sequences.resize(bounds.window);
        }
        self.forget_beyond_bound();
    }

    /// What is held at most.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.bounds
    }

    /// How many sessions are held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether no session is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// The largest session id at which one that is not held is too old: the largest ever forgotten.
    #[must_use]
    pub fn floor(&self) -> Option<&Id> {
        self.forgotten.as_ref()
    }

    /// The sessions that are held with their sequences, from the longest idle to the last used.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Id, &Applied<u64, O>)> {
        self.by_use
            .values()
            .filter_map(|session| Some((session, &self.held.get(session)?.sequences)))
    }

    fn is_too_old(&self, session: &Id) -> bool {
        self.floor().is_some_and(|floor| session <= floor)
    }

    /// Makes a session the last used, begun where it is not held, and gives its sequences.
    fn touch(&mut self, session: Id) -> &mut Applied<u64, O> {
        let used = self.by_use.keys().next_back().map_or(0, |last| last + 1);
        let held = self.held.entry(session.clone()).or_insert_with(|| Held {
            sequences: Applied::new(self.bounds.window),
            used,
        });
        let used_before = mem::replace(&mut held.used, used);
        self.by_use.remove(&used_before);
        self.by_use.insert(used, session);
        &mut held.sequences
    }

    fn forget_beyond_bound(&mut self) {
        while self.held.len() > self.bounds.sessions.get() {
            let Some((_, longest_idle)) = self.by_use.pop_first() else {
                return;
            };
            self.held.remove(&longest_idle);
            self.forgotten = self.forgotten.take().max(Some(longest_idle));
        }
    }
}

/// Equal if they hold the same and will forget in the same order.
impl<Id: Ord + Clone, O: PartialEq> PartialEq for Sessions<Id, O> {
    fn eq(&self, other: &Self) -> bool {
        self.bounds == other.bounds
            && self.forgotten == other.forgotten
            && self.iter().eq(other.iter())
    }
}

impl<Id: Ord + Clone, O: Eq> Eq for Sessions<Id, O> {}

#[cfg(feature = "serde")]
impl<Id: Ord + Clone, O> Sessions<Id, O> {
    /// The inverse of [`bounds`](Self::bounds), [`floor`](Self::floor) and [`iter`](Self::iter).
    pub(super) fn restore(
        bounds: Bounds,
        forgotten: Option<Id>,
        held: impl IntoIterator<Item = (Id, Applied<u64, O>)>,
    ) -> Result<Self, super::encoding::Inconsistent> {
        use super::encoding::Inconsistent;

        let mut sessions = Self::new(bounds);
        for (session, sequences) in held {
            if sessions.held.contains_key(&session) {
                return Err(Inconsistent::SessionTwice);
            }
            if forgotten.as_ref() == Some(&session) {
                return Err(Inconsistent::HeldAndForgotten);
            }
            *sessions.touch(session) = sequences;
        }
        if sessions.len() > bounds.sessions.get() {
            return Err(Inconsistent::TooMany {
                held: sessions.len(),
                bound: bounds.sessions,
            });
        }
        sessions.forgotten = forgotten;
        Ok(sessions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::applied::NotNewReason;
    use alloc::vec::Vec;

    const A: Fingerprint = Fingerprint::of(b"a");
    const B: Fingerprint = Fingerprint::of(b"b");

    fn bounds(sessions: usize, window: usize) -> Bounds {
        Bounds {
            sessions: NonZeroUsize::new(sessions).unwrap(),
            window: NonZeroUsize::new(window).unwrap(),
        }
    }

    fn with(bounds: Bounds, ids: &[(char, u64)]) -> Sessions<char, u64> {
        let mut sessions = Sessions::new(bounds);
        for &(session, sequence) in ids {
            sessions
                .record(session, sequence, A, sequence * 10)
                .unwrap();
        }
        sessions
    }

    fn held(sessions: &Sessions<char, u64>) -> Vec<char> {
        sessions.iter().map(|(&session, _)| session).collect()
    }

    #[test]
    fn a_session_knows_its_last_sequence() {
        let sessions = with(bounds(9, 1), &[('p', 1), ('q', 1), ('p', 2)]);
        assert_eq!(sessions.check(&'p', 1, A), Check::TooOld);
        assert_eq!(sessions.check(&'p', 2, A), Check::Same(&20));
        assert_eq!(sessions.check(&'p', 2, B), Check::Mismatch);
        assert_eq!(sessions.check(&'p', 3, A), Check::New);
        assert_eq!(sessions.check(&'q', 1, A), Check::Same(&10));
        assert_eq!(sessions.check(&'r', 7, A), Check::New);
    }

    #[test]
    fn requests_under_way_may_overtake_each_other() {
        let mut sessions = with(bounds(9, 3), &[('p', 3), ('p', 2)]);
        sessions.record('p', 1, A, 10).unwrap();
        for sequence in 1..=3 {
            let outcome = sequence * 10;
            assert_eq!(sessions.check(&'p', sequence, A), Check::Same(&outcome));
        }
    }

    #[test]
    fn the_longest_idle_session_goes_and_stays_too_old() {
        let mut sessions = with(bounds(2, 1), &[('p', 1), ('q', 1), ('p', 2)]);
        sessions.record('r', 1, A, 10).unwrap();
        assert_eq!(held(&sessions), ['p', 'r']);
        // Neither its retries nor its next inputs are applied, and no session older than it begins.
        for (session, sequence) in [('q', 1), ('q', 2), ('o', 1)] {
            assert_eq!(sessions.check(&session, sequence, A), Check::TooOld);
        }
        // What is held goes on, though it is older; what is younger begins.
        assert_eq!(sessions.check(&'p', 3, A), Check::New);
        assert_eq!(sessions.check(&'s', 1, A), Check::New);
    }

    #[test]
    fn the_largest_session_forgotten_counts() {
        let mut sessions = with(bounds(1, 1), &[('p', 1)]);
        sessions.record('z', 1, A, 10).unwrap();
        assert_eq!(sessions.floor(), Some(&'p'));
        let mut sessions = with(bounds(2, 1), &[('z', 1), ('p', 1)]);
        sessions.record('q', 1, A, 10).unwrap(); // forgets z
        sessions.resize(bounds(1, 1)); // forgets p
        assert_eq!(sessions.floor(), Some(&'z'));
        assert_eq!(sessions.check(&'r', 1, A), Check::TooOld);
    }

    #[test]
    fn asking_is_not_using() {
        let mut sessions = with(bounds(2, 1), &[('p', 1), ('q', 1)]);
        assert_eq!(sessions.check(&'p', 1, A), Check::Same(&10));
        sessions.record('r', 1, A, 10).unwrap();
        assert_eq!(held(&sessions), ['q', 'r']);
    }

    #[test]
    fn what_is_not_new_comes_back_and_changes_nothing() {
        let mut sessions = with(bounds(2, 1), &[('p', 1), ('q', 1), ('r', 1), ('r', 2)]);
        let before = sessions.clone();
        for (session, sequence, fingerprint, reason) in [
            ('r', 2, A, NotNewReason::Same),
            ('r', 2, B, NotNewReason::Mismatch),
            ('r', 1, A, NotNewReason::TooOld),
            ('p', 1, A, NotNewReason::TooOld),
        ] {
            let not_new = NotNew {
                id: (session, sequence),
                outcome: 7,
                reason,
            };
            assert_eq!(
                sessions.record(session, sequence, fingerprint, 7),
                Err(not_new)
            );
            assert_eq!(sessions, before);
        }
    }

    #[test]
    fn new_bounds_reach_what_is_held() {
        let mut sessions = with(
            bounds(3, 2),
            &[('p', 1), ('q', 1), ('r', 1), ('r', 2), ('q', 2)],
        );
        sessions.resize(bounds(2, 1));
        assert_eq!(held(&sessions), ['r', 'q']);
        assert_eq!(sessions.check(&'p', 1, A), Check::TooOld);
        assert_eq!(sessions.check(&'r', 1, A), Check::TooOld);
        assert_eq!(sessions.check(&'r', 2, A), Check::Same(&20));

        sessions.resize(bounds(3, 3));
        sessions.record('r', 4, A, 40).unwrap();
        assert_eq!(sessions.check(&'r', 3, A), Check::New);
        assert_eq!(sessions.check(&'r', 1, A), Check::TooOld);
    }
}
