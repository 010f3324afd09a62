//! What these tests have to know of a TLA+ module.

use std::collections::{BTreeMap, BTreeSet};

/// A module: its operators, and those of the modules that it extends, each with the comment above it.
pub(crate) struct Specification {
    text: String,
    operators: BTreeMap<String, Operator>,
}

#[derive(Clone)]
struct Operator {
    comment: String,
    body: String,
}

/// A line that says which code keeps to what follows.
pub(crate) struct RustLine<'a> {
    pub(crate) number: usize,
    /// If it has the form that it has to have.
    pub(crate) path: Option<&'a str>,
}

const NO_CODE: &str = "Not in the code";

impl Specification {
    pub(crate) fn parse(text: &str) -> Self {
        let mut operators: BTreeMap<String, Operator> = BTreeMap::new();
        let mut comment = String::new();
        let mut current = None;
        for line in text.lines() {
            if let Some(name) = defined(line) {
                let operator = Operator {
                    comment: std::mem::take(&mut comment),
                    body: String::new(),
                };
                operators.insert(name.to_owned(), operator);
                current = Some(name.to_owned());
            }
            let is_comment =
                line.trim_start().starts_with("\\*") || line.trim_start().starts_with("(*");
            if is_comment {
                comment.push_str(line);
                comment.push('\n');
                continue;
            }
            comment.clear();
            if line.starts_with("----") || line.starts_with("====") {
                current = None;
            }
            if let Some(operator) = current.as_ref().and_then(|name| operators.get_mut(name)) {
                let code = line.split("\\*").next().unwrap_or_default();
                operator.body.push_str(
                    code.split_once("==")
                        .filter(|_| operator.body.is_empty())
                        .map_or(code, |(_, body)| body),
                );
                operator.body.push('\n');
            }
        }
        Self {
            text: text.to_owned(),
            operators,
        }
    }

    /// The modules that it extends, by their names.
    pub(crate) fn extends(&self) -> impl Iterator<Item = &str> {
        let lines = self.text.lines();
        let names = lines.filter_map(|line| line.strip_prefix("EXTENDS "));
        names.flat_map(|names| names.split([',', ' ']).filter(|name| !name.is_empty()))
    }

    /// Has all that this other one defines, too.
    pub(crate) fn extend(&mut self, other: &Self) {
        for (name, operator) in &other.operators {
            let inherited = || operator.clone();
            self.operators.entry(name.clone()).or_insert_with(inherited);
        }
    }

    pub(crate) fn defines(&self, name: &str) -> bool {
        self.operators.contains_key(name)
    }

    /// All lines that speak of Rust as those do that name code.
    pub(crate) fn rust_lines(&self) -> Vec<RustLine<'_>> {
        let lines = self
            .text
            .lines()
            .enumerate()
            .filter(|(_, line)| line.contains("Rust:"));
        lines
            .map(|(at, line)| {
                let path = line.strip_prefix("\\* Rust: ").filter(|path| is_path(path));
                RustLine {
                    number: at + 1,
                    path,
                }
            })
            .collect()
    }

    /// Those actions of the operator `next` that neither name code nor say that there is none; or `next`, where there is
    /// no such operator.
    pub(crate) fn actions_without_code<'a>(&self, next: &'a str) -> Result<Vec<String>, &'a str> {
        let operator = self.operators.get(next).ok_or(next)?;
        let mut without = BTreeSet::new();
        let mut open: Vec<_> = self.actions_in(operator).collect();
        let mut seen = BTreeSet::new();
        while let Some(name) = open.pop() {
            let operator = &self.operators[name];
            if !seen.insert(name) || operator.names_code() {
                continue;
            }
            let inner: Vec<_> = self.actions_in(operator).collect();
            if operator.changes_state() || inner.is_empty() {
                without.insert(name.to_owned());
            } else {
                open.extend(inner);
            }
        }
        Ok(without.into_iter().collect())
    }

    /// The actions that an operator is made of.
    fn actions_in<'a>(&'a self, operator: &'a Operator) -> impl Iterator<Item = &'a str> {
        let names = words(&operator.body).filter_map(|word| self.operators.get_key_value(word));
        names
            .filter(|(_, inner)| self.is_action(inner))
            .map(|(name, _)| name.as_str())
    }

    fn is_action(&self, operator: &Operator) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![operator];
        while let Some(operator) = open.pop() {
            if operator.changes_state() {
                return true;
            }
            for word in words(&operator.body) {
                if seen.insert(word.to_owned()) {
                    open.extend(self.operators.get(word));
                }
            }
        }
        false
    }
}

