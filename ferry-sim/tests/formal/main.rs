//! The specifications in `formal` stay true to the code: what they name is there, under that name.

mod sources;
mod specification;
mod table;

use std::{
    collections::BTreeMap,
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use ferry_sim::safeguards;
use specification::Specification;

/// The root of the repository. There is none around a packaged crate, which comes without the specifications.
fn repository() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    root.join("ferry-core/src/lib.rs")
        .exists()
        .then(|| root.to_owned())
}

/// Each specification, by its name, with what it has from those that it extends.
fn specifications(root: &Path) -> BTreeMap<String, Specification> {
    let files = fs::read_dir(root.join("formal")).unwrap();
    let paths = files.map(|file| file.unwrap().path());
    let specs = paths.filter(|path| path.extension().is_some_and(|it| it == "tla"));
    let mut all: BTreeMap<_, _> = specs
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let text = fs::read_to_string(&path).unwrap();
            (name, Specification::parse(&text))
        })
        .collect();
    for name in all.keys().cloned().collect::<Vec<_>>() {
        let mut specification = all.remove(&name).unwrap();
        let others: Vec<_> = specification
            .extends()
            .filter_map(|it| all.get(it))
            .collect();
        for other in others {
            specification.extend(other);
        }
        all.insert(name, specification);
    }
    all
}

#[test]
fn the_code_that_a_specification_names_is_there() {
    let Some(root) = repository() else { return };
    let mut wrong = Vec::new();
    for (name, specification) in specifications(&root) {
        for line in specification.rust_lines() {
            match line.path {
                Some(path) => {
                    if let Err(missing) = sources::find(&root, path) {
                        wrong.push(format!("{name}.tla:{}: {missing}", line.number));
                    }
                }
                None => wrong.push(format!(
                    "{name}.tla:{}: not of the form `\\* Rust: path::to::item`",
                    line.number
                )),
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_action_names_the_code_that_takes_it() {
    let Some(root) = repository() else { return };
    let specifications = specifications(&root);
    for (name, next) in [
        ("FencedWriter", "Next"),
        ("ProjectedWriter", "ProjectedNext"),
    ] {
        let specification = &specifications.get(name);
        let specification = specification.unwrap_or_else(|| panic!("there is no {name}.tla"));
        let without = specification.actions_without_code(next);
        assert_eq!(without, Ok(Vec::new()), "{name}.tla");
        let named = specification.rust_lines().len();
        assert!(named >= 8, "{name}.tla names code {named} times");
    }
}

#[test]
fn what_a_variant_has_to_violate_is_a_property_and_its_configuration_lists_it() {
    let Some(root) = repository() else { return };
    let text = fs::read_to_string(root.join("formal/expect.tsv")).unwrap();
    let specifications = specifications(&root);
    let mut wrong = Vec::new();
    for row in table::violations(&text) {
        let cfg = fs::read_to_string(root.join("formal").join(format!("{}.cfg", row.cfg))).unwrap();
        let specification = specifications.get(row.spec);
        let defined = specification.is_some_and(|it| it.defines(row.expected));
        wrong.extend(row.complaint(defined, &cfg));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_variant_fails_by_the_property_that_fails_without_that_safeguard_in_the_code() {
    let Some(root) = repository() else { return };
    let text = fs::read_to_string(root.join("formal/expect.tsv")).unwrap();
    let specified: BTreeSet<_> = table::violations(&text)
        .filter_map(|row| {
            let variant = row.cfg.strip_prefix("variants/")?;
            Some((variant, table::property_of(row.expected)))
        })
        .collect();
    let in_the_code: BTreeSet<_> = (safeguards::ALL.iter())
        .filter_map(|safeguard| Some((safeguard.variant?, Some(safeguard.fails))))
        .collect();
    assert_eq!(specified, in_the_code);
}

/// Of every specification.
const SAFE: [&str; 6] = [
    "AppliedOnce",
    "TrueAnswers",
    "NothingLost",
    "InOrder",
    "Accounted",
    "OneAnswer",
];
const OF_A_VIEW: [&str; 3] = ["ViewForward", "ShownIsShown", "OutcomesKept"];
/// What comes about in the end.
const OVER_TIME: [&str; 1] = ["Answered"];
const OVER_TIME_OF_A_VIEW: [&str; 2] = ["Heard", "Projected"];

/// One that nothing breaks might say nothing.
#[test]
fn each_promise_is_broken_by_a_variant() {
    let Some(root) = repository() else { return };
    let text = fs::read_to_string(root.join("formal/expect.tsv")).unwrap();
    let broken: BTreeSet<_> = table::violations(&text).map(|row| row.expected).collect();
    let promised = [
        &SAFE[..],
        &OF_A_VIEW,
        &OVER_TIME,
        &OVER_TIME_OF_A_VIEW,
        &["MarkerForward"],
    ];
    for property in promised.concat() {
        assert!(broken.contains(property), "no variant breaks {property}");
    }
}

/// A configuration that lists nothing would pass whatever happens.
#[test]
fn what_has_to_pass_lists_all_that_is_promised() {
    let Some(root) = repository() else { return };
    let text = fs::read_to_string(root.join("formal/expect.tsv")).unwrap();
    let mut passes = 0;
    for row in table::passes(&text) {
        let cfg = fs::read_to_string(root.join("formal").join(format!("{}.cfg", row.cfg))).unwrap();
        let is_projected = row.spec == "ProjectedWriter";
        let promised = match (row.cfg.contains("_live"), is_projected) {
            (true, false) => OVER_TIME.to_vec(),
            (true, true) => [&OVER_TIME[..], &OVER_TIME_OF_A_VIEW].concat(),
            (false, false) => SAFE.to_vec(),
            (false, true) => [&SAFE[..], &OF_A_VIEW].concat(),
        };
        for property in promised {
            assert!(
                table::lists(&cfg, property),
                "{} does not list {property}",
                row.cfg
            );
        }
        passes += 1;
    }
    assert!(passes > 10, "{passes}");
}
