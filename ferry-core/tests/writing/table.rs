//! Every state of a round trip, every answer it can get, and what comes of it: a change of behaviour
//! is a change of this table.
//!
//! To accept a change: `UPDATE_EXPECT=1 cargo test -p ferry-core --test writing table`.

use core::{fmt::Write as _, time::Duration};

use expect_test::expect;
use ferry_core::{Fault, Retry, fold_write::Command};

use crate::{
    deposits::{Deposit, Deposits},
    story::{RETRY, Story, busy, by, deposit, down, tell, too_large},
    words::error,
};

const HINT: Duration = Duration::from_secs(9);

/// What can be answered: to a read, to a commit, to a pause.
#[derive(Clone, Copy, Debug)]
enum Event {
    ReadSame,
    ReadOther,
    ReadMine,
    ReadFails,
    ReadThrottled,
    ReadPermanent,
    ReadPanics,
    Landed,
    Refused,
    NotLanded,
    NotLandedThrottled,
    NotLandedPermanent,
    InDoubt,
    CommitPanics,
    WokenInTime,
    WokenEarly,
    WokenAtDeadline,
}

use Event::*;

const READS: &[Event] = &[
    ReadSame,
    ReadOther,
    ReadMine,
    ReadFails,
    ReadThrottled,
    ReadPermanent,
    ReadPanics,
];
const COMMITS: &[Event] = &[
    Landed,
    Refused,
    NotLanded,
    NotLandedThrottled,
    NotLandedPermanent,
    InDoubt,
    CommitPanics,
];
const WAKES: &[Event] = &[WokenInTime, WokenEarly, WokenAtDeadline];

/// Something that the round trip has behind it.
type Past = fn(&mut Story);

/// A state: its name, how many inputs were sent, how many attempts they have, and the past.
type State = (&'static str, u64, u32, &'static [Past]);

/// What each event leads to in each state.
fn table(states: &[State], events: &[Event]) -> String {
    let mut table = String::new();
    for (name, inputs, attempts, past) in states {
        writeln!(table, "{name}").unwrap();
        for event in events {
            let retry = Retry {
                attempts: *attempts,
                ..RETRY
            };
            let inputs = (1..=*inputs).map(|id| (deposit(id, 10), by(60_000)));
            let mut story = Story::with(Deposits, retry, inputs);
            past.iter().for_each(|past| past(&mut story));
            story.command().answers().for_each(drop);
            let next = happens(&mut story, *event);
            writeln!(table, "    {:<20}{next}", format!("{event:?}")).unwrap();
        }
        table.push('\n');
    }
    table
}

