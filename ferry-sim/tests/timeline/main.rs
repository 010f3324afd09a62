//! The timeline: what is in the page, and that a browser shows it.

use std::collections::BTreeSet;

use ferry_core::Instant;
use ferry_sim::{
    Event, ProjectedWriterSimulation, Report,
    checkers::Property,
    explore::{MUTANTS, Replay, Scope, replay},
    history::SubmissionId,
    policy::{Doubt, Fence, Order, Placing, Policy, ProjectionFence, Resuming},
    scenario,
    timeline::{self, Page},
};
use serde_json::Value;

mod browser;

const SEED: u64 = 3;

fn run() -> (Report, Vec<(Instant, Event)>) {
    ProjectedWriterSimulation::default().replay(SEED)
}

/// What the page's script is given of its first run.
fn told(page: &str) -> Value {
    let mut runs = runs(page);
    runs.swap_remove(0)
}

/// What the page's script is given of each run.
fn runs(page: &str) -> Vec<Value> {
    let start = "<script type=\"application/json\" id=\"told\">";
    let (_, rest) = page.split_once(start).expect("data");
    let (data, _) = rest.split_once("</script>").expect("its end");
    let Value::Object(mut told) = serde_json::from_str(data).expect("JSON") else {
        panic!("{data} is no object")
    };
    match told.remove("runs") {
        Some(Value::Array(runs)) => runs,
        other => panic!("{other:?} are no runs"),
    }
}

fn all<'a>(told: &'a Value, what: &'a str) -> impl Iterator<Item = &'a Value> {
    let elements = told["elements"].as_array().expect("elements").iter();
    elements.filter(move |element| element["what"] == what)
}

fn count(events: &[(Instant, Event)], is_it: impl Fn(&Event) -> bool) -> usize {
    events.iter().filter(|(_, event)| is_it(event)).count()
}

