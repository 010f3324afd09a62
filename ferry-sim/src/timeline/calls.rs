//! The nodes' calls of the store, from when they are sent until they are told.

use core::time::Duration;
use std::collections::BTreeMap;

use super::{
    element::{Element, End, Line, What},
    names::Names,
};
use crate::{event::Verdict, history::Call};

#[derive(Default)]
pub(super) struct Calls {
    names: Names,
    elements: Vec<Element>,
    /// Writes by their calls' numbers.
    writes: BTreeMap<u64, usize>,
    /// Those of which their node has heard nothing, by their places.
    open: BTreeMap<usize, Call>,
    arrivals: Vec<Element>,
}

impl Calls {
    pub(super) fn named(names: Names) -> Self {
        Self {
            names,
            ..Self::default()
        }
    }

    pub(super) fn read(&mut self, line: Line, call: Call, failed: bool) {
        let (end, words) = if failed {
            (End::NotLanded, "failed")
        } else {
            (End::Landed, "read")
        };
        let title = format!("Read of key {} by {}: {words}", call.key, self.of(call));
        let mut read = element(line, What::Read, title, call);
        read.end = Some(end);
        self.elements.push(read);
    }

    pub(super) fn commit(&mut self, line: Line, call: Call, numbers: &[u64]) {
        let what = self.names.inputs_in_words(numbers);
        let title = format!("Commit of {what} by {}, key {}", self.of(call), call.key);
        let mut commit = element(line, What::Commit, title, call);
        commit.label = format!("commit {}", self.names.listed(numbers));
        commit.inputs = numbers.to_vec();
        self.asked(commit, call);
    }

    /// What brings the view forward: its label, and what it does.
    pub(super) fn projecting(
        &mut self,
        line: Line,
        call: Call,
        (what, label): (What, &str),
        does: &str,
    ) {
        let title = format!("{does} by {}, key {}", self.of(call), call.key);
        let mut write = element(line, what, title, call);
        write.label = label.into();
        self.asked(write, call);
    }

    /// The write reached the store, and was carried out.
    pub(super) fn took_effect(&mut self, line: Line, call: Call) {
        if let Some(write) = self.write(call) {
            write.lines.push(line.index);
            // A view and its marker in one write are one effect.
            if write.effects.last() != Some(&line.at) {
                write.effects.push(line.at);
            }
        }
    }

    pub(super) fn turned_away(&mut self, line: Line, call: Call) {
        self.arrived(line, call, What::TurnedAway, "turned away");
    }

    pub(super) fn lost(&mut self, line: Line, call: Call) {
        self.arrived(line, call, What::Lost, "lost after it was answered");
    }

    pub(super) fn told(&mut self, line: Line, call: Call, verdict: Verdict) {
        let end = match verdict {
            Verdict::Landed => End::Landed,
            Verdict::LandedInPart => End::InPart,
            Verdict::Refused => End::Refused,
            Verdict::NotLanded(_) => End::NotLanded,
            Verdict::InDoubt(_) | Verdict::Panicked => End::InDoubt,
        };
        if let Some(&place) = self.writes.get(&call.nth) {
            self.open.remove(&place);
            self.elements[place].ends(line, end);
        }
    }

    pub(super) fn node_went(&mut self, line: Line, node: usize) {
        let of_node = |call: &Call| call.life.node == node;
        for (&place, _) in self.open.iter().filter(|(_, call)| of_node(call)) {
            let write = &mut self.elements[place];
            write.ends(line, End::Untold);
        }
        self.open.retain(|_, call| !of_node(call));
    }

    pub(super) fn end(mut self, end: u64) -> Vec<Element> {
        for place in self.open.into_keys() {
            let write = &mut self.elements[place];
            (write.to, write.end) = (end, Some(End::Untold));
        }
        for write in self.elements.iter_mut().filter(|it| it.what != What::Read) {
            write.title = format!("{}: {}", write.title, fate(write));
        }
        self.elements.append(&mut self.arrivals);
        self.elements
    }

    /// Whose call it is, as the events tell it.
    fn of(&self, call: Call) -> String {
        self.names.life(call.life.node, call.life.nth)
    }

    fn asked(&mut self, write: Element, call: Call) {
        let place = self.elements.len();
        self.writes.insert(call.nth, place);
        self.open.insert(place, call);
        self.elements.push(write);
    }

    fn write(&mut self, call: Call) -> Option<&mut Element> {
        let place = self.writes.get(&call.nth)?;
        Some(&mut self.elements[*place])
    }

    fn arrived(&mut self, line: Line, call: Call, what: What, words: &str) {
        let Some(write) = self.write(call) else {
            return;
        };
        write.lines.push(line.index);
        let mut arrival = element(line, what, format!("{}: {words}", write.title), call);
        arrival.inputs.clone_from(&write.inputs);
        arrival.lines.clone_from(&write.lines);
        self.arrivals.push(arrival);
    }
}

fn element(line: Line, what: What, title: String, call: Call) -> Element {
    Element::at(line, what, title)
        .of_key(call.key)
        .of_node(call.life.node)
}

/// What its node heard of a write, and what truly became of it where that is something else.
fn fate(write: &Element) -> String {
    let words = write.end.map_or("", End::words);
    match (write.effects.as_slice(), write.end) {
        ([], Some(End::InDoubt | End::Untold)) => format!("{words}; it did not land"),
        ([], Some(End::Landed)) if write.what == What::Commit => {
            format!("{words}; it never did")
        }
        ([], _) => words.into(),
        ([.., last], _) if *last > write.to => {
            let late = Duration::from_nanos(last - write.to);
            format!("{words}; it landed {late:?} after that")
        }
        (_, Some(End::Landed | End::InPart)) => words.into(),
        _ => format!("{words}; it landed"),
    }
}
