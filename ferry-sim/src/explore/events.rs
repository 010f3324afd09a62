//! Moves as the events of the other simulations: to be drawn as those are.

use super::{
    account::{Outcome, Submission},
    machine::{Response, Verdict, Wants},
    moves::{Fate, InHand, Move},
    state::{Client, State},
    store::{Arrival, Store, Write},
    world::World,
};
use crate::{
    event::{AnswerKind, Event, Verdict as Heard},
    history::{Call, Life, SubmissionId},
    purses::StoreError,
    store::Fate as Course,
};

/// The account's key.
pub(super) const KEY: u32 = 0;

/// Tells the moves of one schedule, in order. Processes are nodes, and those who resume are the nodes after them.
#[derive(Default)]
pub(super) struct Events {
    calls: u64,
    /// By their ids.
    submissions: Vec<Submission>,
    /// Of the writes that are adrift, in their order.
    adrift: Vec<Call>,
    /// Those who have begun to resume.
    resuming: Vec<u8>,
}

impl Events {
    /// Before any move: who is there.
    pub(super) fn begin(state: &State) -> Vec<Event> {
        let actors = 0..state.actors.len() as u8;
        let alive = actors.filter(|&actor| state.place(actor).is_some());
        let nodes = alive.map(usize::from);
        nodes.map(|node| Event::Restarted { node }).collect()
    }

    /// What a move does, told where it is made.
    pub(super) fn made(&mut self, world: &World, state: &State, step: Move) -> Vec<Event> {
        match step {
            Move::Submits { input, process } => vec![self.submits(world, state, input, process)],
            Move::Steps(actor, fate) => self.steps(world, state, actor, fate),
            Move::Crashes(actor, in_hand) => self.crashes(world, state, actor, in_hand),
            Move::Arrives(nth) => {
                let write = &state.adrift[usize::from(nth)].write;
                let call = self.adrift.remove(nth.into());
                arrives_unheard(world, &state.store, write, call).0
            }
            Move::IsLost(nth) => {
                self.adrift.remove(nth.into());
                Vec::new()
            }
            Move::GivesUp(input) => vec![Event::GaveUp {
                number: input.into(),
            }],
        }
    }

    /// What a machine then tells: its callers' answers, or that it has resumed.
    pub(super) fn told(&self, actor: u8, response: &Response) -> Vec<Event> {
        let answers = response.told.iter().map(|&(submission, verdict)| {
            let (kind, answer) = answer(verdict);
            let submission = self.id(submission);
            Event::Answered {
                submission,
                kind,
                answer,
            }
        });
        let node = actor.into();
        let resumed = matches!(response.wants, Wants::Over(_));
        let resumed = resumed.then_some(Event::Resumed { node, key: KEY });
        answers.chain(resumed).collect()
    }

    fn id(&self, submission: Submission) -> SubmissionId {
        let known = self.submissions.iter().position(|its| *its == submission);
        SubmissionId(known.map_or(u64::MAX, |at| at as u64))
    }

    fn asked(&self, write: &Write, call: Call, fate: Course) -> Event {
        match write {
            Write::Commit {
                expected, entries, ..
            } => Event::Commit {
                call,
                expected: expected.map(u64::from),
                inputs: (entries.iter())
                    .map(|entry| (entry.submission.input.into(), self.id(entry.submission)))
                    .collect(),
                fate,
            },
            Write::Projection { version, .. } => Event::Project {
                call,
                version: (*version).into(),
                fate,
            },
        }
    }

    fn submits(&mut self, world: &World, state: &State, input: u8, process: u8) -> Event {
        let attempt = match state.clients[usize::from(input)] {
            Client::Wonders { attempts, .. } => attempts,
            Client::Waits { attempt, .. } => attempt + 1,
            Client::New | Client::Gone => 0,
        };
        let submission = Submission { input, attempt };
        self.submissions.push(submission);
        Event::Submitted {
            submission: self.id(submission),
            node: process.into(),
            key: KEY,
            number: input.into(),
            input: format!("{:+}", world.scope.cents(input)),
        }
    }

    fn steps(&mut self, world: &World, state: &State, actor: u8, fate: Fate) -> Vec<Event> {
        let mut events = self.resumes(world, actor);
        match wants(world, state, actor) {
            Wants::Nothing | Wants::Company | Wants::Over(_) => {}
            Wants::Read(_) => events.push(Event::Read {
                call: self.call(actor),
                failed: fate == Fate::Failed,
            }),
            Wants::Write(write) => {
                let call = self.call(actor);
                events.push(self.asked(write, call, course(fate)));
                let verdict = match fate {
                    Fate::Served => {
                        let (effects, arrival) = arrives(world, &state.store, write, call);
                        events.extend(effects);
                        match arrival {
                            Arrival::Landed(_) => Heard::Landed,
                            Arrival::Refused => Heard::Refused,
                        }
                    }
                    Fate::Failed => Heard::NotLanded(StoreError::Busy),
                    Fate::AnswerLost => {
                        events.extend(arrives_unheard(world, &state.store, write, call).0);
                        Heard::InDoubt(StoreError::TimedOut)
                    }
                    Fate::Late => {
                        self.adrift.push(call);
                        Heard::InDoubt(StoreError::TimedOut)
                    }
                };
                events.push(Event::Told { call, verdict });
            }
        }
        events
    }

