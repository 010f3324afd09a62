//! P2, of failures: "in doubt" is said where there is a doubt, and "abandoned" where somebody was.

use std::{
    cell::LazyCell,
    collections::{BTreeMap, BTreeSet},
};

use ferry_core::{Fold, Instant, Step};

use super::{Violation, lines::Lines};
use crate::{
    calls::{Ask, Came},
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
    found: &mut Vec<Violation>,
) {
    // Of use in few runs.
    let committed = LazyCell::new(|| committed(history));
    let copies = LazyCell::new(|| copies(history));
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
        if !matches!(heard, Heard::InDoubt(_)) {
            continue;
        }
        let which = (asked.life, asked.key, asked.number);
        let may_have_landed = || committed.get(&which).is_some_and(|first| first <= at);
        // One that waits beside it may yet be written, and they are one input.
        let has_twin = || {
            let copies = copies.get(&which).map_or(&[][..], Vec::as_slice);
            copies.iter().any(|&twin| {
                let twin_asked = &history.submissions[twin.0 as usize];
                twin != submission && overlap(asked, *at, twin_asked)
            })
        };
        // An id that panics may be anyone's.
        let may_have_twin = || {
            let mut startled = history.submissions.iter().filter(|other| {
                is_beside(asked, other) && matches!(other.quirk, Quirk::Startles(_))
            });
            startled.any(|other| overlap(asked, *at, other))
        };
        if !may_have_landed()
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

/// When a life first asked for a commit with an input that was not answered as failed for certain.
fn committed<W: Workload>(history: &History<W>) -> BTreeMap<Which, Instant> {
    let mut first = BTreeMap::new();
    for call in &history.calls {
        let Ask::Commit(submissions) = &call.ask else {
            continue;
        };
        if matches!(call.came, Some((_, Came::Failed(_)))) {
            continue;
        }
        for submission in submissions {
            // A history made by hand may have calls alone.
            if let Some(asked) = history.submissions.get(submission.0 as usize) {
                let which = (call.life, call.key, asked.number);
                first.entry(which).or_insert(call.at);
            }
        }
    }
    first
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
