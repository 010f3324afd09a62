//! The arguments.

mod values;

use core::{fmt, num::NonZeroUsize};
use std::path::PathBuf;

use clap::{ArgGroup, Args, CommandFactory, Parser, Subcommand, ValueEnum, error::ErrorKind};
use ferry_sim::{BuiltIn, mutants::Mutant, points::Whose, scenario::Scenario};

pub(crate) use self::values::Spoil;
use crate::exploring::Explore;

/// Ferry's real driver and machines on virtual time, against a store that fails in every way.
///
/// A run depends on its seed alone. Exit status: 0 when all held, 1 when something did not, 2 for arguments that
/// make no sense, or name a file that cannot be read or written.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The fenced write, over many seeds
    Fenced(Seeds),
    /// The write that projects, over many seeds
    Projected(Seeds),
    /// Leaves out one safeguard after the other, and tells how many seeds it takes to notice
    Mutants(Mutants),
    /// Tells a story of how a write goes wrong, and what everyone hears; without a name, which there are
    Scenario(Story),
    /// Tells all that happens in one seed, or in what was kept of one
    Replay(Replay),
    /// Walks all schedules of a small scope, with the machines step by step
    Explore(Explore),
    /// Writes down, in TLA+, which steps of the specification the runs of many seeds took
    Behaviour(Behave),
    /// Measures how fast it is on one core
    Bench(Bench),
}

impl Command {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Fenced(_) => "fenced",
            Self::Projected(_) => "projected",
            Self::Mutants(_) => "mutants",
            Self::Scenario(_) => "scenario",
            Self::Replay(_) => "replay",
            Self::Explore(_) => "explore",
            Self::Behaviour(_) => "behaviour",
            Self::Bench(_) => "bench",
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Seeds {
    /// How many
    #[arg(long, default_value_t = 2_000, value_parser = values::count)]
    pub(crate) seeds: u64,
    /// The first
    #[arg(long, default_value_t = 0, value_parser = values::number)]
    pub(crate) from: u64,
    /// Runs one in so many twice and compares them, event by event; 0 for none
    #[arg(long, default_value_t = 10, value_parser = values::number)]
    pub(crate) twice_in: u64,
    /// Goes on after a seed that failed, and tells of the first ten
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Leaves out the safeguard that this mutant lacks, to see how that is told
    #[arg(long, value_name = "MUTANT", value_parser = values::mutant)]
    pub(crate) without: Option<&'static Mutant>,
    /// On so many threads; on as many as there are cores unless it is said
    #[arg(long, value_parser = values::jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Tells what came of it as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Makes the first that failed smaller, in so many runs at most; 0 for not at all
    #[arg(long, default_value_t = 2_000, value_parser = values::number)]
    pub(crate) shrink_runs: u64,
    /// The folder for the file with what is left of it; that for temporary files unless it is said
    #[arg(long, value_name = "FOLDER")]
    pub(crate) keep_in: Option<PathBuf>,
    /// Where the first that failed is drawn over time; a file in ./target, or in the folder for temporary files, unless it
    /// is said
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Mutants {
    /// Writes what came of it into this file, as a page in Markdown
    #[arg(long, value_name = "FILE")]
    pub(crate) table: Option<PathBuf>,
    /// How many each has at most
    #[arg(long, default_value_t = 5_000, value_parser = values::count)]
    pub(crate) seeds: u64,
    /// On so many threads; on as many as there are cores unless it is said
    #[arg(long, value_parser = values::jobs)]
    pub(crate) jobs: Option<NonZeroUsize>,
    /// Tells what came of it as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Behave {
    /// Of which simulation
    #[arg(long, value_enum)]
    pub(crate) of: Which,
    /// How many seeds; one in which every record was deleted has another in its place
    #[arg(long, default_value_t = 200, value_parser = values::behaviours)]
    pub(crate) seeds: u64,
    /// The first
    #[arg(long, default_value_t = 0, value_parser = values::number)]
    pub(crate) from: u64,
    /// What happened to this key in each; to the key that has seen the most, unless it is said
    #[arg(long)]
    pub(crate) key: Option<u32>,
    /// The module to write; the file's name is its own
    #[arg(long, value_name = "FILE.tla")]
    pub(crate) out: PathBuf,
    /// Spoils them in this way, to see that the specification does not allow it; more than once for more than one way
    #[arg(long, value_name = "HOW", value_parser = values::corruptions())]
    pub(crate) corrupt: Vec<Spoil>,
    /// Tells what was written down as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct Bench {
    /// How many seeds of the default size
    #[arg(long, default_value_t = 500, value_parser = values::count)]
    pub(crate) seeds: u64,
    /// How many long runs of each length
    #[arg(long, default_value_t = 5, value_parser = values::count)]
    pub(crate) long: u64,
}

#[derive(Debug, Args)]
pub(crate) struct Story {
    /// Which
    #[arg(value_name = "NAME", value_parser = values::story)]
    pub(crate) story: Option<&'static Scenario>,
    /// Another order of what happens at the same moment, and other pauses
    #[arg(long, default_value_t = 0, requires = "story", value_parser = values::number)]
    pub(crate) seed: u64,
    /// Tells it, or which there are, as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Draws it over time, with its safeguard and without, into one page that needs nothing else
    #[arg(long, value_name = "FILE", requires = "story")]
    pub(crate) html: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("run").required(true).args(["seed", "choices"])))]
