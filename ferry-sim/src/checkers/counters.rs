//! P2, of what a node has counted: at rest it is what there was.

use core::mem;

use ferry_core::drive::Counters;

use super::{
    Violation,
    batches::{Batch, Batches},
};
use crate::{
    calls::{Ask, Came, Carrier},
    executor::Halt,
    history::{Heard, History, Life, NodeEnd, Reach, Resumed, Submission, SubmissionId, Why},
    sent::How,
    workload::Workload,
};

/// What there was at a node, as far as it was seen.
#[derive(Default)]
struct Seen {
    accepted: u64,
    rejected: u64,
    withdrawn: u64,
    expired_waiting: u64,
    /// Whose callers have not heard: of these it is not known what became.
    unheard: u64,
    batches: u64,
    batched: u64,
    largest_batch: u64,
    // Of the batched, what was heard:
    applied: u64,
    declined: u64,
    mismatches: u64,
    too_old: u64,
    expired: u64,
    failed: u64,
    late: u64,
    // Of the store:
    reads: u64,
    looks: u64,
    commits: u64,
    refused: u64,
    in_doubt: u64,
    faults: u64,
    projections: u64,
    projections_failed: u64,
    retries: [u64; 2],
    splits: [u64; 2],
    resumes_least: u64,
}

pub(super) fn check<W: Workload>(
    history: &History<W>,
    batches: &Batches<'_>,
    found: &mut Vec<Violation>,
) {
    if history.halt != Some(Halt::Quiet) || history.pace.carrier == Carrier::Others {
        return;
    }
    let places = batches.places;
    let mut seen: Vec<Seen> = places.by_life();
    for (nth, asked) in history.submissions.iter().enumerate() {
        let is_batched = batches.batch_of(SubmissionId(nth as u64)).is_some();
        seen[places.submissions[nth].life].submitted(asked, is_batched);
    }
    for batch in &batches.all {
        let seen = &mut seen[batch.spot.life];
        let inputs = batch.inputs.len() as u64;
        seen.batches += 1;
        seen.batched += inputs;
        seen.largest_batch = seen.largest_batch.max(inputs);
        seen.tried(batch);
    }
    for (resume, spot) in history.resumes.iter().zip(&places.resumes) {
        let was_run = matches!(
            resume.answer,
            Some((_, Resumed::Shown | Resumed::StillPending))
        );
        seen[spot.life].resumes_least |= u64::from(was_run);
    }
    for (call, spot) in history.calls.iter().zip(&places.calls) {
        let came = call.came.map(|(_, came)| came);
        seen[spot.life].called(&call.ask, came);
    }
    for NodeEnd { life, stats, .. } in &history.nodes {
        let seen = places.life(*life).map(|life| mem::take(&mut seen[life]));
        let seen = seen.unwrap_or_default();
        // Held up between its leaving and its first read, a batch may have lost inputs unseen.
        if history.lived(*life).held_up.is_empty() {
            seen.check(*life, &stats.counters, history.pace.carrier, found);
        }
    }
}

impl Seen {
    fn submitted<W: Workload>(&mut self, asked: &Submission<W>, is_batched: bool) {
        let heard = asked.answer.as_ref().map(|(_, heard)| heard);
        if matches!(heard, Some(Heard::Rejected)) {
            self.rejected += 1;
            return;
        }
        self.accepted += 1;
        match heard {
            None if is_batched => self.unheard += 1,
            None => self.withdrawn += u64::from(asked.deserted.is_some()),
            Some(Heard::NotCommitted(Why::Expired)) if !is_batched => self.expired_waiting += 1,
            Some(Heard::NotCommitted(Why::Expired) | Heard::InDoubt(Why::Expired)) => {
                self.expired += 1;
            }
            Some(Heard::NotCommitted(_) | Heard::InDoubt(_)) => self.failed += 1,
            Some(Heard::Outcome(told, reach)) => {
                self.late += u64::from(matches!(reach, Reach::Committed(_)));
                match told.how {
                    How::Applied => self.applied += 1,
                    How::Declined => self.declined += 1,
                    How::Mismatch => self.mismatches += 1,
                    How::TooOld => self.too_old += 1,
                }
            }
            Some(Heard::Rejected) => {}
        }
    }

