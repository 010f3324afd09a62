//! P8: no batch is larger than it may be, and no more are in flight.
//!
//! A batch is seen by its calls of the store. Between two of them it is in flight all the same; so there are no fewer than are
//! counted here.

use ferry_core::{Fold, Instant};

use super::{Violation, places::Places};
use crate::{
    calls::{Ask, Asked},
    history::History,
    workload::Workload,
};

pub(super) fn check<W: Workload>(
    load: &W,
    history: &History<W>,
    places: &Places<'_>,
    found: &mut Vec<Violation>,
) {
    let limits = history.pace.limits;
    let fold = load.fold();
    let mut in_flight: Vec<Vec<Option<Instant>>> = places.by_life();
    for (call, spot) in history.calls.iter().zip(&places.calls) {
        let &Asked { life, key, .. } = call;
        match &call.ask {
            Ask::Commit(entries) if entries.len() > limits.max_batch => {
                found.push(Violation::BatchTooLarge {
                    life,
                    key,
                    inputs: entries.len(),
                    inputs_max: limits.max_batch,
                });
            }
            Ask::Commit(entries) if limits.max_weight < usize::MAX => {
                let submissions = &history.submissions;
                let sent = (entries.iter()).filter_map(|id| submissions.get(id.0 as usize));
                let weights = sent.map(|submission| fold.weight(&submission.content));
                let weight = weights.fold(0, usize::saturating_add);
                if weight > limits.max_weight {
                    found.push(Violation::BatchTooHeavy {
                        life,
                        key,
                        weight,
                        weight_max: limits.max_weight,
                    });
                }
            }
            Ask::Commit(_) | Ask::Read(_) => {}
            // By whoever resumes, too.
            Ask::Look | Ask::Project => continue,
        }
        let batches = under_way(&mut in_flight[spot.life], call);
        if batches > limits.max_in_flight {
            found.push(Violation::TooManyInFlight {
                life,
                key,
                batches,
                batches_max: limits.max_in_flight,
            });
        }
    }
}

/// How many calls of a life are under way with this one; each batch has one at a time.
fn under_way(ends: &mut Vec<Option<Instant>>, call: &Asked) -> usize {
    ends.retain(|end| end.is_none_or(|end| end > call.at));
    ends.push(call.came.map(|(end, _)| end));
    ends.len()
}
