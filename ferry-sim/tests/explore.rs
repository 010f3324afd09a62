//! All schedules of a small scope hold, and each safeguard that is left out is noticed.

use std::{collections::BTreeSet, fs, path::Path};

use ferry_sim::{
    checkers::Property,
    explore::{
        Action, BESIDE, MUTANTS, Mutant, NoReplay, Point, Replay, Scope, Step, replay, walk,
    },
};
use rand_xoshiro::{
    SplitMix64,
    rand_core::{Rng, SeedableRng},
};

/// Without lost answers, so that it is quick where nothing is optimised.
const SMALL: Scope = Scope {
    processes: 2,
    inputs: 2,
    withdrawal: false,
    resends: 1,
    resumes: 1,
    crashes: 1,
    late: 1,
    lost: 0,
    failed: 0,
    impatient: 0,
    attempts: 2,
};

#[test]
fn all_schedules_of_two_processes_two_inputs_a_crash_a_late_write_and_a_resume_hold() {
    let report = walk(SMALL, |_| ()).unwrap();
    assert_eq!(report.found, None);
    assert!(report.schedules > 100_000_000, "{report:?}");
    for &point in Point::ALL {
        let takes_more = matches!(
            point,
            Point::CommitUnheard
                | Point::ProjectionUnheard
                | Point::SentAtOnce
                | Point::ReadFailed
                | Point::WriteFailed
                | Point::Declined
        );
        assert_eq!(
            report.count(point) == 0,
            takes_more,
            "{}: {report:?}",
            point.words()
        );
    }
}

#[test]
fn all_schedules_with_an_input_that_can_be_declined_hold() {
    let scope = Scope {
        withdrawal: true,
        late: 0,
        lost: 1,
        ..SMALL
    };
    let report = walk(scope, |_| ()).unwrap();
    assert_eq!(report.found, None);
    assert!(report.count(Point::Declined) > 0);
}

#[test]
fn all_schedules_with_calls_that_fail_hold() {
    let scope = Scope {
        failed: 1,
        lost: 1,
        late: 0,
        crashes: 0,
        ..SMALL
    };
    let report = walk(scope, |_| ()).unwrap();
    assert_eq!(report.found, None);
    assert!(report.count(Point::ReadFailed) > 0 && report.count(Point::WriteFailed) > 0);
}

#[test]
fn all_schedules_with_an_input_at_two_processes_at_once_hold() {
    let scope = Scope {
        impatient: 1,
        resumes: 0,
        crashes: 0,
        ..SMALL
    };
    let report = walk(scope, |_| ()).unwrap();
    assert_eq!(report.found, None);
    assert!(report.count(Point::SentAtOnce) > 0);
}

#[test]
fn a_walk_is_the_same_every_time() {
    let scope = Scope { late: 0, ..SMALL };
    assert_eq!(walk(scope, |_| ()), walk(scope, |_| ()));
}

/// Goes through all schedules one by one: every one from its beginning, whatever states it shares with others.
fn one_by_one(scope: Scope, mut sees: impl FnMut(&Replay)) -> u64 {
    let mut schedules = 0;
    let mut choices = Vec::new();
    loop {
        let schedule = replay(scope, None, &choices).unwrap();
        schedules += 1;
        sees(&schedule);
        let mut steps = schedule.steps;
        while steps.last().is_some_and(|step| step.choice + 1 == step.of) {
            steps.pop();
        }
        choices = steps.iter().map(|step| step.choice).collect();
        match choices.last_mut() {
            Some(last) => *last += 1,
            None => return schedules,
        }
    }
}

#[test]
fn a_walk_leaves_out_no_schedule_when_it_takes_states_for_the_same() {
    let scopes = [
        Scope {
            resumes: 0,
            late: 0,
            ..SMALL
        },
        Scope { inputs: 1, ..SMALL },
    ];
    for scope in scopes {
        let report = walk(scope, |_| ()).unwrap();
        let mut steps = BTreeSet::new();
        let mut longest = 0;
        let schedules = one_by_one(scope, |schedule| {
            assert_eq!(schedule.violations, []);
            longest = longest.max(schedule.steps.len());
            let last = schedule.steps.last().map(|step| step.words.clone());
            steps.extend(last);
        });
        assert_eq!(schedules, report.schedules);
        assert_eq!(longest, report.depth_max);
        assert!(steps.len() > 5, "{steps:?}");
    }
}

