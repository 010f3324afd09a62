//! Runs that once showed something, as text: to be replayed, today and for ever.
//!
//! ```text
//! ferry-sim kept 1
//! of fenced
//! without no fence on commit
//! shows P3
//! meets LandedLate
//! seed 2
//! hash 41a5e2d90c7b3f68
//! setting 14:c3f0000000000000 20:1
//! clients.17 0:1
//! # what follows a hash mark is for people
//! ```
//!
//! `of`, `shows` and `seed` have to be there; `without` names a [mutant](crate::mutants). `meets` names a [point](Point) that
//! each of the runs is kept for, and there may be several: once anything else is drawn, a seed may come by there no more, and is to be
//! replaced by one that does. The other lines are what the run
//! draws, stream by stream: positions and values, both from zero on, values in hexadecimal; what is not mentioned is zero. A
//! file without any of them is about seeds as they are, and may name several, each by a line of its own.

use core::{error::Error, fmt};

use ferry_core::Instant;

use crate::{
    built_in::BuiltIn,
    chance::STREAMS,
    checkers::Property,
    event::Event,
    mutants::Mutant,
    points::{Point, Whose},
    shrink::Shrunk,
    simulation::Report,
    tape::{Choices, Path},
};

const HEAD: &str = "ferry-sim kept ";
const VERSION: u32 = 1;

/// A draw further on than this is a slip of the pen.
const DRAWS_MAX: usize = 1 << 24;

/// Runs that once showed something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// Of which simulation.
    pub of: Whose,
    /// The safeguard that it lacks.
    pub without: Option<&'static Mutant>,
    /// Which property was violated.
    pub shows: Property,
    /// What each of the runs has to come by, or it is kept for nothing.
    pub meets: Vec<Point>,
    /// What is run.
    pub runs: Runs,
}

/// What is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Runs {
    /// These seeds as they are.
    Seeds(Vec<u64>),
    /// What is left of a seed.
    Choices {
        /// Of this one.
        seed: u64,
        /// What it draws.
        choices: Choices,
        /// The hash that the run had when it was written down.
        hash: Option<u64>,
    },
}

