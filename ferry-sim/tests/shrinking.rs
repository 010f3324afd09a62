//! A run that violates something is made small, and what is left still shows the same whenever it is replayed.

use ferry_sim::{
    Event, Shrunk,
    kept::{Kept, Runs},
    mutants::{ALL, Mutant},
};

/// Enough for a handful of inputs and what befalls them.
const STEPS_MAX: usize = 60;

fn shrunk(mutant: &Mutant) -> Shrunk {
    let name = mutant.name;
    let caught = mutant.caught_within(0, 100);
    let caught = caught.unwrap_or_else(|| panic!("\"{name}\" is not caught"));
    let simulation = mutant.simulation();
    let shrunk = simulation.shrink(caught.report.seed, mutant.fails, 1_000, |_| {});
    shrunk.unwrap_or_else(|| panic!("\"{name}\" fails and cannot be made to fail again"))
}

fn named(name: &str) -> &'static Mutant {
    Mutant::named(name).unwrap_or_else(|| panic!("there is no \"{name}\""))
}

#[test]
fn what_is_left_of_a_mutants_failure_still_shows_it_in_a_few_steps() {
    for name in [
        "no fence on commit",
        "dedup off",
        "content of a repeated id ignored",
        "answer before durable",
        "project fenced on the version alone",
        "`Projected` said at commit",
    ] {
        let mutant = named(name);
        let shrunk = shrunk(mutant);
        assert!(shrunk.report.violates(mutant.fails), "{name}");
        assert!(shrunk.choices.len() < shrunk.choices_before / 100, "{name}");

        let kept = Kept::shrunk(mutant.of, Some(mutant), &shrunk);
        let read = Kept::parse(&kept.to_string()).unwrap();
        let replayed = read.replay();
        let (report, events) = &replayed[0];
        assert_eq!(report.hash, shrunk.report.hash, "{name}");
        assert_eq!(report.violations, shrunk.report.violations, "{name}");
        let inputs: std::collections::BTreeSet<_> = (events.iter())
            .filter_map(|(_, event)| {
                if let Event::Submitted { number, .. } = event {
                    Some(number)
                } else {
                    None
                }
            })
            .collect();
        assert!(inputs.len() <= 3, "{name}: {} inputs", inputs.len());
        let steps = events.iter().filter(|(_, event)| event.is_story()).count();
        assert!(steps <= STEPS_MAX, "{name}: {steps} steps");
    }
}

#[test]
fn the_same_seed_shrinks_to_the_same_run() {
    let mutant = named("dedup off");
    let (one, other) = (shrunk(mutant), shrunk(mutant));
    assert_eq!((one.choices, one.runs), (other.choices, other.runs));
}

#[test]
fn what_is_recorded_is_what_the_seed_does_and_shows_nothing_in_a_whole_simulation() {
    for mutant in [ALL.first(), ALL.last()].into_iter().flatten() {
        let simulation = ferry_sim::BuiltIn::of(mutant.of, None);
        let report = simulation.run(5);
        let (recorded, choices) = simulation.record(5);
        assert_eq!(recorded.hash, report.hash, "noting it changes nothing");
        let (replayed, _) = simulation.replay_choices(5, &choices);
        assert_eq!(replayed.hash, report.hash);
        let (empty, _) = simulation.replay_choices(5, &ferry_sim::Choices::default());
        assert!(empty.violations.is_empty(), "{:?}", empty.violations);
        let shrunk = simulation.shrink(5, mutant.fails, 10, |_| {});
        assert!(shrunk.is_none(), "there is nothing to shrink");
    }
}

#[test]
fn what_was_once_found_stays_mended() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "kept"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "something was found once");
    for path in files {
        let name = path.display();
        let text = std::fs::read_to_string(&path).unwrap();
        let kept = Kept::parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(kept.without, None, "{name}: a mutant is never mended");
        assert!(!kept.meets.is_empty(), "{name}: what is it kept for?");
        for report in kept.run() {
            let (seed, violations) = (report.seed, &report.violations);
            assert!(violations.is_empty(), "{name}, seed {seed}: {violations:?}");
            let missed: Vec<_> = kept.missed(&report).collect();
            assert!(
                missed.is_empty(),
                "{name}, seed {seed} does not come by {missed:?} any more: keep one that does"
            );
        }
        if let Runs::Seeds(seeds) = kept.runs {
            assert!(!seeds.is_empty(), "{name}");
        }
    }
}
