//! Small stories, and their steps.

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
