//! Inputs that others have overtaken.

use alloc::{collections::VecDeque, vec::Vec};

use super::{
    IdOf,
    group::{Fate, Held},
    trip::Trip,
};
use crate::{Cause, Fold};

/// An input leaves its group, stored or not, from behind these.
pub(super) fn leave<'g, F: Fold + 'g>(
    before: impl Iterator<Item = &'g mut Held<F>>,
    leaving: &Held<F>,
    is_stored: bool,
) {
    before.for_each(|held| held.is_left_by(leaving, is_stored));
}

/// A group is split: what becomes of the second part is not seen by the first.
pub(super) fn part<F: Fold>(first: &mut VecDeque<Held<F>>, second: &VecDeque<Held<F>>) {
    let is_open = |held: &&Held<F>| held.may_be_applied() && !held.is_clear();
    if let Some(behind) = second.iter().find(is_open) {
        leave(first.iter_mut(), behind, false);
    }
}

impl<F: Fold> Trip<F> {
    /// Fails the inputs that the fold would apply now behind one that was submitted after them. True if there were any;
    /// then the others have to be folded again.
    ///
    /// A fold that declined such an input, and applied one behind it, was committed in doubt, and the one behind is
    /// stored: so that commit has most likely landed, and this input was declined. On the record as it is now it would
    /// not be; but that would change the order. Where the one behind has left, by its deadline or by a split, nobody can look
    /// for it any more, and it counts as stored once the record has moved on.
    pub(super) fn fail_the_overtaken(&mut self) -> bool {
        let overtaken = self.ids_overtaken();
        if overtaken.is_empty() {
            return false;
        }
        // Its twins were declined with it; all are taken out before any is answered, since none will be written.
        let is_one = |(held, id): (&Held<F>, &IdOf<F>)| {
            (held.may_be_declined() || held.has_lost_its_place()) && overtaken.contains(&id)
        };
        let leaves: Vec<_> = self.group.iter().zip(&self.ids).map(is_one).collect();
        let mut leaves = leaves.into_iter();
        let group = core::mem::take(&mut self.group).into_iter();
        let (overtaken, others) = group.partition::<Vec<_>, _>(|_| leaves.next() == Some(true));
        self.group = others.into();
        for held in overtaken {
            self.tally.failed += 1;
            self.answer_failed(held, Cause::Overtaken);
        }
        true
    }

    /// Of the group as it was just folded.
    fn ids_overtaken(&self) -> Vec<&IdOf<F>> {
        type Folded<'t, F> = (&'t Held<F>, &'t Fate<<F as Fold>::Outcome>);
        let folded = || self.group.iter().zip(&self.fates);
        let is_late = |(held, fate): &Folded<'_, F>| held.may_be_declined() && fate.is_applied();
        let is_back = |(held, fate): Folded<'_, F>| {
            held.may_be_applied() && matches!(fate, Fate::Already(_) | Fate::TooOld(_))
        };
        let is_lost = |(held, fate): &Folded<'_, F>| held.has_lost_its_place() && fate.is_applied();
        let landed = folded().rposition(is_back).unwrap_or(0);
        (folded().zip(&self.ids).enumerate())
            .filter(|(at, (it, _))| (*at < landed && is_late(it)) || is_lost(it))
            .map(|(_, (_, id))| id)
            .collect()
    }
}
