//! A call used again keeps nothing of the batch before.

use core::time::Duration;
use std::rc::Rc;

use ferry_core::{
    Coverage, Fault, Fold, Instant, Projection, Record, RecordOf, Schema, Step, StepOf,
    per_key::{self, Batch, Limits, PerKey, Terms},
    projected_write::{Command, ProjectedWrite},
};

use crate::{
    actor::{Actor, World},
    deposits::{Deposits, Hasher, batch},
    story::{ACCOUNT, MS, ONCE, RETRY, Story, busy, by, deposit, down, too_large},
    tallied::Tallied::*,
};

#[test]
fn a_call_used_again_counts_from_zero() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands().projection_fails(down());
    story.sleeps().reads().projection_fails(too_large());
    story.hears(&["1: 50, committed, too large"]);
    let took = [
        Reads(2),
        Commits(1),
        Retries(1),
        Projections(2),
        ProjectionsFailed(2),
        Applied(1),
        Late(1),
    ];
    let call = story.ends_with_call(&took);

    // This one needs no projection: what it counts is not what was counted for the last.
    story.world.a_rival_projects();
    story.begins(call, [(deposit(1, 50), None)]);
    story.reads().hears(&["1: 50, projected"]);
    let call = story.ends_with_call(&[Reads(1), Duplicates(1)]);

    story.begins(call, [(deposit(2, 10), None)]);
    story.reads().commit_lands().projection_lands();
    story.hears(&["2: 60, projected"]);
    story.ends(&[Reads(1), Commits(1), Projections(1), Applied(1)]);
}

#[test]
fn a_call_used_again_has_all_its_attempts_and_all_its_time() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands();
    for _ in 1..RETRY.attempts {
        story.projection_fails(down()).sleeps().reads();
    }
    story
        .projection_fails(down())
        .hears(&["1: 50, committed, down"]);
    let took = [
        Reads(4),
        Commits(1),
        Retries(3),
        Projections(4),
        ProjectionsFailed(4),
        Applied(1),
        Late(1),
    ];
    let call = story.ends_with_call(&took);

    story.takes(Duration::from_secs(3600));
    story.begins(call, [(deposit(2, 10), None)]);
    story.reads().commit_lands();
    for _ in 1..RETRY.attempts {
        story.projection_fails(down()).hears(&[]).sleeps().reads();
    }
    story.projection_lands().hears(&["2: 60, projected"]);
    story.world.view_is_whole(&[1, 2]);
}

#[test]
fn a_call_used_again_does_not_project_what_the_batch_before_committed() {
    // Its last input expired while it waited: nobody was left to pay the debt.
    let world = World::default();
    let mut story = Story::within(&world, [(deposit(1, 50), by(2)), (deposit(2, 10), by(2))]);
    story.reads().commit_fails(too_large());
    story.reads_for(&[1]).commit_lands();
    story.read_fails(down()).sleeps();
    story.hears(&["1: 50, committed, expired", "2: not committed, expired"]);
    let took = [
        Reads(3),
        Commits(2),
        Faults(2),
        Retries(1),
        Splits(1),
        Applied(1),
        Expired(1),
        Late(1),
    ];
    let call = story.ends_with_call(&took);

    world.a_rival_commits(9, 5);
    story.begins(call, [(deposit(9, 5), None)]);
    story.reads_for(&[9]).reads_for(&[]).wants_to_project(2, 0);
    story.projection_lands().hears(&["9: 55, projected"]);
    story.ends(&[Reads(2), Projections(1), Duplicates(1)]);
}

#[test]
fn answers_that_nobody_took_are_not_told_in_the_next_batch() {
    let write = ProjectedWrite::new(Deposits, ONCE).unwrap();
    let now = Instant::EPOCH;
    let command = write.call(1).start(now, batch(ACCOUNT, [deposit(1, 50)]));
    let Command::Read(read) = command else {
        panic!("no read");
    };
    let Command::Commit(commit) = read.resume(now, Ok(None)) else {
        panic!("no commit");
    };
    let Command::Project(project) = commit.resume(now, Ok(1)) else {
        panic!("no projection");
    };
    let Command::Done(done) = project.resume(now, Err(down().into())) else {
        panic!("not done");
    };
    let (_, call) = done.finish();
    let mut command = call.start(now, batch(ACCOUNT, [deposit(2, 50)]));
    assert_eq!(command.answers().len(), 0);
}

#[test]
fn a_batch_with_nothing_in_it_needs_no_store() {
    let mut batch = batch(ACCOUNT, [deposit(1, 50)]);
    assert_eq!(batch.drain().len(), 1);
    let write = ProjectedWrite::new(Deposits, RETRY).unwrap();
    let command = write.call(1).start(Instant::EPOCH, batch);
    assert!(matches!(command, Command::Done(_)), "{command:?}");
}

#[test]
fn an_input_that_has_expired_before_the_start_never_goes() {
    let mut story = Story::of([deposit(1, 50)]);
    story.reads().commit_lands().projection_lands();
    story.hears(&["1: 50, projected"]);
    let took = [Reads(1), Commits(1), Projections(1), Applied(1)];
    let call = story.ends_with_call(&took);
    story.takes(Duration::from_millis(5));
    story.begins(call, [(deposit(2, 10), by(5)), (deposit(3, 1), by(6))]);
    story.hears(&["2: not committed, expired"]);
    story.reads_for(&[3]).commit_lands().projection_lands();
    story.hears(&["3: 51, projected"]);
    story.ends(&[Reads(1), Commits(1), Projections(1), Applied(1), Expired(1)]);
}

