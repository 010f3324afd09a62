//! P2: every answer is true. P3: nothing acknowledged is lost.

use ferry_core::Instant;

use super::{Violation, lines::Lines};
use crate::{
    fold::{Outcome, Standing},
    history::{Answer, History, Submission, SubmissionId},
};

/// An answer, with whose it is.
#[derive(Clone, Copy)]
struct Heard<'a> {
    submission: SubmissionId,
    asked: &'a Submission,
    at: Instant,
}

pub(super) fn check(history: &History, lines: &Lines, found: &mut Vec<Violation>) {
    for (nth, asked) in history.submissions.iter().enumerate() {
        let Some((at, answer)) = asked.answer else {
            continue;
        };
        let submission = SubmissionId(nth as u64);
        let heard = Heard {
            submission,
            asked,
            at,
        };
        let wrong = match answer {
            Answer::Outcome(Outcome::Applied(standing)) => {
                heard.was_applied(standing, history, lines)
            }
            Answer::Outcome(Outcome::Declined(standing)) => heard.was_declined(standing, lines),
            Answer::Outcome(Outcome::Mismatch) => heard.was_mismatch(lines),
            Answer::Outcome(Outcome::TooOld) => Some(Violation::NothingForgotten { submission }),
            Answer::NotCommitted(_) | Answer::Rejected => heard.was_not_written(answer, lines),
            // Whatever happened, it is not wrong; that it is not said for ever is another property.
            Answer::InDoubt(_) => None,
        };
        found.extend(wrong);
    }
}

impl Heard<'_> {
    fn was_applied(self, said: Standing, history: &History, lines: &Lines) -> Option<Violation> {
        let Self {
            submission,
            asked: Submission { ask, .. },
            at,
        } = self;
        let heard = Outcome::Applied(said);
        let Some((_, entry)) = lines.line(ask.key).first_of(ask.id) else {
            let id = ask.id;
            return Some(Violation::NeverWritten { submission, id });
        };
        let stored = Outcome::Applied(entry.after());
        let record = history.records.get(&ask.key);
        let is_in_record = record.is_some_and(|purse| purse.holds(ask.id));
        if entry.input.cents != ask.cents {
            Some(Violation::ForOtherContent { submission, heard })
        } else if entry.at > at {
            Some(Violation::WrittenAfterwards {
                submission,
                answered: at,
                landed: entry.at,
            })
        } else if !is_in_record {
            Some(Violation::NotInRecord {
                submission,
                key: ask.key,
                id: ask.id,
            })
        } else if stored != heard {
            Some(Violation::WrongOutcome {
                submission,
                heard,
                stored,
            })
        } else {
            None
        }
    }

    /// At some moment between question and answer it was as it was told.
    fn was_declined(self, said: Standing, lines: &Lines) -> Option<Violation> {
        let Submission { ask, at, .. } = self.asked;
        let line = lines.line(ask.key);
        let is_true = line
            .was_so(said.entries)
            .is_some_and(|(standing, from, until)| {
                let is_new = line
                    .first_of(ask.id)
                    .is_none_or(|(first, _)| first as u64 >= said.entries);
                standing == said
                    && said.balance + ask.cents < 0
                    && is_new
                    && from <= self.at
                    && until >= *at
            });
        (!is_true).then_some(Violation::WronglyDeclined {
            submission: self.submission,
            heard: Outcome::Declined(said),
        })
    }

    fn was_mismatch(self, lines: &Lines) -> Option<Violation> {
        let Submission { ask, .. } = self.asked;
        let first = lines.line(ask.key).first_of(ask.id);
        let is_true =
            first.is_some_and(|(_, entry)| entry.input.cents != ask.cents && entry.at <= self.at);
        let submission = self.submission;
        (!is_true).then_some(Violation::NoMismatch { submission })
    }

    /// Neither before the answer nor after.
    fn was_not_written(self, heard: Answer, lines: &Lines) -> Option<Violation> {
        let submission = self.submission;
        let &landed = lines.written.get(&submission)?;
        Some(Violation::WroteAfterAll {
            submission,
            heard,
            landed,
        })
    }
}
