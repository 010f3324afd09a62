//! From events to steps.

use std::collections::BTreeMap;

use ferry_core::Instant;

use super::{
    facts::{End, Facts},
    line::{Committed, Line, Manner, Said},
    projecting::Projecting,
};
use crate::{
    event::{Event, Verdict},
    history::{Call, Life, Submission, SubmissionId},
};

/// The steps of each key that anything was submitted to.
pub(super) fn by_key(events: &[(Instant, Event)], facts: &Facts<'_>) -> BTreeMap<u32, Vec<Line>> {
    let mut translator = Translator {
        facts,
        held: BTreeMap::new(),
        found: BTreeMap::new(),
        commits: BTreeMap::new(),
        projecting: Projecting::default(),
        lines: BTreeMap::new(),
    };
    for (at, (_, event)) in events.iter().enumerate() {
        translator.take(at, event);
    }
    let mut lines = translator.lines;
    lines.values_mut().for_each(|lines| mark_unsettling(lines));
    lines
}

struct Translator<'a> {
    facts: &'a Facts<'a>,
    /// What nodes hold, in the order of submission.
    held: BTreeMap<SubmissionId, Life>,
    /// What each node's last read of each key has found.
    found: BTreeMap<(usize, u32), u64>,
    commits: BTreeMap<u64, Committed>,
    projecting: Projecting,
    lines: BTreeMap<u32, Vec<Line>>,
}

impl Translator<'_> {
    fn take(&mut self, at: usize, event: &Event) {
        if let Some((key, line)) = self.projecting.take(event) {
            self.add(key, line);
        }
        match event {
            Event::Submitted { submission, .. } => self.submitted(*submission),
            Event::Served {
                call,
                version,
                inputs,
            } if self.facts.is_read(call.nth) => {
                self.served(*call, version.unwrap_or(0), *inputs);
            }
            Event::Commit {
                call,
                expected,
                inputs,
                ..
            } => self.committing(*call, *expected, inputs),
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

    fn served(&mut self, call: Call, version: u64, inputs: usize) {
        let node = call.life.node;
        let line = if inputs == 0 {
            self.projecting.looked(call, version)
        } else {
            self.found.insert((node, call.key), version);
            Line::Read {
                node,
                version,
                inputs,
                is_settling: true,
            }
        };
        self.add(call.key, line);
    }

    /// Of a version that was deleted since, the event does not say which it was.
    fn committing(&mut self, call: Call, expected: Option<u64>, inputs: &[(u64, SubmissionId)]) {
        let node = call.life.node;
        let on = match expected {
            None => 0,
            Some(0) => self.found.get(&(node, call.key)).copied().unwrap_or(0),
            Some(version) => version,
        };
        let adds = inputs.iter().map(|(_, id)| self.facts.submitted(*id));
        let adds = adds.collect();
        let commit = Committed { on, adds };
        self.commits.insert(call.nth, commit.clone());
        self.add(call.key, Line::Commit(node, commit));
    }

    fn told(&mut self, call: Call, verdict: Verdict) {
        let node = call.life.node;
        if self.commits.contains_key(&call.nth) {
            let told = match verdict {
                Verdict::Landed | Verdict::LandedInPart => Line::Landed(node),
                Verdict::Refused => Line::Refused(node),
                Verdict::NotLanded(_) => Line::NotLanded(node),
                Verdict::InDoubt(_) | Verdict::Panicked => Line::InDoubt(node),
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
            End::Answered(said, manner) => Line::Answer(node, submitted, said, manner),
            End::Unheard if self.facts.is_deserted_after(id, at) => Line::Withdraw(node, submitted),
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
            if let End::Answered(said @ Said::NotCommitted, manner @ Manner::Failed) =
                self.facts.end(id)
            {
                let submitted = self.facts.submitted(id);
                self.add(key, Line::Answer(node, submitted, said, manner));
            }
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        for key in keys {
            self.add(key, Line::Crash(node));
        }
        for key in self.projecting.crashed(node) {
            self.add(key, Line::ResumerCrash(node));
        }
    }
}

/// A read by which a node fails the overtaken settles nothing else: it reads again.
fn mark_unsettling(lines: &mut [Line]) {
    for at in 0..lines.len() {
        let (before, after) = lines.split_at_mut(at + 1);
        if let Some(Line::Read {
            node, is_settling, ..
        }) = before.last_mut()
        {
            *is_settling = !is_next_overtaken(*node, after);
        }
    }
}

fn is_next_overtaken(of: usize, after: &[Line]) -> bool {
    for line in after {
        match line {
            Line::Answer(node, .., Manner::Overtaken) if *node == of => return true,
            Line::Read { node, .. } | Line::Commit(node, _) | Line::Crash(node) if *node == of => {
                return false;
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests;
