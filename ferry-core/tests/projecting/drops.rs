//! Values of the user's whose `Drop` panics: nobody's answer is lost over them, and two of them never meet.

use std::{fmt, mem};

use ferry_core::{
    CommitError, Coverage, Durability, Fault, Fold, Instant, Projection, Record, RecordOf, Schema,
    Step, StepOf,
    fold_write::{self, FoldWrite},
    per_key::{self, Batch, Limits, PerKey},
    projected_write::{Command, ProjectedWrite, resume},
};

use crate::{deposits::Hasher, story::RETRY};

/// Goes off when it is dropped.
#[derive(Debug)]
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("a bomb goes off");
    }
}

impl Clone for Bomb {
    fn clone(&self) -> Self {
        Self
    }
}

impl fmt::Display for Bomb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a bomb")
    }
}

impl std::error::Error for Bomb {}

#[derive(Clone, Debug)]
struct Version {
    number: u64,
    _bomb: Bomb,
}

impl PartialEq for Version {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

fn version(number: u64) -> Version {
    let _bomb = Bomb;
    Version { number, _bomb }
}

/// All but the keys and the ids are bombs.
struct Bombs;

impl Schema for Bombs {
    type Key = u64;
    type Id = u64;
    type State = Bomb;
    type Version = Version;
    type Entry = Bomb;
    type Error = Bomb;
}

impl Fold for Bombs {
    type Schema = Self;
    type Input = (u64, Bomb);
    type Outcome = Bomb;

    fn id(&self, (id, _): &(u64, Bomb)) -> u64 {
        *id
    }

    fn empty(&self, _: &u64) -> Bomb {
        Bomb
    }

    fn step(&self, _: &mut Bomb, (id, _): &(u64, Bomb)) -> StepOf<Self> {
        match id % 2 {
            0 => Step::Already(Bomb),
            _ => Step::Applied(Bomb, Bomb),
        }
    }
}

impl Projection for Bombs {
    type View = Bomb;

    fn pending(&self, record: &RecordOf<Self>) -> bool {
        record.version.number > 0
    }

