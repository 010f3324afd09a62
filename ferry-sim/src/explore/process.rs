//! A process: the batching machine, and the round trip of the batch that is in flight.

use core::{hash::BuildHasherDefault, time::Duration};
use std::hash::DefaultHasher;

use ferry_core::{
    Answer, CommitError, Coverage, Durability, Failure, Fault, Instant, Record, Retry,
    per_key::{self, Limits, PerKey},
    projected_write::{self, Call, Command, ProjectedWrite},
};

use super::{
    account::{Answered, Down, Entry, Outcome, Submission, Transfers},
    flaw::Flaw,
    machine::{Event, Reads, Response, Told, Verdict, Wants},
    store::{Stored, Write},
};

/// Far longer than all pauses: inputs wait for company until they are told to go.
const LINGER: Duration = Duration::from_secs(86_400);

pub(super) fn retry(attempts: u32) -> Retry {
    Retry {
        attempts,
        ..Retry::default()
    }
}

pub(super) struct Process {
    /// Its own; pauses end as soon as they begin.
    now: Instant,
    per_key: PerKey<(), Entry, BuildHasherDefault<DefaultHasher>>,
    call: Option<Call<Transfers>>,
    command: Option<Command<Transfers>>,
    told: Vec<Told>,
    weak: Weak,
}

/// What a driver with a flaw remembers.
struct Weak {
    flaw: Option<Flaw>,
    /// Inputs that it has not handed on.
    held_up: Vec<Entry>,
    /// Those that it has told something ahead of time.
    told_early: Vec<Submission>,
    /// The batch whose round trip is under way.
    in_flight: Vec<Entry>,
    /// Those that it has told their outcome.
    answered: Answered,
    is_weakened: bool,
}

impl Process {
    pub(super) fn new(number: u8, attempts: u32, flaw: Option<Flaw>) -> Self {
        let limits = Limits {
            linger: LINGER,
            ..Limits::default()
        };
        let hasher = BuildHasherDefault::default();
        let per_key = PerKey::new(limits, hasher).expect("the bounds are not zero");
        let answered = Answered::default();
        let transfers = Transfers {
            flaw,
            answered: answered.clone(),
        };
        let write = ProjectedWrite::new(transfers, retry(attempts));
        let write = write.expect("there are attempts");
        Self {
            now: Instant::EPOCH,
            per_key,
            call: Some(write.call(number.into())),
            command: None,
            told: Vec::new(),
            weak: Weak {
                flaw,
                held_up: Vec::new(),
                told_early: Vec::new(),
                in_flight: Vec::new(),
                answered,
                is_weakened: false,
            },
        }
    }

    pub(super) fn hears(&mut self, event: &Event) {
        match event {
            &Event::Submit(submission, cents) => self.submit(Entry { submission, cents }),
            Event::Company => self.goes(),
            Event::Read(_)
            | Event::Committed(_)
            | Event::Projected
            | Event::Refused
            | Event::Failed
            | Event::InDoubt => self.is_answered(event),
        }
        self.goes_on();
    }

    pub(super) fn response(&mut self) -> Response {
        let wants = match &self.command {
            None if self.per_key.timeout().is_some() || !self.weak.held_up.is_empty() => {
                Wants::Company
            }
            None => Wants::Nothing,
            Some(Command::Read(read)) if read.ids().is_empty() => Wants::Read(Reads::ToProject),
            Some(Command::Read(_)) => Wants::Read(Reads::ToFold),
            Some(Command::Commit(commit)) => {
                let commit = commit.commit();
                Wants::Write(Write::Commit {
                    expected: commit.expected.copied(),
                    state: commit.state.clone(),
                    entries: commit.entries.to_vec(),
                })
            }
            Some(Command::Project(project)) => Wants::Write(Write::Projection {
                version: project.record().version,
                marker: project.record().state.marker,
                by_resume: false,
            }),
            Some(Command::Sleep(_) | Command::Done(_)) => {
                unreachable!("these are gone through at once")
            }
        };
        Response {
            wants,
            told: core::mem::take(&mut self.told),
            is_weakened: self.weak.is_weakened,
        }
    }

