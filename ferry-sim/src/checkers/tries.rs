//! The tries of one batch. P1: what is committed was looked for in the record. P10: no try begins after its time. P9: what was
//! turned away for good together is tried apart.

use super::{
    Violation,
    batches::{Batch, Batches, SLACK},
    places::Places,
};
use crate::{
    calls::{Ask, Asked},
    history::{Heard, History, SubmissionId, Why},
    workload::Workload,
};

pub(super) fn check<W: Workload>(
    history: &History<W>,
    batches: &Batches<'_>,
    found: &mut Vec<Violation>,
) {
    looked_for(&batches.strays, found);
    for batch in &batches.all {
        looked_for(&batch.calls, found);
        too_long(batch, batches.places, history, found);
        for (nth, call) in batch.calls.iter().enumerate() {
            if call.came.is_some_and(|(_, came)| came.is_for_good()) {
                apart(batch, nth, history, found);
            }
        }
    }
}

fn read(call: &Asked) -> Option<&[SubmissionId]> {
    match &call.ask {
        Ask::Read(ids) => Some(ids),
        Ask::Look | Ask::Commit(_) | Ask::Project => None,
    }
}

fn looked_for(calls: &[&Asked], found: &mut Vec<Violation>) {
    let mut named: &[SubmissionId] = &[];
    for call in calls {
        let &&Asked { life, key, .. } = call;
        if let Some(ids) = read(call) {
            named = ids;
        } else if let Ask::Commit(entries) = &call.ask {
            let unnamed = entries.iter().filter(|entry| !named.contains(entry));
            found.extend(unnamed.map(|&submission| Violation::NotLookedFor {
                life,
                key,
                submission,
            }));
        }
    }
}

/// No pause ends later than so long after the first try began. Without a pause a read may come later: it tells how the last
/// try ended, or begins with a half.
fn too_long<W: Workload>(
    batch: &Batch<'_>,
    places: &Places<'_>,
    history: &History<W>,
    found: &mut Vec<Violation>,
) {
    let (life, key) = batch.place;
    let (lived, total) = (places.lived(batch.spot.life), history.pace.retry.total);
    if !lived.jumps.is_empty() {
        return;
    }
    let first = lived.shown(batch.began());
    for pair in batch.calls.windows(2) {
        let (Some((end, _)), Some(_)) = (pair[0].came, read(pair[1])) else {
            continue;
        };
        let again = pair[1].at;
        let after = lived.shown(again).since(first);
        // Held up, it may have ended later than it was to.
        if again > end && after > total + SLACK && !lived.was_held_up(end, again) {
            found.push(Violation::TriedTooLong {
                life,
                key,
                after,
                total,
            });
        }
    }
}

/// The batch's commit of this number was turned away for good, or panicked.
fn apart<W: Workload>(
    batch: &Batch<'_>,
    nth: usize,
    history: &History<W>,
    found: &mut Vec<Violation>,
) {
    let (done, later) = batch.calls.split_at(nth + 1);
    let commit = done[nth];
    let (Ask::Commit(entries), Some(read_for)) =
        (&commit.ask, done.iter().rev().find_map(|call| read(call)))
    else {
        return;
    };
    // Of the others that were read for, some may have been answered from the record.
    let inputs = entries.len();
    if inputs < 2 {
        return;
    }
    let (life, key) = batch.place;
    let reads = later.iter().filter_map(|call| read(call));
    let most = read_for.len().div_ceil(2);
    // Where all of the first half have left meanwhile, what comes next may be of an earlier, larger one.
    let is_of_it = |then: &&[SubmissionId]| then.iter().any(|id| read_for.contains(id));
    let then = reads.clone().next().filter(is_of_it);
    if let Some(then) = then.filter(|then| then.len() > most) {
        found.push(Violation::NotHalved {
            life,
            key,
            inputs: read_for.len(),
            then: then.len(),
        });
    }
    let is_cut_off = history.ended.contains(&life);
    for &submission in entries {
        let is_tried_again = reads.clone().any(|ids| ids.contains(&submission));
        if !is_settled(submission, is_cut_off, history) && !is_tried_again {
            found.push(Violation::NotTriedApart { submission, inputs });
        }
    }
}

/// Whether it needs no further try: it was answered with an outcome, or failed by itself.
fn is_settled<W: Workload>(
    submission: SubmissionId,
    is_cut_off: bool,
    history: &History<W>,
) -> bool {
    let Some(asked) = history.submission(submission) else {
        return true;
    };
    match &asked.answer {
        Some((_, Heard::NotCommitted(why) | Heard::InDoubt(why))) => match why {
            Why::Expired | Why::Overtaken | Why::Panicked | Why::Abandoned => true,
            Why::Refused | Why::Store(_) | Why::CallPanicked | Why::Other => false,
        },
        Some((_, Heard::Outcome(..) | Heard::Rejected)) => true,
        // It may have been declined, or known, and nobody has heard.
        None => is_cut_off || asked.deserted.is_some(),
    }
}
