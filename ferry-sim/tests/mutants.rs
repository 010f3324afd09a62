//! Each safeguard that is left out makes the property fail that it keeps.

use std::{collections::BTreeSet, fs, path::Path};

use ferry_sim::{
    explore,
    mutants::{ALL, IMPOSSIBLE, Impossible, Mutant},
    safeguards,
};

/// The page says how many seeds it took. Where those are many, only the last of them is looked at.
#[test]
fn every_mutant_is_caught_by_the_property_that_it_breaks_after_as_many_seeds_as_the_page_says() {
    const FEW: u64 = 100;
    let page = in_the_repository("docs/mutants.md");
    for mutant in ALL {
        let row = page
            .lines()
            .find(|line| line.starts_with(&row_of(mutant)))
            .unwrap_or_else(|| panic!("{AGAIN}\n  no row of {}", mutant.name));
        let seeds: u64 = row[row_of(mutant).len()..]
            .trim_end_matches(" |")
            .parse()
            .unwrap_or_else(|_| panic!("{AGAIN}\n  {row}"));
        let first = if seeds <= FEW { 0 } else { seeds - 1 };
        let caught = mutant.caught_within(first, FEW);
        let took = caught.map(|caught| caught.report.seed + 1);
        assert_eq!(took, Some(seeds), "{AGAIN}\n  {row}");
    }
}

#[test]
fn no_two_have_the_same_name() {
    let names: BTreeSet<_> = ALL.iter().map(|mutant| mutant.name).collect();
    assert_eq!(names.len(), ALL.len());
}

#[test]
fn it_is_the_same_property_that_fails_in_the_walk() {
    for safeguard in safeguards::ALL {
        let mutant = safeguard.mutant.map(|name| match Mutant::named(name) {
            Some(mutant) => mutant.fails,
            None => panic!("there is no mutant \"{name}\""),
        });
        let walk = safeguard
            .walk
            .map(|name| match explore::Mutant::named(name) {
                Some(mutant) => mutant.fails,
                None => panic!("there is no `explore --mutant {name}`"),
            });
        for fails in [mutant, walk].into_iter().flatten() {
            assert_eq!(fails, safeguard.fails, "{safeguard:?}");
        }
    }
    let walked: BTreeSet<_> = (safeguards::ALL
        .iter()
        .filter_map(|safeguard| safeguard.walk))
    .collect();
    let all: BTreeSet<_> = explore::MUTANTS.iter().map(|mutant| mutant.name).collect();
    assert_eq!(walked, all);
}

fn in_the_repository(file: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(root.join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

const AGAIN: &str =
    "make it again: cargo run --release -p ferry-sim -- mutants --table docs/mutants.md";

/// The row of a mutant on the page, but for its seeds.
fn row_of(mutant: &Mutant) -> String {
    let (name, fails, by) = (mutant.name, mutant.fails, mutant.left_out_by);
    let whose = mutant.of.name();
    format!("| {name} | {fails} | {whose} | `{by}` | ")
}

#[test]
fn what_does_not_compile_is_an_example_that_must_not() {
    for Impossible { file, example, .. } in IMPOSSIBLE {
        let text = in_the_repository(file);
        let examples = text.split("```").skip(1).step_by(2);
        let is_refused = |text: &str| text.starts_with("compile_fail") && text.contains(example);
        assert!(
            examples.into_iter().any(is_refused),
            "{file} has no `{example}` that must not compile"
        );
    }
}

#[test]
fn the_page_that_lists_them_is_up_to_date() {
    let page = in_the_repository("docs/mutants.md");
    let mut rows = page.lines().filter(|line| line.starts_with("| "));
    let mut next = || rows.next().unwrap_or_default();
    assert!(next().starts_with("| without it |"), "{AGAIN}");
    assert!(next().starts_with("| --- |"), "{AGAIN}");
    for mutant in ALL {
        let found = next();
        let row = row_of(mutant);
        assert!(
            found.starts_with(&row),
            "{AGAIN}\n  expected {row}\n  found    {found}"
        );
    }
    assert!(next().starts_with("| property |"), "{AGAIN}");
    assert!(next().starts_with("| --- |"), "{AGAIN}");
    for safeguard in safeguards::ALL {
        let found = next();
        let names = [safeguard.mutant, safeguard.walk, safeguard.variant];
        let columns: Vec<_> = found
            .trim_matches('|')
            .split(" | ")
            .map(|column| column.trim().trim_matches('`'))
            .collect();
        let expected: Vec<_> = names
            .map(|name| name.unwrap_or("-").trim_matches('`'))
            .to_vec();
        assert_eq!(columns[1..], expected, "{AGAIN}");
    }
    assert!(next().starts_with("| would be |"), "{AGAIN}");
    assert!(next().starts_with("| --- |"), "{AGAIN}");
    for Impossible {
        name,
        since,
        file,
        example,
        ..
    } in IMPOSSIBLE
    {
        let row = format!("| {name} | {since} | `{file}` | `{example}` |");
        assert_eq!(next(), row, "{AGAIN}");
    }
    assert_eq!(next(), "", "{AGAIN}");
}