    fn submit(&mut self, entry: Entry) {
        if self.weak.flaw == Some(Flaw::NewestFirst) {
            self.weak.is_weakened |= !self.weak.held_up.is_empty();
            self.weak.held_up.insert(0, entry);
        } else {
            self.hand_on(entry);
        }
    }

    fn hand_on(&mut self, entry: Entry) {
        let taken = self.per_key.submit(self.now, (), entry);
        taken.expect("there is room for all inputs of a walk");
    }

    fn goes(&mut self) {
        for entry in core::mem::take(&mut self.weak.held_up) {
            self.hand_on(entry);
        }
        if let Some(due) = self.per_key.timeout() {
            self.now = self.now.max(due);
            self.per_key.tick(self.now);
        }
    }

    fn is_answered(&mut self, event: &Event) {
        let now = self.now;
        let command = match (self.command.take(), event) {
            (Some(Command::Read(read)), Event::Read(record)) => {
                self.told.extend(self.weak.at_read(record.as_ref()));
                read.resume(now, Ok(record.clone().map(as_record)))
            }
            (Some(Command::Read(read)), Event::Failed) => {
                read.resume(now, Err(Fault::transient(Down)))
            }
            (Some(Command::Commit(commit)), event) => {
                let result = self.weak.committed(event, commit.commit().expected);
                if let Ok(version) = result {
                    let state = commit.commit().state;
                    self.told
                        .extend(self.weak.at_commit(state, commit.entries(), version));
                }
                commit.resume(now, result)
            }
            (Some(Command::Project(project)), Event::InDoubt)
                if self.weak.flaw == Some(Flaw::ProjectionDoubtTakenForLanded) =>
            {
                self.weak.is_weakened = true;
                project.resume(now, Ok(Coverage::Whole))
            }
            (Some(Command::Project(project)), event) => project.resume(now, projected(event)),
            (command, event) => panic!("{command:?} is answered with {event:?}"),
        };
        self.command = Some(command);
    }

    /// Up to what others can notice.
    fn goes_on(&mut self) {
        loop {
            let Some(mut command) = self.command.take() else {
                if !self.begins() {
                    return;
                }
                continue;
            };
            for answered in command.answers() {
                self.told.extend(self.weak.heard(answered));
            }
            match command {
                Command::Sleep(sleep) => {
                    self.now = self.now + sleep.duration();
                    self.command = Some(sleep.wake(self.now));
                }
                Command::Done(done) => {
                    let (batch, call) = done.finish();
                    self.call = Some(call);
                    if self.weak.flaw == Some(Flaw::BatchKept) {
                        self.weak.is_weakened = true;
                    } else {
                        self.per_key.finished(self.now, batch);
                    }
                }
                Command::Commit(commit) => {
                    let state = commit.commit().state;
                    self.told
                        .extend(self.weak.before_commit(state, commit.entries()));
                    self.command = Some(Command::Commit(commit));
                    return;
                }
                command @ (Command::Read(_) | Command::Project(_)) => {
                    self.command = Some(command);
                    return;
                }
            }
        }
    }

    /// Begins the next round trip, if there is a batch for one.
    fn begins(&mut self) -> bool {
        let Some(command) = self.per_key.poll() else {
            return false;
        };
        let per_key::Command::Dispatch(batch) = command else {
            panic!("no input has a deadline, and it is not closed: {command:?}")
        };
        let call = self
            .call
            .take()
            .expect("one batch of the key is in flight at a time");
        self.weak.in_flight = batch.items().iter().map(|item| item.input).collect();
        self.command = Some(call.start(self.now, batch));
        true
    }
}

impl Weak {
    /// What the driver tells the round trip of its commit.
    fn committed(&mut self, event: &Event, expected: Option<&u8>) -> Result<u8, CommitError<Down>> {
        match event {
            Event::Committed(version) => Ok(*version),
            Event::Refused => Err(CommitError::Refused),
            Event::Failed => Err(Fault::transient(Down).into()),
            Event::InDoubt => match self.flaw {
                Some(Flaw::DoubtTakenForFailed) => {
                    self.is_weakened = true;
                    Err(Fault::transient(Down).into())
                }
                Some(Flaw::DoubtTakenForLanded) => {
                    self.is_weakened = true;
                    Ok(expected.copied().unwrap_or(0) + 1)
                }
                _ => Err(CommitError::InDoubt(Down)),
            },
            Event::Submit(..) | Event::Company | Event::Read(_) | Event::Projected => {
                panic!("a commit is answered with {event:?}")
            }
        }
    }

