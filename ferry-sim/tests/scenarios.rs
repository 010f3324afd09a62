//! Every story goes as it is told; and without its safeguard, the property fails that the safeguard keeps.

use std::collections::BTreeSet;

use ferry_sim::scenario::{self, Scenario};

/// A test for each story, of its name.
macro_rules! stories {
    ($($name:ident,)*) => {
        const NAMES: &[&str] = &[$(stringify!($name)),*];

        $(#[test]
        fn $name() {
            goes_as_told(&stringify!($name).replace('_', "-"));
        })*
    };
}

stories! {
    late_commit,
    own_first_copy,
    failed_and_applied,
    attempts_run_out,
    deadline_in_doubt,
    silent_resend,
    busy_or_refused,
    landed_before_refused,
    doubt_is_kept,
    declined_in_doubt,
    duplicate_hears_the_same,
    crash_before_the_answer,
    durable_before_the_answer,
    deleted_and_created_again,
    equal_content_again,
    parts_are_fenced,
    resumes_are_fenced,
    newcomer,
    twice_in_one_batch,
    twins_parted,
    same_id_other_content,
    forgotten_id,
    new_owner,
    declined_for_good,
    caller_gone,
    places_come_back,
    nobody_polls,
    step_panics,
    shutdown_drains,
    poison,
    retry_keeps_its_place,
    declined_and_overtaken,
    retries_spread,
    told_in_the_end,
    throttled_key,
    slow_projector,
    old_projection_last,
    old_entries_last,
    marker_after_the_view,
    every_shape_is_found,
    resumes_race,
    projected_once_shown,
    view_in_parts,
    broken_view,
    sweepers_spread,
    two_writers,
    lost_answer,
    lost_request,
    read_what_is_there,
    same_projection_twice,
    marker_not_backwards,
    left_pending,
}

fn goes_as_told(name: &str) {
    let Some(story) = scenario::find(name) else {
        panic!("there is no story \"{name}\"");
    };
    // Whoever goes first where it does not matter.
    for seed in 0..5 {
        for performance in story.tell(seed) {
            assert!(
                performance.went_as_told(),
                "\"{name}\", seed {seed}: {performance}"
            );
        }
    }
}

#[test]
fn every_story_has_a_test_and_a_name_of_its_own() {
    let names = NAMES.iter().map(|name| name.replace('_', "-"));
    let told: Vec<_> = scenario::in_order()
        .iter()
        .map(|story| story.name)
        .collect();
    assert_eq!(names.collect::<Vec<_>>(), told);
    let different: BTreeSet<_> = told.iter().collect();
    assert_eq!(different.len(), told.len());
}

#[test]
fn every_way_of_going_wrong_has_a_story() {
    let rows = scenario::all().flat_map(|story| story.rows.iter().copied());
    let told: BTreeSet<_> = rows.collect();
    assert_eq!(told, (1..=scenario::ROWS).collect());
}

#[test]
fn a_story_is_the_same_each_time_and_another_seed_pauses_otherwise() {
    let told = |seed| {
        let story = scenario::find("told-in-the-end").unwrap();
        let performances = story.tell(seed);
        let told: Vec<_> = performances.iter().map(ToString::to_string).collect();
        told
    };
    assert_eq!(told(1), told(1));
    assert_ne!(told(1), told(2));
}

#[test]
fn what_is_told_of_the_stories_is_what_there_is() {
    let readme = include_str!("../README.md");
    let table = table(&scenario::in_order());
    assert!(
        readme.contains(&table),
        "README.md does not have this table:\n{table}"
    );
}

fn table(stories: &[&Scenario]) -> String {
    let mut table =
        String::from("| | story | what is told | and what fails |\n| --- | --- | --- | --- |\n");
    for story in stories {
        let safeguards: Vec<_> = story
            .safeguards()
            .map(|(safeguard, fails)| {
                let fails: Vec<_> = fails
                    .iter()
                    .map(|fails| format!("P{}", fails.number()))
                    .collect();
                format!("without {safeguard}: {}", fails.join(", "))
            })
            .collect();
        let rows = story.rows_in_words();
        let (name, gist, safeguards) = (story.name, story.gist, safeguards.join("; "));
        table += &format!("| {rows} | `{name}` | {gist} | {safeguards} |\n");
    }
    table
}
