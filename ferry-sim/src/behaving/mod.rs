//! Writes runs down as behaviours of the specification.

mod telling;

use std::{io, path::Path, process::ExitCode};

use ferry_sim::{
    Size,
    behaviour::{self, Behaviour, Corruption, Point, Points},
    points::Whose,
};

use self::telling::tell;
use crate::{
    cli::{Behave, Misuse, Spoil, Which},
    json, output,
};

/// Below so many seeds, chance decides what occurs, and what can be spoiled.
const SEEDS_MIN_FOR_POINTS: u64 = 200;

/// A behaviour that is longer takes its time to be followed.
const LINES_MAX: usize = 300;

/// So much of it is followed where there is none that is shorter, as in a storm over one key.
const LINES_CUT: usize = 500;

/// Behaviours that are spoiled, of each way to do it.
const CORRUPTED: usize = 3;

/// What was written down.
pub(crate) struct Written {
    pub(crate) which: Which,
    pub(crate) from: u64,
    pub(crate) seeds: u64,
    /// The last of them.
    pub(crate) last: u64,
    pub(crate) behaviours: Vec<Behaviour>,
    /// Seeds in which the specification has no key's whole behaviour, or that of the key that was asked for.
    pub(crate) left_out: Vec<u64>,
    /// Seeds in which nothing was submitted to the key that was asked for.
    pub(crate) untouched: Vec<u64>,
    pub(crate) points: Points,
    /// How each was spoiled.
    pub(crate) corruptions: Vec<Corruption>,
    /// How none could be spoiled, in so few seeds.
    pub(crate) without_place: Vec<Corruption>,
    /// The key that was asked for.
    key: Option<u32>,
    /// Whether it is to be seen to that enough occurs.
    is_counted: bool,
}

