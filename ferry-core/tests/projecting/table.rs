//! Every state of a projection, every answer it can get, and what comes of it: a change of behaviour is a
//! change of this table.
//!
//! To accept a change: `UPDATE_EXPECT=1 cargo test -p ferry-core --test projecting table`.

use core::{fmt::Write as _, time::Duration};

use expect_test::expect;
use ferry_core::{Fault, Retry, projected_write::Command};

use crate::{
    actor::{Actor, World},
    deposits::Deposits,
    story::{RETRY, Story, busy, by, deposit, down, error, tell, too_large},
};

const HINT: Duration = Duration::from_secs(9);

/// What can be answered: to a read, to a commit, to a projection, to a pause.
#[derive(Clone, Copy, Debug)]
enum Event {
    ReadNothingPending,
    ReadPending,
    ReadNewer,
    ReadFails,
    ReadThrottled,
    ReadPermanent,
    ReadPanics,
    Landed,
    LandedInPart,
    LandedInAllThatMatters,
    LandedInPartForGood,
    Refused,
    NotLanded,
    NotLandedThrottled,
    NotLandedPermanent,
    InDoubt,
    ProjectPanics,
    WokenInTime,
    WokenEarly,
    WokenAtDeadline,
}

use Event::*;

const READS: &[Event] = &[
    ReadNothingPending,
    ReadPending,
    ReadNewer,
    ReadFails,
    ReadThrottled,
    ReadPermanent,
    ReadPanics,
];
const PROJECTIONS: &[Event] = &[
    Landed,
    LandedInPart,
    LandedInAllThatMatters,
    LandedInPartForGood,
    Refused,
    NotLanded,
    NotLandedThrottled,
    NotLandedPermanent,
    InDoubt,
    ProjectPanics,
];
const WAKES: &[Event] = &[WokenInTime, WokenEarly, WokenAtDeadline];

/// Something that the round trip has behind it.
type Past = fn(&mut Story);

/// A state: its name, how many attempts there are, and the past. Always on an account that is pending
/// already, by the deposit 9, with a batch of that and of two more.
type State = (&'static str, u32, &'static [Past]);

/// What each event leads to in each state.
fn table(states: &[State], events: &[Event]) -> String {
    let mut table = String::new();
    for (name, attempts, past) in states {
        writeln!(table, "{name}").unwrap();
        for event in events {
            let retry = Retry {
                attempts: *attempts,
                ..RETRY
            };
            let deposits = [deposit(9, 5), deposit(1, 10), deposit(2, 10)];
            let deposits = deposits.map(|deposit| (deposit, by(60_000)));
            let world = World::default();
            world.a_rival_commits(9, 5);
            let mut story = Story::with(&world, Deposits, retry, deposits);
            past.iter().for_each(|past| past(&mut story));
            story.command().answers().for_each(drop);
            let next = happens(&mut story, *event);
            writeln!(table, "    {:<24}{next}", format!("{event:?}")).unwrap();
        }
        table.push('\n');
    }
    table
}

fn happens(story: &mut Story, event: Event) -> String {
    let pause = match story.command() {
        Command::Sleep(sleep) => sleep.duration(),
        Command::Read(_) | Command::Commit(_) | Command::Project(_) | Command::Done(_) => {
            Duration::ZERO
        }
    };
    let world = story.world.clone();
    match event {
        ReadNothingPending => {
            world.a_rival_projects();
            story.reads()
        }
        ReadPending => story.reads(),
        ReadNewer => {
            world.a_rival_commits(8, 1);
            story.reads()
        }
        ReadFails => story.read_fails(down()),
        ReadThrottled => story.read_fails(busy(HINT)),
        ReadPermanent => story.read_fails(Fault::permanent(error("malformed"))),
        ReadPanics => story.read_panics(),
        Landed => story.projection_lands(),
        LandedInPart => story.projection_lands_for(&[1], down()),
        LandedInAllThatMatters => story.projection_lands_for(&[9, 1, 2], down()),
        LandedInPartForGood => story.projection_lands_for(&[1], too_large()),
        Refused => {
            world.a_rival_commits(8, 1);
            story.projection_is_refused()
        }
        NotLanded => story.projection_fails(down()),
        NotLandedThrottled => story.projection_fails(busy(HINT)),
        NotLandedPermanent => story.projection_fails(too_large()),
        InDoubt => story.projection_goes_adrift(),
        ProjectPanics => story.projection_panics(),
        WokenInTime => story.sleeps_for(pause),
        WokenEarly => story.sleeps_for(pause / 2),
        WokenAtDeadline => story.sleeps_for(Duration::from_secs(60)),
    };
    let told: Vec<_> = story.command().answers().map(tell).collect();
    let told = if told.is_empty() {
        String::new()
    } else {
        format!("  {}", told.join("; "))
    };
    format!("{:<18}{told}", name(story.command()))
        .trim_end()
        .to_owned()
}

