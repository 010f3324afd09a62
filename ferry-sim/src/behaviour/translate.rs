//! From events to steps.

use std::collections::BTreeMap;

use ferry_core::Instant;

use super::{
    facts::{End, Facts},
    line::{Because, Committed, Line, Said},
};
use crate::{
    event::{Event, Verdict},
    history::{Call, Life, Submission, SubmissionId},
    purses::Purses,
};

/// The steps of each key that anything was submitted to.
pub(super) fn by_key(
    events: &[(Instant, Event)],
    submissions: &[Submission<Purses>],
) -> BTreeMap<u32, Vec<Line>> {
    let mut translator = Translator {
        facts: Facts::of(events, submissions),
        held: BTreeMap::new(),
        commits: BTreeMap::new(),
        lines: BTreeMap::new(),
    };
    for (at, (_, event)) in events.iter().enumerate() {
        translator.take(at, event);
    }
    translator.lines
}

struct Translator<'a> {
    facts: Facts<'a>,
    /// What nodes hold, in the order of submission.
    held: BTreeMap<SubmissionId, Life>,
    commits: BTreeMap<u64, Committed>,
    lines: BTreeMap<u32, Vec<Line>>,
}

impl Translator<'_> {
    fn take(&mut self, at: usize, event: &Event) {
        match event {
            Event::Submitted { submission, .. } => self.submitted(*submission),
            Event::Served {
                call,
                version,
                inputs,
            } if *inputs > 0 && self.facts.is_read(call.nth) => {
                let read = Line::Read {
                    node: call.life.node,
                    version: version.unwrap_or(0),
                    inputs: *inputs,
                };
                self.add(call.key, read);
            }
            Event::Commit {
                call,
                expected,
                submissions,
                ..
            } => self.committing(*call, *expected, submissions),
            Event::Landed { call, version } => {
                if let Some(commit) = self.commits.get(&call.nth) {
                    let landed = Line::Land(commit.clone(), *version);
                    self.add(call.key, landed);
                }
            }
            Event::Told { call, verdict } => self.told(*call, *verdict),
            Event::LetGo { submission } => self.let_go(at, *submission),
            Event::Crashed { node } => self.crashed(*node),
            Event::Deleted { key } => self.add(*key, Line::Delete),
            _ => {}
        }
    }

    /// Of keys that nothing was submitted to, nothing is told.
    fn add(&mut self, key: u32, line: Line) {
        if let Some(lines) = self.lines.get_mut(&key) {
            lines.push(line);
        }
    }

    fn submitted(&mut self, id: SubmissionId) {
        if self.facts.end(id) == End::Rejected {
            return;
        }
        let Submission { life, key, .. } = self.facts.submission(id);
        self.held.insert(id, *life);
        self.lines.entry(*key).or_default();
        self.add(*key, Line::Submit(life.node, self.facts.submitted(id)));
    }

    fn committing(&mut self, call: Call, expected: Option<u64>, adds: &[SubmissionId]) {
        let commit = Committed {
            on: expected.unwrap_or(0),
            adds: adds.iter().map(|id| self.facts.submitted(*id)).collect(),
        };
        self.commits.insert(call.nth, commit.clone());
        self.add(call.key, Line::Commit(call.life.node, commit));
    }

    fn told(&mut self, call: Call, verdict: Verdict) {
        let node = call.life.node;
        if self.commits.contains_key(&call.nth) {
            let told = match verdict {
                Verdict::Landed | Verdict::LandedInPart => Line::Landed(node),
                Verdict::Refused => Line::Refused(node),
                Verdict::NotLanded(_) => Line::NotLanded(node),
                Verdict::InDoubt(_) => Line::InDoubt(node),
            };
            self.add(call.key, told);
        }
    }

    /// A node that has crashed lets go of all, and that is told once, by its crash.
    fn let_go(&mut self, at: usize, id: SubmissionId) {
        let Some(Life { node, .. }) = self.held.remove(&id) else {
            return;
        };
        let submitted = self.facts.submitted(id);
        let line = match self.facts.end(id) {
            End::Answered(said, because) => Line::Answer(node, submitted, said, because),
            End::Unheard if self.facts.is_deserted_after(id, at) => {
                Line::Withdraw(node, submitted)
            }
            End::Unheard | End::Abandoned | End::Rejected => Line::Leave(node, submitted),
        };
        self.add(self.facts.submission(id).key, line);
    }

    /// Who waited for a batch hears from a crash that nothing was committed.
    fn crashed(&mut self, node: usize) {
        let of_node = |life: &Life| life.node == node;
        let gone: Vec<_> = (self.held.iter())
            .filter(|(_, life)| of_node(life))
            .map(|(id, _)| *id)
            .collect();
        self.held.retain(|_, life| !of_node(life));
        let mut keys = Vec::new();
        for id in gone {
            let key = self.facts.submission(id).key;
            if let End::Answered(Said::NotCommitted, because @ Because::Otherwise) =
                self.facts.end(id)
            {
                let submitted = self.facts.submitted(id);
                let told = Line::Answer(node, submitted, Said::NotCommitted, because);
                self.add(key, told);
            }
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        for key in keys {
            self.add(key, Line::Crash(node));
        }
    }
}
