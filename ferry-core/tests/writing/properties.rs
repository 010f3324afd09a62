//! Any batch on any behaviour of the store, judged by the store's true log.

use core::time::Duration;
use std::{collections::BTreeSet, io};

use ferry_core::{
    CommitError, Failure, Fault, Instant, Retry,
    fold_write::{Command, Committing, FoldWrite, Reading},
    per_key::Ticket,
};
use quickcheck::{Arbitrary, Gen, QuickCheck};

use crate::{
    deposits::{BEYOND, Deposit, Deposits, MISMATCH, POISON, batch_within},
    store::{Store, Write, Writer},
    story::{ACCOUNT, busy, down, too_large},
    words::error,
};

const IDS: u64 = 8;
/// Its content makes `step` panic.
const POISONED: u64 = 7;

/// What the client means by this id; another content is a client's mistake.
fn deposit(id: u64, mistaken: bool) -> Deposit {
    let cents = match id {
        POISONED => POISON,
        id if id % 3 == 2 => -15,
        _ => 10,
    };
    Deposit {
        id,
        cents: cents + i64::from(mistaken),
    }
}

#[derive(Clone, Debug)]
struct Input {
    id: u64,
    mistaken: bool,
    patience: Option<u8>,
}

impl Arbitrary for Input {
    fn arbitrary(g: &mut Gen) -> Self {
        Self {
            id: u64::arbitrary(g) % IDS,
            mistaken: u8::arbitrary(g) < 20,
            patience: (u8::arbitrary(g) < 80).then(|| u8::arbitrary(g) % 40),
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let all = (self.id, self.mistaken, self.patience);
        Box::new(all.shrink().map(|(id, mistaken, patience)| Self {
            id,
            mistaken,
            patience,
        }))
    }
}

/// What the store does with one call.
#[derive(Clone, Copy, Debug)]
enum Answer {
    /// What it should: shows the record; takes the commit, or refuses it by its fence.
    Truth,
    Fails,
    Throttles,
    /// The commit lands; the answer is lost.
    LandsUnheard,
    /// The commit is under way; no answer comes.
    GoesAdrift,
    /// A layer below sends the commit twice, and hands on the answer to the second.
    ResentBelow,
    Panics,
}

const ANSWERS: [Answer; 7] = [
    Answer::Truth,
    Answer::Fails,
    Answer::Throttles,
    Answer::LandsUnheard,
    Answer::GoesAdrift,
    Answer::ResentBelow,
    Answer::Panics,
];

/// What happens elsewhere before the store answers.
#[derive(Clone, Copy, Debug)]
enum Meanwhile {
    Nothing,
    /// Another process carries an input; perhaps one of these, sent again by its client.
    Rival(u64),
    /// What was adrift arrives.
    DriftsIn,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    takes: u8,
    meanwhile: Meanwhile,
    answer: Answer,
}

impl Arbitrary for Step {
    fn arbitrary(g: &mut Gen) -> Self {
        let meanwhile = match u8::arbitrary(g) % 8 {
            0 => Meanwhile::Rival(u64::arbitrary(g) % (2 * IDS)),
            1 | 2 => Meanwhile::DriftsIn,
            _ => Meanwhile::Nothing,
        };
        let answer = *g.choose(&ANSWERS).expect("not empty");
        Self {
            takes: u8::arbitrary(g) % 4,
            meanwhile,
            answer,
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let step = *self;
        let at_once = (step.takes > 0).then_some(Self { takes: 0, ..step });
        let alone = (!matches!(step.meanwhile, Meanwhile::Nothing)).then_some(Self {
            meanwhile: Meanwhile::Nothing,
            ..step
        });
        let true_ = (!matches!(step.answer, Answer::Truth)).then_some(Self {
            answer: Answer::Truth,
            ..step
        });
        Box::new([at_once, alone, true_].into_iter().flatten())
    }
}

/// A store's behaviour: step by step, then for ever the same.
#[derive(Clone, Debug)]
struct Weather {
    steps: Vec<Step>,
    then: Answer,
    /// Ids of which no commit is ever taken.
    too_large: BTreeSet<u64>,
    /// Ids that no read can look up.
    malformed: BTreeSet<u64>,
    attempts: u32,
    seed: u64,
}

impl Arbitrary for Weather {
    fn arbitrary(g: &mut Gen) -> Self {
        let mut few = |often: u8| -> BTreeSet<u64> {
            (0..IDS).filter(|_| u8::arbitrary(g) < often).collect()
        };
        let (too_large, malformed) = (few(25), few(10));
        let then = match bool::arbitrary(g) {
            true => Answer::Truth,
            false => *g.choose(&ANSWERS).expect("not empty"),
        };
        let attempts = u32::arbitrary(g) % 4 + 1;
        Self {
            steps: Vec::arbitrary(g),
            then,
            too_large,
            malformed,
            attempts,
            seed: u64::arbitrary(g),
        }
    }

