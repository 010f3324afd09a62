//! Batches, as their calls of the store show them, and how long each input held its place.
//!
//! A read names the inputs that are about to be folded: the first that names one is when its batch began, and later ones are of
//! the same batch. When it was over is known where all its callers have heard.

use ferry_core::Instant;

use super::places::{Place, Places, Spot};
use crate::{
    calls::{Ask, Asked, Carrier},
    history::{Heard, History, Life, Submission, SubmissionId},
    lives::Lived,
    workload::Workload,
};

/// More than clocks lose by rounding.
pub(super) const SLACK: core::time::Duration = core::time::Duration::from_micros(1);

/// Most batches make no more calls than that.
const CALLS_FEW: usize = 4;

/// What came over a life of which nothing is noted.
static NOTHING: Lived = Lived {
    drift: 0,
    jumps: Vec::new(),
    held_up: Vec::new(),
    closing: None,
    closed: None,
};

impl<W: Workload> History<W> {
    pub(super) fn lived(&self, life: Life) -> &Lived {
        self.lives.get(&life).unwrap_or(&NOTHING)
    }

    /// `None` in a history that was made by hand, of calls alone.
    pub(super) fn submission(&self, id: SubmissionId) -> Option<&Submission<W>> {
        self.submissions.get(id.0 as usize)
    }
}

impl<W: Workload> Submission<W> {
    pub(super) fn was_rejected(&self) -> bool {
        matches!(self.answer, Some((_, Heard::Rejected)))
    }

    /// When its caller was gone or knew more.
    pub(super) fn left(&self) -> Option<Instant> {
        self.deserted.or(self.answer.as_ref().map(|(at, _)| *at))
    }
}

pub(super) struct Batch<'h> {
    pub(super) place: Place,
    pub(super) spot: Spot,
    /// In the order of their submission.
    pub(super) inputs: &'h [SubmissionId],
    /// Reads and commits, in their order.
    pub(super) calls: Vec<&'h Asked>,
    /// When the last of its callers has heard, if all have.
    pub(super) over: Option<Instant>,
    /// The one before it at its place.
    pub(super) before: Option<usize>,
    /// When the next one at its place began.
    pub(super) next_began: Option<Instant>,
}

impl Batch<'_> {
    pub(super) fn began(&self) -> Instant {
        self.calls[0].at
    }

    fn has(&self, ids: &[SubmissionId]) -> bool {
        ids.iter().any(|id| self.inputs.binary_search(id).is_ok())
    }
}

/// All batches, in the order in which they began.
pub(super) struct Batches<'h> {
    pub(super) places: &'h Places<'h>,
    pub(super) all: Vec<Batch<'h>>,
    /// Commits at a place where no batch had begun.
    pub(super) strays: Vec<&'h Asked>,
    /// Which one each submission is in.
    of: Vec<Option<usize>>,
}

impl<'h> Batches<'h> {
    /// None, where they are not the handle's own.
    pub(super) fn of<W: Workload>(history: &'h History<W>, places: &'h Places<'h>) -> Self {
        let mut batches = Self {
            places,
            all: Vec::new(),
            strays: Vec::new(),
            of: vec![None; history.submissions.len()],
        };
        if history.pace.carrier == Carrier::Others {
            return batches;
        }
        let mut last: Vec<Option<usize>> = places.by_place();
        for (call, &spot) in history.calls.iter().zip(&places.calls) {
            let current = last[spot.place];
            match &call.ask {
                Ask::Read(ids) => match current {
                    Some(current) if batches.all[current].has(ids) => {
                        batches.all[current].calls.push(call);
                    }
                    before => {
                        last[spot.place] = Some(batches.all.len());
                        batches.begin(spot, ids, call, before);
                    }
                },
                Ask::Commit(_) => match current {
                    Some(current) => batches.all[current].calls.push(call),
                    None => batches.strays.push(call),
                },
                Ask::Look | Ask::Project => {}
            }
        }
        for batch in &mut batches.all {
            let mut ends = batch.inputs.iter().map(|&id| {
                let answer = history.submission(id)?.answer.as_ref();
                answer.map(|(at, _)| *at)
            });
            let first = ends.next().flatten();
            batch.over =
                first.and_then(|first| ends.try_fold(first, |last, end| Some(last.max(end?))));
        }
        batches
    }

    fn begin(
        &mut self,
        spot: Spot,
        inputs: &'h [SubmissionId],
        call: &'h Asked,
        before: Option<usize>,
    ) {
        let nth = self.all.len();
        if let Some(before) = before {
            self.all[before].next_began = Some(call.at);
        }
        for id in inputs {
            if let Some(of) = self.of.get_mut(id.0 as usize) {
                *of = Some(nth);
            }
        }
        let mut calls = Vec::with_capacity(CALLS_FEW);
        calls.push(call);
        self.all.push(Batch {
            place: (call.life, call.key),
            spot,
            inputs,
            calls,
            over: None,
            before,
            next_began: None,
        });
    }

    /// Which of all.
    pub(super) fn nth_of(&self, id: SubmissionId) -> Option<usize> {
        *self.of.get(id.0 as usize)?
    }

    pub(super) fn batch_of(&self, id: SubmissionId) -> Option<&Batch<'h>> {
        self.nth_of(id).map(|nth| &self.all[nth])
    }

    /// Whether they are in one batch, unless one was never read for: that may have been in any.
    pub(super) fn may_be_together(&self, one: SubmissionId, other: SubmissionId) -> bool {
        match (self.nth_of(one), self.nth_of(other)) {
            (Some(one), Some(other)) => one == other,
            _ => true,
        }
    }
}

/// How long an input that was taken in held its place, and how long it waited for its batch. The last moment: to the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stay {
    pub(super) waited_until: Instant,
    pub(super) until_least: Instant,
    pub(super) until_most: Instant,
}

pub(super) const NEVER: Instant = Instant::from_nanos(u64::MAX);

impl Batches<'_> {
    pub(super) fn stay<W: Workload>(&self, id: SubmissionId, history: &History<W>) -> Stay {
        let asked = &history.submissions[id.0 as usize];
        if let Some(batch) = self.batch_of(id) {
            return Stay {
                waited_until: batch.began(),
                until_least: batch.over.unwrap_or(batch.began()),
                until_most: batch.over.or(batch.next_began).unwrap_or(NEVER),
            };
        }
        let left = asked.left().unwrap_or(NEVER);
        // Held up, its batch may have left without having read; then it holds its place until that is over.
        let was_held_up = history.lived(asked.life).was_held_up(left, left);
        Stay {
            waited_until: left,
            until_least: left,
            until_most: if was_held_up { NEVER } else { left },
        }
    }
}
