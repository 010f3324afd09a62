//! P2, of failures: "in doubt" is said where there is a doubt, and "abandoned" where somebody was.

use std::{
    cell::LazyCell,
    collections::{BTreeMap, BTreeSet},
};

use ferry_core::{Fold, Instant, Step};

use super::{
    Violation,
    batches::{Batch, Batches},
    lines::Lines,
};
use crate::{
    calls::{Ask, Came, Carrier},
    history::{Heard, History, Life, Submission, SubmissionId, Why},
    sent::Quirk,
    workload::Workload,
};

/// A life's inputs by their keys and numbers.
type Which = (Life, u32, u64);

pub(super) fn check<W: Workload>(
    load: &W,
    history: &History<W>,
    lines: &Lines<'_, W>,
    batches: &Batches<'_>,
    found: &mut Vec<Violation>,
) {
    // Of use in few runs.
    let copies = LazyCell::new(|| copies(history));
    let mut open = Open::default();
    let fold = load.fold();
    let ended: BTreeSet<_> = history.ended.iter().copied().collect();
    for (nth, asked) in history.submissions.iter().enumerate() {
        let submission = SubmissionId(nth as u64);
        let Some((at, heard)) = &asked.answer else {
            continue;
        };
        let why = match heard {
            Heard::NotCommitted(why) | Heard::InDoubt(why) => *why,
            Heard::Outcome(..) | Heard::Rejected => continue,
        };
        let heard_words = || heard.to_string();
        if why == Why::Abandoned {
            if !ended.contains(&asked.life) {
                let heard = heard_words();
                found.push(Violation::NobodyLeft { submission, heard });
            }
            continue;
        }
        // Whose batches are others' is not known, nor what they know.
        if !matches!(heard, Heard::InDoubt(_)) || history.pace.carrier == Carrier::Others {
            continue;
        }
        let which = (asked.life, asked.key, asked.number);
        // One that goes on with it may yet be written, and they are one input.
        let has_twin = || {
            let copies = copies.get(&which).map_or(&[][..], Vec::as_slice);
            copies.iter().any(|&twin| {
                let twin_asked = &history.submissions[twin.0 as usize];
                let is_other = twin != submission && batches.may_be_together(submission, twin);
                is_other && overlap(asked, *at, twin_asked)
            })
        };
        // An id that panics may be anyone's.
        let may_have_twin = || {
            let mut startled = history.submissions.iter().filter(|other| {
                is_beside(asked, other) && matches!(other.quirk, Quirk::Startles(_))
            });
            startled.any(|other| overlap(asked, *at, other))
        };
        if !open.may_land(submission, batches, history)
            && !has_twin()
            && !may_have_twin()
            && !is_stored(asked, *at, lines)
            && !is_forgotten(&fold, asked, history, lines)
            && !is_crowded_out(load, &fold, asked, *at, history)
        {
            let heard = heard_words();
            found.push(Violation::NoDoubt { submission, heard });
        }
    }
}

/// Inputs that a commit of their batch may have brought, or may still, as far as anybody knew when they were answered: of the
/// batches that were asked about.
#[derive(Default)]
struct Open(BTreeMap<usize, BTreeSet<SubmissionId>>);

impl Open {
    fn may_land<W: Workload>(
        &mut self,
        id: SubmissionId,
        batches: &Batches<'_>,
        history: &History<W>,
    ) -> bool {
        let Some(nth) = batches.nth_of(id) else {
            return false;
        };
        let of_batch = self.0.entry(nth);
        let open = of_batch.or_insert_with(|| open(&batches.all[nth], history));
        open.contains(&id)
    }
}