fn name(command: &Command<Deposits>) -> String {
    match command {
        Command::Read(read) if read.ids().is_empty() => "Read".to_owned(),
        Command::Read(read) => format!("Read {:?}", read.ids()),
        Command::Commit(commit) => {
            let ids: Vec<_> = commit.entries().iter().map(|entry| entry.id).collect();
            format!("Commit {ids:?}")
        }
        Command::Project(project) => {
            let record = project.record();
            format!("Project {} > {}", record.state.marker, record.version)
        }
        Command::Sleep(sleep) if sleep.duration() >= HINT => "Sleep, hinted".to_owned(),
        Command::Sleep(_) => "Sleep".to_owned(),
        Command::Done(_) => "Done".to_owned(),
    }
}

fn reads(story: &mut Story) {
    story.reads();
}

fn commit_lands(story: &mut Story) {
    story.commit_lands();
}

fn commit_fails(story: &mut Story) {
    story.commit_fails(down());
}

fn commit_fails_for_good(story: &mut Story) {
    story.commit_fails(too_large());
}

fn read_fails_for_good(story: &mut Story) {
    story.read_fails(too_large());
}

fn projection_fails(story: &mut Story) {
    story.projection_fails(down());
}

fn projection_lands_in_part(story: &mut Story) {
    story.projection_lands_for(&[1], down());
}

fn sleeps(story: &mut Story) {
    story.sleeps();
}

const COMMITTED: &[Past] = &[reads, commit_lands];
const FAILED: &[Past] = &[reads, commit_lands, projection_fails];
const IN_PART: &[Past] = &[reads, commit_lands, projection_lands_in_part];