    fn shrink(&self) -> Box<dyn Iterator<Item = Self>> {
        let weather = self.clone();
        let ids = (self.too_large.clone(), self.malformed.clone());
        let shorter = self.steps.shrink().map({
            let weather = weather.clone();
            move |steps| Self {
                steps,
                ..weather.clone()
            }
        });
        let milder = ids.shrink().map(move |(too_large, malformed)| Self {
            too_large,
            malformed,
            ..weather.clone()
        });
        Box::new(shorter.chain(milder))
    }
}

/// What one caller heard, and how long the log was by then.
struct Heard {
    ticket: Ticket,
    deposit: Deposit,
    result: Result<i64, Failure<io::Error>>,
    logged: usize,
}

/// A round trip in some weather.
struct Voyage {
    store: Store,
    weather: Weather,
    steps: usize,
    now: Instant,
    heard: Vec<Heard>,
}

impl Voyage {
    fn sail(inputs: &[Input], weather: Weather) -> (Self, Vec<(Ticket, Deposit)>) {
        let retry = Retry {
            base: Duration::from_millis(2),
            attempts: weather.attempts,
            total: Duration::from_millis(60),
            ..Retry::default()
        };
        let call = FoldWrite::new(Deposits, retry).unwrap().call(weather.seed);
        let batch = batch_within(
            ACCOUNT,
            inputs.iter().map(|input| {
                let deadline = input
                    .patience
                    .map(|ms| Instant::EPOCH + Duration::from_millis(1 + u64::from(ms)));
                (deposit(input.id, input.mistaken), deadline)
            }),
        );
        let sent = batch
            .items()
            .iter()
            .map(|item| (item.ticket, item.input))
            .collect();
        let (store, steps, heard) = (Store::default(), 0, Vec::new());
        let mut voyage = Self {
            store,
            weather,
            steps,
            now: Instant::EPOCH,
            heard,
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
            assert!(voyage.steps <= most, "{most} calls of the store and no end");
        }
        (voyage, sent)
    }

    fn listen(&mut self, command: &mut Command<Deposits>) {
        let logged = self.store.log.len();
        self.heard.extend(command.answers().map(|answer| Heard {
            ticket: answer.ticket,
            deposit: answer.input,
            result: answer.result,
            logged,
        }));
    }

    /// Time passes, things happen, and the store makes up its mind.
    fn step(&mut self) -> Answer {
        let step = self.weather.steps.get(self.steps).copied();
        self.steps += 1;
        let Some(step) = step else {
            return self.weather.then;
        };
        self.now = self.now + Duration::from_millis(step.takes.into());
        match step.meanwhile {
            Meanwhile::Rival(POISONED) | Meanwhile::Nothing => {}
            Meanwhile::Rival(id) => self.store.rival(deposit(id, false)),
            Meanwhile::DriftsIn => {
                self.store.drift_in();
            }
        }
        step.answer
    }

