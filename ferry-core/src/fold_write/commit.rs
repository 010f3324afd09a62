//! What the answer to a commit leads to, and which inputs it leaves in doubt.

use alloc::{boxed::Box, sync::Arc, vec::Vec};

use super::{
    Command, ErrorOf, VersionOf,
    again::Setback,
    group::{Fate, Held, InDoubtAs, Kinship},
    trip::{Aim, Trip},
};
use crate::{
    Cause, Class, Fault, Fold, Instant,
    guard::{discard, guard},
};

impl<F: Fold> Trip<F> {
    pub(super) fn landed(mut self: Box<Self>, now: Instant) -> Command<F> {
        if !self.later.is_empty() {
            self.carried().for_each(|(held, _)| held.may_be_stored());
        }
        while !self.group.is_empty() {
            self.answer(0);
        }
        self.read(now, Aim::Carry)
    }

    /// What refused it may be its own first copy, sent by a layer below: nothing is known before the
    /// next read.
    pub(super) fn refused(
        mut self: Box<Self>,
        now: Instant,
        expected: &Option<VersionOf<F>>,
    ) -> Command<F> {
        self.tally.refused += 1;
        self.doubt(expected, &Cause::Refused);
        self.again(now, Setback::Commit(Cause::Refused), Class::Transient)
    }

    pub(super) fn not_landed(
        mut self: Box<Self>,
        now: Instant,
        fault: Fault<ErrorOf<F>>,
    ) -> Command<F> {
        self.tally.faults += 1;
        let cause = Cause::Store(Arc::new(fault.error));
        self.failed(now, Setback::Commit(cause), fault.class)
    }

    pub(super) fn in_doubt(
        mut self: Box<Self>,
        now: Instant,
        expected: &Option<VersionOf<F>>,
        error: ErrorOf<F>,
    ) -> Command<F> {
        self.tally.in_doubt += 1;
        let cause = Cause::Store(Arc::new(error));
        self.doubt(expected, &cause);
        self.again(now, Setback::Commit(cause), Class::Transient)
    }

    pub(super) fn commit_panicked(
        mut self: Box<Self>,
        now: Instant,
        expected: &Option<VersionOf<F>>,
        message: Arc<str>,
    ) -> Command<F> {
        self.tally.in_doubt += 1;
        let cause = Cause::Panicked(message);
        self.doubt(expected, &cause);
        self.split(now, Setback::Commit(cause))
    }

    /// A commit of the group, fenced on this version, may have landed or may still.
    fn doubt(&mut self, expected: &Option<VersionOf<F>>, cause: &Cause<ErrorOf<F>>) {
        discard(core::mem::replace(&mut self.doubted_for, cause.clone()));
        // On another version than this, an earlier one cannot land any more, and what it brought would have been found.
        let is_first = !self.held().any(|held| held.may_land_on(expected));
        let before: Vec<_> = self.held().map(|held| held.in_doubt_as).collect();
        for (held, fate) in self.group.iter_mut().zip(&self.fates) {
            let is_declined = matches!(fate, Fate::Declined(_));
            held.in_doubt_as = if is_declined {
                InDoubtAs::Declined
            } else {
                InDoubtAs::Nothing
            };
        }
        (self.carried()).for_each(|(held, kinship)| held.doubt(expected, kinship));
        let grouped = self.group.len();
        let held = self.group.iter_mut().chain(self.later.iter_mut().flatten());
        for (at, (held, before)) in held.zip(before).enumerate() {
            // One of a later part has not been looked for since a commit of the whole, on whatever version that was.
            if !is_first || at >= grouped {
                held.in_doubt_as = held.in_doubt_as.or(before);
            }
        }
    }

    /// The inputs whose ids are in the store once a commit of the group lands: those that it
    /// applies, and their twins in this group and, where a split has parted them, in later ones.
    fn carried(&mut self) -> impl Iterator<Item = (&mut Held<F>, Kinship)> {
        let fold = &self.fold;
        let may_have_twins = !self.later.is_empty() || self.entries.len() < self.fates.len();
        let ids: Result<Vec<_>, _> = (self.group.iter().zip(&self.fates))
            .filter(|(_, fate)| may_have_twins && fate.is_applied())
            .map(|(held, _)| guard(|| fold.id(&held.input)))
            .collect();
        let kinship = move |held: &Held<F>| match (guard(|| fold.id(&held.input)), &ids) {
            (Ok(id), Ok(ids)) => ids.contains(&id).then_some(Kinship::Twin),
            _ => Some(Kinship::Unknown),
        };
        let fates = self.fates.iter().map(Fate::is_applied);
        let group = self.group.iter_mut().zip(fates);
        let later = self.later.iter_mut().flatten().map(|held| (held, false));
        group.chain(later).filter_map(move |(held, is_applied)| {
            let kinship = match is_applied {
                true => Some(Kinship::Itself),
                false => kinship(held),
            };
            Some((held, kinship?))
        })
    }
}
