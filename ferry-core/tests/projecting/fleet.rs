//! Several processes that write, resume and die beside each other, on one store and step by step.

mod calls;

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};

use ferry_core::{
    Instant, Retry,
    projected_write::{Call, Command, ProjectedWrite, resume},
};

use crate::{
    deposits::{Deposits, batch_within},
    judge::{Breach, Heard, Judge, Sent},
    schedule::{Answer, Job, PROCESSES, Schedule, Turn},
    store::{Flaw, Reach, Store, Write, Writer},
    words::ACCOUNT,
};

/// What a run has met with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Met {
    AnsweredProjected,
    AnsweredCommitted,
    AnsweredFailed,
    ProjectionLanded,
    ProjectionLandedInPart,
    ProjectionRefused,
    LateCommitLanded,
    LateProjectionLanded,
    LateProjectionKeptOut,
    DiedWithItsRecordPending,
    ResumedBesideOthers,
    CommitBehindAMovedMarker,
}

/// When callers hear that the view shows their outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Telling {
    WhenItIsKnown,
    /// The driver does not wait for the projection.
    AtTheCommit,
}

#[derive(Default)]
struct Process {
    jobs: VecDeque<Job>,
    work: Work,
    /// Of the batch before.
    call: Option<Call<Deposits>>,
}

#[derive(Default)]
enum Work {
    #[default]
    None,
    Write {
        number: usize,
        command: Command<Deposits>,
    },
    Resume {
        first: Option<u64>,
        command: Box<resume::Command<Deposits>>,
    },
}

pub(crate) struct Fleet {
    store: Store,
    now: Instant,
    write: ProjectedWrite<Deposits>,
    schedule: Schedule,
    telling: Telling,
    processes: Vec<Process>,
    sent: Vec<Sent>,
    judge: Judge,
    met: BTreeMap<Met, usize>,
}

/// What came of a run.
pub(crate) struct Run {
    pub(crate) breaches: Vec<Breach>,
    pub(crate) met: BTreeMap<Met, usize>,
    /// How often the store's flaw made a difference.
    pub(crate) flawed: usize,
}

impl Fleet {
    pub(crate) fn run(schedule: Schedule, flaw: Option<Flaw>, telling: Telling) -> Run {
        let retry = Retry {
            base: Duration::from_millis(2),
            attempts: schedule.attempts,
            total: Duration::from_millis(60),
            ..Retry::default()
        };
        let jobs = (0..PROCESSES).map(|process| schedule.jobs.get(process).cloned());
        let mut fleet = Self {
            store: Store::with(flaw),
            now: Instant::EPOCH,
            write: ProjectedWrite::new(Deposits, retry).unwrap(),
            telling,
            processes: jobs
                .map(|jobs| Process {
                    jobs: jobs.unwrap_or_default().into(),
                    ..Process::default()
                })
                .collect(),
            sent: vec![],
            judge: Judge::default(),
            met: BTreeMap::new(),
            schedule,
        };
        fleet.sails();
        fleet.heals();
        fleet.judge.sums_up(&fleet.store, &fleet.sent);
        Run {
            breaches: fleet.judge.breaches,
            met: fleet.met,
            flawed: fleet.store.flawed,
        }
    }

    fn meets(&mut self, met: Met) {
        *self.met.entry(met).or_default() += 1;
    }

    fn sails(&mut self) {
        for turn in self.schedule.turns.clone() {
            match turn {
                Turn::Goes {
                    process,
                    takes,
                    answer,
                } => {
                    self.now = self.now + Duration::from_millis(takes.into());
                    self.goes(process, answer);
                }
                Turn::Dies {
                    process,
                    is_under_way,
                } => self.dies(process, is_under_way),
                Turn::DriftsIn(nth) => self.drifts_in(nth),
            }
        }
    }

