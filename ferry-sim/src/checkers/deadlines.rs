//! Deadlines: nobody hears that one passed before it did (P2), nor later than it could be told (P7), and no input is tried after
//! it (P8).
//!
//! A try under way is not cut off. So what is in one is told when the calls end that were under way at the deadline, and those
//! that began in the same moment as the one before them ended; and everyone else at the deadline itself.

use core::time::Duration;

use ferry_core::Instant;

use super::{
    Violation,
    batches::{Batches, NEVER, SLACK},
    places::Places,
};
use crate::{
    calls::{Ask, Asked, Carrier},
    history::{Heard, History, Reach, Submission, SubmissionId, Why},
    lives::Lived,
    workload::Workload,
};

pub(super) fn check<W: Workload>(
    history: &History<W>,
    batches: &Batches<'_>,
    found: &mut Vec<Violation>,
) {
    if history.pace.carrier == Carrier::Others {
        return;
    }
    let places = batches.places;
    let mut tries = None;
    for (nth, asked) in history.submissions.iter().enumerate() {
        let submission = SubmissionId(nth as u64);
        let Some(told) = asked.told_of_its_deadline() else {
            continue;
        };
        let Some(within) = asked.within else {
            found.push(Violation::NoDeadline { submission });
            continue;
        };
        let spot = places.submissions[nth];
        let lived = places.lived(spot.life);
        let deadline = lived.shown(asked.at) + within;
        let early = deadline.since(lived.shown(told));
        if !early.is_zero() {
            found.push(Violation::ExpiredTooSoon { submission, early });
        }
        let tries = tries.get_or_insert_with(|| Tries::of(history, places));
        let was_waiting = batches.batch_of(submission).is_none();
        let in_try = (!was_waiting).then(|| tries.under_way(spot.place, deadline, lived));
        let due = in_try.flatten().unwrap_or(deadline).max(deadline);
        let late = lived.shown(told).since(due);
        if late > SLACK && lived.jumps.is_empty() && !was_held_up(lived, deadline, told) {
            found.push(Violation::ExpiredTooLate { submission, late });
        }
    }
    if history.pace.carrier == Carrier::Ferry {
        tried_late(history, batches, found);
    }
}

impl<W: Workload> Submission<W> {
    fn told_of_its_deadline(&self) -> Option<Instant> {
        match self.answer {
            Some((
                at,
                Heard::NotCommitted(Why::Expired)
                | Heard::InDoubt(Why::Expired)
                | Heard::Outcome(_, Reach::Committed(Why::Expired)),
            )) => Some(at),
            _ => None,
        }
    }

    /// How long after its deadline this is, by the node's clock.
    fn after_its_deadline(&self, at: Instant, lived: &Lived) -> Option<Duration> {
        let (now, deadline) = (lived.shown(at), lived.shown(self.at) + self.within?);
        (now >= deadline).then(|| now.since(deadline))
    }
}

/// From a moment of the node's own clock on.
fn was_held_up(lived: &Lived, from: Instant, to: Instant) -> bool {
    lived
        .held_up
        .iter()
        .any(|&(held, until)| held <= to && until.is_none_or(|until| lived.shown(until) >= from))
}

/// A try begins without those whose deadline has passed.
fn tried_late<W: Workload>(
    history: &History<W>,
    batches: &Batches<'_>,
    found: &mut Vec<Violation>,
) {
    for batch in &batches.all {
        let lived = batches.places.lived(batch.spot.life);
        let mut read = None;
        for call in &batch.calls {
            let Ask::Commit(entries) = &call.ask else {
                read = Some(call.at);
                continue;
            };
            let Some(read) = read else { continue };
            for &submission in entries {
                let asked = history.submission(submission);
                if let Some(late) = asked.and_then(|asked| asked.after_its_deadline(read, lived)) {
                    found.push(Violation::TriedLate { submission, late });
                }
            }
        }
    }
}

/// By places: when what was under way there was over.
struct Tries(Vec<Vec<Try>>);

/// A call, in the order in which they began.
struct Try {
    at: Instant,
    /// When it ended, and what went on from there; the latest of those that began by then.
    end: Instant,
}

impl Tries {
    fn of<W: Workload>(history: &History<W>, places: &Places<'_>) -> Self {
        let mut tries: Vec<Vec<Try>> = places.by_place();
        for (call, spot) in history.calls.iter().zip(&places.calls) {
            tries[spot.place].push(Try::of(call));
        }
        tries.iter_mut().for_each(|tries| chain(tries));
        Self(tries)
    }

    /// When what was under way at this moment of the node's own clock was over, by that clock.
    fn under_way(&self, place: usize, at: Instant, lived: &Lived) -> Option<Instant> {
        let tries = &self.0[place];
        let later = tries.partition_point(|call| lived.shown(call.at) <= at);
        Some(lived.shown(tries[later.checked_sub(1)?].end))
    }
}

impl Try {
    /// By itself.
    fn of(call: &Asked) -> Self {
        Self {
            at: call.at,
            end: call.came.map_or(NEVER, |(end, _)| end),
        }
    }
}

/// From each by itself to what went on from there.
fn chain(tries: &mut [Try]) {
    for nth in (0..tries.len()).rev() {
        let end = tries[nth].end;
        let next = nth + 1 + tries[nth + 1..].partition_point(|next| next.at < end);
        let going_on = tries[next..].iter().take_while(|next| next.at == end);
        let last = going_on.map(|next| next.end).max();
        tries[nth].end = last.unwrap_or(end);
    }
    let mut latest = Instant::EPOCH;
    for call in tries {
        latest = latest.max(call.end);
        call.end = latest;
    }
}