/// A commit that did not fail for certain leaves its inputs and their twins in doubt, until a read that names them finds another
/// version than the one it was based on: versions never come again, so then it will not land, and has not, or the record would
/// have had them.
fn open<W: Workload>(batch: &Batch<'_>, history: &History<W>) -> BTreeSet<SubmissionId> {
    let number = |id: SubmissionId| history.submission(id).map(|asked| asked.number);
    let mut by_number: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for &id in batch.inputs {
        by_number.entry(number(id)).or_default().push(id);
    }
    // With the version that the commit is based on.
    let mut open = BTreeMap::new();
    for call in &batch.calls {
        match (&call.ask, call.came) {
            (Ask::Commit(_), Some((_, Came::Failed(_)))) => {}
            (Ask::Commit(entries), _) => {
                let twins = entries.iter().filter_map(|&id| by_number.get(&number(id)));
                let is_there = |id: &&SubmissionId| !was_answered_before(call.at, **id, history);
                let of_it = twins.flatten().filter(is_there);
                open.extend(of_it.map(|&id| (id, call.version)));
            }
            (Ask::Read(ids), Some((_, Came::Done))) if call.version.is_some() => {
                // A step that panics ends the look at what was read.
                let panics = |id: &&SubmissionId| {
                    let asked = history.submission(**id);
                    asked.is_some_and(|asked| asked.quirk == Quirk::Panics)
                };
                for id in ids.iter().take_while(|id| !panics(id)) {
                    if open.get(id).is_some_and(|based| *based != call.version) {
                        open.remove(id);
                    }
                }
            }
            (Ask::Read(_) | Ask::Look | Ask::Project, _) => {}
        }
    }
    open.into_keys().collect()
}

fn was_answered_before<W: Workload>(at: Instant, id: SubmissionId, history: &History<W>) -> bool {
    let asked = history.submission(id);
    let answer = asked.and_then(|asked| asked.answer.as_ref());
    answer.is_some_and(|(answered, _)| *answered < at)
}

fn copies<W: Workload>(history: &History<W>) -> BTreeMap<Which, Vec<SubmissionId>> {
    let mut copies: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (nth, asked) in history.submissions.iter().enumerate() {
        let which = (asked.life, asked.key, asked.number);
        copies
            .entry(which)
            .or_default()
            .push(SubmissionId(nth as u64));
    }
    copies
}

fn overlap<W: Workload>(one: &Submission<W>, answered: Instant, other: &Submission<W>) -> bool {
    let is_over = other.answer.as_ref().is_some_and(|(at, _)| *at < one.at);
    other.at <= answered && !is_over
}

fn is_stored<W: Workload>(asked: &Submission<W>, by: Instant, lines: &Lines<'_, W>) -> bool {
    let of_key = lines.of_key(asked.key).iter();
    let mut entries = of_key.filter_map(|line| line.first_of(asked.number));
    entries.any(|(_, entry)| entry.at <= by)
}

/// What a record has forgotten it does not come to know again, unless it is deleted.
fn is_forgotten<W: Workload>(
    fold: &W::Fold,
    asked: &Submission<W>,
    history: &History<W>,
    lines: &Lines<'_, W>,
) -> bool {
    let was_deleted = lines.of_key(asked.key).len() > 1;
    let is_too_old = || {
        let state = history.records.get(&asked.key);
        state.is_some_and(|state| {
            let step = fold.step(&mut state.clone(), &asked.content);
            matches!(step, Step::TooOld(_))
        })
    };
    was_deleted || is_too_old()
}

/// Whether a record that remembers few may come to forget it by what is folded with it.
fn is_crowded_out<W: Workload>(
    load: &W,
    fold: &W::Fold,
    asked: &Submission<W>,
    answered: Instant,
    history: &History<W>,
) -> bool {
    let mut state = fold.empty(&load.key(asked.key));
    let with_it = |other: &&Submission<W>| {
        is_beside(asked, other) && other.number != asked.number && overlap(asked, answered, other)
    };
    let others = || history.submissions.iter().filter(with_it);
    // What is declined at first may be applied behind the others.
    for other in others().chain(others()) {
        let _step = fold.step(&mut state, &other.content);
    }
    matches!(fold.step(&mut state, &asked.content), Step::TooOld(_))
}

/// Whether both went to one node about one key.
fn is_beside<W: Workload>(one: &Submission<W>, other: &Submission<W>) -> bool {
    (one.life, one.key) == (other.life, other.key)
}
