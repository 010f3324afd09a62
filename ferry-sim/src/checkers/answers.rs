//! P2: every answer is true. P3: nothing acknowledged is lost. P9: nobody is blamed for another's fault.

use std::collections::BTreeSet;

use ferry_core::{Fold, Instant, Step};

use super::{
    Violation,
    lines::{Entry, Line, Lines, is_same},
};
use crate::{
    history::{Heard, History, Reach, Submission, SubmissionId, Why},
    purses::StoreError,
    sent::{How, Quirk, ToldBy},
    workload::Workload,
};

/// An answer, with whose it is.
pub(super) struct Answered<'a, W: Workload> {
    pub(super) submission: SubmissionId,
    pub(super) asked: &'a Submission<W>,
    pub(super) at: Instant,
}

/// What everything is held against.
struct Truth<'a, W: Workload> {
    fold: W::Fold,
    history: &'a History<W>,
    lines: &'a Lines<'a, W>,
}

pub(super) fn check<W: Workload>(
    load: &W,
    history: &History<W>,
    lines: &Lines<'_, W>,
    found: &mut Vec<Violation>,
) {
    let truth = Truth {
        fold: load.fold(),
        history,
        lines,
    };
    let mut acknowledged = BTreeSet::new();
    for (nth, asked) in history.submissions.iter().enumerate() {
        let Some((at, heard)) = &asked.answer else {
            continue;
        };
        let answered = Answered {
            submission: SubmissionId(nth as u64),
            asked,
            at: *at,
        };
        let wrong = match heard {
            Heard::Outcome(told, reach) if told.how == How::Applied => {
                let is_first = acknowledged.insert((asked.key, asked.number));
                answered.was_applied(told, *reach, is_first, &truth)
            }
            // Nobody can tell whether it was. As to what it rests on, see `moments.rs`.
            Heard::Outcome(told, _) if told.how == How::TooOld => None,
            Heard::Outcome(..) | Heard::NotCommitted(_) | Heard::Rejected => {
                answered.was_not_written(heard, lines)
            }
            // See `doubts.rs`.
            Heard::InDoubt(_) => None,
        };
        found.extend(wrong);
        found.extend(answered.was_blamed(heard));
    }
}

impl<W: Workload> Answered<'_, W> {
    fn was_applied(
        &self,
        told: &ToldBy<W>,
        reach: Reach,
        is_first: bool,
        truth: &Truth<'_, W>,
    ) -> Option<Violation> {
        let &Self {
            submission,
            asked,
            at,
        } = self;
        let number = asked.number;
        let lines = truth.lines.of_key(asked.key);
        let mut wrong = Violation::NeverWritten { submission, number };
        for line in lines {
            let Some((nth, entry)) = line.first_of(number) else {
                continue;
            };
            match self.is_of(entry, told) {
                Err(violation) => wrong = violation,
                Ok(()) if entry.at > at => {
                    wrong = Violation::WrittenAfterwards {
                        submission,
                        answered: at,
                        landed: entry.at,
                    };
                }
                Ok(()) => {
                    return if is_first && line.until.is_none() && !self.is_held(truth) {
                        let key = asked.key;
                        Some(Violation::NotInRecord {
                            submission,
                            key,
                            number,
                        })
                    } else {
                        self.is_shown(nth + 1, line, reach)
                    };
                }
            }
        }
        Some(wrong)
    }

    /// Whether it is this entry that the answer is about.
    fn is_of(&self, entry: &Entry<'_, W>, told: &ToldBy<W>) -> Result<(), Violation> {
        let submission = self.submission;
        if !is_same(&entry.sent.content, &self.asked.content) {
            let heard = format!("{told:?}");
            Err(Violation::ForOtherContent { submission, heard })
        } else if entry.outcome.as_ref() != Some(&told.outcome) {
            let stored = entry.outcome.as_ref();
            Err(Violation::WrongOutcome {
                submission,
                heard: format!("{told:?}"),
                stored: stored.map_or_else(|| "nothing".to_owned(), |stored| format!("{stored:?}")),
            })
        } else {
            Ok(())
        }
    }

    /// Whether the record holds it at the end.
    fn is_held(&self, truth: &Truth<'_, W>) -> bool {
        let Some(state) = truth.history.records.get(&self.asked.key) else {
            return false;
        };
        let step = truth.fold.step(&mut state.clone(), &self.asked.content);
        matches!(step, Step::Already(_) | Step::TooOld(_))
    }

    /// Whether the view showed so many entries by the answer, if it is said to have.
    pub(super) fn is_shown(
        &self,
        entries: usize,
        line: &Line<'_, W>,
        reach: Reach,
    ) -> Option<Violation> {
        let is_true = match reach {
            Reach::Durable | Reach::Committed(_) => true,
            // With the record, its view was deleted.
            Reach::Projected => {
                line.until.is_some_and(|until| until <= self.at)
                    || line.shown_at(self.at) >= entries
            }
        };
        (!is_true).then(|| Violation::NotShown {
            submission: self.submission,
            entries,
            shown: line.shown_at(self.at),
        })
    }

    /// Neither before the answer nor after; unless it was deleted again before anybody looked.
    fn was_not_written(&self, heard: &Heard<ToldBy<W>>, lines: &Lines<'_, W>) -> Option<Violation> {
        let submission = self.submission;
        let (landed, until) = lines.written(submission)?;
        let is_gone = until.is_some_and(|until| until <= self.at);
        (!is_gone).then(|| Violation::WroteAfterAll {
            submission,
            heard: heard.to_string(),
            landed,
        })
    }

    /// Only a bad input hears of a record that is turned away for good, or of a panic.
    fn was_blamed(&self, heard: &Heard<ToldBy<W>>) -> Option<Violation> {
        let (Heard::NotCommitted(why) | Heard::InDoubt(why)) = heard else {
            return None;
        };
        let is_blame = match why {
            Why::Store(StoreError::NotAllowed) => self.asked.quirk != Quirk::Poison,
            Why::Panicked => !matches!(self.asked.quirk, Quirk::Panics | Quirk::Startles(_)),
            Why::Expired
            | Why::Refused
            | Why::Overtaken
            | Why::Store(_)
            | Why::CallPanicked
            | Why::Abandoned
            | Why::Other => false,
        };
        is_blame.then(|| Violation::Blamed {
            submission: self.submission,
            heard: heard.to_string(),
        })
    }
}