pub(crate) struct Replay {
    /// Which
    #[arg(value_parser = values::number)]
    pub(crate) seed: Option<u64>,
    /// Of which simulation
    #[arg(long, value_enum, default_value_t = Which::Fenced)]
    pub(crate) of: Which,
    /// Leaves out the safeguard that this mutant lacks
    #[arg(long, value_name = "MUTANT", value_parser = values::mutant)]
    pub(crate) without: Option<&'static Mutant>,
    /// What is in this file instead, which names the seed and the simulation itself
    #[arg(long, value_name = "FILE", conflicts_with_all = ["of", "without"])]
    pub(crate) choices: Option<PathBuf>,
    /// Tells what happens as one JSON document
    #[arg(long)]
    pub(crate) json: bool,
    /// Tells the executor's own steps, too
    #[arg(long)]
    pub(crate) all: bool,
    /// Draws it over time, into one page that needs nothing else
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
}

/// A simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Which {
    Fenced,
    Projected,
}

impl Which {
    pub(crate) fn of(whose: Whose) -> Self {
        match whose {
            Whose::Fenced => Self::Fenced,
            Whose::Projected => Self::Projected,
        }
    }

    pub(crate) fn whose(self) -> Whose {
        match self {
            Self::Fenced => Whose::Fenced,
            Self::Projected => Whose::Projected,
        }
    }

    /// Whether a safeguard can be left out of this one at all: it would hold without it, and that would mean nothing.
    pub(crate) fn check(self, without: Option<&Mutant>) -> Result<(), Misuse> {
        match without {
            Some(Mutant { name, of, .. }) if !without.is_some_and(|it| it.is_for(self.whose())) => {
                let of = of.name();
                Err(Misuse(format!(
                    "\"{name}\" makes no difference to the {self} write; leave it out of `{of}`"
                )))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// With every safeguard, or without one.
    pub(crate) fn simulation(self, without: Option<&Mutant>) -> BuiltIn {
        BuiltIn::of(self.whose(), without)
    }
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.whose().name())
    }
}

/// Arguments that make no sense together, or name something that is not there, or a file that cannot be read or written.
#[derive(Debug)]
pub(crate) struct Misuse(pub(crate) String);

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misuse {}

impl Misuse {
    /// As it is told to whoever gave them, with how the command is used.
    pub(crate) fn of_command(&self, name: &str) -> clap::Error {
        let mut program = Arguments::command();
        program.build();
        let command = program.find_subcommand_mut(name);
        let command = command.expect("it has been called");
        command.error(ErrorKind::ValueValidation, &self.0)
    }
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn the_arguments_are_consistent_and_those_without_sense_are_refused() {
        Arguments::command().debug_assert();
        let parsed = |arguments: &str| {
            Arguments::try_parse_from(arguments.split_whitespace())
                .map_err(|error| error.to_string())
        };
        assert!(parsed("ferry-sim fenced --seeds 5 --from 7").is_ok());
        assert!(parsed("ferry-sim scenario").is_ok());
        assert!(parsed("ferry-sim replay --choices a.kept").is_ok());
        for (arguments, why) in [
            ("ferry-sim fenced --seeds 0", "give 1 or more"),
            ("ferry-sim fenced --jobs 0", "1 or more"),
            ("ferry-sim replay", "<SEED|--choices <FILE>>"),
            ("ferry-sim replay 7 --choices a.kept", "cannot be used with"),
            (
                "ferry-sim replay --of fenced --choices a.kept",
                "cannot be used with",
            ),
            ("ferry-sim replay x", "invalid value 'x'"),
            (
                "ferry-sim replay 7 --of both",
                "possible values: fenced, projected",
            ),
        ] {
            let told = parsed(arguments).unwrap_err();
            assert!(told.contains(why), "{why}: {told}");
        }
    }
}
