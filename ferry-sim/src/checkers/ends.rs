//! P7: everyone is answered once the world is healthy. P8: nothing leaks.

use super::Violation;
use crate::{executor::Halt, history::History, workload::Workload};

pub(super) fn check<W: Workload>(history: &History<W>, found: &mut Vec<Violation>) {
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
                node: end.node,
                queueing,
                waiting,
                batches,
                keys,
            });
        }
        if end.tasks_left > 0 {
            found.push(Violation::TasksLeft {
                node: end.node,
                tasks: end.tasks_left,
            });
        }
    }
}