impl Operator {
    fn names_code(&self) -> bool {
        self.comment
            .lines()
            .any(|line| line.starts_with("\\* Rust: ") || line.contains(NO_CODE))
    }

    /// By itself, and not by what it is made of.
    fn changes_state(&self) -> bool {
        self.body.contains('\'')
    }
}

/// The operator whose definition begins in this line.
fn defined(line: &str) -> Option<&str> {
    let end = line.find(|it: char| !it.is_alphanumeric() && it != '_')?;
    let (name, rest) = line.split_at(end);
    let rest = rest.trim_start();
    let is_definition = rest.starts_with("==") && !rest.starts_with("===")
        || rest.starts_with(['(', '[']) && rest.contains("==");
    (is_definition && !name.is_empty()).then_some(name)
}

fn is_path(path: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty()
            && name
                .chars()
                .all(|it| it.is_ascii_alphanumeric() || it == '_')
    };
    path.contains("::") && path.split("::").all(is_name)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|it: char| !it.is_alphanumeric() && it != '_')
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r"---- MODULE Small ----
VARIABLE x

\* Goes up.
\* Rust: boat::rise
Rise(n) == x' = x + n

\* A comment that says nothing
\* of any code.
Fall ==
  /\ x > 0
  /\ x' = x - 1

\* Not in the code: it is here for the reader.
Rest == x' = x

\* Rust: boat::jump_
Jump ==
  /\ x = 0 \* ' of no matter
  /\ Rise(3)
\* Rust:boat::rise
Sizes == 1..3
Moves == Fall \/ \E n \in Sizes : Rise(n)

Aside(action) == action /\ UNCHANGED <<>>

Next == Aside(Moves) \/ Rest \/ Jump
======================
";

    #[test]
    fn lines_that_name_code_are_told_from_those_that_nearly_do() {
        let small = Specification::parse(SMALL);
        let lines: Vec<_> = small
            .rust_lines()
            .iter()
            .map(|line| (line.number, line.path))
            .collect();
        assert_eq!(
            lines,
            [
                (5, Some("boat::rise")),
                (17, Some("boat::jump_")),
                (21, None)
            ]
        );
    }

    #[test]
    fn an_action_that_names_no_code_is_found_through_what_it_is_part_of() {
        let small = Specification::parse(SMALL);
        assert_eq!(
            small.actions_without_code("Next"),
            Ok(vec!["Fall".to_owned()])
        );
        let named = SMALL.replace("Fall ==", "\\* Rust: boat::fall\nFall ==");
        assert_eq!(
            Specification::parse(&named).actions_without_code("Next"),
            Ok(Vec::new())
        );
        let unnamed = SMALL.replace("\\* Rust: boat::rise\n", "");
        assert_eq!(
            Specification::parse(&unnamed).actions_without_code("Next"),
            Ok(vec!["Fall".to_owned(), "Rise".to_owned()])
        );
        assert_eq!(
            Specification::parse("").actions_without_code("Next"),
            Err("Next")
        );
    }

    #[test]
    fn what_is_defined_is_known() {
        let small = Specification::parse(SMALL);
        assert!(small.defines("Sizes") && !small.defines("Size") && !small.defines("x"));
    }
}
