//! Inputs that others have overtaken.

use alloc::vec::Vec;

use super::{
    IdOf,
    group::{Fate, Held, InDoubtAs},
    trip::Trip,
};
use crate::{Cause, Fold, guard::guard};

impl<F: Fold> Trip<F> {
    /// Fails the inputs that the fold would apply now behind one that was submitted after them. True if there were any;
    /// then the others have to be folded again.
    ///
    /// A fold that declined such an input, and applied one behind it, was committed in doubt, and the one behind is
    /// stored: so that commit has most likely landed, and this input was declined. On the record as it is now it would
    /// not be; but that would change the order.
    pub(super) fn fail_the_overtaken(&mut self) -> bool {
        let ids = self.ids_overtaken();
        if ids.is_empty() {
            return false;
        }
        // Its twins were declined with it; all are taken out before any is answered, since none will be written.
        let fold = &self.fold;
        let is_one = |held: &Held<F>| {
            held.in_doubt_as == InDoubtAs::Declined
                && guard(|| fold.id(&held.input)).is_ok_and(|id| ids.contains(&id))
        };
        let group = core::mem::take(&mut self.group).into_iter();
        let (overtaken, others) = group.partition::<Vec<_>, _>(is_one);
        self.group = others.into();
        let has_any = !overtaken.is_empty();
        for mut held in overtaken {
            held.is_not_stored();
            self.tally.failed += 1;
            self.answer_failed(held, Cause::Overtaken);
        }
        has_any
    }

    fn ids_overtaken(&self) -> Vec<IdOf<F>> {
        let folded = || self.group.iter().zip(&self.fates);
        let is_late = |(held, fate): &(&Held<F>, &Fate<F::Outcome>)| {
            held.in_doubt_as == InDoubtAs::Declined && fate.is_applied()
        };
        let is_back = |(held, fate): &(&Held<F>, &Fate<F::Outcome>)| {
            held.in_doubt_as == InDoubtAs::Applied && matches!(fate, Fate::Already(_))
        };
        if !folded().any(|at| is_late(&at)) || !folded().any(|at| is_back(&at)) {
            return Vec::new();
        }
        let id = |held: &Held<F>| guard(|| self.fold.id(&held.input)).ok();
        let applied: Vec<_> = (folded().filter(|(_, fate)| fate.is_applied()))
            .filter_map(|(held, _)| id(held))
            .collect();
        // Found in the record, and not as a twin of one that this fold applied.
        let is_stored = |held: &Held<F>| id(held).is_some_and(|id| !applied.contains(&id));
        let landed = folded().rposition(|at| is_back(&at) && is_stored(at.0));
        (folded().take(landed.unwrap_or(0)))
            .filter(is_late)
            .filter_map(|(held, _)| id(held))
            .collect()
    }
}
