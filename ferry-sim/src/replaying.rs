//! One seed again, or what was kept of some.

use std::{
    io::{self, Write},
    process::ExitCode,
};

use ferry_core::Instant;
use ferry_sim::{
    Event, Report,
    kept::{Kept, Runs},
    mutants::Mutant,
};

use crate::{
    cli::{Misuse, Replay, Which},
    failure, json, output, pages, summary,
};

/// Tells what happens, and what is wrong with it.
pub(crate) fn run(replay: &Replay) -> anyhow::Result<ExitCode> {
    if let Some(file) = &replay.html {
        output::check(file)?;
    }
    let Replayed {
        which,
        without,
        mut runs,
        kept,
    } = Replayed::of(replay)?;
    if !replay.all {
        let events = runs.iter_mut().map(|(_, events)| events);
        events.for_each(|events| events.retain(|(_, event)| event.is_story()));
    }
    // What is another run than the one that was written down shows nothing of that.
    let is_other = |kept: &Kept| runs.iter().any(|(report, _)| is_another(kept, report));
    let is_held = runs.iter().all(|(report, _)| report.violations.is_empty())
        && !kept.as_ref().is_some_and(is_other);
    let drawn = replay.html.as_deref();
    if let Some(file) = drawn {
        let is_left = |kept: &Kept| matches!(kept.runs, Runs::Choices { .. });
        let is_left = kept.as_ref().is_some_and(is_left);
        pages::draw_replayed(file, (which, without), is_left, &runs)?;
    }
    if replay.json {
        json::print(&json::of_replay(&runs, is_held, drawn))?;
    } else {
        tell(which, without, kept.as_ref(), &runs)?;
        if let Some(file) = drawn {
            writeln!(io::stdout().lock(), "drawn over time in {}", file.display())?;
        }
    }
    Ok(if is_held {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

struct Replayed {
    which: Which,
    without: Option<&'static Mutant>,
    runs: Vec<(Report, Vec<(Instant, Event)>)>,
    kept: Option<Kept>,
}

impl Replayed {
    fn of(replay: &Replay) -> anyhow::Result<Self> {
        let Some(path) = &replay.choices else {
            let Some(seed) = replay.seed else {
                return Err(Misuse("give a seed, or a file with --choices".to_owned()).into());
            };
            let (which, without) = (replay.of, replay.without);
            which.check(without)?;
            return Ok(Self {
                which,
                without,
                runs: vec![which.simulation(without).replay(seed)],
                kept: None,
            });
        };
        let text = output::read(path)?;
        let kept =
            Kept::parse(&text).map_err(|error| Misuse(format!("{}: {error}", path.display())))?;
        let which = Which::of(kept.of);
        which.check(kept.without)?;
        Ok(Self {
            which,
            without: kept.without,
            runs: kept.replay(),
            kept: Some(kept),
        })
    }
}

fn tell(
    which: Which,
    without: Option<&Mutant>,
    kept: Option<&Kept>,
    runs: &[(Report, Vec<(Instant, Event)>)],
) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (report, events) in runs {
        for (at, event) in events {
            writeln!(out, "{}", failure::step(*at, event))?;
        }
        let Report {
            seed, hash, events, ..
        } = report;
        writeln!(out, "seed {seed}: {events} events, hash {hash:016x}")?;
        if let Some(kept) = kept {
            tell_kept(&mut out, kept, report)?;
        }
        if report.violations.is_empty() && kept.is_some_and(|kept| is_another(kept, report)) {
            writeln!(out, "FAILED: {which}, seed {seed}: it is another run")?;
        } else if report.violations.is_empty() {
            writeln!(out, "HELD: {which}, seed {seed}")?;
        } else {
            summary::tell_violations(&mut out, which, without, report, usize::MAX)?;
            writeln!(out, "FAILED: {which}, seed {seed}")?;
        }
    }
    out.flush()
}

fn is_another(kept: &Kept, report: &Report) -> bool {
    matches!(&kept.runs, Runs::Choices { hash: Some(hash), .. } if *hash != report.hash)
}

/// Tells what the run has in common with what it once was.
fn tell_kept(out: &mut impl Write, kept: &Kept, report: &Report) -> io::Result<()> {
    if let Some(mutant) = kept.without {
        writeln!(out, "without a safeguard: {}", mutant.name)?;
    }
    if is_another(kept, report) {
        writeln!(
            out,
            "it is no longer the run that was written down: the program draws, or does, something else since"
        )?;
    }
    if !report.violates(kept.shows) {
        writeln!(out, "it once violated {}", kept.shows)?;
    }
    Ok(())
}
