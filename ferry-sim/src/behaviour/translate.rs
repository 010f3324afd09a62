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
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{
        behaviour::{Actor, Came, Projection, Submitted, Writes},
        history::{Heard, HeardBy, Reach},
        purses::{Amount, Outcome, Purses, Standing, StoreError},
        sent::{How, Quirk, Told},
        store::Fate,
    };

    const KEY: u32 = 3;
    const NODE: Life = Life { node: 1, nth: 1 };

    fn submitted(number: u64, cents: i64, heard: Option<HeardBy<Purses>>) -> Submission<Purses> {
        Submission {
            life: NODE,
            key: KEY,
            number,
            content: Arc::new(Amount { id: number, cents }),
            quirk: Quirk::None,
            within: None,
            deserted: None,
            at: Instant::EPOCH,
            answer: heard.map(|heard| (Instant::EPOCH, heard)),
        }
    }

    fn applied(entries: u64, reach: Reach) -> Option<HeardBy<Purses>> {
        let balance = 5;
        let outcome = Outcome::Applied(Standing { entries, balance });
        let how = How::Applied;
        Some(Heard::Outcome(Told { how, outcome }, reach))
    }

    fn call(nth: u64) -> Call {
        let (life, key) = (NODE, KEY);
        Call { nth, life, key }
    }

    fn submit(nth: u64, number: u64) -> Event {
        Event::Submitted {
            submission: SubmissionId(nth),
            node: NODE.node,
            key: KEY,
            number,
            input: String::new(),
        }
    }

    fn served(nth: u64, version: Option<u64>, inputs: usize) -> [Event; 2] {
        let call = call(nth);
        let served = Event::Served {
            call,
            version,
            inputs,
        };
        let failed = false;
        [served, Event::Read { call, failed }]
    }

    fn commit(nth: u64, expected: Option<u64>, adds: u64) -> Event {
        Event::Commit {
            call: call(nth),
            expected,
            inputs: vec![(7, SubmissionId(adds))],
            fate: Fate::Plain,
        }
    }

    fn told(nth: u64, verdict: Verdict) -> Event {
        let call = call(nth);
        Event::Told { call, verdict }
    }

    fn let_go(nth: u64) -> Event {
        let submission = SubmissionId(nth);
        Event::LetGo { submission }
    }

    fn lines(events: Vec<Event>, submissions: &[Submission<Purses>]) -> Vec<Line> {
        let events: Vec<_> = events.into_iter().map(|it| (Instant::EPOCH, it)).collect();
        let facts = Facts::of(&events, submissions);
        by_key(&events, &facts).remove(&KEY).unwrap_or_default()
    }

    const FIRST: Submitted = Submitted {
        number: 7,
        nth: 1,
        cents: 5,
    };
    const AGAIN: Submitted = Submitted { nth: 2, ..FIRST };

    fn read(version: u64, inputs: usize) -> Line {
        Line::Read {
            node: 1,
            version,
            inputs,
            is_settling: true,
        }
    }

    #[test]
    fn a_commit_that_lands_unheard_is_read_and_both_of_its_callers_are_answered() {
        let mut events = vec![submit(0, 7), submit(1, 7)];
        events.extend(served(1, None, 2));
        events.extend([
            commit(2, None, 0),
            Event::Landed {
                call: call(2),
                version: 1,
            },
            told(2, Verdict::InDoubt(StoreError::TimedOut)),
        ]);
        events.extend(served(3, Some(1), 2));
        events.extend([let_go(0), let_go(1)]);
        let submissions = [
            submitted(7, 5, applied(1, Reach::Durable)),
            submitted(7, 5, None),
        ];
        let committed = Committed {
            on: 0,
            adds: vec![FIRST],
        };
        let expected = [
            Line::Submit(1, FIRST),
            Line::Submit(1, AGAIN),
            read(0, 2),
            Line::Commit(1, committed.clone()),
            Line::Land(committed, 1),
            Line::InDoubt(1),
            read(1, 2),
            Line::Answer(1, FIRST, Said::Applied(1), Manner::Durable),
            Line::Leave(1, AGAIN),
        ];
        assert_eq!(lines(events, &submissions), expected);
    }

    #[test]
    fn a_crash_is_told_once_and_what_its_callers_hear_of_it_is_no_step() {
        let mut events = vec![submit(0, 7), submit(1, 8), submit(2, 9)];
        events.extend(served(1, Some(4), 1));
        // A read that failed, or was never answered, is no step.
        events.push(Event::Served {
            call: call(2),
            version: Some(4),
            inputs: 1,
        });
        // Its caller goes while it waits: it is let go of before that is told.
        events.extend([
            let_go(2),
            Event::Deserted {
                submission: SubmissionId(2),
            },
            Event::Crashed { node: 1 },
            let_go(0),
            let_go(1),
            Event::Restarted { node: 1 },
        ]);
        let abandoned = crate::history::Why::Abandoned;
        let submissions = [
            submitted(7, 5, Some(Heard::InDoubt(abandoned))),
            submitted(8, 5, Some(Heard::NotCommitted(abandoned))),
            submitted(9, 5, None),
        ];
        let of = |number| Submitted { number, ..FIRST };
        let expected = [
            Line::Submit(1, FIRST),
            Line::Submit(1, of(8)),
            Line::Submit(1, of(9)),
            read(4, 1),
            Line::Withdraw(1, of(9)),
            Line::Answer(1, of(8), Said::NotCommitted, Manner::Failed),
            Line::Crash(1),
        ];
        assert_eq!(lines(events, &submissions), expected);
    }

    #[test]
    fn who_projects_is_told_by_the_task_and_both_halves_of_a_write_are_one() {
        let project = |nth| Event::Project {
            call: call(nth),
            version: 1,
            fate: Fate::Plain,
        };
        let arrive = |nth| {
            let call = call(nth);
            [
                Event::Shown {
                    call,
                    from: 0,
                    to: 1,
                },
                Event::Marked { call, to: 1 },
            ]
        };
        let mut events = vec![submit(0, 7), Event::Polled { task: 40 }];
        events.extend(served(1, Some(1), 1));
        events.push(project(2));
        events.push(Event::Polled { task: 41 });
        events.extend(served(3, Some(1), 0));
        events.push(project(4));
        events.extend(arrive(2));
        events.extend([
            Event::ProjectionRefused { call: call(4) },
            told(4, Verdict::Refused),
            told(2, Verdict::Landed),
            let_go(0),
        ]);
        let by = |by, to| Projection {
            by,
            writes: Writes::Both,
            version: 1,
            to,
        };
        let (node, resumer) = (Actor::Node(1), Actor::Resumer(1));
        let expected = [
            Line::Submit(1, FIRST),
            read(1, 1),
            Line::Project(by(node, 0)),
            Line::Look(resumer, 1),
            Line::Project(by(resumer, 0)),
            Line::Arrive(by(node, 1)),
            Line::Told(resumer, Came::Refused),
            Line::Told(node, Came::Shown),
            Line::Answer(1, FIRST, Said::Applied(1), Manner::Projected),
        ];
        let submissions = [submitted(7, 5, applied(1, Reach::Projected))];
        assert_eq!(lines(events, &submissions), expected);
    }
}