    fn called(&mut self, ask: &Ask, came: Option<Came>) {
        let is_done = came == Some(Came::Done);
        let is_fault = matches!(came, Some(Came::Failed(_)));
        let is_panic = came == Some(Came::Panicked);
        match ask {
            Ask::Read(_) => {
                self.reads += 1;
                self.faults += u64::from(is_panic);
            }
            Ask::Look => self.looks += 1,
            Ask::Commit(_) => {
                self.commits += 1;
                self.refused += u64::from(came == Some(Came::Refused));
                self.in_doubt += u64::from(is_panic || came == Some(Came::InDoubt));
            }
            Ask::Project => {
                self.projections += 1;
                self.projections_failed += u64::from(!is_done);
                return;
            }
        }
        self.faults += u64::from(is_fault);
    }

    /// A pause is seen by its length, and a split where several were turned away for good.
    fn tried(&mut self, batch: &Batch<'_>) {
        // Of a pause at whose end nobody is left there is no more to be seen.
        self.retries[1] += batch.calls.len() as u64;
        let mut group = 0;
        for (nth, call) in batch.calls.iter().enumerate() {
            let Some((end, came)) = call.came else {
                continue;
            };
            let committed = match &call.ask {
                Ask::Read(ids) => {
                    group = ids.len();
                    0
                }
                Ask::Commit(entries) => entries.len(),
                Ask::Look | Ask::Project => continue,
            };
            if came.is_for_good() {
                self.splits[0] += u64::from(committed > 1);
                self.splits[1] += u64::from(group > 1);
            }
            if let Some(Ask::Read(_)) = batch.calls.get(nth + 1).map(|next| &next.ask) {
                self.retries[0] += u64::from(batch.calls[nth + 1].at > end);
            }
        }
    }

    fn check(&self, life: Life, counters: &Counters, carrier: Carrier, found: &mut Vec<Violation>) {
        let exact = |counter, shown, is| (counter, shown, is, is);
        // The others may be any of those.
        let heard = |counter, shown, heard| (counter, shown, heard, heard + self.unheard);
        let of_queue = [
            exact("accepted", counters.accepted, self.accepted),
            exact("rejected", counters.rejected, self.rejected),
            exact("withdrawn", counters.withdrawn, self.withdrawn),
            exact(
                "expired while they waited",
                counters.expired,
                self.expired_waiting,
            ),
            exact("batches", counters.batches, self.batches),
            exact("inputs in batches", counters.batched, self.batched),
            exact(
                "inputs in the largest batch",
                counters.largest_batch,
                self.largest_batch,
            ),
        ];
        let writes = &counters.writes;
        let found_or_applied = writes.applied + writes.duplicates;
        let all = found_or_applied
            + writes.declined
            + writes.mismatches
            + writes.too_old
            + writes.expired
            + writes.failed;
        let of_writes = [
            exact(
                "inputs in batches by what became of them",
                all,
                self.batched,
            ),
            heard("applied or found", found_or_applied, self.applied),
            heard("declined", writes.declined, self.declined),
            heard("with other content", writes.mismatches, self.mismatches),
            heard("too old", writes.too_old, self.too_old),
            heard("expired between tries", writes.expired, self.expired),
            heard("failed", writes.failed, self.failed),
            heard("late in the view", writes.late, self.late),
            ("splits", writes.splits, self.splits[0], self.splits[1]),
            (
                "retries",
                writes.retries,
                self.retries[0],
                self.retries[1] + self.looks,
            ),
            ("resumes", counters.resumes, self.resumes_least, self.looks),
            exact("reads", writes.reads, self.reads + self.looks),
            exact("commits", writes.commits, self.commits),
            exact("refused commits", writes.refused, self.refused),
            exact("commits in doubt", writes.in_doubt, self.in_doubt),
            exact("faults", writes.faults, self.faults),
            exact("projections", writes.projections, self.projections),
            exact(
                "failed projections",
                writes.projections_failed,
                self.projections_failed,
            ),
        ];
        let of_writes = of_writes.into_iter().filter(|_| carrier == Carrier::Ferry);
        for (counter, shown, least, most) in of_queue.into_iter().chain(of_writes) {
            if shown < least || shown > most {
                found.push(Violation::WrongCounter {
                    life,
                    counter,
                    shown,
                    least,
                    most,
                });
            }
        }
    }
}
