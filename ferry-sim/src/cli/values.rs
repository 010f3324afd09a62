//! What single arguments may be, and what is said of those that are something else.

use core::num::{IntErrorKind, NonZeroUsize};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use ferry_sim::{
    behaviour::Corruption,
    mutants::{self, Mutant},
    scenario::{self, Scenario},
};

/// From so much likeness on, of one at the most, a name may have been meant.
const ALIKE: f64 = 0.75;

/// One way to spoil a behaviour, or all that there are for a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spoil {
    All,
    By(Corruption),
}

pub(super) fn corruptions() -> impl TypedValueParser<Value = Spoil> {
    let all = PossibleValue::new("all")
        .help("each in turn; in less than 200 seeds, each that there is a place for");
    let one = Corruption::ALL.iter();
    let one = one.map(|it| PossibleValue::new(it.name()).help(it.words()));
    let names = PossibleValuesParser::new(core::iter::once(all).chain(one));
    names.map(|name| Corruption::named(&name).map_or(Spoil::All, Spoil::By))
}

/// Any number, as that of a seed.
pub(super) fn number(text: &str) -> Result<u64, String> {
    let why = |_| format!("give a whole number from 0 to {}", u64::MAX);
    text.parse().map_err(why)
}

/// One or more.
pub(super) fn count(text: &str) -> Result<u64, String> {
    count_up_to(text, u64::MAX)
}

/// As many as are followed in a reasonable time.
pub(super) fn behaviours(text: &str) -> Result<u64, String> {
    count_up_to(text, 2_000)
}

fn count_up_to(text: &str, max: u64) -> Result<u64, String> {
    match text.parse() {
        Ok(count) if (1..=max).contains(&count) => Ok(count),
        Ok(0) if max == u64::MAX => Err("give 1 or more".to_owned()),
        Err(error) if *error.kind() != IntErrorKind::PosOverflow && max == u64::MAX => {
            Err("give a whole number, 1 or more".to_owned())
        }
        Ok(_) | Err(_) => Err(format!("give a whole number from 1 to {max}")),
    }
}

pub(super) fn jobs(text: &str) -> Result<NonZeroUsize, &'static str> {
    text.parse()
        .map_err(|_| "give a number of threads, 1 or more")
}

pub(super) fn mutant(name: &str) -> Result<&'static Mutant, String> {
    let names = mutants::ALL.iter().map(|mutant| mutant.name);
    let unknown = || unknown("mutant", name, names, "mutants");
    Mutant::named(name).ok_or_else(unknown)
}

pub(super) fn story(name: &str) -> Result<&'static Scenario, String> {
    let names = scenario::all().map(|story| story.name);
    let unknown = || unknown("story", name, names, "scenario");
    scenario::find(name).ok_or_else(unknown)
}

/// What is said of a name that nothing has: the one that is most like it, and the command that names all.
fn unknown(
    what: &str,
    name: &str,
    names: impl Iterator<Item = &'static str>,
    command: &str,
) -> String {
    let alike = names.map(|it| (strsim::jaro_winkler(it, name), it));
    let nearest = alike
        .filter(|(alike, _)| *alike >= ALIKE)
        .max_by(|one, other| one.0.total_cmp(&other.0));
    let meant = nearest.map_or_else(String::new, |(_, it)| format!("did you mean '{it}'? "));
    format!("there is no {what} of this name; {meant}`ferry-sim {command}` names them all")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_none_or_too_large_is_told_what_would_do() {
        assert_eq!(number("0"), Ok(0));
        assert!(
            number("seven")
                .unwrap_err()
                .ends_with("from 0 to 18446744073709551615")
        );
        assert_eq!(count("1"), Ok(1));
        assert_eq!(count("0").unwrap_err(), "give 1 or more");
        assert!(count("many").unwrap_err().contains("1 or more"));
        assert!(count("-3").unwrap_err().contains("1 or more"));
        let too_large = count("18446744073709551616").unwrap_err();
        assert!(
            too_large.ends_with("to 18446744073709551615"),
            "{too_large}"
        );
        assert_eq!(behaviours("2000"), Ok(2_000));
        assert!(behaviours("2001").unwrap_err().ends_with("from 1 to 2000"));
        assert!(behaviours("0").unwrap_err().ends_with("from 1 to 2000"));
    }

    #[test]
    fn a_name_that_is_wrong_is_told_the_nearest_one_and_no_other() {
        let told = story("late-comit").unwrap_err();
        assert!(told.contains("did you mean 'late-commit'?"), "{told}");
        assert!(told.contains("`ferry-sim scenario`") && !told.contains("two-writers"));
        let told = story("x").unwrap_err();
        assert!(!told.contains("mean") && told.contains("`ferry-sim scenario`"));
        let told = mutant("no fence on comit").unwrap_err();
        assert!(told.contains("'no fence on commit'"), "{told}");
    }
}