#[test]
fn the_page_needs_nothing_else() {
    let (report, events) = run();
    let page = timeline::html("projected", &report, &events);
    for outside in ["http:", "https:", "//www", "src=", "@import", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    assert!(!page.contains("{{"), "a place that is not filled");
    assert_eq!(page.matches("</script>").count(), 2);
}

#[test]
fn every_event_of_the_story_is_there_and_every_write_has_its_bar() {
    let (report, events) = run();
    let told = told(&timeline::html("projected", &report, &events));
    let story: Vec<_> = events
        .iter()
        .filter(|(_, event)| event.is_story())
        .collect();
    let lines = told["lines"].as_array().expect("lines");
    assert_eq!(lines.len(), story.len());
    for (line, (at, event)) in lines.iter().zip(story) {
        assert_eq!(line[0], at.nanos());
        assert_eq!(line[1], event.to_string());
    }
    let bars = [
        (
            "commit",
            count(&events, |it| matches!(it, Event::Commit { .. })),
        ),
        (
            "attempt",
            count(&events, |it| matches!(it, Event::Submitted { .. })),
        ),
        (
            "version",
            count(&events, |it| matches!(it, Event::Landed { .. })),
        ),
        (
            "life",
            count(&events, |it| matches!(it, Event::Restarted { .. })),
        ),
        (
            "crash",
            count(&events, |it| matches!(it, Event::Crashed { .. })),
        ),
        (
            "read",
            count(&events, |it| matches!(it, Event::Read { .. })),
        ),
    ];
    for (what, expected) in bars {
        assert!(expected > 0, "the seed shows no {what}");
        assert_eq!(all(&told, what).count(), expected, "{what}");
    }
    let is_projection = |it: &Event| {
        matches!(
            it,
            Event::Project { .. } | Event::Show { .. } | Event::Mark { .. }
        )
    };
    let projections = ["project", "show", "mark"].map(|what| all(&told, what).count());
    assert_eq!(
        projections.iter().sum::<usize>(),
        count(&events, is_projection)
    );
    assert!(all(&told, "debt").count() > 0);
    let drawn = told["elements"].as_array().expect("elements").iter();
    let drawn = drawn.flat_map(|element| element["lines"].as_array().expect("lines"));
    let drawn: BTreeSet<_> = drawn.filter_map(Value::as_u64).collect();
    for (index, line) in (0..).zip(lines) {
        let is_of_all = line[1]
            .as_str()
            .is_some_and(|words| words.starts_with("everything healed"));
        assert!(
            is_of_all || drawn.contains(&index),
            "{line} is drawn nowhere"
        );
    }
}

#[test]
fn what_an_input_says_is_never_taken_for_markup() {
    let (report, mut events) = run();
    let evil = "</script><img src=x onerror=alert(1)>&amp;\u{2028}{{script}}";
    events.push((
        Instant::from_nanos(1),
        Event::Submitted {
            submission: SubmissionId(1_000_000),
            node: 0,
            key: 0,
            number: 1,
            input: evil.into(),
        },
    ));
    let page = Page::of(evil).about(evil).run(evil, &report, &events);
    let page = page.html();
    assert!(!page.contains("<img"));
    assert_eq!(page.matches("</script>").count(), 2);
    let told = told(&page);
    assert_eq!(told["name"], evil);
    let last = told["lines"].as_array().and_then(|lines| lines.last());
    let words = last.and_then(|line| line[1].as_str()).expect("words");
    assert!(words.contains(evil), "{words}");
}

/// A run that lacks a safeguard, and in which this property fails.
fn wrong_run(policy: Policy, fails: Property) -> (Report, Vec<(Instant, Event)>) {
    let simulation = ProjectedWriterSimulation {
        policy,
        ..ProjectedWriterSimulation::default()
    };
    let seed = (0..100).find(|&seed| simulation.run(seed).violates(fails));
    simulation.replay(seed.expect("a seed that shows it"))
}

#[test]
fn violations_are_told_with_the_moment_to_look_at() {
    let whole = Policy::WHOLE;
    let (fence, doubt) = (Fence::Ignored, Doubt::TakenForFailed);
    let (projection_fence, resuming) = (ProjectionFence::Ignored, Resuming::Nobody);
    let (order, placing) = (Order::MarkerFirst, Placing::Instead);
    let lacking = [
        (Policy { fence, ..whole }, Property::NothingLost),
        (Policy { doubt, ..whole }, Property::TrueAnswers),
        (
            Policy {
                projection_fence,
                ..whole
            },
            Property::ViewForward,
        ),
        (Policy { resuming, ..whole }, Property::Projected),
        (Policy { order, ..whole }, Property::ViewForward),
        (Policy { placing, ..whole }, Property::ViewForward),
    ];
    for (policy, fails) in lacking {
        let (report, events) = wrong_run(policy, fails);
        let told = told(&timeline::html("projected", &report, &events));
        let wrongs = told["wrongs"].as_array().expect("wrongs");
        assert_eq!(wrongs.len(), report.violations.len());
        for (wrong, violation) in wrongs.iter().zip(&report.violations) {
            assert_eq!(wrong["words"], violation.to_string());
            assert_eq!(wrong["property"], violation.property().to_string());
            let moments = ["from", "at", "to"].map(|name| wrong[name].as_u64());
            assert!(moments.is_sorted() && moments[0] > Some(0), "{wrong}");
            let mut lines = told["lines"].as_array().expect("lines").iter();
            assert!(lines.any(|line| line[0] == wrong["at"]), "{wrong}");
        }
    }
}

#[test]
fn a_seed_gives_the_same_page_every_time() {
    let page = || {
        let (report, events) = run();
        timeline::html("projected", &report, &events)
    };
    assert!(page() == page());
}

#[test]
fn a_story_is_on_one_page_with_what_comes_of_it_without_its_safeguard() {
    let story = scenario::find("late-commit").expect("the story");
    let performances = story.tell(0);
    let page = performances
        .iter()
        .fold(Page::of("a story"), Page::performance);
    let runs = runs(&page.html());
    assert_eq!(runs.len(), performances.len());
    for (run, performance) in runs.iter().zip(&performances) {
        assert_eq!(run["group"], performance.on);
        assert_eq!(run["verdict"], performance.verdict());
        let wrongs = run["wrongs"].as_array().expect("wrongs");
        assert_eq!(wrongs.len(), performance.violations.len());
    }
    assert!(
        runs.iter()
            .any(|run| run["wrongs"] != serde_json::json!([]))
    );
}

#[test]
fn what_goes_otherwise_than_a_story_says_is_on_its_page() {
    let story = scenario::find("late-commit").expect("the story");
    let mut performance = story.tell(0).swap_remove(0);
    let surprise = performance.violations.is_empty();
    assert!(surprise && performance.surprises.is_empty());
    // As without its safeguard, which is when there are surprises.
    let without = story
        .tell(0)
        .into_iter()
        .find(|it| !it.surprises.is_empty());
    performance.surprises = without.expect("one with surprises").surprises;
    let told = told(&Page::of("a story").performance(&performance).html());
    let wrongs = told["wrongs"].as_array().expect("wrongs");
    assert_eq!(wrongs.len(), performance.surprises.len());
    for (wrong, surprise) in wrongs.iter().zip(&performance.surprises) {
        assert_eq!(wrong["words"], surprise.words);
        assert_eq!(wrong["at"], surprise.at.nanos());
    }
}

/// Each mutant's shortest schedule in a scope that is small, with its name.
fn schedules() -> Vec<(&'static str, Replay)> {
    let scope = Scope {
        lost: 0,
        ..Scope::default()
    };
    let found = MUTANTS.iter().filter_map(|mutant| {
        let report = mutant.walk(scope, |_| ()).expect("a scope");
        let replay = replay(scope, Some(mutant), &report.found?.choices);
        Some((mutant.name, replay.expect("a schedule")))
    });
    found.take(6).collect()
}

#[test]
fn a_schedule_is_drawn_move_by_move() {
    let schedules = schedules();
    let page = schedules
        .iter()
        .fold(Page::of("mutants"), |page, (name, replay)| {
            page.schedule(name, replay)
        });
    let runs = runs(&page.html());
    assert_eq!(runs.len(), schedules.len());
    for (run, (name, replay)) in runs.iter().zip(&schedules) {
        assert_eq!(run["name"], *name);
        assert_eq!(run["moves"], replay.steps.len());
        let lines = run["lines"].as_array().expect("lines");
        for (nth, step) in (1..).zip(&replay.steps) {
            let line = serde_json::json!([nth * 1_000_000, step.words]);
            assert!(lines.contains(&line), "{line}");
        }
        let events = || replay.steps.iter().flat_map(|step| &step.events);
        for (what, expected) in [
            (
                "commit",
                events()
                    .filter(|it| matches!(it, Event::Commit { .. }))
                    .count(),
            ),
            (
                "version",
                events()
                    .filter(|it| matches!(it, Event::Landed { .. }))
                    .count(),
            ),
            (
                "crash",
                events()
                    .filter(|it| matches!(it, Event::Crashed { .. }))
                    .count(),
            ),
            (
                "attempt",
                events()
                    .filter(|it| matches!(it, Event::Submitted { .. }))
                    .count(),
            ),
        ] {
            assert_eq!(all(run, what).count(), expected, "{name}: {what}");
        }
        assert!(
            all(run, "attempt")
                .all(|it| ["A", "B"].contains(&it["label"].as_str().expect("a label")))
        );
        let wrongs = run["wrongs"].as_array().expect("wrongs");
        assert_eq!(wrongs.len(), replay.violations.len());
        assert!(wrongs.iter().all(|wrong| wrong["at"] == run["end"]));
    }
    let commits: usize = runs.iter().map(|run| all(run, "commit").count()).sum();
    assert!(commits > schedules.len(), "{commits}");
}