#[test]
fn what_each_answer_to_a_read_leads_to() {
    let states: &[State] = &[
        ("to fold, a duplicate first", 2, &[]),
        (
            "to fold, the first part committed",
            2,
            &[reads, commit_fails_for_good, reads, commit_lands],
        ),
        (
            "to project, all but the duplicate failed",
            2,
            &[
                reads,
                commit_fails_for_good,
                reads,
                commit_fails_for_good,
                reads,
                commit_fails_for_good,
            ],
        ),
        (
            "to project, failed",
            3,
            &[reads, commit_lands, projection_fails, sleeps],
        ),
        (
            "to project, failed, last try",
            2,
            &[reads, commit_lands, projection_fails, sleeps],
        ),
        (
            "to project, landed in part",
            3,
            &[reads, commit_lands, projection_lands_in_part, sleeps],
        ),
    ];
    let expected = expect![[r#"
        to fold, a duplicate first
            ReadNothingPending      Commit [1, 2]       9: 5, projected
            ReadPending             Commit [1, 2]
            ReadNewer               Commit [1, 2]
            ReadFails               Sleep
            ReadThrottled           Sleep, hinted
            ReadPermanent           Read [9, 1]
            ReadPanics              Read [9, 1]

        to fold, the first part committed
            ReadNothingPending      Commit [2]          9: 5, projected; 1: 15, projected
            ReadPending             Commit [2]
            ReadNewer               Commit [2]
            ReadFails               Sleep
            ReadThrottled           Sleep, hinted
            ReadPermanent           Project 0 > 2       2: not committed, malformed
            ReadPanics              Project 0 > 2       2: not committed, panicked in read

        to project, all but the duplicate failed
            ReadNothingPending      Done                9: 5, projected
            ReadPending             Project 0 > 1
            ReadNewer               Project 0 > 2
            ReadFails               Sleep
            ReadThrottled           Sleep, hinted
            ReadPermanent           Done                9: 5, committed, malformed
            ReadPanics              Done                9: 5, committed, panicked in read

        to project, failed
            ReadNothingPending      Done                9: 5, projected; 1: 15, projected; 2: 25, projected
            ReadPending             Project 0 > 2
            ReadNewer               Project 0 > 3
            ReadFails               Sleep
            ReadThrottled           Sleep, hinted
            ReadPermanent           Done                9: 5, committed, malformed; 1: 15, committed, malformed; 2: 25, committed, malformed
            ReadPanics              Done                9: 5, committed, panicked in read; 1: 15, committed, panicked in read; 2: 25, committed, panicked in read

        to project, failed, last try
            ReadNothingPending      Done                9: 5, projected; 1: 15, projected; 2: 25, projected
            ReadPending             Project 0 > 2
            ReadNewer               Project 0 > 3
            ReadFails               Done                9: 5, committed, down; 1: 15, committed, down; 2: 25, committed, down
            ReadThrottled           Done                9: 5, committed, busy; 1: 15, committed, busy; 2: 25, committed, busy
            ReadPermanent           Done                9: 5, committed, malformed; 1: 15, committed, malformed; 2: 25, committed, malformed
            ReadPanics              Done                9: 5, committed, panicked in read; 1: 15, committed, panicked in read; 2: 25, committed, panicked in read

        to project, landed in part
            ReadNothingPending      Done                9: 5, projected; 2: 25, projected
            ReadPending             Project 0 > 2
            ReadNewer               Project 0 > 3
            ReadFails               Sleep
            ReadThrottled           Sleep, hinted
            ReadPermanent           Done                9: 5, committed, malformed; 2: 25, committed, malformed
            ReadPanics              Done                9: 5, committed, panicked in read; 2: 25, committed, panicked in read

    "#]];
    expected.assert_eq(&table(states, READS));
}

#[test]
fn what_each_answer_to_a_projection_leads_to() {
    let states: &[State] = &[
        ("as committed", 2, COMMITTED),
        ("as committed, only try", 1, COMMITTED),
        (
            "as read, failed, last try",
            2,
            &[reads, commit_lands, projection_fails, sleeps, reads],
        ),
        (
            "as the first part committed it",
            2,
            &[
                reads,
                commit_fails_for_good,
                reads,
                commit_lands,
                read_fails_for_good,
            ],
        ),
    ];
    let expected = expect![[r#"
        as committed
            Landed                  Done                9: 5, projected; 1: 15, projected; 2: 25, projected
            LandedInPart            Sleep               1: 15, projected
            LandedInAllThatMatters  Done                9: 5, projected; 1: 15, projected; 2: 25, projected
            LandedInPartForGood     Done                1: 15, projected; 9: 5, committed, too large; 2: 25, committed, too large
            Refused                 Sleep
            NotLanded               Sleep
            NotLandedThrottled      Sleep, hinted
            NotLandedPermanent      Done                9: 5, committed, too large; 1: 15, committed, too large; 2: 25, committed, too large
            InDoubt                 Sleep
            ProjectPanics           Read

        as committed, only try
            Landed                  Done                9: 5, projected; 1: 15, projected; 2: 25, projected
            LandedInPart            Done                1: 15, projected; 9: 5, committed, down; 2: 25, committed, down
            LandedInAllThatMatters  Done                9: 5, projected; 1: 15, projected; 2: 25, projected
            LandedInPartForGood     Done                1: 15, projected; 9: 5, committed, too large; 2: 25, committed, too large
            Refused                 Read
            NotLanded               Done                9: 5, committed, down; 1: 15, committed, down; 2: 25, committed, down
            NotLandedThrottled      Done                9: 5, committed, busy; 1: 15, committed, busy; 2: 25, committed, busy
            NotLandedPermanent      Done                9: 5, committed, too large; 1: 15, committed, too large; 2: 25, committed, too large
            InDoubt                 Read
            ProjectPanics           Read

        as read, failed, last try
            Landed                  Done                9: 5, projected; 1: 15, projected; 2: 25, projected
            LandedInPart            Done                1: 15, projected; 9: 5, committed, down; 2: 25, committed, down
            LandedInAllThatMatters  Done                9: 5, projected; 1: 15, projected; 2: 25, projected
            LandedInPartForGood     Done                1: 15, projected; 9: 5, committed, too large; 2: 25, committed, too large
            Refused                 Read
            NotLanded               Done                9: 5, committed, down; 1: 15, committed, down; 2: 25, committed, down
            NotLandedThrottled      Done                9: 5, committed, busy; 1: 15, committed, busy; 2: 25, committed, busy
            NotLandedPermanent      Done                9: 5, committed, too large; 1: 15, committed, too large; 2: 25, committed, too large
            InDoubt                 Read
            ProjectPanics           Read

        as the first part committed it
            Landed                  Done                9: 5, projected; 1: 15, projected
            LandedInPart            Sleep               1: 15, projected
            LandedInAllThatMatters  Done                9: 5, projected; 1: 15, projected
            LandedInPartForGood     Done                1: 15, projected; 9: 5, committed, too large
            Refused                 Sleep
            NotLanded               Sleep
            NotLandedThrottled      Sleep, hinted
            NotLandedPermanent      Done                9: 5, committed, too large; 1: 15, committed, too large
            InDoubt                 Sleep
            ProjectPanics           Read

    "#]];
    expected.assert_eq(&table(states, PROJECTIONS));
}

#[test]
fn what_each_end_of_a_pause_leads_to() {
    let states: &[State] = &[
        ("the projection failed", 2, FAILED),
        ("the projection landed in part", 2, IN_PART),
        (
            "the commit failed, a duplicate waits",
            2,
            &[reads, commit_fails],
        ),
    ];
    let expected = expect![[r#"
        the projection failed
            WokenInTime             Read
            WokenEarly              Sleep
            WokenAtDeadline         Done                9: 5, committed, expired; 1: 15, committed, expired; 2: 25, committed, expired

        the projection landed in part
            WokenInTime             Read
            WokenEarly              Sleep
            WokenAtDeadline         Done                9: 5, committed, expired; 2: 25, committed, expired

        the commit failed, a duplicate waits
            WokenInTime             Read [1, 2]
            WokenEarly              Sleep
            WokenAtDeadline         Done                9: 5, committed, expired; 1: not committed, expired; 2: not committed, expired

    "#]];
    expected.assert_eq(&table(states, WAKES));
}