    /// The store does as it should, and everyone comes to an end; then the key is resumed once.
    fn heals(&mut self) {
        let mut turns = 0;
        loop {
            let went = (0..PROCESSES).map(|process| self.goes(process, Answer::Truth));
            if went.filter(|went| *went).count() == 0 {
                break;
            }
            turns += 1;
            assert!(turns < 1000, "no end");
        }
        while self.store.adrift() > 0 {
            self.drifts_in(0);
        }
        let was_pending = self.store.is_pending();
        let mut command = self.write.resume_once(1, self.now, ACCOUNT);
        let resumed = loop {
            command = match command {
                resume::Command::Read(read) => read.resume(self.now, Ok(self.store.read())),
                resume::Command::Project(project) => {
                    let result = self.project(project.record(), Answer::Truth);
                    project.resume(self.now, result.expect("it does not panic"))
                }
                resume::Command::Sleep(_) => panic!("it is tried once"),
                resume::Command::Done(done) => break done.finish(),
            };
        };
        let resumed = format!("{resumed:?}");
        self.judge.is_healed(&self.store, was_pending, &resumed);
    }

    // ---- turns ------------------------------------------------------------------------------------

    /// This process goes one step on; whether it had anything to do.
    fn goes(&mut self, process: usize, answer: Answer) -> bool {
        let work = core::mem::take(&mut self.processes[process].work);
        let work = match work {
            Work::None => match self.processes[process].jobs.pop_front() {
                None => return false,
                Some(job) => self.begins(process, job),
            },
            Work::Write { number, command } => self.writes(process, number, command, answer),
            Work::Resume { first, command } => self.resumes(first, *command, answer),
        };
        self.processes[process].work = work;
        true
    }

    fn dies(&mut self, process: usize, is_under_way: bool) {
        self.processes[process].call = None;
        let work = core::mem::take(&mut self.processes[process].work);
        let write = match &work {
            Work::None => return,
            Work::Write { number, command } => {
                self.sent[*number].has_died = true;
                match command {
                    Command::Commit(commit) => {
                        Some(Write::commit(commit.commit(), Writer(*number)))
                    }
                    Command::Project(project) => {
                        Some(Write::projection(project.record(), Reach::Whole))
                    }
                    Command::Read(_) | Command::Sleep(_) | Command::Done(_) => None,
                }
            }
            Work::Resume { command, .. } => match &**command {
                resume::Command::Project(project) => {
                    Some(Write::projection(project.record(), Reach::Whole))
                }
                resume::Command::Read(_) | resume::Command::Sleep(_) | resume::Command::Done(_) => {
                    None
                }
            },
        };
        if self.store.is_pending() {
            self.meets(Met::DiedWithItsRecordPending);
        }
        if let Some(write) = write.filter(|_| is_under_way) {
            self.store.set_adrift(write);
        }
    }

    fn drifts_in(&mut self, nth: usize) {
        if self.store.adrift() == 0 {
            return;
        }
        let before = self.store.version();
        let has_effect = self.store.drifts_in(nth % self.store.adrift());
        let is_commit = self.store.version() != before;
        self.meets(match (is_commit, has_effect) {
            (true, _) => Met::LateCommitLanded,
            (false, true) => Met::LateProjectionLanded,
            (false, false) => Met::LateProjectionKeptOut,
        });
        self.judge.looks_at(&self.store);
    }

    // ---- round trips ------------------------------------------------------------------------------

    fn begins(&mut self, process: usize, job: Job) -> Work {
        let seed = self.schedule.seed ^ self.sent.len() as u64;
        let inputs = match job {
            Job::Resume => {
                return Work::Resume {
                    first: None,
                    command: Box::new(self.write.resume(seed, self.now, ACCOUNT)),
                };
            }
            Job::ResumeOnce => {
                return Work::Resume {
                    first: None,
                    command: Box::new(self.write.resume_once(seed, self.now, ACCOUNT)),
                };
            }
            Job::Batch(inputs) => inputs,
        };
        let number = self.sent.len();
        let batch = batch_within(
            ACCOUNT,
            inputs.iter().map(|input| {
                let deadline = input
                    .patience
                    .map(|ms| self.now + Duration::from_millis(1 + u64::from(ms)));
                (input.deposit(), deadline)
            }),
        );
        let sent = batch.items().iter().map(|item| (item.ticket, item.input));
        self.sent.push(Sent {
            inputs: sent.collect(),
            ..Sent::default()
        });
        let call = self.processes[process].call.take();
        let call = call.unwrap_or_else(|| self.write.call(seed));
        let command = call.start(self.now, batch);
        self.listens(number, command)
    }