/// Why a text is none of these.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeptError {
    /// It is something else: its first line is another. Give it a file that this program wrote.
    NotKept,
    /// A version that is not known here. Use the program that wrote it.
    Version(String),
    /// Something has to be said that is not.
    Missing(&'static str),
    /// A line makes no sense.
    Line {
        /// Which, from one on.
        line: usize,
        /// What is wrong with it.
        wrong: Wrong,
    },
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wrong {
    /// `of` names neither simulation.
    Simulation,
    /// `without` names no mutant.
    Mutant,
    /// `shows` names no property.
    Property,
    /// `meets` names no point.
    Point,
    /// No number where one has to be.
    Number,
    /// It begins with no word that is known, nor with the name of a stream.
    Word,
    /// A draw is no position and value with a colon between.
    Draw,
}

impl Kept {
    /// A run that was shrunk.
    #[must_use]
    pub fn shrunk(of: Whose, without: Option<&'static Mutant>, shrunk: &Shrunk) -> Self {
        let runs = Runs::Choices {
            seed: shrunk.report.seed,
            choices: shrunk.choices.clone(),
            hash: Some(shrunk.report.hash),
        };
        let shows = shrunk.property;
        Self {
            of,
            without,
            shows,
            meets: Vec::new(),
            runs,
        }
    }

    /// What a run of these was to come by, and did not.
    pub fn missed<'a>(&'a self, report: &'a Report) -> impl Iterator<Item = Point> + 'a {
        let meets = self.meets.iter().copied();
        meets.filter(|&point| report.points.count(point) == 0)
    }

    /// Reads it.
    ///
    /// # Errors
    ///
    /// If the text is none, with the line that makes no sense.
    pub fn parse(text: &str) -> Result<Self, KeptError> {
        let mut lines = (1..).zip(text.lines());
        let head = lines.next().map_or("", |(_, first)| first.trim());
        let version = head.strip_prefix(HEAD).ok_or(KeptError::NotKept)?;
        if version.parse() != Ok(VERSION) {
            return Err(KeptError::Version(version.to_owned()));
        }
        let mut parsed = Parsed::default();
        for (line, text) in lines {
            let text = text.split('#').next().unwrap_or_default().trim();
            if !text.is_empty() {
                let wrong = |wrong| KeptError::Line { line, wrong };
                parsed.add(text).map_err(wrong)?;
            }
        }
        parsed.end()
    }

    /// Runs all of it again, and tells what came of it: a report for each seed, or the one of the choices.
    #[must_use]
    pub fn run(&self) -> Vec<Report> {
        let simulation = self.simulation();
        match &self.runs {
            Runs::Seeds(seeds) => seeds.iter().map(|&seed| simulation.run(seed)).collect(),
            Runs::Choices { seed, choices, .. } => {
                vec![simulation.replay_choices(*seed, choices).0]
            }
        }
    }

    /// The same, with all events of each.
    #[must_use]
    pub fn replay(&self) -> Vec<(Report, Vec<(Instant, Event)>)> {
        let simulation = self.simulation();
        match &self.runs {
            Runs::Seeds(seeds) => seeds.iter().map(|&seed| simulation.replay(seed)).collect(),
            Runs::Choices { seed, choices, .. } => vec![simulation.replay_choices(*seed, choices)],
        }
    }

    fn simulation(&self) -> BuiltIn {
        BuiltIn::of(self.of, self.without)
    }
}

#[derive(Default)]
struct Parsed {
    of: Option<Whose>,
    without: Option<&'static Mutant>,
    shows: Option<Property>,
    meets: Vec<Point>,
    seeds: Vec<u64>,
    hash: Option<u64>,
    choices: Option<Choices>,
}

impl Parsed {
    fn add(&mut self, text: &str) -> Result<(), Wrong> {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let rest = rest.trim();
        match word {
            "of" => self.of = Some(Whose::named(rest).ok_or(Wrong::Simulation)?),
            "without" => self.without = Some(Mutant::named(rest).ok_or(Wrong::Mutant)?),
            "shows" => self.shows = Some(property(rest).ok_or(Wrong::Property)?),
            "meets" => self.meets.push(Point::named(rest).ok_or(Wrong::Point)?),
            "seed" => self.seeds.push(rest.parse().map_err(|_| Wrong::Number)?),
            "hash" => self.hash = Some(hex(rest).ok_or(Wrong::Number)?),
            stream => {
                let path = path(stream).ok_or(Wrong::Word)?;
                let choices = self.choices.get_or_insert_default();
                for draw in rest.split_whitespace() {
                    let (nth, value) = draw_of(draw).ok_or(Wrong::Draw)?;
                    choices.set(&path, nth, value);
                }
            }
        }
        Ok(())
    }

    fn end(self) -> Result<Kept, KeptError> {
        let of = self.of.ok_or(KeptError::Missing("of"))?;
        let shows = self.shows.ok_or(KeptError::Missing("shows"))?;
        let &seed = self.seeds.first().ok_or(KeptError::Missing("seed"))?;
        let runs = match self.choices {
            Some(choices) => Runs::Choices {
                seed,
                choices,
                hash: self.hash,
            },
            None => Runs::Seeds(self.seeds),
        };
        Ok(Kept {
            of,
            without: self.without,
            shows,
            meets: self.meets,
            runs,
        })
    }
}

fn property(text: &str) -> Option<Property> {
    let number: u32 = text.strip_prefix('P')?.parse().ok()?;
    let mut all = Property::ALL.iter();
    all.find(|property| property.number() == number).copied()
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text, 16).ok()
}

fn path(text: &str) -> Option<Path> {
    let mut steps = text.split('.');
    let name = steps.next()?;
    let (number, _) = (0..).zip(STREAMS).find(|(_, known)| *known == name)?;
    let forks = steps.map(|step| step.parse().ok());
    let steps = core::iter::once(Some(number)).chain(forks);
    Some(Path::new(steps.collect::<Option<Vec<u32>>>()?))
}

fn draw_of(text: &str) -> Option<(usize, u64)> {
    let (nth, value) = text.split_once(':')?;
    let nth = nth.parse().ok().filter(|&nth| nth < DRAWS_MAX)?;
    Some((nth, hex(value)?))
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{HEAD}{VERSION}")?;
        writeln!(f, "of {}", self.of.name())?;
        if let Some(mutant) = self.without {
            writeln!(f, "without {}", mutant.name)?;
        }
        writeln!(f, "shows P{}", self.shows.number())?;
        for point in &self.meets {
            writeln!(f, "meets {}", point.name())?;
        }
        match &self.runs {
            Runs::Seeds(seeds) => seeds.iter().try_for_each(|seed| writeln!(f, "seed {seed}")),
            Runs::Choices {
                seed,
                choices,
                hash,
            } => {
                writeln!(f, "seed {seed}")?;
                if let Some(hash) = hash {
                    writeln!(f, "hash {hash:016x}")?;
                }
                // Also where nothing is drawn, so that it is not taken for the seed itself.
                if choices.is_empty() {
                    writeln!(f, "{}", STREAMS[0])?;
                }
                let mut streams = choices.streams();
                streams.try_for_each(|(path, values)| write_stream(f, path, values))
            }
        }
    }
}

