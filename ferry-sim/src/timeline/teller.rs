//! From events to elements.

use std::collections::BTreeMap;

use super::{
    calls::Calls,
    clients::Clients,
    element::{Element, Line, What},
    fleet::Fleet,
    names::Names,
    records::{Move, Records},
};
use crate::event::{Event, numbers};

/// Gathers the elements, event by event.
pub(super) struct Teller {
    clients: Clients,
    fleet: Fleet,
    calls: Calls,
    records: Records,
    lines: Vec<(u64, String)>,
    healed: Option<u64>,
    /// When the last was.
    end: u64,
}

/// All that there is to draw.
pub(super) struct Story {
    pub(super) elements: Vec<Element>,
    pub(super) lines: Vec<(u64, String)>,
    pub(super) healed: Option<u64>,
    pub(super) end: u64,
    /// Where each submission is among the elements.
    pub(super) submissions: BTreeMap<u64, usize>,
    /// What was done to views and markers.
    pub(super) moves: Vec<Move>,
}

impl Teller {
    pub(super) fn of(names: Names) -> Self {
        Self {
            clients: Clients::named(names),
            fleet: Fleet::named(names),
            calls: Calls::named(names),
            records: Records::named(names),
            lines: Vec::new(),
            healed: None,
            end: 0,
        }
    }

    /// The next line of the story.
    pub(super) fn line(&mut self, at: u64, words: String) -> Line {
        let index = self.lines.len();
        self.end = self.end.max(at);
        self.lines.push((at, words));
        Line { at, index }
    }

    /// What a line is about. The one place that knows all events.
    pub(super) fn tell(&mut self, line: Line, event: &Event) {
        self.end = self.end.max(line.at);
        let Self {
            clients,
            fleet,
            calls,
            records,
            ..
        } = self;
        match event {
            Event::Polled { .. } | Event::Served { .. } | Event::LetGo { .. } => {}
            Event::Submitted {
                submission,
                node,
                key,
                number,
                ..
            } => clients.submitted(line, *submission, (*node, *key, *number)),
            Event::Unreachable { node, number } => clients.unreachable(line, *node, *number),
            Event::Deserted { submission } => clients.deserted(line, *submission),
            Event::Answered {
                submission, kind, ..
            } => clients.answered(line, *submission, *kind),
            Event::GaveUp { number } => clients.gave_up(line, *number),
            Event::Read { call, failed } => calls.read(line, *call, *failed),
            Event::Commit {
                call,
                expected,
                inputs,
                ..
            } => {
                let numbers = numbers(inputs);
                calls.commit(line, *call, &numbers);
                records.committing(*call, *expected, &numbers);
            }
            Event::Project { call, version, .. } => {
                let does = format!("Projection of version {version}");
                calls.projecting(line, *call, (What::Project, "project"), &does);
            }
            Event::Show { call, from, to, .. } => {
                let does = format!("Entries from {from} to {to} for the view");
                calls.projecting(line, *call, (What::Show, "view"), &does);
            }
            Event::Mark { call, version, .. } => {
                let does = format!("Marker to version {version}");
                calls.projecting(line, *call, (What::Mark, "marker"), &does);
            }
            Event::Landed { call, version } => {
                calls.took_effect(line, *call);
                records.landed(line, *call, *version);
            }
            Event::Refused { call, .. } | Event::ProjectionRefused { call } => {
                calls.turned_away(line, *call);
            }
            Event::Lost { call } => calls.lost(line, *call),
            Event::Shown { call, from, to } => {
                calls.took_effect(line, *call);
                records.shown(line, call.key, *from, *to);
            }
            Event::Marked { call, to } => {
                calls.took_effect(line, *call);
                records.marked(line, call.key, *to);
            }
            Event::Told { call, verdict } => calls.told(line, *call, *verdict),
            Event::Resume { node, key } => fleet.resume(line, *node, *key),
            Event::Resumed { node, key } => fleet.resumed(line, *node, *key),
            Event::Deleted { key } => records.deleted(line, *key),
            Event::Crashed { node } => {
                fleet.crashed(line, *node);
                calls.node_went(line, *node);
                clients.node_went(line, *node);
            }
            Event::Restarted { node } => {
                fleet.started(line, *node);
                calls.node_went(line, *node);
                clients.node_went(line, *node);
            }
            Event::Frozen { node, pause } => fleet.frozen(line, *node, *pause),
            Event::Thawed { node } => fleet.thawed(line, *node),
            Event::Stalled { node, pause } => fleet.stalled(line, *node, *pause),
            Event::ClockJumped { node, by } => fleet.clock_jumped(line, *node, *by),
            Event::ShutDown { node } => fleet.shut_down(line, *node),
            Event::Closed { node } => fleet.closed(line, *node),
            Event::Healed { .. } => self.healed = Some(line.at),
        }
    }

    /// Ends what is still going on, and gives everything in the order in which it began.
    pub(super) fn end(self) -> Story {
        let end = self.end;
        let (attempts, inputs, submissions) = self.clients.end(end);
        let mut elements = attempts;
        elements.extend(inputs);
        elements.extend(self.fleet.end(end));
        elements.extend(self.calls.end(end));
        let (records, moves) = self.records.end(end);
        elements.extend(records);
        Story {
            elements,
            lines: self.lines,
            healed: self.healed,
            end,
            submissions,
            moves,
        }
    }
}
