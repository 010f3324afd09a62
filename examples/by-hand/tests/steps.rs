//! Every event, command and moment by hand: what happens between a submission and its answer, with no store and no clock.

use std::{hash::RandomState, io, time::Duration};

use ferry_by_hand::{Hall, Reply, Reserve, Reserving};
use ferry_core::{
    CommitError, Failure, Instant, Record, Retry,
    fold_write::{self, FoldWrite},
    per_key::{self, Batch, Limits, PerKey, Terms, Ticket},
};

type Batching = PerKey<&'static str, Reserve, RandomState>;
type Heard = (Ticket, Result<Reply, Failure<io::ErrorKind>>);

const START: Instant = Instant::EPOCH;
const A_SECOND: Duration = Duration::from_secs(1);

fn batching() -> Batching {
    PerKey::new(Limits::default(), RandomState::new()).unwrap()
}

fn reserve(id: u64, seats: u32) -> Reserve {
    Reserve { id, seats }
}

fn dispatched(batching: &mut Batching) -> Batch<&'static str, Reserve> {
    match batching.poll() {
        Some(per_key::Command::Dispatch(batch)) => batch,
        other => panic!("no batch, but {other:?}"),
    }
}

fn start(batch: Batch<&'static str, Reserve>) -> fold_write::Command<Reserving> {
    let write = FoldWrite::new(Reserving, Retry::default()).unwrap();
    write.call(1).start(START, batch)
}

fn reading(command: fold_write::Command<Reserving>) -> fold_write::Reading<Reserving> {
    let fold_write::Command::Read(read) = command else {
        panic!("it does not read")
    };
    read
}

fn committing(command: fold_write::Command<Reserving>) -> fold_write::Committing<Reserving> {
    let fold_write::Command::Commit(commit) = command else {
        panic!("it does not commit")
    };
    commit
}

fn heard(command: &mut fold_write::Command<Reserving>) -> Vec<Heard> {
    command
        .answers()
        .map(|one| (one.ticket, one.result))
        .collect()
}

fn finish(command: fold_write::Command<Reserving>) -> Batch<&'static str, Reserve> {
    let fold_write::Command::Done(done) = command else {
        panic!("it is not done")
    };
    done.finish().0
}

#[test]
fn what_arrives_during_a_round_trip_goes_together_as_the_next() {
    let mut batching = batching();
    let first = batching.submit(START, "main hall", reserve(1, 2)).unwrap();
    let read = reading(start(dispatched(&mut batching)));
    assert_eq!((read.key(), read.ids()), (&"main hall", &[1][..]));

    // One batch of a hall is in flight: these wait.
    batching.submit(START, "main hall", reserve(2, 3)).unwrap();
    batching.submit(START, "main hall", reserve(3, 4)).unwrap();
    assert!(batching.poll().is_none());

    let commit = committing(read.resume(START, Ok(None)));
    assert_eq!(commit.commit().expected, None);
    assert_eq!(commit.commit().state.left(), 8);
    let mut done = commit.resume(START, Ok(1));
    assert_eq!(heard(&mut done), [(first, Ok(Reply::Reserved { left: 8 }))]);

    batching.finished(START, finish(done));
    let next = dispatched(&mut batching);
    let together: Vec<u64> = next.items().iter().map(|item| item.input.id).collect();
    assert_eq!(together, [2, 3]);
    batching.finished(START, next);
}

#[test]
fn a_commit_whose_answer_is_lost_is_found_by_the_next_read() {
    let mut batching = batching();
    let ticket = batching.submit(START, "main hall", reserve(1, 2)).unwrap();
    let commit = committing(reading(start(dispatched(&mut batching))).resume(START, Ok(None)));
    // The store has written it, and the connection breaks.
    let state = commit.commit().state.clone();
    let mut command = commit.resume(START, Err(CommitError::InDoubt(io::ErrorKind::TimedOut)));
    assert_eq!(heard(&mut command), []);

    let fold_write::Command::Sleep(sleep) = command else {
        panic!("it does not wait a little")
    };
    let now = START + sleep.duration();
    let version = 1;
    let mut done = reading(sleep.wake(now)).resume(now, Ok(Some(Record { state, version })));
    // Not applied again, and answered as it was.
    assert_eq!(
        heard(&mut done),
        [(ticket, Ok(Reply::Reserved { left: 8 }))]
    );
    batching.finished(now, finish(done));
}

#[test]
fn a_rival_who_comes_first_is_seen_and_not_overwritten() {
    let mut batching = batching();
    let ticket = batching.submit(START, "main hall", reserve(1, 2)).unwrap();
    let commit = committing(reading(start(dispatched(&mut batching))).resume(START, Ok(None)));
    let command = commit.resume(START, Err(CommitError::Refused));

    let fold_write::Command::Sleep(sleep) = command else {
        panic!("it does not wait a little")
    };
    let now = START + sleep.duration();
    let mut state = Hall::default();
    let rival = (reserve(99, 9), Reply::Reserved { left: 1 });
    state.reserved.insert(99, rival);
    let version = 1;
    let mut done = reading(sleep.wake(now)).resume(now, Ok(Some(Record { state, version })));
    assert_eq!(heard(&mut done), [(ticket, Ok(Reply::SoldOut { left: 1 }))]);
    batching.finished(now, finish(done));
}

#[test]
fn one_who_waits_too_long_leaves_at_that_very_moment() {
    let mut batching = batching();
    batching.submit(START, "main hall", reserve(1, 2)).unwrap();
    let batch = dispatched(&mut batching);
    let terms = Terms {
        deadline: Some(START + A_SECOND),
        ..Terms::default()
    };
    let waiting = batching
        .submit_with(START, "main hall", reserve(2, 2), terms)
        .unwrap();
    assert_eq!(batching.timeout(), Some(START + A_SECOND));

    batching.tick(START + (A_SECOND - Duration::from_nanos(1)));
    assert!(batching.poll().is_none());
    batching.tick(START + A_SECOND);
    match batching.poll() {
        Some(per_key::Command::Expired(ticket, input)) => {
            assert_eq!((ticket, input), (waiting, reserve(2, 2)));
        }
        other => panic!("it does not expire, but {other:?}"),
    }
    batching.finished(START + A_SECOND, batch);
    assert!(batching.poll().is_none());
}
