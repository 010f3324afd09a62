//! The embedding: one thread that owns the batching machine, and threads that carry batches.

use std::{
    hash::RandomState,
    sync::{Mutex, mpsc},
    thread,
};

use ferry_core::{
    Cause, Failure, Instant, Retry,
    fold_write::{self, FoldWrite},
    per_key::{self, Batch, Limits, PerKey},
};

use crate::counter::{Adding, Counts, Heard, Request};

/// What the loop hears of.
pub(crate) enum Event {
    Submit {
        word: &'static str,
        request: Request,
    },
    Finished(Batch<&'static str, Request>),
    Close,
}

/// How many batches are carried at once.
const CARRIERS: usize = 4;

/// Owns the batching machine: tells it what happens, and does what it says, until it is drained.
pub(crate) fn event_loop(
    limits: Limits,
    store: &Counts,
    events: mpsc::Sender<Event>,
    inbox: mpsc::Receiver<Event>,
) {
    let clock = Clock::start();
    let mut per_key = match PerKey::new(limits, RandomState::new()) {
        Ok(per_key) => per_key,
        Err(error) => panic!("{error}"),
    };
    let (batches, to_carry) = mpsc::channel();
    let to_carry = Mutex::new(to_carry);
    thread::scope(|scope| {
        for seed in 0..CARRIERS as u64 {
            let (to_carry, events, clock) = (&to_carry, events.clone(), &clock);
            scope.spawn(move || carry_all(seed, store, clock, to_carry, &events));
        }
        // The carriers end when there is nobody left to send them a batch.
        let batches = batches;
        loop {
            // Waits for an event, or for the time at which something falls due.
            let event = match per_key.timeout() {
                Some(due) => inbox.recv_timeout(due - clock.now()).ok(),
                None => inbox.recv().ok(),
            };
            let now = clock.now();
            match event {
                Some(Event::Submit { word, request }) => {
                    if let Err(rejected) = per_key.submit(now, word, request) {
                        rejected.input.hear(Heard::Rejected(rejected.reason));
                    }
                }
                Some(Event::Finished(batch)) => per_key.finished(now, batch),
                Some(Event::Close) => per_key.close(),
                None => per_key.tick(now),
            }
            while let Some(command) = per_key.poll() {
                match command {
                    per_key::Command::Dispatch(batch) => drop(batches.send(batch)),
                    per_key::Command::Expired(_, request) => {
                        let expired = Failure::NotCommitted(Cause::Expired);
                        request.hear(Heard::Answered(Err(expired)));
                    }
                    per_key::Command::Drained => return,
                }
            }
        }
    });
}

/// Carries one batch after the other.
fn carry_all(
    seed: u64,
    store: &Counts,
    clock: &Clock,
    to_carry: &Mutex<mpsc::Receiver<Batch<&'static str, Request>>>,
    events: &mpsc::Sender<Event>,
) {
    let Ok(write) = FoldWrite::new(Adding, Retry::default()) else {
        return;
    };
    let mut call = write.call(seed);
    loop {
        let next = to_carry.lock().map(|to_carry| to_carry.recv());
        let Ok(Ok(batch)) = next else { return };
        let (batch, spent) = carry(call.start(clock.now(), batch), store, clock);
        call = spent;
        drop(events.send(Event::Finished(batch)));
    }
}

type Spent = (Batch<&'static str, Request>, fold_write::Call<Adding>);

/// One round trip: does what each command says, and tells the callers as their answers get known.
fn carry(mut command: fold_write::Command<Adding>, store: &Counts, clock: &Clock) -> Spent {
    loop {
        for answered in command.answers() {
            answered.input.hear(Heard::Answered(answered.result));
        }
        command = match command {
            fold_write::Command::Read(read) => {
                let record = store.read(read.key());
                read.resume(clock.now(), record)
            }
            fold_write::Command::Commit(commit) => {
                let landed = store.commit(commit.key(), commit.commit());
                commit.resume(clock.now(), landed)
            }
            fold_write::Command::Sleep(sleep) => {
                thread::sleep(sleep.duration());
                sleep.wake(clock.now())
            }
            fold_write::Command::Done(done) => return done.finish(),
        };
    }
}

/// Counts from when the loop began.
struct Clock(std::time::Instant);

impl Clock {
    fn start() -> Self {
        Self(std::time::Instant::now())
    }

    fn now(&self) -> Instant {
        Instant::EPOCH + self.0.elapsed()
    }
}