#[test]
fn a_retry_that_makes_no_sense_is_refused() {
    let never = ferry_core::Retry {
        attempts: 0,
        ..RETRY
    };
    assert!(ProjectedWrite::new(Deposits, never).is_err());
}

// ---- what it holds on to ------------------------------------------------------------------------

#[test]
fn a_call_at_rest_holds_nothing_of_its_batch() {
    let now = Instant::EPOCH;
    let input = Rc::new(());
    let batch = sharing_batch(&input, 1, None);
    let call = ProjectedWrite::new(Sharing, RETRY).unwrap().call(1);
    let Command::Read(read) = call.start(now, batch) else {
        panic!("no read");
    };
    let Command::Commit(commit) = read.resume(now, Ok(None)) else {
        panic!("no commit");
    };
    assert_eq!(
        Rc::strong_count(&input),
        4,
        "ours, the input, the entry, and the state"
    );
    let Command::Project(project) = commit.resume(now, Ok(1)) else {
        panic!("no projection");
    };
    assert_eq!(project.record().state.len(), 1);
    let view = Rc::clone(&input);
    let fault = Fault::permanent(std::io::Error::other("down"));
    let mut command = project.resume(now, Ok(Coverage::Part { view, fault }));
    command.answers().for_each(drop);
    let Command::Done(done) = command else {
        panic!("not done");
    };
    let _batch_and_call = done.finish();
    assert_eq!(Rc::strong_count(&input), 1);
}

#[test]
fn a_call_at_rest_does_not_hold_a_record_that_nobody_waits_for_any_more() {
    let now = Instant::EPOCH;
    let input = Rc::new(());
    let batch = sharing_batch(&input, 2, by(2));
    let call = ProjectedWrite::new(Sharing, RETRY).unwrap().call(1);
    let reads = |command| {
        let Command::Read(read) = command else {
            panic!("no read");
        };
        read
    };
    let commits = |command| {
        let Command::Commit(commit) = reads(command).resume(now, Ok(None)) else {
            panic!("no commit");
        };
        commit
    };
    let apart = commits(call.start(now, batch)).resume(now, Err(too_large().into()));
    // The first is committed, and both expire while the second is tried again.
    let second = commits(apart).resume(now, Ok(1));
    let Command::Sleep(sleep) = reads(second).resume(now, Err(busy(9 * MS))) else {
        panic!("no pause");
    };
    let mut command = sleep.wake(now + 2 * MS);
    assert_eq!(command.answers().len(), 2);
    let Command::Done(done) = command else {
        panic!("not done");
    };
    let _batch_and_call = done.finish();
    assert_eq!(Rc::strong_count(&input), 1);
}

#[test]
fn a_record_is_let_go_of_as_soon_as_it_is_known_not_to_be_pending() {
    let state = Rc::new(());
    let write = ProjectedWrite::new(Sharing, RETRY).unwrap();
    let now = Instant::EPOCH;
    let ferry_core::projected_write::resume::Command::Read(read) = write.resume(1, now, 7) else {
        panic!("no read");
    };
    let record = Record {
        state: vec![Rc::clone(&state)],
        version: 0,
    };
    let _done = read.resume(now, Ok(Some(record)));
    assert_eq!(Rc::strong_count(&state), 1);
}

/// So many inputs that are all the same.
fn sharing_batch(input: &Rc<()>, inputs: usize, deadline: Option<Instant>) -> Batch<u8, Rc<()>> {
    let limits = Limits {
        linger: Duration::MAX,
        ..Limits::default()
    };
    let mut per_key = PerKey::new(limits, Hasher::default()).unwrap();
    for _ in 0..inputs {
        let terms = Terms {
            deadline,
            ..Terms::default()
        };
        let input = Rc::clone(input);
        per_key
            .submit_with(Instant::EPOCH, 7, input, terms)
            .unwrap();
    }
    per_key.close();
    match per_key.poll() {
        Some(per_key::Command::Dispatch(batch)) => batch,
        other => panic!("no batch, but {other:?}"),
    }
}

/// The entry, the state and the view share what the input holds.
struct Sharing;

impl Schema for Sharing {
    type Key = u8;
    type Id = u8;
    type State = Vec<Rc<()>>;
    type Version = u8;
    type Entry = Rc<()>;
    type Error = std::io::Error;
}

impl Fold for Sharing {
    type Schema = Self;
    type Input = Rc<()>;
    type Outcome = ();

    fn id(&self, _: &Rc<()>) -> u8 {
        0
    }

    fn empty(&self, _: &u8) -> Vec<Rc<()>> {
        vec![]
    }

    fn step(&self, state: &mut Vec<Rc<()>>, input: &Rc<()>) -> StepOf<Self> {
        state.push(Rc::clone(input));
        Step::Applied(Rc::clone(input), ())
    }
}

impl Projection for Sharing {
    type View = Rc<()>;

    fn pending(&self, record: &RecordOf<Self>) -> bool {
        record.version > 0
    }
}