fn happens(story: &mut Story, event: Event) -> String {
    let pause = match story.command() {
        Command::Sleep(sleep) => sleep.duration(),
        Command::Read(_) | Command::Commit(_) | Command::Done(_) => Duration::ZERO,
    };
    match event {
        ReadSame => story.reads(),
        ReadOther => story.a_rival_commits(9, 1).reads(),
        ReadMine => story.a_rival_commits(1, 10).reads(),
        ReadFails => story.read_fails(down()),
        ReadThrottled => story.read_fails(busy(HINT)),
        ReadPermanent => story.read_fails(Fault::permanent(error("malformed"))),
        ReadPanics => story.read_panics(),
        Landed => story.commit_lands(),
        Refused => story.a_rival_commits(9, 1).commit_is_refused(),
        NotLanded => story.commit_fails(down()),
        NotLandedThrottled => story.commit_fails(busy(HINT)),
        NotLandedPermanent => story.commit_fails(too_large()),
        InDoubt => story.commit_goes_adrift(),
        CommitPanics => story.commit_panics(),
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
    format!("{:<16}{told}", name(story.command()))
        .trim_end()
        .to_owned()
}

fn name(command: &Command<Deposits>) -> String {
    let ids = |entries: &[Deposit]| -> Vec<_> { entries.iter().map(|entry| entry.id).collect() };
    match command {
        Command::Read(read) => format!("Read {:?}", read.ids()),
        Command::Commit(commit) => format!("Commit {:?}", ids(commit.entries())),
        Command::Sleep(sleep) if sleep.duration() >= HINT => "Sleep, hinted".to_owned(),
        Command::Sleep(_) => "Sleep".to_owned(),
        Command::Done(_) => "Done".to_owned(),
    }
}

fn reads(story: &mut Story) {
    story.reads();
}

fn commit_fails(story: &mut Story) {
    story.commit_fails(down());
}

fn commit_fails_for_good(story: &mut Story) {
    story.commit_fails(too_large());
}

fn commit_goes_adrift(story: &mut Story) {
    story.commit_goes_adrift();
}

fn commit_panics(story: &mut Story) {
    story.commit_panics();
}

fn commit_is_refused(story: &mut Story) {
    story.a_rival_commits(8, 1).commit_is_refused();
}

fn sleeps(story: &mut Story) {
    story.sleeps();
}

const FAILED: &[Past] = &[reads, commit_fails];
const IN_DOUBT: &[Past] = &[reads, commit_goes_adrift];
const PANICKED: &[Past] = &[reads, commit_panics];
const REFUSED: &[Past] = &[reads, commit_is_refused];
const SPLIT: &[Past] = &[reads, commit_fails_for_good];

#[test]
fn what_each_answer_to_a_read_leads_to() {
    let failed = &[reads, commit_fails, sleeps];
    let in_doubt = &[reads, commit_goes_adrift, sleeps];
    let states: &[State] = &[
        ("one input, never tried", 1, 2, &[]),
        ("two inputs, never tried", 2, 2, &[]),
        ("two inputs, failed, last try", 2, 2, failed),
        ("two inputs, in doubt", 2, 3, in_doubt),
        ("two inputs, in doubt, last try", 2, 2, in_doubt),
        ("two inputs, refused, no try left", 2, 1, REFUSED),
        ("two inputs, in doubt, no try left", 2, 1, IN_DOUBT),
        ("one input, panicked, no try left", 1, 2, PANICKED),
        ("three inputs, split", 3, 2, SPLIT),
    ];
    let expected = expect![[r#"
        one input, never tried
            ReadSame            Commit [1]
            ReadOther           Commit [1]
            ReadMine            Done              1: 10
            ReadFails           Sleep
            ReadThrottled       Sleep, hinted
            ReadPermanent       Done              1: not committed, malformed
            ReadPanics          Done              1: not committed, panicked in read

        two inputs, never tried
            ReadSame            Commit [1, 2]
            ReadOther           Commit [1, 2]
            ReadMine            Commit [2]        1: 10
            ReadFails           Sleep
            ReadThrottled       Sleep, hinted
            ReadPermanent       Read [1]
            ReadPanics          Read [1]

        two inputs, failed, last try
            ReadSame            Commit [1, 2]
            ReadOther           Commit [1, 2]
            ReadMine            Commit [2]        1: 10
            ReadFails           Done              1: not committed, down; 2: not committed, down
            ReadThrottled       Done              1: not committed, busy; 2: not committed, busy
            ReadPermanent       Read [1]
            ReadPanics          Read [1]

        two inputs, in doubt
            ReadSame            Commit [1, 2]
            ReadOther           Commit [1, 2]
            ReadMine            Commit [2]        1: 10
            ReadFails           Sleep
            ReadThrottled       Sleep, hinted
            ReadPermanent       Read [1]
            ReadPanics          Read [1]

        two inputs, in doubt, last try
            ReadSame            Commit [1, 2]
            ReadOther           Commit [1, 2]
            ReadMine            Commit [2]        1: 10
            ReadFails           Done              1: in doubt, down; 2: in doubt, down
            ReadThrottled       Done              1: in doubt, busy; 2: in doubt, busy
            ReadPermanent       Read [1]
            ReadPanics          Read [1]

        two inputs, refused, no try left
            ReadSame            Done              1: not committed, refused; 2: not committed, refused
            ReadOther           Done              1: not committed, refused; 2: not committed, refused
            ReadMine            Done              1: 11; 2: not committed, refused
            ReadFails           Done              1: in doubt, down; 2: in doubt, down
            ReadThrottled       Done              1: in doubt, busy; 2: in doubt, busy
            ReadPermanent       Done              1: in doubt, malformed; 2: in doubt, malformed
            ReadPanics          Done              1: in doubt, panicked in read; 2: in doubt, panicked in read

        two inputs, in doubt, no try left
            ReadSame            Done              1: in doubt, timed out; 2: in doubt, timed out
            ReadOther           Done              1: not committed, timed out; 2: not committed, timed out
            ReadMine            Done              1: 10; 2: not committed, timed out
            ReadFails           Done              1: in doubt, down; 2: in doubt, down
            ReadThrottled       Done              1: in doubt, busy; 2: in doubt, busy
            ReadPermanent       Done              1: in doubt, malformed; 2: in doubt, malformed
            ReadPanics          Done              1: in doubt, panicked in read; 2: in doubt, panicked in read

        one input, panicked, no try left
            ReadSame            Done              1: in doubt, panicked in commit
            ReadOther           Done              1: not committed, panicked in commit
            ReadMine            Done              1: 10
            ReadFails           Done              1: in doubt, down
            ReadThrottled       Done              1: in doubt, busy
            ReadPermanent       Done              1: in doubt, malformed
            ReadPanics          Done              1: in doubt, panicked in read

        three inputs, split
            ReadSame            Commit [1, 2]
            ReadOther           Commit [1, 2]
            ReadMine            Commit [2]        1: 10
            ReadFails           Sleep
            ReadThrottled       Sleep, hinted
            ReadPermanent       Read [1]
            ReadPanics          Read [1]

    "#]];
    expected.assert_eq(&table(states, READS));
}

#[test]
fn what_each_answer_to_a_commit_leads_to() {
    let failed = &[reads, commit_fails, sleeps, reads];
    let in_doubt = &[reads, commit_goes_adrift, sleeps, reads];
    let states: &[State] = &[
        ("one input, never tried", 1, 2, &[reads]),
        ("two inputs, never tried", 2, 2, &[reads]),
        ("one input, failed, last try", 1, 2, failed),
        ("two inputs, failed, last try", 2, 2, failed),
        ("one input, in doubt", 1, 3, in_doubt),
        ("one input, in doubt, last try", 1, 2, in_doubt),
        ("two inputs, in doubt, last try", 2, 2, in_doubt),
        (
            "three inputs, split",
            3,
            2,
            &[reads, commit_fails_for_good, reads],
        ),
    ];
    let expected = expect![[r#"
        one input, never tried
            Landed              Done              1: 10
            Refused             Sleep
            NotLanded           Sleep
            NotLandedThrottled  Sleep, hinted
            NotLandedPermanent  Done              1: not committed, too large
            InDoubt             Sleep
            CommitPanics        Read [1]

        two inputs, never tried
            Landed              Done              1: 10; 2: 20
            Refused             Sleep
            NotLanded           Sleep
            NotLandedThrottled  Sleep, hinted
            NotLandedPermanent  Read [1]
            InDoubt             Sleep
            CommitPanics        Read [1]

        one input, failed, last try
            Landed              Done              1: 10
            Refused             Read [1]
            NotLanded           Done              1: not committed, down
            NotLandedThrottled  Done              1: not committed, busy
            NotLandedPermanent  Done              1: not committed, too large
            InDoubt             Read [1]
            CommitPanics        Read [1]

        two inputs, failed, last try
            Landed              Done              1: 10; 2: 20
            Refused             Read [1, 2]
            NotLanded           Done              1: not committed, down; 2: not committed, down
            NotLandedThrottled  Done              1: not committed, busy; 2: not committed, busy
            NotLandedPermanent  Read [1]
            InDoubt             Read [1, 2]
            CommitPanics        Read [1]

        one input, in doubt
            Landed              Done              1: 10
            Refused             Sleep
            NotLanded           Sleep
            NotLandedThrottled  Sleep, hinted
            NotLandedPermanent  Read [1]
            InDoubt             Sleep
            CommitPanics        Read [1]

        one input, in doubt, last try
            Landed              Done              1: 10
            Refused             Read [1]
            NotLanded           Read [1]
            NotLandedThrottled  Read [1]
            NotLandedPermanent  Read [1]
            InDoubt             Read [1]
            CommitPanics        Read [1]

        two inputs, in doubt, last try
            Landed              Done              1: 10; 2: 20
            Refused             Read [1, 2]
            NotLanded           Read [1, 2]
            NotLandedThrottled  Read [1, 2]
            NotLandedPermanent  Read [1]
            InDoubt             Read [1, 2]
            CommitPanics        Read [1]

        three inputs, split
            Landed              Read [3]          1: 10; 2: 20
            Refused             Sleep
            NotLanded           Sleep
            NotLandedThrottled  Sleep, hinted
            NotLandedPermanent  Read [1]
            InDoubt             Sleep
            CommitPanics        Read [1]

    "#]];
    expected.assert_eq(&table(states, COMMITS));
}

#[test]
fn what_each_end_of_a_pause_leads_to() {
    let states: &[State] = &[
        ("failed", 2, 2, FAILED),
        ("in doubt", 2, 2, IN_DOUBT),
        ("refused", 2, 2, REFUSED),
        (
            "split, the first part failed",
            3,
            2,
            &[reads, commit_fails_for_good, reads, commit_fails],
        ),
    ];
    let expected = expect![[r#"
        failed
            WokenInTime         Read [1, 2]
            WokenEarly          Sleep
            WokenAtDeadline     Done              1: not committed, expired; 2: not committed, expired

        in doubt
            WokenInTime         Read [1, 2]
            WokenEarly          Sleep
            WokenAtDeadline     Done              1: in doubt, expired; 2: in doubt, expired

        refused
            WokenInTime         Read [1, 2]
            WokenEarly          Sleep
            WokenAtDeadline     Done              1: in doubt, expired; 2: in doubt, expired

        split, the first part failed
            WokenInTime         Read [1, 2]
            WokenEarly          Sleep
            WokenAtDeadline     Done              1: not committed, expired; 2: not committed, expired; 3: not committed, expired

    "#]];
    expected.assert_eq(&table(states, WAKES));
}
