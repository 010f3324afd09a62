//! The JSON documents have the fields that the README tells, and no others.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Folder;

/// What may be in any document, or in a violation or a step of any.
const ALL: [&str; 7] = [
    "format", "command", "verdict", "html", "property", "words", "nanos",
];

/// By command, the fields that the README's table has for it.
fn told() -> BTreeMap<String, BTreeSet<String>> {
    let readme = include_str!("../../README.md");
    let (_, rest) = readme
        .split_once("| command | fields |\n")
        .expect("the table");
    let rows = rest
        .lines()
        .skip(1)
        .take_while(|line| line.starts_with('|'));
    let mut told = BTreeMap::new();
    for row in rows {
        let mut cells = row.trim_matches('|').splitn(2, '|');
        let (commands, fields) = (cells.next(), cells.next());
        let mut fields: BTreeSet<_> = marked(fields.unwrap_or_default()).collect();
        fields.retain(|field| !ALL.contains(&field.as_str()));
        for command in marked(commands.unwrap_or_default()) {
            told.insert(command, fields.clone());
        }
    }
    told
}

/// What is between backticks.
fn marked(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split('`').skip(1).step_by(2).map(str::to_owned)
}

/// Those of a document, with what is in them.
fn fields_of(document: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    fields(document, &mut found);
    found.retain(|field| !ALL.contains(&field.as_str()));
    found
}

fn fields(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                found.insert(name.clone());
                fields(member, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| fields(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn each_document_has_the_fields_that_are_told() {
    let folder = Folder::new();
    let told = told();
    let cases: [(&str, &[&str]); 9] = [
        (
            "fenced",
            &[
                "fenced",
                "--seeds",
                "20",
                "--shrink-runs",
                "50",
                "--without",
                "no fence on commit",
            ],
        ),
        (
            "projected",
            &[
                "projected",
                "--seeds",
                "20",
                "--shrink-runs",
                "50",
                "--without",
                "no fence on project",
            ],
        ),
        ("scenario", &["scenario"]),
        (
            "behaviour",
            &[
                "behaviour",
                "--of",
                "fenced",
                "--seeds",
                "3",
                "--out",
                "T.tla",
                "--corrupt",
                "wrong-place",
            ],
        ),
        (
            "scenario NAME",
            &["scenario", "late-commit", "--html", "story.html"],
        ),
        (
            "replay",
            &[
                "replay",
                "0",
                "--of",
                "projected",
                "--without",
                "no fence on project",
            ],
        ),
        (
            "explore",
            &["explore", "--lost", "0", "--mutant", "no-dedup"],
        ),
        (
            "explore --choices",
            &[
                "explore",
                "--lost",
                "0",
                "--mutant",
                "no-dedup",
                "--choices",
                "0",
            ],
        ),
        (
            "explore --mutants",
            &["explore", "--lost", "0", "--late", "0", "--mutants"],
        ),
    ];
    for (command, arguments) in cases {
        let ran = super::ran(folder.program().args(arguments).arg("--json"));
        assert!(ran.err.is_empty(), "{}", ran.err);
        let document: Value = serde_json::from_str(&ran.out).expect("JSON");
        assert_eq!(document["format"], 1);
        assert_eq!(document["command"], arguments[0]);
        if command != "scenario" {
            let is_held = document["verdict"] == "held" || document["verdict"] == "written";
            assert_eq!(
                is_held,
                ran.status == Some(0),
                "{command}: {}",
                document["verdict"]
            );
        }
        assert_eq!(Some(&fields_of(&document)), told.get(command), "{command}");
    }
}

#[test]
fn what_is_told_of_the_mutants_is_told_in_the_table() {
    // All of them take a minute: one document is enough, and a seed each.
    let folder = Folder::new();
    let ran = folder.run("mutants --seeds 1 --json");
    let document: Value = serde_json::from_str(&ran.out).expect("JSON");
    let is_held = document["verdict"] == "held";
    assert_eq!(is_held, ran.status == Some(0));
    assert_eq!(Some(&fields_of(&document)), told().get("mutants"));
}
