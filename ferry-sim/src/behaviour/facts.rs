//! What is known of a run before its first step: how each attempt ended.

use std::collections::{BTreeMap, BTreeSet};

use ferry_core::Instant;

use super::line::{Manner, Said, Submitted};
use crate::{
    event::Event,
    history::{Heard, HeardBy, Reach, Submission, SubmissionId, Why},
    purses::{Outcome, Purses},
};

/// How an attempt ended, for its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It was not even taken in.
    Rejected,
    Answered(Said, Manner),
    /// Its node is gone, and that is all that its caller was told.
    Abandoned,
    Unheard,
}

/// What is known of a run before its first step.
pub(super) struct Facts<'a> {
    submissions: &'a [Submission<Purses>],
    /// Which of the submissions of its input each is.
    nths: Vec<u64>,
    /// Where among the events its caller has gone.
    deserted: BTreeMap<SubmissionId, usize>,
    /// Reads whose node was given what they found.
    reads: BTreeSet<u64>,
}

impl<'a> Facts<'a> {
    pub(super) fn of(events: &[(Instant, Event)], submissions: &'a [Submission<Purses>]) -> Self {
        let (mut deserted, mut reads) = (BTreeMap::new(), BTreeSet::new());
        for (at, (_, event)) in events.iter().enumerate() {
            match event {
                Event::Deserted { submission } => {
                    deserted.insert(*submission, at);
                }
                Event::Read {
                    call,
                    failed: false,
                } => {
                    reads.insert(call.nth);
                }
                _ => {}
            }
        }
        Self {
            submissions,
            nths: nths(submissions),
            deserted,
            reads,
        }
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (SubmissionId, &'a Submission<Purses>)> {
        (0..).map(SubmissionId).zip(self.submissions)
    }

    pub(super) fn submission(&self, id: SubmissionId) -> &'a Submission<Purses> {
        &self.submissions[id.0 as usize]
    }

    pub(super) fn submitted(&self, id: SubmissionId) -> Submitted {
        let Submission {
            number, content, ..
        } = self.submission(id);
        Submitted {
            number: *number,
            nth: self.nths[id.0 as usize],
            cents: content.cents,
        }
    }

    pub(super) fn end(&self, id: SubmissionId) -> End {
        match &self.submission(id).answer {
            None => End::Unheard,
            Some((_, heard)) => end(heard),
        }
    }

    /// Whether its caller went only after this event.
    pub(super) fn is_deserted_after(&self, id: SubmissionId, at: usize) -> bool {
        self.deserted.get(&id).is_some_and(|&then| then > at)
    }

    /// Whether its node was given what the read found.
    pub(super) fn is_read(&self, call: u64) -> bool {
        self.reads.contains(&call)
    }
}

fn end(heard: &HeardBy<Purses>) -> End {
    let said = match heard {
        Heard::Rejected => return End::Rejected,
        Heard::InDoubt(Why::Abandoned) => return End::Abandoned,
        Heard::NotCommitted(_) => Said::NotCommitted,
        Heard::InDoubt(_) => Said::InDoubt,
        Heard::Outcome(told, _) => match told.outcome {
            Outcome::Applied(standing) => Said::Applied(standing.entries),
            Outcome::Declined(_) => Said::Declined,
            Outcome::Mismatch => Said::Mismatch,
            Outcome::TooOld => Said::TooOld,
        },
    };
    let manner = match heard {
        Heard::Outcome(_, Reach::Durable) => Manner::Durable,
        Heard::Outcome(_, Reach::Projected) => Manner::Projected,
        Heard::Outcome(_, Reach::Committed(_)) => Manner::Committed,
        Heard::NotCommitted(Why::Overtaken) | Heard::InDoubt(Why::Overtaken) => Manner::Overtaken,
        Heard::NotCommitted(_) | Heard::InDoubt(_) | Heard::Rejected => Manner::Failed,
    };
    End::Answered(said, manner)
}

/// Those that are taken in are counted by their inputs.
fn nths(submissions: &[Submission<Purses>]) -> Vec<u64> {
    let mut counts = BTreeMap::<(u32, u64), u64>::new();
    let nth = |submission: &Submission<Purses>| {
        let count = counts
            .entry((submission.key, submission.number))
            .or_default();
        if !matches!(submission.answer, Some((_, Heard::Rejected))) {
            *count += 1;
        }
        *count
    };
    submissions.iter().map(nth).collect()
}
