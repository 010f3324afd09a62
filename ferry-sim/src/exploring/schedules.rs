//! One schedule: told, drawn, and how it is had again.

use std::{
    io::{self, Write},
    path::Path,
};

use ferry_sim::{
    explore::{self, Found, Mutant, NoReplay, Replay, Scope},
    timeline::Page,
};

use super::{Explore, bounds::Options};
use crate::{cli::Misuse, failure::PROGRAM, json, pages};

/// The command that tells the schedule of these choices.
pub(super) fn command(scope: Scope, mutant: Option<&'static Mutant>, choices: &[usize]) -> String {
    let mutant = mutant.map_or_else(String::new, |mutant| {
        let Mutant { name, .. } = mutant;
        format!(" --mutant {name}")
    });
    let choices: Vec<_> = choices.iter().map(ToString::to_string).collect();
    let (scope, choices) = (Options(scope), choices.join(","));
    format!("{PROGRAM} explore{scope}{mutant} --choices {choices}")
}

/// A schedule, with where it is from.
pub(super) struct Schedule {
    scope: Scope,
    mutant: Option<&'static Mutant>,
    choices: Vec<usize>,
    pub(super) replay: Replay,
}

impl Schedule {
    /// One that was found.
    pub(super) fn found(
        scope: Scope,
        mutant: Option<&'static Mutant>,
        found: &Found,
    ) -> Result<Self, NoReplay> {
        Self::of(scope, mutant, found.choices.clone())
    }

    fn of(
        scope: Scope,
        mutant: Option<&'static Mutant>,
        choices: Vec<usize>,
    ) -> Result<Self, NoReplay> {
        let replay = explore::replay(scope, mutant, &choices)?;
        Ok(Self {
            scope,
            mutant,
            choices,
            replay,
        })
    }

    fn command(&self) -> String {
        command(self.scope, self.mutant, &self.choices)
    }

    pub(super) fn told(&self) -> (&Replay, String) {
        (&self.replay, self.command())
    }

    pub(super) fn page(&self) -> Page {
        let title = match self.mutant {
            None => "A schedule of the walk".to_owned(),
            Some(mutant) => format!("A schedule of the walk, mutant \"{}\"", mutant.name),
        };
        let scope = Options(self.scope).to_string();
        let about = match scope.trim_start() {
            "" => "in the usual scope".to_owned(),
            scope => format!("in the scope {scope}"),
        };
        Page::of(title)
            .about(about)
            .schedule("the schedule", &self.replay)
    }

    pub(super) fn tell(&self, out: &mut impl Write, drawn: Option<&Path>) -> io::Result<()> {
        for (nth, step) in self.replay.steps.iter().enumerate() {
            let of = format!("{} of 0-{}", step.choice, step.of - 1);
            let actions: Vec<_> = step.actions.iter().map(|action| action.name()).collect();
            let actions = match &actions[..] {
                [] => String::new(),
                some => format!("  ({})", some.join(", ")),
            };
            writeln!(out, "{:>4}. {of:<11}  {}{actions}", nth + 1, step.words)?;
            for heard in &step.heard {
                writeln!(out, "{:>20} {heard}", "")?;
            }
        }
        if self.replay.is_complete {
            writeln!(out, "{:>6}all are at rest", "")?;
        }
        for violation in &self.replay.violations {
            writeln!(out, "  {}: {violation}", violation.property())?;
        }
        writeln!(out, "  {}", self.command())?;
        if let Some(file) = drawn {
            writeln!(out, "drawn move by move in {}", file.display())?;
        }
        Ok(())
    }
}

/// Tells the schedule of these choices; whether all held in it.
pub(super) fn again(
    explore: &Explore,
    (scope, mutant): (Scope, Option<&'static Mutant>),
    choices: &[usize],
) -> anyhow::Result<bool> {
    let schedule =
        Schedule::of(scope, mutant, choices.to_vec()).map_err(|error| Misuse(error.to_string()))?;
    let (replay, drawn) = (&schedule.replay, explore.html.as_deref());
    if let Some(file) = drawn {
        pages::write(file, &schedule.page())?;
    }
    let is_held = replay.violations.is_empty();
    if explore.json {
        let command = schedule.command();
        json::print(&json::of_schedule(replay, mutant, command, drawn))?;
        return Ok(is_held);
    }
    let mut out = io::BufWriter::new(io::stdout().lock());
    schedule.tell(&mut out, drawn)?;
    match replay.violations.first() {
        None => writeln!(out, "HELD: this schedule")?,
        Some(first) => writeln!(out, "FAILED: it violates {}", first.property())?,
    }
    out.flush()?;
    Ok(is_held)
}
