//! The specifications in `formal` stay true to the code: what they name is there, under that name.

mod sources;
mod specification;
mod table;

use std::{
    fs,
    path::{Path, PathBuf},
};

use specification::Specification;

/// The root of the repository. There is none around a packaged crate, which comes without the specifications.
fn repository() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent()?;
    root.join("ferry-core/src/lib.rs")
        .exists()
        .then(|| root.to_owned())
}

/// Each specification, by its name.
fn specifications(root: &Path) -> Vec<(String, Specification)> {
    let files = fs::read_dir(root.join("formal")).unwrap();
    let mut paths: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    paths.sort();
    let specs = paths
        .iter()
        .filter(|path| path.extension().is_some_and(|it| it == "tla"));
    specs
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (
                name,
                Specification::parse(&fs::read_to_string(path).unwrap()),
            )
        })
        .collect()
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
    for name in ["FencedWriter", "ProjectedWriter"] {
        let of_that_name = specifications.iter().find(|(other, _)| other == name);
        let (_, specification) = of_that_name.unwrap_or_else(|| panic!("there is no {name}.tla"));
        assert_eq!(
            specification.actions_without_code(),
            Ok(Vec::new()),
            "{name}.tla"
        );
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
        let defined = specifications
            .iter()
            .any(|(name, specification)| name == row.spec && specification.defines(row.expected));
        wrong.extend(row.complaint(defined, &cfg));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
