//! One run of a page: what the page's script is given of it.

use ferry_core::Instant;
use serde::Serialize;

use super::{
    element::{Element, Line},
    names::Names,
    teller::{Story, Teller},
    wrongs::{Finder, Wrong},
};
use crate::{checkers::Violation, event::Event, explore::Replay, scenario::Performance};

/// How long a move of a walk is, where there is no time: drawn as a millisecond.
const MOVE: u64 = 1_000_000;

/// What the page's script is given of a run. Moments are nanoseconds since the run began.
#[derive(Debug, Serialize)]
pub(super) struct Run {
    /// What it is called, where there are several.
    name: String,
    /// Whose run it is, where several belong together.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<&'static str>,
    /// How it ended, in words.
    verdict: String,
    /// How many moves there were, where time is counted in those; each is drawn as a millisecond.
    #[serde(skip_serializing_if = "Option::is_none")]
    moves: Option<usize>,
    /// Those that have other names than their numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<String>,
    /// With the executor's own, which are not in the story.
    events: Option<usize>,
    /// When the last event was.
    end: u64,
    /// From when on there was no new fault.
    healed: Option<u64>,
    wrongs: Vec<Wrong>,
    elements: Vec<Element>,
    /// Each event of the story: when, and in words.
    lines: Vec<(u64, String)>,
}

impl Run {
    pub(super) fn of_seed(
        name: String,
        events_with_polls: usize,
        violations: &[Violation],
        events: &[(Instant, Event)],
    ) -> Self {
        let (story, wrongs) = told(violations, events);
        Self {
            events: Some(events_with_polls),
            ..Self::of(name, verdict(&wrongs), story, wrongs)
        }
    }

    pub(super) fn of_performance(performance: &Performance) -> Self {
        let Performance {
            on,
            without,
            events,
            violations,
            surprises,
            ..
        } = performance;
        let name = match without {
            None => "with all safeguards".to_owned(),
            Some(safeguard) => format!("without {safeguard}"),
        };
        let (story, mut wrongs) = told(violations, events);
        // Without a safeguard it is clear that the story goes another way.
        if without.is_none() {
            let surprises = surprises.iter().map(|surprise| {
                let words = surprise.words.clone();
                Wrong::at("not as told".to_owned(), words, surprise.at.nanos())
            });
            wrongs.extend(surprises);
        }
        Self {
            group: Some(on),
            ..Self::of(name, performance.verdict(), story, wrongs)
        }
    }

    pub(super) fn of_schedule(name: String, replay: &Replay) -> Self {
        let names = Names::OfWalk {
            processes: replay.processes.into(),
        };
        let mut teller = Teller::of(names);
        let line = teller.line(0, "it begins".to_owned());
        (replay.begins.iter()).for_each(|event| teller.tell(line, event));
        for (nth, step) in (1..).zip(&replay.steps) {
            let line = teller.line(nth * MOVE, step.words.clone());
            let mut heard = step.heard.iter();
            for event in &step.events {
                let line = match (event, heard.len()) {
                    (Event::Answered { .. }, 1..) => {
                        let words = heard.next().cloned().unwrap_or_default();
                        teller.line(moment_of(event, nth), words)
                    }
                    _ => Line {
                        at: moment_of(event, nth),
                        ..line
                    },
                };
                teller.tell(line, event);
            }
        }
        if replay.is_complete {
            let end = (replay.steps.len() as u64 + 1) * MOVE;
            teller.line(end, "all are at rest".to_owned());
        }
        let story = teller.end();
        let wrongs = replay.violations.iter().map(|violation| {
            let property = violation.property().to_string();
            Wrong::at(property, violation.to_string(), story.end).since_the_beginning(Replay::KEY)
        });
        let wrongs: Vec<_> = wrongs.collect();
        let (mut inputs, mut nodes) = (Vec::new(), Vec::new());
        if let Some(last) = (story.elements.iter().flat_map(|it| &it.inputs)).max() {
            inputs.extend((0..=*last).map(|number| names.input(number)));
        }
        if let Some(last) = story.elements.iter().filter_map(|it| it.node).max() {
            nodes.extend((0..=last).map(|node| names.node(node)));
        }
        Self {
            moves: Some(replay.steps.len()),
            inputs,
            nodes,
            ..Self::of(name, verdict(&wrongs), story, wrongs)
        }
    }

    fn of(name: String, verdict: String, story: Story, wrongs: Vec<Wrong>) -> Self {
        Self {
            name,
            group: None,
            verdict,
            moves: None,
            inputs: Vec::new(),
            nodes: Vec::new(),
            events: None,
            end: story.end,
            healed: story.healed,
            wrongs,
            elements: story.elements,
            lines: story.lines,
        }
    }
}

fn told(violations: &[Violation], events: &[(Instant, Event)]) -> (Story, Vec<Wrong>) {
    let mut teller = Teller::of(Names::Numbered);
    for (at, event) in events.iter().filter(|(_, event)| event.is_story()) {
        let line = teller.line(at.nanos(), event.to_string());
        teller.tell(line, event);
    }
    let story = teller.end();
    let finder = Finder::of(&story);
    let wrongs = violations.iter().map(|violation| finder.find(violation));
    let wrongs = wrongs.collect();
    (story, wrongs)
}

fn verdict(wrongs: &[Wrong]) -> String {
    match wrongs.len() {
        0 => "all held".to_owned(),
        1 => "one thing is wrong".to_owned(),
        count => format!("{count} things are wrong"),
    }
}

/// Within a move, what is asked comes before what takes effect, and that before what is heard of it.
fn moment_of(event: &Event, nth: u64) -> u64 {
    let is_effect = matches!(
        event,
        Event::Landed { .. }
            | Event::Refused { .. }
            | Event::Shown { .. }
            | Event::Marked { .. }
            | Event::ProjectionRefused { .. }
    );
    let is_heard = matches!(
        event,
        Event::Told { .. } | Event::Answered { .. } | Event::Resumed { .. } | Event::Crashed { .. }
    );
    let tenths = match (is_effect, is_heard) {
        (true, _) => 3,
        (false, true) => 6,
        (false, false) => 0,
    };
    nth * MOVE + tenths * MOVE / 10
}