fn write_stream(f: &mut fmt::Formatter<'_>, path: &Path, values: &[u64]) -> fmt::Result {
    let mut steps = path.steps().iter();
    let name = steps.next().and_then(|&first| STREAMS.get(first as usize));
    f.write_str(name.copied().unwrap_or_default())?;
    steps.try_for_each(|step| write!(f, ".{step}"))?;
    let there = values.iter().enumerate().filter(|(_, value)| **value != 0);
    there
        .into_iter()
        .try_for_each(|(nth, value)| write!(f, " {nth}:{value:x}"))?;
    writeln!(f)
}

impl fmt::Display for KeptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotKept => write!(
                f,
                "it is no file of kept runs: the first line has to be \"{HEAD}{VERSION}\""
            ),
            Self::Version(found) => write!(
                f,
                "it is of version {found}, and this program reads version {VERSION}"
            ),
            Self::Missing(word) => write!(f, "a line is missing that begins with \"{word}\""),
            Self::Line { line, wrong } => write!(f, "line {line}: {wrong}"),
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Simulation => f.write_str("the simulations are \"fenced\" and \"projected\""),
            Self::Mutant => f.write_str("there is no mutant of this name"),
            Self::Property => f.write_str("there is no property of this number, as in \"P3\""),
            Self::Point => f.write_str("there is no point of this name, as in \"meets Overtaken\""),
            Self::Number => f.write_str("a number has to be here"),
            Self::Word => write!(
                f,
                "it begins with none of of, without, shows, meets, seed, hash, {}",
                STREAMS.join(", ")
            ),
            Self::Draw => f.write_str("a draw is written as position:value, as in \"3:ff\""),
        }
    }
}

impl Error for KeptError {}

#[cfg(test)]
mod tests {
    use super::*;

    const WRITTEN: &str = "ferry-sim kept 1
of projected
without no fence on project
shows P6
meets ShownLate
meets Crash
seed 7
hash 00000000000000ff
setting 3:ff 5:1
faults.2.11 0:8000000000000000
";

    #[test]
    fn what_is_written_is_read_again() {
        let kept = Kept::parse(WRITTEN).unwrap();
        assert_eq!(kept.to_string(), WRITTEN);
        assert_eq!(kept.shows, Property::ViewForward);
        let nothing = Kept {
            runs: Runs::Choices {
                seed: 1,
                choices: Choices::default(),
                hash: None,
            },
            ..kept
        };
        assert_eq!(Kept::parse(&nothing.to_string()), Ok(nothing.clone()));
        let seeds = Kept {
            runs: Runs::Seeds(vec![3, 1]),
            ..nothing
        };
        assert_eq!(Kept::parse(&seeds.to_string()), Ok(seeds));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_line() {
        let refused = |text: &str| Kept::parse(text).unwrap_err().to_string();
        assert!(refused("").contains("first line"));
        assert!(refused("ferry-sim kept 2").contains("version 2"));
        assert!(refused("ferry-sim kept 1\nof fenced\nshows P3").contains("\"seed\""));
        let with = |from: &str, to: &str| refused(&WRITTEN.replace(from, to));
        assert!(with("projected", "both").starts_with("line 2: the simulations"));
        assert!(with("no fence on project", "nothing").starts_with("line 3: there is no mutant"));
        assert!(with("P6", "P60").starts_with("line 4: there is no property"));
        assert!(with("Crash", "crash").starts_with("line 6: there is no point"));
        assert!(with("seed 7", "seed x").starts_with("line 7: a number"));
        assert!(with("setting", "settings").starts_with("line 9: it begins with none"));
        assert!(with("3:ff", "3=ff").starts_with("line 9: a draw"));
        assert!(with("3:ff", "99999999999:ff").starts_with("line 9: a draw"));
    }
}