pub(crate) fn run(asked: &Behave) -> anyhow::Result<ExitCode> {
    let name = module_name(&asked.out).ok_or_else(|| {
        Misuse("give --out a file that is named as TLA+ names modules: a letter, then letters, digits and underscores, and .tla at the end".to_owned())
    })?;
    output::check(&asked.out)?;
    let corruptions = corruptions(asked)?;
    check_key(asked.key)?;
    let mut written = gather(asked)?;
    if !corruptions.is_empty() {
        let is_by_name = !asked.corrupt.contains(&Spoil::All);
        spoil(&mut written, &corruptions, is_by_name)?;
    }
    output::write(&asked.out, |out| {
        behaviour::write_module(out, name, &written.behaviours).map_err(io::Error::from)
    })?;
    if asked.json {
        json::print(&json::of_behaviours(&written))?;
    } else {
        tell(&written)?;
    }
    Ok(if written.held() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

impl Written {
    pub(crate) fn lines(&self) -> usize {
        let lines = self.behaviours.iter().map(|it| it.lines.len());
        lines.sum()
    }

    pub(crate) fn missing(&self) -> Vec<(Point, u64)> {
        let is_asked = self.is_counted && self.seeds >= SEEDS_MIN_FOR_POINTS;
        let seeds = if is_asked { self.seeds } else { 0 };
        self.points.missing(self.which.whose(), seeds).collect()
    }

    /// As many as were asked for; and of many, no more than one of four seeds left out for them.
    pub(crate) fn is_enough(&self) -> bool {
        let looked_at = self.last - self.from + 1;
        let is_most =
            looked_at < SEEDS_MIN_FOR_POINTS || self.left_out.len() as u64 * 4 <= looked_at;
        let wanted = if self.is_counted { self.seeds } else { 1 };
        is_most && self.behaviours.len() as u64 >= wanted
    }

    pub(crate) fn held(&self) -> bool {
        self.is_enough() && self.missing().is_empty()
    }
}

fn module_name(out: &Path) -> Option<&str> {
    let is_module = out.extension().is_some_and(|it| it == "tla");
    let name = out.file_stem()?.to_str()?;
    let is_named = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || it == '_');
    (is_module && is_named).then_some(name)
}

fn check_key(asked: Option<u32>) -> Result<(), Misuse> {
    let last = Size::default().keys - 1;
    match asked {
        Some(key) if key > last => {
            let why = format!("there is no key {key}: those of a run are 0 to {last}");
            Err(Misuse(why))
        }
        Some(_) | None => Ok(()),
    }
}

fn gather(asked: &Behave) -> anyhow::Result<Written> {
    let whose = asked.of.whose();
    let end = asked.from.checked_add(2 * asked.seeds);
    let end = end.ok_or_else(|| {
        let (seeds, from, last) = (2 * asked.seeds, asked.from, u64::MAX);
        Misuse(format!(
            "there are no {seeds} seeds from {from} on, as many as may have to be looked at; the last is {last}"
        ))
    })?;
    let mut written = Written {
        which: asked.of,
        from: asked.from,
        seeds: asked.seeds,
        last: asked.from,
        behaviours: Vec::new(),
        left_out: Vec::new(),
        untouched: Vec::new(),
        points: Points::default(),
        corruptions: Vec::new(),
        without_place: Vec::new(),
        key: asked.key,
        is_counted: asked.key.is_none(),
    };
    // One that is left out has another in its place.
    for seed in asked.from..end {
        if written.behaviours.len() as u64 == asked.seeds {
            break;
        }
        let mut of_seed = behaviour::of_seed(whose, seed);
        if let Some(key) = asked.key {
            of_seed.retain(|it| it.key == key);
        }
        written.last = seed;
        match one_of(whose, of_seed) {
            Chosen::One(chosen) => {
                written.points.add(&Points::of(&chosen.lines));
                written.behaviours.push(chosen);
            }
            Chosen::NoneIsSpecified => written.left_out.push(seed),
            Chosen::NoneIsThere => written.untouched.push(seed),
        }
    }
    Ok(written)
}

enum Chosen {
    One(Behaviour),
    NoneIsSpecified,
    NoneIsThere,
}

/// That of the key to which the most different things happened, of those that are not too long to be followed in no time; or, of
/// the shortest, as much as can be.
fn one_of(whose: Whose, of_seed: Vec<Behaviour>) -> Chosen {
    if of_seed.is_empty() {
        return Chosen::NoneIsThere;
    }
    let specified = of_seed.into_iter().filter(|it| it.is_specified(whose));
    let chosen = specified.min_by_key(|behaviour| {
        let (lines, points) = (behaviour.lines.len(), Points::of(&behaviour.lines));
        let is_reached = |point: &&Point| points.count(**point) > 0;
        let kinds = Point::ALL.iter().filter(is_reached).count();
        if lines <= LINES_MAX {
            (0, Point::ALL.len() - kinds, lines)
        } else {
            (1, lines, 0)
        }
    });
    chosen.map_or(Chosen::NoneIsSpecified, |chosen| {
        Chosen::One(chosen.up_to(LINES_CUT))
    })
}

/// In which ways they are to be spoiled.
fn corruptions(asked: &Behave) -> Result<Vec<Corruption>, Misuse> {
    let whose = asked.of.whose();
    let mut corruptions = Vec::new();
    for spoil in &asked.corrupt {
        match spoil {
            Spoil::All => corruptions.extend(Corruption::ALL.iter().filter(|it| it.is_for(whose))),
            Spoil::By(corruption) if corruption.is_for(whose) => corruptions.push(*corruption),
            Spoil::By(corruption) => {
                let (name, of) = (corruption.name(), asked.of);
                return Err(Misuse(format!("{name} cannot be done to the {of} write")));
            }
        }
    }
    Ok(corruptions)
}

/// Keeps the first behaviours that can be spoiled in each of the ways, spoiled. A way that was asked for by its name has to find
/// one, and in many seeds each has to; of few, not more than one way.
fn spoil(
    written: &mut Written,
    corruptions: &[Corruption],
    is_by_name: bool,
) -> anyhow::Result<()> {
    let is_each_demanded = is_by_name || written.seeds >= SEEDS_MIN_FOR_POINTS;
    let whole = core::mem::take(&mut written.behaviours);
    written.is_counted = false;
    for &corruption in corruptions {
        let spoiled = whole.iter().filter_map(|it| corruption.applied_to(it));
        let before = written.behaviours.len();
        written.behaviours.extend(spoiled.take(CORRUPTED));
        let count = written.behaviours.len() - before;
        if count == 0 {
            let name = corruption.name();
            anyhow::ensure!(
                !is_each_demanded,
                "nothing in these seeds can be spoiled by {name}: take more of them"
            );
            written.without_place.push(corruption);
        }
        written.corruptions.extend(vec![corruption; count]);
    }
    anyhow::ensure!(
        !written.corruptions.is_empty(),
        "nothing in these seeds can be spoiled in any way: take more of them"
    );
    Ok(())
}
