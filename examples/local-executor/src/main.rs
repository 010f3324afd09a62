//! Counts votes with Ferry's core on a single-threaded executor of one's own, with futures that are not `Send`.
//!
//! [`executor`] is the executor, [`local_ferry`] the whole embedding, and [`votes`] what is carried. Two handles write to one
//! store as two processes would.
#![forbid(unsafe_code)]

mod executor;
mod local_ferry;
mod votes;

use std::{cell::Cell, error::Error, hash::RandomState, rc::Rc};

use executor::Executor;
use ferry_core::{
    Retry,
    fold_write::FoldWrite,
    per_key::{Limits, PerKey},
};
use local_ferry::{LocalFerry, Submission};
use votes::{Ballots, Counting, Vote};

const VOTERS: u64 = 3_000;
const QUESTIONS: [&str; 3] = ["tea or coffee?", "sea or hills?", "tabs or spaces?"];

fn main() -> Result<(), Box<dyn Error>> {
    let executor = Executor::new();
    let store = Ballots::on(&executor);
    let handle = || -> Result<_, Box<dyn Error>> {
        let batching = PerKey::new(Limits::default(), RandomState::new())?;
        let write = FoldWrite::new(Counting, Retry::default())?;
        Ok(LocalFerry::new(&executor, batching, write, store.again()))
    };
    let handles = [handle()?, handle()?];

    let heard = Rc::new(Cell::new(0));
    executor.run(async {
        for (voter, ferry) in (0..VOTERS).zip(handles.iter().cycle()) {
            let question = QUESTIONS[voter as usize % QUESTIONS.len()];
            let answer = voter as usize % 2;
            match ferry.submit(question, Vote { voter, answer }) {
                Ok(vote) => executor.spawn(hear(vote, Rc::clone(&heard))),
                Err(rejected) => report(&format!("voter {voter}: {}", rejected.reason)),
            }
        }
        for ferry in handles {
            ferry.close().await;
        }
    });

    let (heard, stored, commits) = (heard.get(), store.votes(), store.commits());
    report(&format!(
        "{heard} votes answered, {stored} in the store, in {commits} commits"
    ));
    assert_eq!((heard, stored), (VOTERS, VOTERS), "every vote counts once");
    Ok(())
}

/// Counts the vote once it is durable.
async fn hear(vote: Submission<Counting>, heard: Rc<Cell<u64>>) {
    match vote.await {
        Ok(_votes) => heard.set(heard.get() + 1),
        Err(failure) => report(&format!("{failure}")),
    }
}

#[expect(
    clippy::print_stdout,
    reason = "a program's result goes to its standard output"
)]
fn report(line: &str) {
    println!("{line}");
}
