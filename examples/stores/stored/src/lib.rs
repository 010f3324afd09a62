//! What the SQL recipes hold for a key, so that one fold goes with any of them: what it sees of a record, what
//! it adds to it, and the view that is made of that.
//!
//! Copy it along with the recipe that you take.
#![forbid(unsafe_code)]

mod view;

use std::collections::HashMap;

pub use ferry_core::applied::Fingerprint;
pub use view::{Shown, View};

/// The fence token of a record: how many commits it has seen, and a random stamp of the last one.
///
/// The number alone would start over when a record is deleted and created again; the stamp is drawn
/// afresh for every commit, so the pair never comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Version {
    /// Commits since the record was created; the first is 1.
    pub number: u64,
    /// 16 random bytes, drawn by the store for each commit.
    pub stamp: [u8; 16],
}

impl Version {
    /// The version of a record that is not there: no commit has it, and a commit that expects it
    /// creates the record.
    pub const ABSENT: Self = Self {
        number: 0,
        stamp: [0; 16],
    };
}

/// What one applied input adds to its record: a row that carries the input's id.
///
/// [`Stored::apply`] makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<O> {
    /// The id that the client chose for the input. Unique within its key, for as long as the entry is
    /// kept.
    pub id: String,
    /// Of the input's content.
    pub fingerprint: Fingerprint,
    /// What the input's caller was told, and every retry is told again.
    pub outcome: O,
    /// The input itself, or whatever else is to be found in the entry later. May be empty.
    pub body: Vec<u8>,
}

/// The state that a fold works on: the record's body, and what is known of the batch's ids.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored<B, O> {
    /// The record's body; `None` where the key has no record yet, or where its body was removed.
    ///
    /// A fold that leaves `None` here removes the body and keeps the version counting, so that what
    /// comes after still meets the fence.
    pub body: Option<B>,
    /// The ids that the read was asked about, and those applied since in the same fold.
    pub known: Known<O>,
    /// The version that the key's view shows; [`Version::ABSENT`] while there is no view. A commit leaves
    /// it as it is stored, whatever it says here.
    pub marker: Version,
}

impl<B, O> Default for Stored<B, O> {
    /// The state of a key without a record.
    fn default() -> Self {
        Self {
            body: None,
            known: Known::default(),
            marker: Version::ABSENT,
        }
    }
}

impl<B, O> Stored<B, O> {
    /// Whether the view lacks something of the record of this version: what
    /// [`Projection::pending`](ferry_core::Projection::pending) is to answer.
    #[must_use]
    pub fn is_pending(&self, version: Version) -> bool {
        self.marker != version
    }
}

impl<B, O: Clone> Stored<B, O> {
    /// Notes an input as applied, and gives the entry to return with
    /// [`Step::Applied`](ferry_core::Step::Applied).
    ///
    /// From here on [`Known::check`] knows the id, since the same batch can hold it again. Call it
    /// after `check` said [`Check::New`] and the body has been changed.
    #[must_use = "the entry is what makes the input count as applied; return it from the step"]
    pub fn apply(
        &mut self,
        id: impl Into<String>,
        fingerprint: Fingerprint,
        outcome: O,
        body: impl Into<Vec<u8>>,
    ) -> Entry<O> {
        let id = id.into();
        self.known.insert(id.clone(), fingerprint, outcome.clone());
        Entry {
            id,
            fingerprint,
            outcome,
            body: body.into(),
        }
    }
}

/// What is stored of the inputs in a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known<O> {
    applied: HashMap<String, (Fingerprint, O)>,
}

impl<O> Default for Known<O> {
    fn default() -> Self {
        Self {
            applied: HashMap::new(),
        }
    }
}

impl<O> Known<O> {
    /// Whether an input with this id was applied before, and whether it was the same input.
    #[must_use]
    pub fn check(&self, id: &str, fingerprint: Fingerprint) -> Check<'_, O> {
        match self.applied.get(id) {
            None => Check::New,
            Some((stored, outcome)) if *stored == fingerprint => Check::Same(outcome),
            Some(_) => Check::Mismatch,
        }
    }

    /// Notes what the store holds of an id.
    pub fn insert(&mut self, id: String, fingerprint: Fingerprint, outcome: O) {
        self.applied.insert(id, (fingerprint, outcome));
    }
}

/// What [`Known::check`] found.
///
/// Exhaustive on purpose: a step answers each of these. There is no "too old" as in
/// [`ferry_core::applied::Check`]: ids are kept for as long as their entries.
#[derive(Debug, PartialEq, Eq)]
pub enum Check<'a, O> {
    /// Never applied to this key: apply it.
    New,
    /// Applied before, with this outcome: answer that.
    Same(&'a O),
    /// The id was applied before with other content: the client's mistake; change nothing.
    Mismatch,
}

impl<O> Clone for Check<'_, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for Check<'_, O> {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_applied_in_this_fold_is_known_to_the_rest_of_it() {
        let mut account = Stored::<i64, i64>::default();
        let content = Fingerprint::of(b"+5");
        assert_eq!(account.known.check("a", content), Check::New);
        let entry = account.apply("a", content, 5, *b"+5");
        assert_eq!((entry.id.as_str(), entry.outcome), ("a", 5));
        assert_eq!(account.known.check("a", content), Check::Same(&5));
        let other = Fingerprint::of(b"+6");
        assert_eq!(account.known.check("a", other), Check::Mismatch);
        assert_eq!(account.known.check("b", content), Check::New);
    }
}
