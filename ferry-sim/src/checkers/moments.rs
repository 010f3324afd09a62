//! P2, of answers that rest on no entry: at some moment between question and answer it was as it was told.
//!
//! A state is had by replaying the line up to there, and a question may be open for as many moments as there are. But what was
//! told was so shortly before it was told, unless it is wrong. So all questions about a key are put to its line in one replay,
//! each at its last few moments; those that are left, in another, at twice as many before these; and so on.

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

/// A question, and the moments of one line at which it is open.
struct Open<'q, 'h, W: Workload> {
    question: &'q mut Question<'h, W>,
    first: usize,
    /// From here on it has been put, or is being put, up to before `end`.
    next: usize,
    end: usize,
}

/// To how many moments a question is put at first.
const MOMENTS_AT_FIRST: usize = 4;

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
        let mut later = questions.iter_mut().peekable();
        let mut now: Vec<&mut Question<'_, W>> = Vec::new();
        for line in of_key {
            // They are in the order in which they were asked.
            while let Some(asked) = later.next_if(|question| question.was_asked_by(line.until)) {
                now.push(asked);
            }
            now.retain(|question| question.is_open(line.from));
            let mut left: Vec<_> = (now.iter_mut())
                .map(|question| Open::of(question, line))
                .collect();
            let mut moments = MOMENTS_AT_FIRST;
            while !left.is_empty() {
                put(&mut left, moments, line, fold.empty(&load.key(key)), &fold);
                left.retain(Open::is_left);
                moments *= 2;
            }
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

/// Puts to each question so many moments of the line: the last of those that are left.
fn put<W: Workload>(
    left: &mut [Open<'_, '_, W>],
    moments: usize,
    line: &Line<'_, W>,
    mut state: StateOf<W>,
    fold: &W::Fold,
) {
    for open in left.iter_mut() {
        open.end = open.next;
        open.next = open.end.saturating_sub(moments).max(open.first);
    }
    left.sort_by_key(|open| open.next);
    let mut later = left.iter_mut().peekable();
    let mut now: Vec<&mut Open<'_, '_, W>> = Vec::new();
    for nth in 0..=line.entries.len() {
        while let Some(open) = later.next_if(|open| open.next == nth) {
            now.push(open);
        }
        now.retain_mut(|open| {
            let is_told = nth < open.end && open.question.is_told(&mut state.clone(), fold);
            if is_told {
                open.question.was_so(nth, line);
            }
            // The earliest moment is the one that asks least of the view.
            nth < open.end && !is_told
        });
        if now.is_empty() && later.peek().is_none() {
            return;
        }
        if let Some(next) = line.entries.get(nth) {
            let _step = fold.step(&mut state, &next.sent.content);
        }
    }
}

impl<'q, 'h, W: Workload> Open<'q, 'h, W> {
    /// At some moment of this line it is. A moment lasts from one entry to the next, with both ends.
    fn of(question: &'q mut Question<'h, W>, line: &Line<'_, W>) -> Self {
        let (asked, answered) = (question.answered.asked.at, question.answered.at);
        let until = |is_before: &dyn Fn(Instant) -> bool| {
            line.entries.partition_point(|entry| is_before(entry.at))
        };
        let end = until(&|at| at <= answered) + 1;
        Self {
            question,
            first: until(&|at| at < asked),
            next: end,
            end,
        }
    }

    fn is_left(&self) -> bool {
        self.next > self.first && !matches!(self.question.verdict, Verdict::True)
    }
}

impl<W: Workload> Question<'_, W> {
    fn was_asked_by(&self, until: Option<Instant>) -> bool {
        until.is_none_or(|until| self.answered.asked.at <= until)
    }

    fn is_open(&self, from: Instant) -> bool {
        self.answered.at >= from && !matches!(self.verdict, Verdict::True)
    }

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
