//! Counts words with Ferry's core in a plain loop: threads and channels, no async.
//!
//! One thread owns the batching machine, a few others carry batches to a store, and the callers wait
//! for their answers on channels. The whole embedding is [`event_loop`](event_loop::event_loop()) and
//! the functions it calls.
#![forbid(unsafe_code)]

mod counter;
mod event_loop;

use std::{sync::mpsc, thread};

use counter::{Add, Counts, Heard, Request};
use event_loop::{Event, event_loop};
use ferry_core::per_key::Limits;

const CALLERS: u64 = 8;
const ADDS_EACH: u64 = 1_000;
const WORDS: [&str; 4] = ["apple", "pear", "plum", "quince"];

fn main() {
    let store = Counts::default();
    let (events, inbox) = mpsc::channel();
    let added: u64 = thread::scope(|scope| {
        let looping = scope.spawn(|| event_loop(Limits::default(), &store, events.clone(), inbox));
        let callers: Vec<_> = (0..CALLERS)
            .map(|caller| {
                let events = events.clone();
                scope.spawn(move || call(caller, &events))
            })
            .collect();
        let added = callers
            .into_iter()
            .map(|caller| caller.join().unwrap_or(0))
            .sum();
        // Nobody submits any more: the loop drains, and ends.
        drop(events.send(Event::Close));
        drop(looping.join());
        added
    });

    let stored: u64 = WORDS.iter().map(|word| store.total(word)).sum();
    let commits = store.commits();
    report(&format!(
        "{added} inputs answered, {stored} in the store, in {commits} commits"
    ));
    assert_eq!(
        (added, stored),
        (CALLERS * ADDS_EACH, added),
        "every input is applied once"
    );
}

/// Submits inputs and waits for each answer; returns how many were applied.
fn call(caller: u64, events: &mpsc::Sender<Event>) -> u64 {
    let mut applied = 0;
    for n in 0..ADDS_EACH {
        let word = WORDS[(n % 4) as usize];
        let (reply, answer) = mpsc::channel();
        let add = Add {
            id: caller * ADDS_EACH + n,
            count: 1,
        };
        if events
            .send(Event::Submit {
                word,
                request: Request { add, reply },
            })
            .is_err()
        {
            break;
        }
        match answer.recv() {
            Ok(Heard::Answered(Ok(_total))) => applied += 1,
            Ok(Heard::Answered(Err(failure))) => report(&format!("{word}: {failure}")),
            Ok(Heard::Rejected(reason)) => report(&format!("{word}: {reason}")),
            Err(_) => break,
        }
    }
    applied
}

#[expect(
    clippy::print_stdout,
    reason = "a program's result goes to its standard output"
)]
fn report(line: &str) {
    println!("{line}");
}