    fn read(&mut self, read: Reading<Deposits>) -> Command<Deposits> {
        assert!(!read.ids().is_empty(), "a read for nobody");
        let answer = self.step();
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

    fn commit(&mut self, commit: Committing<Deposits>) -> Command<Deposits> {
        let answer = self.step();
        let write = Write::ours(commit.commit());
        assert!(!write.entries.is_empty(), "a commit of nothing");
        if write
            .entries
            .iter()
            .any(|entry| self.weather.too_large.contains(&entry.id))
        {
            return commit.resume(self.now, Err(too_large().into()));
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

    // ---- judgement ------------------------------------------------------------------------------

    fn no_id_is_applied_twice(&self) {
        let ids = self.store.ids();
        let once: BTreeSet<_> = ids.iter().collect();
        assert_eq!(once.len(), ids.len(), "{ids:?}");
    }

    fn everyone_heard_once(&self, sent: &[(Ticket, Deposit)]) {
        assert_eq!(self.heard.len(), sent.len());
        for (ticket, deposit) in sent {
            let heard: Vec<_> = self
                .heard
                .iter()
                .filter(|heard| heard.ticket == *ticket)
                .collect();
            assert_eq!(heard.len(), 1);
            assert_eq!(heard[0].deposit, *deposit);
        }
    }

    fn every_answer_is_true(&self) {
        for heard in &self.heard {
            let logged = &self.store.log[..heard.logged];
            let deposit = heard.deposit;
            match heard.result {
                Ok(MISMATCH) => {
                    let other =
                        |(entry, _): &(Deposit, _)| entry.id == deposit.id && *entry != deposit;
                    assert!(logged.iter().any(other), "{deposit:?} mismatches nothing");
                }
                Ok(BEYOND) => assert!(deposit.cents < 0, "{deposit:?} is not beyond anything"),
                Ok(balance) => {
                    let at = logged.iter().position(|(entry, _)| *entry == deposit);
                    let at = at.unwrap_or_else(|| panic!("{deposit:?} is not stored"));
                    let stored: i64 = logged[..=at].iter().map(|(entry, _)| entry.cents).sum();
                    assert_eq!(balance, stored, "{deposit:?} has another outcome stored");
                }
                Err(Failure::NotCommitted(_)) => {
                    let ours = (deposit, Writer::Ours);
                    assert!(!self.store.log.contains(&ours), "{deposit:?} was committed");
                }
                Err(Failure::InDoubt(_)) => {}
            }
        }
    }

    /// An input that was told a business no, and that no twin was sent with, was not written here.
    fn what_was_declined_is_not_written(&self) {
        for heard in &self.heard {
            let twins = self
                .heard
                .iter()
                .filter(|twin| twin.deposit.id == heard.deposit.id);
            if twins.count() == 1 && matches!(heard.result, Ok(BEYOND | MISMATCH)) {
                assert!(!self.store.log.contains(&(heard.deposit, Writer::Ours)));
            }
        }
    }

    fn ours_are_in_order_of_submission(&self, sent: &[(Ticket, Deposit)]) {
        let mut sent = sent.iter().map(|(_, deposit)| *deposit);
        for (entry, writer) in &self.store.log {
            if *writer == Writer::Ours {
                assert!(
                    sent.any(|deposit| deposit == *entry),
                    "{entry:?} was overtaken"
                );
            }
        }
    }
}

#[test]
fn whatever_the_store_does_nothing_is_applied_twice_and_every_answer_is_true() {
    fn property(inputs: Vec<Input>, weather: Weather) {
        let inputs = &inputs[..inputs.len().min(12)];
        if inputs.is_empty() {
            return;
        }
        let (mut voyage, sent) = Voyage::sail(inputs, weather);
        voyage.store.drift_in();
        voyage.no_id_is_applied_twice();
        voyage.everyone_heard_once(&sent);
        voyage.every_answer_is_true();
        voyage.what_was_declined_is_not_written();
        voyage.ours_are_in_order_of_submission(&sent);
    }
    QuickCheck::new()
        .tests(5000)
        .quickcheck(property as fn(Vec<Input>, Weather));
}

#[test]
fn where_the_store_behaves_every_input_that_is_not_at_fault_has_its_outcome() {
    fn property(inputs: Vec<Input>, too_large: BTreeSet<u64>, seed: u64) {
        let inputs: Vec<_> = inputs
            .into_iter()
            .map(|input| Input {
                patience: None,
                ..input
            })
            .take(12)
            .collect();
        if inputs.is_empty() {
            return;
        }
        let too_large: BTreeSet<_> = too_large.into_iter().map(|id| id % IDS).collect();
        let weather = Weather {
            steps: vec![],
            then: Answer::Truth,
            too_large: too_large.clone(),
            malformed: BTreeSet::new(),
            attempts: 1,
            seed,
        };
        let (voyage, sent) = Voyage::sail(&inputs, weather);
        voyage.everyone_heard_once(&sent);
        voyage.every_answer_is_true();
        voyage.ours_are_in_order_of_submission(&sent);
        for heard in &voyage.heard {
            let at_fault = too_large.contains(&heard.deposit.id) || heard.deposit.cents == POISON;
            assert!(at_fault || heard.result.is_ok(), "{:?}", heard.result);
        }
    }
    QuickCheck::new()
        .tests(1000)
        .quickcheck(property as fn(Vec<Input>, BTreeSet<u64>, u64));
}

#[test]
fn where_reads_are_true_and_nothing_goes_adrift_no_one_is_left_in_doubt() {
    fn property(inputs: Vec<Input>, weather: Weather) {
        let inputs: Vec<_> = inputs
            .into_iter()
            .filter(|input| input.id != POISONED)
            .map(|input| Input {
                patience: None,
                ..input
            })
            .take(12)
            .collect();
        if inputs.is_empty() {
            return;
        }
        let calm = |answer| match answer {
            Answer::Truth | Answer::LandsUnheard | Answer::ResentBelow => answer,
            Answer::Fails | Answer::Throttles | Answer::GoesAdrift | Answer::Panics => {
                Answer::LandsUnheard
            }
        };
        let steps = weather.steps.iter().map(|step| Step {
            answer: calm(step.answer),
            ..*step
        });
        let weather = Weather {
            steps: steps.collect(),
            then: calm(weather.then),
            too_large: BTreeSet::new(),
            malformed: BTreeSet::new(),
            ..weather
        };
        let (voyage, sent) = Voyage::sail(&inputs, weather);
        voyage.everyone_heard_once(&sent);
        voyage.every_answer_is_true();
        for heard in &voyage.heard {
            let in_doubt = matches!(heard.result, Err(Failure::InDoubt(_)));
            assert!(!in_doubt, "{:?}: {:?}", heard.deposit, heard.result);
        }
    }
    QuickCheck::new()
        .tests(2000)
        .quickcheck(property as fn(Vec<Input>, Weather));
}
