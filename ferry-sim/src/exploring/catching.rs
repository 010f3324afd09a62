//! The walk without a safeguard, and the property that notices.

use std::io::{self, Write};

use ferry_sim::{
    explore::{MUTANTS, Mutant, Report, Scope},
    timeline::Page,
};

use super::{Explore, progress_bar, schedules::Schedule, tell_undrawn, tick};
use crate::{
    json::{self, OfCaught},
    pages,
};

/// Leaves out one safeguard; whether it was missed.
pub(super) fn one(
    explore: &Explore,
    scope: Scope,
    mutant: &'static Mutant,
) -> anyhow::Result<bool> {
    let Mutant { name, fails, .. } = mutant;
    let bar = progress_bar("")?;
    let report = mutant.walk(scope, |progress| tick(&bar, progress))?;
    let took = bar.elapsed();
    bar.finish_and_clear();
    let schedule = schedule_of(scope, mutant, &report)?;
    let drawn = explore.html.as_deref().filter(|_| schedule.is_some());
    if let (Some(file), Some(schedule)) = (drawn, &schedule) {
        let about = format!("a shortest one without this safeguard: it violates {fails}");
        pages::write(file, &schedule.page().about(about))?;
    }
    if explore.json {
        let found = schedule.as_ref().map(Schedule::told);
        json::print(&json::of_walk(&report, Some(mutant), took, found, drawn))?;
        return Ok(schedule.is_some());
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    match &schedule {
        Some(schedule) => {
            schedule.tell(&mut out, drawn)?;
            writeln!(out, "HELD: {name} is caught by {fails}")?;
        }
        None => {
            let states = report.states;
            if let Some(asked) = &explore.html {
                tell_undrawn(&mut out, scope, Some(mutant), asked)?;
            }
            writeln!(
                out,
                "FAILED: {name} is NOT caught by {fails} in {states} states"
            )?;
        }
    }
    out.flush()?;
    Ok(schedule.is_some())
}

/// Leaves out one safeguard after the other; whether each was missed.
pub(super) fn all(explore: &Explore, scope: Scope) -> anyhow::Result<bool> {
    let mut caught = Vec::new();
    let title = "Each safeguard left out of the walk";
    let mut page = Page::of(title).about("a shortest schedule that shows what each is for");
    for mutant in MUTANTS {
        let bar = progress_bar(&format!("{}: ", mutant.name))?;
        let report = mutant.walk(scope, |progress| tick(&bar, progress))?;
        bar.finish_and_clear();
        if let Some(schedule) = schedule_of(scope, mutant, &report)? {
            page = page.schedule(mutant.name, &schedule.replay);
        }
        let one = OfCaught::of(mutant, &report);
        if !explore.json {
            tell(&one, mutant)?;
        }
        caught.push(one);
    }
    let drawn = explore.html.as_deref();
    if let Some(file) = drawn {
        pages::write(file, &page)?;
    }
    let (count, missed) = (
        caught.len(),
        caught.iter().filter(|one| !one.caught).count(),
    );
    if explore.json {
        json::print(&json::of_caught(caught, drawn))?;
        return Ok(missed == 0);
    }
    let mut out = io::stdout().lock();
    if let Some(file) = drawn {
        writeln!(out, "drawn move by move in {}", file.display())?;
    }
    writeln!(out, "`--mutant NAME` tells the moves of one")?;
    match missed {
        0 => writeln!(out, "HELD: all {count} mutants were caught")?,
        missed => writeln!(out, "FAILED: {missed} of {count} mutants were not caught")?,
    }
    Ok(missed == 0)
}

fn tell(one: &OfCaught, mutant: &Mutant) -> io::Result<()> {
    let (name, states) = (one.name, one.states);
    let fails = mutant.fails.number();
    let mut out = io::stdout().lock();
    match one.moves {
        Some(moves) => writeln!(
            out,
            "{name:<34} caught by P{fails} after {states} states; {moves} moves show it"
        ),
        None => writeln!(out, "{name:<34} NOT caught by P{fails} in {states} states"),
    }
}

fn schedule_of(
    scope: Scope,
    mutant: &'static Mutant,
    report: &Report,
) -> anyhow::Result<Option<Schedule>> {
    let found = report.found.as_ref();
    let schedule = found.map(|found| Schedule::found(scope, Some(mutant), found));
    Ok(schedule.transpose()?)
}