#[test]
fn every_mutant_is_caught_by_the_property_that_it_breaks_and_told_shortly() {
    let scope = Scope::default();
    for mutant in MUTANTS {
        let Mutant { name, fails, .. } = mutant;
        let report = mutant.walk(scope, |_| ()).unwrap();
        let found = report
            .found
            .unwrap_or_else(|| panic!("{name} is not caught by {fails}"));
        let shown = replay(scope, Some(mutant), &found.choices).unwrap();
        let properties = |violations: &[ferry_sim::explore::Violation]| -> Vec<Property> {
            violations
                .iter()
                .map(|violation| violation.property())
                .collect()
        };
        assert!(
            properties(&shown.violations).contains(fails),
            "{name}: {shown:?}"
        );
        assert_eq!(shown.violations, found.violations, "{name}");
        assert!(
            shown.steps.len() <= 13,
            "{name} takes {} moves",
            shown.steps.len()
        );
        // With the safeguard the same choices are harmless, or lead elsewhere, which is harmless too.
        if let Ok(whole) = replay(scope, None, &found.choices) {
            assert_eq!(whole.violations, [], "{name}");
        }
    }
}

#[test]
fn every_property_is_broken_by_some_mutant() {
    for number in 1..=7 {
        let mut all = MUTANTS.iter();
        assert!(
            all.any(|mutant| mutant.fails.number() == number),
            "P{number}"
        );
    }
}

#[test]
fn a_scope_that_makes_no_sense_and_choices_that_there_are_not_are_told() {
    let none = Scope {
        processes: 0,
        ..SMALL
    };
    let told = walk(none, |_| ()).unwrap_err().to_string();
    assert_eq!(told, "`processes` is 0; it can be from 1 to 4");

    let wrong = replay(SMALL, None, &[0, 99]).unwrap_err();
    assert!(
        matches!(
            wrong,
            NoReplay::Choice {
                at: 1,
                choice: 99,
                ..
            }
        ),
        "{wrong}"
    );
    let wrong = replay(SMALL, None, &[0; 99]).unwrap_err();
    assert!(matches!(wrong, NoReplay::TooMany { .. }), "{wrong}");
}

#[test]
fn the_plainest_schedule_is_told_in_words() {
    let replay = replay(SMALL, None, &[1]).unwrap();
    let words: Vec<_> = replay
        .steps
        .iter()
        .map(|step| step.words.as_str())
        .collect();
    assert_eq!(
        words[..5],
        [
            "client A sends its input, to process 0",
            "process 0 takes its batch",
            "process 0 reads that there is no record",
            "process 0 sends a commit of A on no record, which lands",
            "process 0 sends a projection of version 1, marker 0, which lands",
        ]
    );
    let actions: Vec<_> = replay.steps[..5].iter().map(actions_of).collect();
    assert_eq!(
        actions,
        [
            "Submit",
            "",
            "Read",
            "Commit Land Landed",
            "Project Arrive IsShown TellProjected",
        ]
    );
    assert_eq!(replay.violations, []);
}

fn actions_of(step: &Step) -> String {
    let names: Vec<_> = step.actions.iter().map(|action| action.name()).collect();
    names.join(" ")
}

/// What is defined behind a line that names the code which keeps to it, in either specification.
fn specified() -> BTreeSet<String> {
    let mut actions = BTreeSet::new();
    for module in ["FencedWriter", "ProjectedWriter"] {
        let file = format!("../formal/{module}.tla");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
        let text = fs::read_to_string(file).unwrap();
        let mut is_named = false;
        for line in text.lines() {
            if line.starts_with("\\* Rust:") {
                is_named = true;
            } else if is_named && !line.starts_with("\\*") {
                let name = line.split(|c: char| !c.is_alphanumeric()).next();
                actions.insert(name.unwrap_or_default().to_owned());
                is_named = false;
            }
        }
    }
    actions
}

#[test]
fn each_action_of_the_specifications_is_part_of_moves_or_is_left_out_for_a_reason() {
    let moved: BTreeSet<_> = Action::ALL.iter().map(|it| it.name().to_owned()).collect();
    let beside: BTreeSet<_> = BESIDE.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert!(moved.is_disjoint(&beside));
    let all: BTreeSet<_> = moved.union(&beside).cloned().collect();
    assert_eq!(all, specified());
}

/// Schedules of choices drawn at random.
#[test]
fn whatever_moves_are_made_of_happens() {
    let scope = Scope {
        lost: 1,
        failed: 1,
        attempts: 1,
        ..SMALL
    };
    let mut random = SplitMix64::seed_from_u64(1);
    let mut missing: BTreeSet<_> = Action::ALL.iter().copied().collect();
    let mut schedules = 0;
    while !missing.is_empty() {
        schedules += 1;
        assert!(schedules < 3_000, "never: {missing:?}");
        let mut choices = Vec::new();
        let told = loop {
            let told = replay(scope, None, &choices).unwrap();
            // It goes on by the first choice wherever none was made.
            let Some(next) = told.steps.get(choices.len()) else {
                break told;
            };
            choices.push(random.next_u64() as usize % next.of);
        };
        for step in &told.steps {
            step.actions.iter().for_each(|action| {
                missing.remove(action);
            });
        }
    }
}
