//! One seed again, or what was kept of some.

use std::{
    fs,
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
    cli::{self, Replay, Which},
    failure, json, pages, summary,
};

/// Tells what happens, and what is wrong with it.
pub(crate) fn run(replay: &Replay) -> anyhow::Result<ExitCode> {
    let (which, mut runs, kept) = match (&replay.choices, replay.seed) {
        (Some(path), _) => {
            let text = fs::read_to_string(path).unwrap_or_else(|error| {
                cli::refuse(&format!("cannot read {}: {error}", path.display()))
            });
            let kept = Kept::parse(&text)
                .unwrap_or_else(|error| cli::refuse(&format!("{}: {error}", path.display())));
            (Which::of(kept.of), kept.replay(), Some(kept))
        }
        (None, Some(seed)) => (
            replay.of,
            vec![replay.of.simulation(replay.without).replay(seed)],
            None,
        ),
        (None, None) => cli::refuse("give a seed, or a file with --choices"),
    };
    if !replay.all {
        let events = runs.iter_mut().map(|(_, events)| events);
        events.for_each(|events| events.retain(|(_, event)| event.is_story()));
    }
    pages::draw_replayed(replay, which, &runs)?;
    if replay.json {
        json::print(&json::of_replay(&runs))?;
    } else {
        tell(which, replay.without, kept.as_ref(), &runs)?;
        if let Some(file) = &replay.html {
            writeln!(io::stdout().lock(), "drawn over time in {}", file.display())?;
        }
    }
    // What is another run than the one that was written down shows nothing of that.
    let is_other = |kept: &Kept| runs.iter().any(|(report, _)| is_another(kept, report));
    let is_held = runs.iter().all(|(report, _)| report.violations.is_empty())
        && !kept.as_ref().is_some_and(is_other);
    Ok(if is_held {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
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
            let without = kept.and_then(|kept| kept.without).or(without);
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
