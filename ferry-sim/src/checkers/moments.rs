//! P2, of answers that rest on no entry: at some moment between question and answer it was as it was told.
//!
//! All questions about a key are put to its line in one replay, each at the moments between its question and its answer.

use std::collections::BTreeMap;

use ferry_core::{Fold, Instant, Step};

use super::{
    Violation,
    answers::Answered,
    lines::{Line, Lines},
};
use crate::{
    history::{Heard, History, Reach, SubmissionId},
    sent::{How, Told, ToldBy},
    workload::{StateOf, Workload},
};

struct Question<'a, W: Workload> {
    answered: Answered<'a, W>,
    told: &'a ToldBy<W>,
    reach: Reach,
    verdict: Verdict,
}

enum Verdict {
    /// It was so at no moment yet.
    Never,
    /// It was so, and the view did not show it.
    NotShown(Violation),
    True,
}

pub(super) fn check<W: Workload>(
    load: &W,
    history: &History<W>,
    lines: &Lines<'_, W>,
    found: &mut Vec<Violation>,
) {
    let fold = load.fold();
    for (key, mut questions) in by_keys(history) {
        let untouched = [Line::new(key, Instant::EPOCH)];
        let of_key = match lines.of_key(key) {
            [] => &untouched,
            written => written,
        };
        for line in of_key {
            put(&mut questions, line, fold.empty(&load.key(key)), &fold);
        }
        found.extend(questions.into_iter().filter_map(Question::violation));
    }
}

fn by_keys<W: Workload>(history: &History<W>) -> BTreeMap<u32, Vec<Question<'_, W>>> {
    let mut questions: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for (nth, asked) in history.submissions.iter().enumerate() {
        if let Some((at, Heard::Outcome(told, reach))) = &asked.answer {
            if told.how != How::Applied {
                let answered = Answered {
                    submission: SubmissionId(nth as u64),
                    asked,
                    at: *at,
                };
                questions.entry(asked.key).or_default().push(Question {
                    answered,
                    told,
                    reach: *reach,
                    verdict: Verdict::Never,
                });
            }
        }
    }
    questions
}

/// Puts the questions, which are in the order in which they were asked, to all moments of a line.
fn put<W: Workload>(
    questions: &mut [Question<'_, W>],
    line: &Line<'_, W>,
    mut state: StateOf<W>,
    fold: &W::Fold,
) {
    let mut open: Vec<&mut Question<'_, W>> = Vec::new();
    let mut later = questions.iter_mut().peekable();
    let mut from = line.from;
    for nth in 0..=line.entries.len() {
        let next = line.entries.get(nth);
        let until = next.map(|next| next.at).or(line.until);
        while let Some(question) =
            later.next_if(|question| until.is_none_or(|until| question.answered.asked.at <= until))
        {
            open.push(question);
        }
        open.retain(|question| question.answered.at >= from);
        open.retain_mut(|question| {
            let is_told = question.is_told(&mut state.clone(), fold);
            if is_told {
                question.was_so(nth, line);
            }
            // The earliest moment is the one that asks least of the view.
            !is_told
        });
        if let Some(next) = next {
            let _step = fold.step(&mut state, &next.sent.content);
            from = next.at;
        }
    }
}

impl<W: Workload> Question<'_, W> {
    /// Whether the fold says this of the state.
    fn is_told(&self, state: &mut StateOf<W>, fold: &W::Fold) -> bool {
        let (how, outcome) = match fold.step(state, &self.answered.asked.content) {
            Step::Applied(..) => return false,
            Step::Already(outcome) => (How::Applied, outcome),
            Step::Refused(outcome) => (How::Declined, outcome),
            Step::Mismatch(outcome) => (How::Mismatch, outcome),
            Step::TooOld(outcome) => (How::TooOld, outcome),
        };
        *self.told == Told { how, outcome }
    }

    fn was_so(&mut self, entries: usize, line: &Line<'_, W>) {
        if matches!(self.verdict, Verdict::True) {
            return;
        }
        self.verdict = match self.answered.is_shown(entries, line, self.reach) {
            None => Verdict::True,
            Some(violation) => Verdict::NotShown(violation),
        };
    }

    fn violation(self) -> Option<Violation> {
        match self.verdict {
            Verdict::True => None,
            Verdict::NotShown(violation) => Some(violation),
            Verdict::Never => Some(Violation::NeverSo {
                submission: self.answered.submission,
                heard: format!("{:?}", self.told),
            }),
        }
    }
}