    fn includes(&self, _: &Bomb, (id, _): &(u64, Bomb)) -> bool {
        *id < 2
    }
}

const NOW: Instant = Instant::EPOCH;

fn batch(ids: impl IntoIterator<Item = u64>) -> Batch<u64, (u64, Bomb)> {
    let limits = Limits {
        linger: core::time::Duration::MAX,
        ..Limits::default()
    };
    let mut per_key = PerKey::new(limits, Hasher::default()).unwrap();
    for id in ids {
        let submitted = per_key.submit(NOW, 7, (id, Bomb));
        submitted.map_err(mem::forget).unwrap();
    }
    per_key.close();
    match per_key.poll() {
        Some(per_key::Command::Dispatch(batch)) => batch,
        other => panic!("no batch, but {other:?}"),
    }
}

fn record(number: u64) -> RecordOf<Bombs> {
    Record {
        state: Bomb,
        version: version(number),
    }
}

fn transient() -> Fault<Bomb> {
    Fault::transient(Bomb)
}

/// What became of each input, by id: whether the view shows it.
fn heard(command: &mut Command<Bombs>) -> Vec<(u64, bool)> {
    let answers = command.answers().map(|answered| {
        let id = answered.input.0;
        let answer = answered.result.map_err(mem::forget).unwrap();
        let is_projected = matches!(answer.durability, Durability::Projected);
        mem::forget((answered.input, answer));
        (id, is_projected)
    });
    answers.collect()
}

/// Up to its first commit.
fn committing(ids: impl IntoIterator<Item = u64>) -> Command<Bombs> {
    let write = ProjectedWrite::new(Bombs, RETRY).unwrap();
    let Command::Read(read) = write.call(1).start(NOW, batch(ids)) else {
        panic!("no read")
    };
    read.resume(NOW, Ok(Some(record(1))))
}

/// Whose first commit was answered.
fn committed(
    ids: impl IntoIterator<Item = u64>,
    answer: Result<Version, CommitError<Bomb>>,
) -> Command<Bombs> {
    let Command::Commit(commit) = committing(ids) else {
        panic!("no commit")
    };
    commit.resume(NOW, answer)
}

/// Up to its first projection, with a duplicate and two that are applied.
fn projecting() -> Command<Bombs> {
    projecting_of([2, 1, 3])
}

fn projecting_of(ids: impl IntoIterator<Item = u64>) -> Command<Bombs> {
    committed(ids, Ok(version(2)))
}

fn fails_in_part(command: Command<Bombs>, fault: Fault<Bomb>) -> Command<Bombs> {
    let Command::Project(project) = command else {
        panic!("no projection")
    };
    let view = Bomb;
    project.resume(NOW, Ok(Coverage::Part { view, fault }))
}

fn sleeps_and_reads(command: Command<Bombs>, number: u64) -> Command<Bombs> {
    let Command::Sleep(sleep) = command else {
        panic!("no pause")
    };
    let now = NOW + sleep.duration();
    let Command::Read(read) = sleep.wake(now) else {
        panic!("no read")
    };
    read.resume(now, Ok(Some(record(number))))
}

#[test]
fn no_answer_is_lost_over_a_bomb() {
    let mut command = fails_in_part(projecting(), transient());
    assert_eq!(heard(&mut command), [(1, true)]);
    // A record that is pending, and one that is not.
    let command = fails_in_part(sleeps_and_reads(command, 2), transient());
    let mut command = sleeps_and_reads(command, 0);
    assert_eq!(heard(&mut command), [(2, true), (3, true)]);
    let Command::Done(done) = command else {
        panic!("not done")
    };
    drop(done.finish());
}

#[test]
fn those_who_are_late_hear_so_whatever_the_error_does() {
    let mut command = fails_in_part(projecting(), Fault::permanent(Bomb));
    let answers = heard(&mut command);
    assert_eq!(answers, [(1, true), (2, false), (3, false)]);
}

#[test]
fn an_error_that_nobody_hears_of_goes_off_in_silence() {
    let mut command = fails_in_part(projecting_of([1]), Fault::permanent(Bomb));
    assert_eq!(heard(&mut command), [(1, true)]);
    let mut command = fails_in_part(projecting_of([1]), transient());
    assert_eq!(heard(&mut command), [(1, true)]);
}

#[test]
fn a_commit_is_tried_again_whatever_the_error_does() {
    let mut command = committing([2, 1, 3]);
    for _ in 1..RETRY.attempts {
        let Command::Commit(commit) = command else {
            panic!("no commit")
        };
        let failed = commit.resume(NOW, Err(transient().into()));
        command = sleeps_and_reads(failed, 1);
    }
    assert!(matches!(command, Command::Commit(_)));
}

#[test]
fn it_may_be_dropped_before_any_command_of_the_commit() {
    let write = ProjectedWrite::new(Bombs, RETRY).unwrap();
    drop(write.call(1).start(NOW, batch([2, 1, 3])));
    drop(committing([2, 1, 3]));
    // While it is tried again: each input that is in doubt has a version of its own.
    let sleeping = committed([2, 1, 3], Err(CommitError::InDoubt(Bomb)));
    assert!(matches!(sleeping, Command::Sleep(_)));
    drop(sleeping);
    // In parts.
    drop(committed([2, 1, 3], Err(Fault::permanent(Bomb).into())));
}

#[test]
fn a_fold_write_may_be_dropped_with_answers_that_nobody_took() {
    let write = FoldWrite::new(Bombs, RETRY).unwrap();
    let fold_write::Command::Read(read) = write.call(1).start(NOW, batch([2, 1, 3])) else {
        panic!("no read")
    };
    let fold_write::Command::Commit(commit) = read.resume(NOW, Ok(Some(record(1)))) else {
        panic!("no commit")
    };
    drop(commit.resume(NOW, Ok(version(2))));
}

#[test]
fn it_may_be_dropped_before_any_command_of_the_projection() {
    drop(projecting());
    drop(fails_in_part(projecting(), transient()));
    let sleeping = fails_in_part(projecting(), transient());
    drop(sleeps_and_reads(sleeping, 2));
    // With answers that nobody took.
    drop(fails_in_part(projecting(), Fault::permanent(Bomb)));
}

#[test]
fn it_may_be_finished_with_answers_that_nobody_took() {
    let Command::Done(done) = fails_in_part(projecting(), Fault::permanent(Bomb)) else {
        panic!("not done")
    };
    drop(done.finish());
}

#[test]
fn a_resume_may_be_dropped_before_any_of_its_commands() {
    let write = ProjectedWrite::new(Bombs, RETRY).unwrap();
    let projecting = || {
        let resume::Command::Read(read) = write.resume(1, NOW, 7) else {
            panic!("no read")
        };
        read.resume(NOW, Ok(Some(record(1))))
    };
    drop(projecting());
    let resume::Command::Project(project) = projecting() else {
        panic!("no projection")
    };
    let fault = transient();
    let sleeping = project.resume(NOW, Ok(Coverage::Part { view: Bomb, fault }));
    assert!(matches!(sleeping, resume::Command::Sleep(_)));
    drop(sleeping);
}
