//! What is told of a check that failed.

use core::fmt;

use ferry_core::Instant;

use super::{Failed, Wrong};
use crate::{checkers::Property, event::Event, moment::Moment, simulation::Report};

/// How many events are told at most: the last ones.
const EVENTS_MAX: usize = 60;

/// How many violations of one property are told at most: the first ones.
const VIOLATIONS_MAX: usize = 3;

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unusable(unusable) => write!(f, "nothing was run: {unusable}"),
            Self::Panicked(seed) => {
                write!(f, "seed {seed} panicked; ")?;
                tell_how(f, *seed)
            }
            Self::Wrong(wrong) => wrong.fmt(f),
            Self::NothingApplied(seeds) => write!(
                f,
                "in {seeds} seeds no input was ever applied, so that nothing was put to the test: look at whether `step` declines \
                 all that `Workload::input` gives"
            ),
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seed = self.report.seed;
        writeln!(f, "seed {seed}:")?;
        tell_violations(f, &self.report)?;
        let story = match &self.smaller {
            Some((report, story)) => {
                writeln!(f, "with all left out that does not matter:")?;
                tell_violations(f, report)?;
                story
            }
            None => &self.story,
        };
        let story: Vec<_> = story.iter().filter(|(_, event)| event.is_story()).collect();
        tell_story(f, &story)?;
        self.tell_keys(f, &story)?;
        for property in Property::ALL {
            if let Some(advice) = advice(*property).filter(|_| self.report.violates(*property)) {
                writeln!(f, "look at {advice} (P{})", property.number())?;
            }
        }
        tell_how(f, seed)
    }
}

impl Wrong {
    /// Which keys the numbers in a story stand for.
    fn tell_keys(&self, f: &mut fmt::Formatter<'_>, story: &[&(Instant, Event)]) -> fmt::Result {
        for (nth, key) in (0..).zip(&self.keys) {
            let is_in =
                |event: &Event| matches!(event, Event::Submitted { key, .. } if *key == nth);
            if story.iter().any(|(_, event)| is_in(event)) {
                writeln!(f, "key {nth} is {key}")?;
            }
        }
        Ok(())
    }
}

/// What in a workload is the likeliest to be at fault.
fn advice(property: Property) -> Option<&'static str> {
    match property {
        Property::AppliedOnce => Some(
            "how `step` knows what was applied: by ids that are in the state it leaves, and by nothing else",
        ),
        Property::TrueAnswers => Some(
            "whether `step` depends on state and input alone, and answers an input that was applied as it did first: the log \
             was replayed with the fold itself; of views, at `pending` and `includes`",
        ),
        Property::NothingLost => Some(
            "what `step` takes for applied: `Already` is for the id of an input that is in the state, and for no other",
        ),
        Property::Projected => {
            Some("`pending`: it has to hold of every record whose marker is not its version")
        }
        Property::SameTrace => Some(
            "what is not the same each time: a clock, a map's order, a counter that the fold or the workload keeps",
        ),
        Property::InOrder
        | Property::ViewForward
        | Property::Answered
        | Property::NoLeaks
        | Property::NoHarm
        | Property::BoundedWork => None,
    }
}

/// How to run one seed again.
fn tell_how(f: &mut fmt::Formatter<'_>, seed: u64) -> fmt::Result {
    // It was below the end of a range, so there is another.
    write!(f, "run it alone by `.seeds({seed}..{})`", seed + 1)
}

fn tell_violations(f: &mut fmt::Formatter<'_>, report: &Report) -> fmt::Result {
    for property in Property::ALL {
        let all = report.violations.iter();
        let of: Vec<_> = all
            .filter(|violation| violation.property() == *property)
            .collect();
        for violation in of.iter().take(VIOLATIONS_MAX) {
            writeln!(f, "  {property}: {violation}")?;
        }
        match of.len().saturating_sub(VIOLATIONS_MAX) {
            0 => {}
            more => writeln!(f, "  and {more} more of P{}", property.number())?,
        }
    }
    Ok(())
}

fn tell_story(f: &mut fmt::Formatter<'_>, story: &[&(Instant, Event)]) -> fmt::Result {
    let left_out = story.len().saturating_sub(EVENTS_MAX);
    match left_out {
        0 => writeln!(f, "what happened:")?,
        left_out => writeln!(f, "what happened, the first {left_out} events left out:")?,
    }
    for (at, event) in &story[left_out..] {
        writeln!(f, "{:>15}  {event}", Moment(*at))?;
    }
    Ok(())
}
