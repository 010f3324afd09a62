//! Writes runs down as behaviours of the specification.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
    process::ExitCode,
};

use anyhow::Context;
use ferry_sim::{
    behaviour::{self, Behaviour, Doctor, Met, Mets},
    points::Whose,
};

use crate::{
    cli::{Behave, Misuse, Spoil, Which},
    json,
};

/// Below so many seeds, chance decides what occurs.
const SEEDS_MIN_FOR_METS: u64 = 200;

/// A behaviour that is longer takes its time to be followed.
const LINES_MAX: usize = 300;

/// Behaviours that are spoiled, of each way to do it.
const DOCTORED: usize = 3;

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
    pub(crate) mets: Mets,
    /// How each was spoiled.
    pub(crate) doctors: Vec<Doctor>,
    /// Whether it is to be seen to that enough occurs.
    is_counted: bool,
}

pub(crate) fn run(asked: &Behave) -> anyhow::Result<ExitCode> {
    let name = module_name(&asked.out).ok_or_else(|| {
        Misuse("--out takes a file that is named like a module, and ends in .tla".to_owned())
    })?;
    let doctors = doctors(asked)?;
    let mut written = gather(asked)?;
    if !doctors.is_empty() {
        spoil(&mut written, &doctors)?;
    }
    let cannot = || format!("cannot write {}", asked.out.display());
    let mut out = BufWriter::new(File::create(&asked.out).with_context(cannot)?);
    behaviour::write_module(&mut out, name, &written.behaviours)
        .and_then(|()| out.flush())
        .with_context(cannot)?;
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

    pub(crate) fn missing(&self) -> Vec<(Met, u64)> {
        let is_asked = self.is_counted && self.seeds >= SEEDS_MIN_FOR_METS;
        let seeds = if is_asked { self.seeds } else { 0 };
        self.mets.missing(self.which.whose(), seeds).collect()
    }

    /// As many as were asked for; and of many, no more than one of four seeds left out for them.
    pub(crate) fn is_enough(&self) -> bool {
        let looked_at = self.last - self.from + 1;
        let is_most = looked_at < SEEDS_MIN_FOR_METS || self.left_out.len() as u64 * 4 <= looked_at;
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

fn gather(asked: &Behave) -> anyhow::Result<Written> {
    let whose = asked.of.whose();
    let end = asked.from.checked_add(2 * asked.seeds);
    let end = end.ok_or_else(|| Misuse("--from and --seeds together are too much".to_owned()))?;
    let mut written = Written {
        which: asked.of,
        from: asked.from,
        seeds: asked.seeds,
        last: asked.from,
        behaviours: Vec::new(),
        left_out: Vec::new(),
        untouched: Vec::new(),
        mets: Mets::default(),
        doctors: Vec::new(),
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
                written.mets.add(&Mets::of(&chosen.lines));
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

/// That of the key to which the most different things happened, of those that are not too long to be followed in no time.
fn one_of(whose: Whose, of_seed: Vec<Behaviour>) -> Chosen {
    if of_seed.is_empty() {
        return Chosen::NoneIsThere;
    }
    let specified = of_seed.into_iter().filter(|it| it.is_specified(whose));
    let chosen = specified.min_by_key(|behaviour| {
        let (lines, mets) = (behaviour.lines.len(), Mets::of(&behaviour.lines));
        let kinds = Met::ALL.iter().filter(|met| mets.count(**met) > 0).count();
        if lines <= LINES_MAX {
            (0, Met::ALL.len() - kinds, lines)
        } else {
            (1, lines, 0)
        }
    });
    chosen.map_or(Chosen::NoneIsSpecified, Chosen::One)
}

/// In which ways they are to be spoiled.
fn doctors(asked: &Behave) -> anyhow::Result<Vec<Doctor>> {
    let whose = asked.of.whose();
    let mut doctors = Vec::new();
    for spoil in &asked.doctor {
        match spoil {
            Spoil::All => doctors.extend(Doctor::ALL.iter().filter(|it| it.is_for(whose))),
            Spoil::By(doctor) if doctor.is_for(whose) => doctors.push(*doctor),
            Spoil::By(doctor) => {
                let (name, of) = (doctor.name(), asked.of);
                return Err(Misuse(format!("{name} cannot be done to the {of} write")).into());
            }
        }
    }
    Ok(doctors)
}

/// Keeps the first behaviours that can be spoiled in each of the ways, spoiled.
fn spoil(written: &mut Written, doctors: &[Doctor]) -> anyhow::Result<()> {
    let whole = core::mem::take(&mut written.behaviours);
    written.is_counted = false;
    for &doctor in doctors {
        let treated = whole.iter().filter_map(|it| doctor.treat(it));
        let before = written.behaviours.len();
        written.behaviours.extend(treated.take(DOCTORED));
        let treated = written.behaviours.len() - before;
        let name = doctor.name();
        anyhow::ensure!(
            treated > 0,
            "nothing in these seeds can be spoiled by {name}"
        );
        written.doctors.extend(vec![doctor; treated]);
    }
    Ok(())
}

fn tell(written: &Written) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let missing = written.missing();
    if written.doctors.is_empty() {
        for &met in Met::ALL {
            let count = written.mets.count(met);
            let least = missing.iter().find(|(it, _)| *it == met);
            match least {
                Some((_, least)) => {
                    writeln!(out, "{count:>8}  {}, and not {least} times", met.words())?
                }
                None if count > 0 => writeln!(out, "{count:>8}  {}", met.words())?,
                None => {}
            }
        }
    } else {
        for (behaviour, doctor) in written.behaviours.iter().zip(&written.doctors) {
            let Behaviour {
                seed,
                key,
                doctored,
                ..
            } = behaviour;
            writeln!(
                out,
                "seed {seed}, key {key}, line {doctored}: {}",
                doctor.words()
            )?;
        }
    }
    let (which, lines) = (written.which, written.lines());
    let (behaviours, left_out) = (written.behaviours.len(), written.left_out.len());
    let verdict = if written.held() { "WRITTEN" } else { "FAILED" };
    let (from, last) = (written.from, written.last);
    write!(
        out,
        "{verdict}: {which}, seeds {from} to {last}, {behaviours} behaviours of {lines} lines"
    )?;
    if left_out > 0 {
        write!(
            out,
            "; {left_out} seeds left out, since every key's record was deleted"
        )?;
    }
    if !written.is_enough() {
        write!(out, "; that is too few")?;
    }
    if !missing.is_empty() {
        write!(out, "; too little occurs in them")?;
    }
    writeln!(out)
}