    fn crashes(&mut self, world: &World, state: &State, actor: u8, in_hand: InHand) -> Vec<Event> {
        let mut events = Vec::new();
        if let (Wants::Write(write), true) =
            (wants(world, state, actor), in_hand != InHand::Nothing)
        {
            let call = self.call(actor);
            match in_hand {
                InHand::Nothing => {}
                InHand::Arrives => {
                    events.push(self.asked(write, call, Course::AnswerLost));
                    events.extend(arrives_unheard(world, &state.store, write, call).0);
                }
                InHand::Late => {
                    events.push(self.asked(write, call, course(Fate::Late)));
                    self.adrift.push(call);
                }
            }
        }
        events.push(Event::Crashed { node: actor.into() });
        events
    }

    /// Who resumes begins with its first step.
    fn resumes(&mut self, world: &World, actor: u8) -> Vec<Event> {
        if actor < world.scope.processes || self.resuming.contains(&actor) {
            return Vec::new();
        }
        self.resuming.push(actor);
        vec![Event::Resume {
            node: actor.into(),
            key: KEY,
        }]
    }

    fn call(&mut self, actor: u8) -> Call {
        self.calls += 1;
        let node = actor.into();
        Call {
            nth: self.calls,
            life: Life { node, nth: 1 },
            key: KEY,
        }
    }
}

fn wants<'a>(world: &'a World, state: &State, actor: u8) -> &'a Wants {
    match state.place(actor) {
        Some(place) => &world.unfolded.at(place).wants,
        None => &Wants::Nothing,
    }
}

/// What becomes of a write, in the words of the other simulations.
fn course(fate: Fate) -> Course {
    match fate {
        Fate::Served => Course::Plain,
        Fate::Failed => Course::Busy,
        Fate::AnswerLost => Course::AnswerLost,
        Fate::Late => Course::RequestLost,
    }
}

fn arrives(world: &World, before: &Store, write: &Write, call: Call) -> (Vec<Event>, Arrival) {
    let mut after = before.clone();
    let arrival = after.arrive(write, world.flaw);
    (effects(before, &after, (write, call), arrival), arrival)
}

fn arrives_unheard(
    world: &World,
    before: &Store,
    write: &Write,
    call: Call,
) -> (Vec<Event>, Arrival) {
    let mut after = before.clone();
    let arrival = after.arrive_unheard(write, world.flaw);
    (effects(before, &after, (write, call), arrival), arrival)
}

/// What a write has done to the store.
fn effects(
    before: &Store,
    after: &Store,
    (write, call): (&Write, Call),
    arrival: Arrival,
) -> Vec<Event> {
    let entries_at = |version| {
        let of_log = before.log.iter();
        of_log.filter(|logged| logged.version <= version).count()
    };
    let mut events = Vec::new();
    match (write, arrival) {
        (Write::Commit { expected, .. }, Arrival::Refused) => events.push(Event::Refused {
            call,
            expected: expected.map(u64::from),
            found: before.version().map(u64::from),
        }),
        (Write::Projection { .. }, Arrival::Refused) => {
            events.push(Event::ProjectionRefused { call });
        }
        (Write::Commit { .. }, Arrival::Landed(version)) => events.push(Event::Landed {
            call,
            version: version.into(),
        }),
        (&Write::Projection { marker, .. }, Arrival::Landed(version)) => {
            if after.view != before.view {
                let (from, to) = (entries_at(marker), entries_at(version));
                events.push(Event::Shown { call, from, to });
            }
        }
    }
    if after.marker() != before.marker() {
        let to = entries_at(after.marker());
        events.push(Event::Marked { call, to });
    }
    events
}

/// Who hears what from a machine.
pub(super) fn heard(response: &Response) -> Vec<String> {
    let told = response.told.iter();
    told.map(|&(submission, verdict)| format!("{submission} hears {}", answer(verdict).1))
        .collect()
}

/// What a caller hears.
fn answer(verdict: Verdict) -> (AnswerKind, String) {
    let told = |outcome| match outcome {
        Outcome::Balance(balance) => format!("applied, balance {balance}"),
        Outcome::Declined => "declined".to_owned(),
    };
    match verdict {
        Verdict::Projected(outcome) => (
            AnswerKind::Projected,
            format!("{}, projected", told(outcome)),
        ),
        Verdict::Committed(outcome) => (
            AnswerKind::Committed,
            format!("{}, and its view may be late", told(outcome)),
        ),
        Verdict::NotCommitted => (AnswerKind::NotCommitted, "not committed".to_owned()),
        Verdict::InDoubt => (AnswerKind::InDoubt, "in doubt".to_owned()),
    }
}