    /// What callers are told when the record has been read.
    fn at_read(&mut self, record: Option<&Stored>) -> Vec<Told> {
        match record {
            Some(Stored { version, state })
                if self.flaw == Some(Flaw::ProjectedIfKnown) && *version != state.marker =>
            {
                let known = core::mem::take(&mut self.in_flight);
                self.early(state, &known, Verdict::Projected)
            }
            _ => Vec::new(),
        }
    }

    /// What callers are told before the commit is sent.
    fn before_commit(&mut self, state: &super::account::Account, entries: &[Entry]) -> Vec<Told> {
        self.is_weakened |= has_twins(state);
        match self.flaw {
            Some(Flaw::AnswerBeforeDurable) => self.early(state, entries, Verdict::Committed),
            _ => Vec::new(),
        }
    }

    /// What callers are told when it has landed.
    fn at_commit(
        &mut self,
        state: &super::account::Account,
        entries: &[Entry],
        version: u8,
    ) -> Vec<Told> {
        match self.flaw {
            Some(Flaw::ProjectedAtCommit) if version != state.marker => {
                self.early(state, entries, Verdict::Projected)
            }
            _ => Vec::new(),
        }
    }

    fn early(
        &mut self,
        state: &super::account::Account,
        entries: &[Entry],
        verdict: impl Fn(Outcome) -> Verdict,
    ) -> Vec<Told> {
        let mut told = Vec::new();
        for Entry { submission, .. } in entries {
            let Some(outcome) = state.outcome_of(submission.input) else {
                continue;
            };
            if !self.told_early.contains(submission) {
                self.is_weakened = true;
                self.told_early.push(*submission);
                told.push((*submission, verdict(outcome)));
            }
        }
        told
    }

    /// What the caller of this input hears, unless it has heard something already.
    fn heard(&mut self, answered: projected_write::Answered<Transfers>) -> Option<Told> {
        let submission = answered.input.submission;
        if answered.result.is_ok() {
            self.answered.add(submission.input);
        }
        let verdict = match answered.result {
            Ok(Answer {
                outcome,
                durability: Durability::Projected,
            }) => Verdict::Projected(outcome),
            Ok(Answer {
                outcome,
                durability: Durability::Committed(_),
            }) => Verdict::Committed(outcome),
            Err(Failure::InDoubt(_)) if self.flaw == Some(Flaw::DoubtNotTold) => {
                self.is_weakened = true;
                Verdict::NotCommitted
            }
            Err(Failure::InDoubt(_)) => Verdict::InDoubt,
            Err(Failure::NotCommitted(_)) => Verdict::NotCommitted,
        };
        (!self.told_early.contains(&submission)).then_some((submission, verdict))
    }
}

/// Whether an input is in this state twice.
fn has_twins(state: &super::account::Account) -> bool {
    let ids = state.applied.iter().map(|(id, _)| id);
    let is_twin = |(at, id): (usize, &u8)| state.applied[..at].iter().any(|(other, _)| other == id);
    ids.enumerate().any(is_twin)
}

pub(super) fn as_record(stored: Stored) -> Record<super::account::Account, u8> {
    let Stored { version, state } = stored;
    Record { state, version }
}

/// What the driver tells of a projection.
pub(super) fn projected(event: &Event) -> Result<Coverage<(), Down>, CommitError<Down>> {
    match event {
        Event::Projected => Ok(Coverage::Whole),
        Event::Refused => Err(CommitError::Refused),
        Event::Failed => Err(Fault::transient(Down).into()),
        Event::InDoubt => Err(CommitError::InDoubt(Down)),
        Event::Submit(..) | Event::Company | Event::Read(_) | Event::Committed(_) => {
            panic!("a projection is answered with {event:?}")
        }
    }
}
