//! A round trip in some weather.

use core::time::Duration;
use std::io;

use ferry_core::{
    CommitError, Failure, Fault, Instant, Retry,
    fold_write::{Command, Committing, FoldWrite, Reading},
    per_key::Ticket,
};

use super::{
    nervous::Nervous,
    weather::{Answer, Input, Meanwhile, POISONED, Weather},
};
use crate::{
    deposits::{Deposit, batch_within},
    store::{Store, Write},
    story::{ACCOUNT, busy, down, too_large},
    words::error,
};

/// A call of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Read,
    Commit,
}

/// What one caller heard, and how long the log was by then.
pub(super) struct Heard {
    pub(super) ticket: Ticket,
    pub(super) deposit: Deposit,
    pub(super) result: Result<i64, Failure<io::Error>>,
    pub(super) logged: usize,
}

/// A round trip in some weather.
pub(super) struct Voyage {
    pub(super) store: Store,
    pub(super) weather: Weather,
    /// The calls of the store so far.
    pub(super) calls: Vec<Call>,
    now: Instant,
    /// Of each commit that may have landed: how many had heard by then, and its ids.
    pub(super) open: Vec<(usize, Vec<u64>)>,
    pub(super) heard: Vec<Heard>,
}

impl Voyage {
    pub(super) fn sail(inputs: &[Input], weather: Weather) -> (Self, Vec<(Ticket, Deposit)>) {
        let retry = Retry {
            base: Duration::from_millis(2),
            attempts: weather.attempts,
            total: Duration::from_millis(60),
            ..Retry::default()
        };
        let call = FoldWrite::new(Nervous::of(&weather), retry)
            .unwrap()
            .call(weather.seed);
        let batch = batch_within(
            ACCOUNT,
            inputs.iter().map(|input| {
                let deadline = input
                    .patience
                    .map(|ms| Instant::EPOCH + Duration::from_millis(1 + u64::from(ms)));
                (weather.deposit(input.id, input.mistaken), deadline)
            }),
        );
        let sent = batch
            .items()
            .iter()
            .map(|item| (item.ticket, item.input))
            .collect();
        let mut store = Store::default();
        weather.opening().into_iter().for_each(|it| store.rival(it));
        let mut voyage = Self {
            store,
            weather,
            calls: Vec::new(),
            now: Instant::EPOCH,
            open: Vec::new(),
            heard: Vec::new(),
        };
        let mut command = call.start(voyage.now, batch);
        loop {
            voyage.listen(&mut command);
            command = match command {
                Command::Read(read) => voyage.read(read),
                Command::Commit(commit) => voyage.commit(commit),
                Command::Sleep(sleep) => {
                    voyage.now = voyage.now + sleep.duration();
                    sleep.wake(voyage.now)
                }
                Command::Done(done) => {
                    let (batch, _) = done.finish();
                    assert!(batch.items().is_empty());
                    break;
                }
            };
            let most = 4 * (inputs.len() + 1) * (voyage.weather.attempts as usize + 1);
            assert!(
                voyage.calls.len() <= most,
                "{most} calls of the store and no end"
            );
        }
        (voyage, sent)
    }

    fn listen(&mut self, command: &mut Command<Nervous>) {
        let logged = self.store.log.len();
        self.heard.extend(command.answers().map(|answer| Heard {
            ticket: answer.ticket,
            deposit: answer.input,
            result: answer.result,
            logged,
        }));
    }

    /// Time passes, things happen, and the store makes up its mind.
    fn step(&mut self, call: Call) -> Answer {
        let step = self.weather.steps.get(self.calls.len()).copied();
        self.calls.push(call);
        let Some(step) = step else {
            return self.weather.then;
        };
        self.now = self.now + Duration::from_millis(step.takes.into());
        match step.meanwhile {
            Meanwhile::Rival(POISONED) | Meanwhile::Nothing => {}
            Meanwhile::Rival(id) => self.store.rival(self.weather.deposit(id, false)),
            Meanwhile::DriftsIn => {
                self.store.drift_in();
            }
        }
        step.answer
    }

    fn read(&mut self, read: Reading<Nervous>) -> Command<Nervous> {
        assert!(!read.ids().is_empty(), "a read for nobody");
        let answer = self.step(Call::Read);
        let malformed = read
            .ids()
            .iter()
            .any(|id| self.weather.malformed.contains(id));
        let result = match answer {
            Answer::Fails | Answer::GoesAdrift => Err(down()),
            Answer::Throttles => Err(busy(Duration::from_millis(3))),
            Answer::Panics => return read.panicked(self.now, "in read".into()),
            Answer::Truth | Answer::LandsUnheard | Answer::ResentBelow if malformed => {
                Err(Fault::permanent(error("malformed id")))
            }
            Answer::Truth | Answer::LandsUnheard | Answer::ResentBelow => Ok(self.store.read()),
        };
        read.resume(self.now, result)
    }

    fn commit(&mut self, commit: Committing<Nervous>) -> Command<Nervous> {
        let answer = self.step(Call::Commit);
        let write = Write::ours(commit.commit());
        assert!(!write.entries.is_empty(), "a commit of nothing");
        if write
            .entries
            .iter()
            .any(|entry| self.weather.too_large.contains(&entry.id))
        {
            return commit.resume(self.now, Err(too_large().into()));
        }
        let ids: Vec<_> = write.entries.iter().map(|entry| entry.id).collect();
        if !matches!(answer, Answer::Fails | Answer::Throttles) {
            self.open.push((self.heard.len(), ids));
        }
        let timed_out = || Err(CommitError::InDoubt(error("timed out")));
        let result = match answer {
            Answer::Truth => self.store.arrive(write).ok_or(CommitError::Refused),
            Answer::Fails => Err(down().into()),
            Answer::Throttles => Err(busy(Duration::from_millis(3)).into()),
            Answer::LandsUnheard => {
                self.store.arrive(write);
                timed_out()
            }
            Answer::GoesAdrift => {
                self.store.set_adrift(write);
                timed_out()
            }
            Answer::ResentBelow => {
                self.store.arrive(write);
                Err(CommitError::Refused)
            }
            Answer::Panics => {
                self.store.set_adrift(write);
                return commit.panicked(self.now, "in commit".into());
            }
        };
        commit.resume(self.now, result)
    }
}
