//! The rows of `formal/expect.tsv`.

use ferry_sim::checkers::Property;

/// What the specifications hold apart, and of which of the simulator's properties it is a part.
const FINER: &[(&str, Property)] = &[
    ("Accounted", Property::Answered),
    ("OneAnswer", Property::Answered),
    ("OutcomesKept", Property::Answered),
    ("Heard", Property::Answered),
    ("ShownIsShown", Property::TrueAnswers),
    ("MarkerForward", Property::ViewForward),
];

/// The property of the simulator that has this name, or that it is a part of.
pub(crate) fn property_of(name: &str) -> Option<Property> {
    let finer = FINER.iter().find(|(finer, _)| *finer == name);
    let named = |property: &&Property| format!("{property:?}") == name;
    finer
        .map(|(_, of)| of)
        .or_else(|| Property::ALL.iter().find(named))
        .copied()
}

/// Where the rows are that say "never" of something that has to be reached: or what passes might say little.
const REACHED: &str = "reached/";

pub(crate) struct Row<'a> {
    pub(crate) spec: &'a str,
    pub(crate) cfg: &'a str,
    pub(crate) expected: &'a str,
}

/// The rows that name a property.
pub(crate) fn violations(table: &str) -> impl Iterator<Item = Row<'_>> {
    rows(table).filter(|row| row.expected != "pass")
}

/// The rows in which all has to hold.
pub(crate) fn passes(table: &str) -> impl Iterator<Item = Row<'_>> {
    rows(table).filter(|row| row.expected == "pass")
}

fn rows(table: &str) -> impl Iterator<Item = Row<'_>> {
    table.lines().skip(1).filter_map(|line| {
        let mut columns = line.split('\t');
        Some(Row {
            spec: columns.next()?,
            cfg: columns.next()?,
            expected: columns.next()?,
        })
    })
}

impl Row<'_> {
    /// What is wrong with it, if its specification defines the property or does not, and this is its configuration.
    pub(crate) fn complaint(&self, is_defined: bool, cfg: &str) -> Option<String> {
        let Self {
            spec,
            cfg: name,
            expected,
        } = self;
        let is_known = if name.starts_with(REACHED) {
            expected.starts_with("Never")
        } else {
            property_of(expected).is_some()
        };
        if !is_known {
            Some(format!(
                "{name}: `{expected}` is no property of the simulator's checkers, nor a finer one"
            ))
        } else if !is_defined {
            Some(format!("{name}: `{expected}` is not defined in {spec}.tla"))
        } else if !lists(cfg, expected) {
            Some(format!(
                "{name}: its configuration does not list `{expected}`"
            ))
        } else {
            None
        }
    }
}

/// Whether a configuration names this, outside of its comments.
pub(crate) fn lists(cfg: &str, name: &str) -> bool {
    let code = cfg
        .lines()
        .map(|line| line.split("\\*").next().unwrap_or_default());
    code.flat_map(str::split_whitespace)
        .any(|word| word == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "spec\tcfg\texpected\tstates\twhen\twhat\nSmall\tholds\tpass\t6\talways\tall\nSmall\tfails\tInOrder\t-\talways\tnewest first\n";

    #[test]
    fn what_passes_is_no_violation() {
        let rows: Vec<_> = violations(TABLE)
            .map(|row| (row.spec, row.cfg, row.expected))
            .collect();
        assert_eq!(rows, [("Small", "fails", "InOrder")]);
    }

    #[test]
    fn a_row_that_names_something_else_is_told() {
        let row = |expected| Row {
            spec: "Small",
            cfg: "fails",
            expected,
        };
        let cfg = "INVARIANTS TypeOK InOrder \\* Answered\n";
        assert_eq!(row("InOrder").complaint(true, cfg), None);
        assert_eq!(
            row("OneAnswer").complaint(true, "INVARIANT OneAnswer"),
            None
        );
        assert_eq!(property_of("MarkerForward"), Some(Property::ViewForward));
        let never = |cfg| Row {
            cfg,
            ..row("NeverLate")
        };
        assert_eq!(
            never("reached/Late").complaint(true, "INVARIANT NeverLate"),
            None
        );
        assert!(
            never("variants/Late")
                .complaint(true, "INVARIANT NeverLate")
                .is_some()
        );
        for (expected, is_defined, told) in [
            (
                "Order",
                true,
                "fails: `Order` is no property of the simulator's checkers, nor a finer one",
            ),
            (
                "InOrder",
                false,
                "fails: `InOrder` is not defined in Small.tla",
            ),
            (
                "Answered",
                true,
                "fails: its configuration does not list `Answered`",
            ),
        ] {
            assert_eq!(
                row(expected).complaint(is_defined, cfg).as_deref(),
                Some(told)
            );
        }
    }
}
