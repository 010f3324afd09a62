//! P8: no batch leaves before it has lingered. P7: none leaves later than it could, and none is passed by.

use core::mem;

use ferry_core::Instant;

use super::{
    Violation,
    batches::{Batch, Batches, SLACK},
    places::Places,
};
use crate::{
    history::{History, Submission, SubmissionId},
    lives::Lived,
    workload::Workload,
};

/// A batch, and what there is to say about when it left.
struct Leaving<'a, W: Workload> {
    batch: &'a Batch<'a>,
    first: SubmissionId,
    first_asked: &'a Submission<W>,
    last_asked: &'a Submission<W>,
    lived: &'a Lived,
    /// When the one before it at its key was over; `None`: nobody knows.
    free: Option<Instant>,
}

pub(super) fn check<W: Workload>(
    history: &History<W>,
    batches: &Batches<'_>,
    found: &mut Vec<Violation>,
) {
    let places = batches.places;
    let keys = keys_of_lives(places);
    let mut before: Vec<Vec<(Instant, SubmissionId)>> = places.by_life();
    for batch in &batches.all {
        let life = batch.spot.life;
        let Some(leaving) = Leaving::of(batch, batches, history) else {
            continue;
        };
        let has_permit = keys[life] <= history.pace.limits.max_in_flight;
        found.extend(leaving.too_soon(history));
        if has_permit {
            found.extend(leaving.too_late(history));
        }
        let before = &mut before[life];
        found.extend(leaving.was_passed(before, history));
        before.push((batch.began(), leaving.first));
    }
}

/// How many keys each life was asked about.
fn keys_of_lives(places: &Places<'_>) -> Vec<usize> {
    let mut keys = places.by_life();
    let mut was_asked: Vec<bool> = places.by_place();
    for spot in &places.submissions {
        keys[spot.life] += usize::from(!mem::replace(&mut was_asked[spot.place], true));
    }
    keys
}

impl<'a, W: Workload> Leaving<'a, W> {
    fn of(batch: &'a Batch<'a>, batches: &Batches<'a>, history: &'a History<W>) -> Option<Self> {
        let (&first, &last) = (batch.inputs.first()?, batch.inputs.last()?);
        let free = match batch.before {
            Some(before) => batches.all[before].over,
            None => Some(Instant::EPOCH),
        };
        Some(Self {
            batch,
            first,
            first_asked: history.submission(first)?,
            last_asked: history.submission(last)?,
            lived: batches.places.lived(batch.spot.life),
            free,
        })
    }

    fn is_closing(&self) -> bool {
        let closing = self.lived.closing;
        closing.is_some_and(|closing| closing <= self.batch.began())
    }

    /// When it had lingered long enough, by the node's clock.
    fn lingered(&self, history: &History<W>) -> Instant {
        self.lived.shown(self.first_asked.at) + history.pace.limits.linger
    }

    fn is_full(&self, history: &History<W>) -> bool {
        self.batch.inputs.len() >= history.pace.limits.max_batch
    }

    /// How much waits behind it is not known; so where weight is bounded, any may be full.
    fn may_be_full(&self, history: &History<W>) -> bool {
        self.is_full(history) || history.pace.limits.max_weight < usize::MAX
    }

    fn too_soon(&self, history: &History<W>) -> Option<Violation> {
        let began = self.batch.began();
        let early = self.lingered(history).since(self.lived.shown(began));
        // Held up between leaving and reading, it may have lost its oldest by a deadline.
        let is_excused =
            self.may_be_full(history) || self.is_closing() || self.lived.was_held_up(began, began);
        let (life, key) = self.batch.place;
        (!early.is_zero() && !is_excused).then_some(Violation::LeftTooSoon {
            life,
            key,
            first: self.first,
            early,
        })
    }

    fn too_late(&self, history: &History<W>) -> Option<Violation> {
        let began = self.batch.began();
        if !self.lived.jumps.is_empty() || self.lived.was_held_up(self.first_asked.at, began) {
            return None;
        }
        let mut due = self.lingered(history);
        if self.is_full(history) {
            due = due.min(self.lived.shown(self.last_asked.at));
        }
        if let Some(closing) = self.lived.closing {
            due = due.min(self.lived.shown(closing.max(self.first_asked.at)));
        }
        due = due.max(self.lived.shown(self.free?));
        let late = self.lived.shown(began).since(due);
        let (life, key) = self.batch.place;
        (late > SLACK).then_some(Violation::LeftTooLate {
            life,
            key,
            first: self.first,
            late,
        })
    }

    /// Those that began while it was ready came no later than it. In a sound run they are few: each of another key.
    fn was_passed(
        &self,
        before: &[(Instant, SubmissionId)],
        history: &History<W>,
    ) -> Option<Violation> {
        let began = self.batch.began();
        if !self.lived.jumps.is_empty() || self.lived.was_held_up(self.first_asked.at, began) {
            return None;
        }
        let free = self.lived.shown(self.free?);
        let ready = self.lingered(history).max(free) + SLACK;
        let meanwhile = before.iter().rev();
        let mut meanwhile = meanwhile.take_while(|(other, _)| self.lived.shown(*other) > ready);
        let (_, by) = meanwhile.find(|&&(other, first)| other < began && first > self.first)?;
        Some(Violation::PassedBy {
            life: self.batch.place.0,
            first: self.first,
            by: *by,
        })
    }
}
