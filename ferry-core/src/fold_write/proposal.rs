//! What a commit is to write, and on which condition.

use super::{StateOf, VersionOf};
use crate::{Fold, guard::discard};

/// Wherever it is let go of, a `Drop` of the user's that panics does not meet another.
pub(super) struct Proposal<F: Fold> {
    /// The version that is expected, and the state; `None` only while it is dropped or taken apart.
    parts: Option<(Option<VersionOf<F>>, StateOf<F>)>,
}

impl<F: Fold> Proposal<F> {
    pub(super) fn new(expected: Option<VersionOf<F>>, state: StateOf<F>) -> Self {
        Self {
            parts: Some((expected, state)),
        }
    }

    pub(super) fn parts(&self) -> &(Option<VersionOf<F>>, StateOf<F>) {
        match &self.parts {
            Some(parts) => parts,
            None => unreachable!("they are there until they are taken"),
        }
    }

    pub(super) fn into_parts(mut self) -> (Option<VersionOf<F>>, StateOf<F>) {
        match self.parts.take() {
            Some(parts) => parts,
            None => unreachable!("they are there until they are taken"),
        }
    }
}

impl<F: Fold> Drop for Proposal<F> {
    fn drop(&mut self) {
        if let Some((expected, state)) = self.parts.take() {
            discard(expected);
            discard(state);
        }
    }
}