    fn writes(
        &mut self,
        process: usize,
        number: usize,
        command: Command<Deposits>,
        answer: Answer,
    ) -> Work {
        let command = match command {
            Command::Read(read) => match self.read(answer) {
                None => read.panicked(self.now, "in read".into()),
                Some(record) => {
                    if let Ok(record) = &record {
                        let version = record.as_ref().map_or(0, |record| record.version);
                        self.sent[number].oldest.get_or_insert(version);
                    }
                    read.resume(self.now, record)
                }
            },
            Command::Commit(commit) => self.commit(number, commit, answer),
            Command::Project(project) => match self.project(project.record(), answer) {
                None => project.panicked(self.now, "in project".into()),
                Some(result) => project.resume(self.now, result),
            },
            Command::Sleep(sleep) => {
                self.sleeps(sleep.duration(), answer);
                sleep.wake(self.now)
            }
            Command::Done(done) => {
                let (batch, call) = done.finish();
                assert!(batch.items().is_empty());
                self.processes[process].call = Some(call);
                return Work::None;
            }
        };
        self.listens(number, command)
    }

    fn listens(&mut self, number: usize, mut command: Command<Deposits>) -> Work {
        for answered in command.answers() {
            let is_failed = answered.result.is_err();
            let is_projected =
                (answered.result.as_ref()).is_ok_and(|answer| answer.durability.is_projected());
            let met = match (is_failed, is_projected) {
                (true, _) => Met::AnsweredFailed,
                (false, true) => Met::AnsweredProjected,
                (false, false) => Met::AnsweredCommitted,
            };
            *self.met.entry(met).or_default() += 1;
            let heard = Heard {
                ticket: answered.ticket,
                deposit: answered.input,
                result: answered.result,
            };
            self.judge
                .listens(&self.store, &mut self.sent[number], heard);
        }
        Work::Write { number, command }
    }

    fn resumes(
        &mut self,
        mut first: Option<u64>,
        command: resume::Command<Deposits>,
        answer: Answer,
    ) -> Work {
        let command = match command {
            resume::Command::Read(read) => match self.read(answer) {
                None => read.panicked(self.now, "in read".into()),
                Some(record) => {
                    if let Ok(record) = &record {
                        first.get_or_insert(record.as_ref().map_or(0, |record| record.version));
                    }
                    read.resume(self.now, record)
                }
            },
            resume::Command::Project(project) => {
                if self.processes.iter().any(|other| other.is_projecting()) {
                    self.meets(Met::ResumedBesideOthers);
                }
                match self.project(project.record(), answer) {
                    None => project.panicked(self.now, "in project".into()),
                    Some(result) => project.resume(self.now, result),
                }
            }
            resume::Command::Sleep(sleep) => {
                self.sleeps(sleep.duration(), answer);
                sleep.wake(self.now)
            }
            resume::Command::Done(done) => {
                if let Ok(resumed) = done.finish() {
                    self.judge.is_resumed(&self.store, first, resumed);
                }
                return Work::None;
            }
        };
        Work::Resume {
            first,
            command: Box::new(command),
        }
    }

    /// It sleeps for as long as it wants to, or is woken early.
    fn sleeps(&mut self, duration: Duration, answer: Answer) {
        let time = match answer {
            Answer::Panics | Answer::Fails => duration / 2,
            Answer::Truth
            | Answer::Throttles
            | Answer::FailsForGood
            | Answer::LandsUnheard
            | Answer::GoesAdrift
            | Answer::ResentBelow
            | Answer::LandsInPart(_) => duration,
        };
        self.now = self.now + time;
    }
}

impl Process {
    fn is_projecting(&self) -> bool {
        match &self.work {
            Work::None => false,
            Work::Write { command, .. } => matches!(command, Command::Project(_)),
            Work::Resume { command, .. } => matches!(**command, resume::Command::Project(_)),
        }
    }
}
