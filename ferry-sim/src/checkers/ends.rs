//! P7: everyone is answered once the world is healthy. P8: nothing leaks, and nothing is left when a node says that it is closed.

use core::time::Duration;

use super::{Violation, places::Places};
use crate::{
    calls::{Asked, Carrier},
    executor::Halt,
    history::{History, SubmissionId},
    workload::Workload,
};

/// So long after a node has said that it is closed, it is gone, with callers that it had no time to tell.
const GONE_AFTER: Duration = Duration::from_millis(10);

pub(super) fn check<W: Workload>(
    history: &History<W>,
    places: &Places<'_>,
    found: &mut Vec<Violation>,
) {
    closed(history, places, found);
    let halt = history.halt.unwrap_or(Halt::TimeUp);
    let unanswered = history.unanswered.iter();
    found.extend(unanswered.map(|&number| Violation::Unanswered { number, halt }));
    if halt != Halt::Quiet && history.unanswered.is_empty() {
        found.push(Violation::NeverQuiet { halt });
    }
    if halt != Halt::Quiet {
        return; // What is held is held by those who still wait.
    }
    for end in &history.nodes {
        let stats = &end.stats;
        let held = [
            stats.queueing,
            stats.waiting,
            stats.batches_in_flight,
            stats.keys,
        ];
        if held != [0; 4] {
            let [queueing, waiting, batches, keys] = held;
            found.push(Violation::StillHeld {
                node: end.life.node,
                queueing,
                waiting,
                batches,
                keys,
            });
        }
        if end.tasks_left > 0 {
            found.push(Violation::TasksLeft {
                node: end.life.node,
                tasks: end.tasks_left,
            });
        }
    }
}

fn closed<W: Workload>(history: &History<W>, places: &Places<'_>, found: &mut Vec<Violation>) {
    if history.pace.carrier == Carrier::Others {
        return;
    }
    let closed = |life| {
        let lived = places.lived(life);
        let closed = lived.closed?;
        (!lived.was_held_up(closed, closed + GONE_AFTER)).then_some(closed)
    };
    for (nth, asked) in history.submissions.iter().enumerate() {
        let Some(closed) = closed(places.submissions[nth].life) else {
            continue;
        };
        if asked.left().is_none_or(|left| left > closed.max(asked.at)) {
            found.push(Violation::ClosedTooSoon {
                life: asked.life,
                submission: SubmissionId(nth as u64),
            });
        }
    }
    for (call, spot) in history.calls.iter().zip(&places.calls) {
        let &Asked { life, key, .. } = call;
        let Some(closed) = closed(spot.life) else {
            continue;
        };
        if call.came.is_none_or(|(end, _)| end > closed) {
            found.push(Violation::StoreAskedAfterClose { life, key });
        }
    }
}
