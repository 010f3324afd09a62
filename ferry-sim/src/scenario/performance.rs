//! A story as it went.

use core::fmt;
use std::collections::BTreeSet;

use ferry_core::Instant;

use super::{
    Play, Without,
    setting::Setting,
    stage::{Left, Stage},
};
use crate::{
    checkers::{Property, Violation},
    event::Event,
    kind::Kind,
    moment::Moment,
    policy::Policy,
    purses::Purses,
    store::Layout,
};

/// A story as it went, on one kind of write.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Performance {
    /// On which kind of write.
    pub on: &'static str,
    /// The safeguard that was left out, if one was.
    pub without: Option<&'static str>,
    /// The properties that were to fail.
    pub fails: &'static [Property],
    /// All that happened.
    pub events: Vec<(Instant, Event)>,
    /// Each input as it was sent, with what its caller heard.
    pub heard: Vec<String>,
    /// What was otherwise than the story says.
    pub surprises: Vec<Surprise>,
    /// What was wrong.
    pub violations: Vec<Violation>,
    /// How often the safeguard that was left out made a difference.
    pub weakened: u64,
}

/// Something that was otherwise than the story says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Surprise {
    /// When that was seen.
    pub at: Instant,
    /// What it was.
    pub words: String,
}

impl fmt::Display for Surprise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", Moment(self.at), self.words)
    }
}

/// Tells a story.
pub(super) fn perform<K: Kind<Load = Purses>>(
    setting: &Setting,
    layout: Layout,
    policy: Policy,
    seed: u64,
    tell: fn(&mut Stage<K>),
) -> Left {
    let mut stage = Stage::set(setting, layout, policy, seed);
    tell(&mut stage);
    stage.end()
}

impl Performance {
    pub(super) fn of(play: Play, without: Option<&'static Without>, left: Left) -> Self {
        let submissions = left.history.submissions.iter().enumerate();
        let heard = submissions.map(|(nth, asked)| {
            let heard = match &asked.answer {
                Some((_, heard)) => heard.to_string(),
                None => "nothing".to_owned(),
            };
            let (number, content, key, life) =
                (asked.number, &asked.content, asked.key, asked.life);
            format!(
                "submission {nth}: input {number} for key {key}, {content:?}, to {life}: {heard}"
            )
        });
        Self {
            on: play.words(),
            without: without.map(|without| without.safeguard),
            fails: without.map_or(&[], |without| without.fails),
            heard: heard.collect(),
            events: left.events,
            surprises: left.surprises,
            violations: left.violations,
            weakened: left.weakened,
        }
    }

    /// The properties that failed.
    #[must_use]
    pub fn failed(&self) -> BTreeSet<Property> {
        self.violations.iter().map(Violation::property).collect()
    }

    /// With every safeguard: everyone heard what the story says, and all properties held. Without one: it made a
    /// difference, and just those properties failed that are said to.
    #[must_use]
    pub fn went_as_told(&self) -> bool {
        match self.without {
            None => self.surprises.is_empty() && self.violations.is_empty(),
            Some(_) => self.weakened > 0 && self.failed() == self.fails.iter().copied().collect(),
        }
    }

    /// How it went, in words.
    #[must_use]
    pub fn verdict(&self) -> String {
        match (self.without, self.went_as_told()) {
            (None, true) => "all held".to_owned(),
            (Some(safeguard), true) => format!("failed, as it must without {safeguard}"),
            (None, false) => "did NOT go as told".to_owned(),
            (Some(safeguard), false) => format!("did NOT fail as it must without {safeguard}"),
        }
    }
}

/// The story, then what everyone heard, and at last what held and what did not.
impl fmt::Display for Performance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.without {
            None => writeln!(f, "== On {}", self.on)?,
            Some(safeguard) => writeln!(f, "== On {}, without {safeguard}", self.on)?,
        }
        let story = self.events.iter().filter(|(_, event)| event.is_story());
        for (at, event) in story {
            writeln!(f, "{:>15}  {event}", Moment(*at))?;
        }
        for heard in &self.heard {
            writeln!(f, "  {heard}")?;
        }
        // Without a safeguard it is clear that the story goes another way.
        if self.without.is_none() {
            for surprise in &self.surprises {
                writeln!(f, "  NOT AS TOLD: {surprise}")?;
            }
        }
        for violation in &self.violations {
            writeln!(f, "  {}: {violation}", violation.property())?;
        }
        f.write_str(&self.verdict())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        kind::Projected,
        policy::Fence,
        scenario::{
            expected::{REJECTED, applied, in_doubt, late},
            stage::{KEY, NODE_A, secs},
        },
    };

    fn untrue(stage: &mut Stage<Projected<Purses>>) {
        let caller = stage.submit(NODE_A, KEY, 1, 5);
        stage.hears(caller, applied(1, 5));
        stage.run_for(secs(1));
        stage.hears(caller, applied(1, 5));
        stage.hears(caller, applied(1, 6));
        stage.hears(caller, late(1, 5));
        stage.hears(caller, in_doubt(crate::purses::StoreError::Busy));
        stage.hears(caller, REJECTED);
        stage.holds(KEY, &[1, 2]);
        stage.shows(KEY, &[]);
        stage.owes(KEY, true);
        stage.remembers(KEY, 2);
    }

    #[test]
    fn a_story_that_is_not_true_is_noticed_at_each_of_its_lines() {
        let play = Play::Together(untrue);
        let left = perform(&Setting::USUAL, Layout::Together, Policy::WHOLE, 0, untrue);
        let performance = Performance::of(play, None, left);
        assert!(!performance.went_as_told());
        assert_eq!(performance.surprises.len(), 9, "{performance}");
        assert!(performance.violations.is_empty());
    }

    #[test]
    fn a_safeguard_that_is_not_missed_is_noticed() {
        const WITHOUT: Without = Without {
            safeguard: "the fence of a commit",
            policy: Policy {
                fence: Fence::Ignored,
                ..Policy::WHOLE
            },
            fails: &[],
        };
        let tell = |stage: &mut Stage<Projected<Purses>>| {
            stage.submit(NODE_A, KEY, 1, 5);
        };
        let left = perform(&Setting::USUAL, Layout::Together, WITHOUT.policy, 0, tell);
        let performance = Performance::of(Play::Together(tell), Some(&WITHOUT), left);
        assert!(performance.violations.is_empty() && !performance.went_as_told());
    }
}
